package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/storytest"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// still is a model whose world has opened, without a loop around it.
func still(t testing.TB, d *desk) Model {
	d.feed = NewFeed()
	m := newModel(t.Context(), Options{Feed: d.feed, Theme: "dark", Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"}}, d)
	m.backend = d
	m, _ = m.opened(Opened{Model: small, Saved: true})
	return m
}

// does is a step of a user or of the world, without waiting for anybody.
func does(t *rapid.T, m Model, at time.Time) (Model, time.Time) {
	at = at.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
	words := rapid.SampledFrom([]string{"a word ", "世界 ", "\n\n- item\n", "```go\nfunc main() {\n", "| a | b |\n|---|---|\n", "\x1b[2J", "👨\u200d👩\u200d👧", strings.Repeat("long", 50), "\u202e", "\t"})
	var e event.Data
	switch rapid.IntRange(0, 13).Draw(t, "what") {
	case 0:
		w, h := rapid.IntRange(1, 1000).Draw(t, "w"), rapid.IntRange(1, 50).Draw(t, "h")
		if rapid.Bool().Draw(t, "small") {
			w, h = 1+w%12, 1+h%6
		}
		m, _ = m.update(tea.WindowSizeMsg{Width: w, Height: h})
		return m, at
	case 1, 2:
		k := rapid.SampledFrom([]string{"a", "/", "?", "enter", "esc", "up", "down", "tab", "backspace", "ctrl+p", "ctrl+r", "ctrl+c", "alt+enter", "alt+t", "pgup", "pgdown", "home", "end", "alt+up", "alt+down", "shift+tab", "space", "n"}).Draw(t, "key")
		m, _ = m.update(storytest.Key(k))
		return m, at
	case 3:
		m, _ = m.update(tea.PasteMsg{Content: strings.Repeat(words.Draw(t, "paste"), rapid.IntRange(1, 40).Draw(t, "n"))})
		return m, at
	case 4:
		e = event.UserMessage{ID: "u", Content: event.Say(words.Draw(t, "said"))}
	case 5:
		e = event.MessageStart{MessageID: "a"}
	case 6:
		e = event.ThinkingDelta{Text: words.Draw(t, "thought")}
	case 7:
		e = event.ToolUseStart{ToolCallID: "c", ToolName: words.Draw(t, "tool")}
	case 8:
		e = event.ToolCallMessage{ToolCall: event.ToolCall{ID: "c", Name: words.Draw(t, "tool"), Input: []byte(`{"a":"b"}`)}}
	case 9:
		e = event.ToolResultMessage{ToolCallID: "c", ToolResult: event.ToolReturn{ID: "c", Output: event.Output{Text: words.Draw(t, "result")}}}
	case 10:
		e = event.AssistantMessage{ID: "a", Content: event.Parts{event.Text{Text: words.Draw(t, "whole")}}, StopReason: event.EndTurn}
	case 11:
		e = event.ErrorMessage{Content: words.Draw(t, "error"), ErrorCode: event.CodeServer}
	default:
		e = event.TextDelta{Text: words.Draw(t, "delta")}
	}
	m, _ = m.update(outputs{heardOf([]event.Event{{At: at, Data: e}}), at})
	return m, at
}

// In a window of any size, whatever comes in whatever order, the live part fits,
// the caret stands in it, and nothing from outside reaches the terminal as
// anything but text.
func TestEverySizeFits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, at := still(t, &desk{}), time.Unix(0, 0)
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			m, at = does(rt, m, at)
			next, f := m.frame()
			m = next
			if len(f.Lines) > m.height {
				rt.Fatalf("%d lines in %d rows", len(f.Lines), m.height)
			}
			for _, l := range f.Lines {
				if w := text.Width(l); w > m.width {
					rt.Fatalf("%d cells in %d columns: %q", w, m.width, l)
				}
			}
			if c := f.Cursor; c != nil && (c.X < 0 || c.X >= m.width || c.Y < 0 || c.Y >= len(f.Lines)) {
				rt.Fatalf("the caret is at %v in %d columns and %d lines", *c, m.width, len(f.Lines))
			}
			for _, l := range append(f.Above, f.Lines...) {
				if strings.Contains(l, "\x1b[2J") || strings.ContainsAny(l, "\n\r\u202e") {
					rt.Fatalf("not clean: %q", l)
				}
			}
		}
	})
}

// Keys can be bound anew, to each other and to nothing.
func TestBinding(t *testing.T) {
	table, wrong := newTable(map[string][]string{
		"model": {"Ctrl+P"}, "palette": {"F1", "M-x"}, "repaint": {"none"}, "editor": {"f1", "^E"}, "fly": {"f2"},
		"sessions": {"k", "Alt-PageUp"}, "keys": {"h"}, "tree": {"ctrl+tree"}, "full": {"alt+t"},
	})
	for key, want := range map[string]string{
		"ctrl+p": "model", "f1": "palette", "alt+x": "palette", "ctrl+l": "", "ctrl+z": "suspend", "alt+m": "", "ctrl+e": "editor",
		"k": "", "alt+pgup": "sessions", "h": "keys", "alt+t": "full", "f11": "",
	} {
		if a, _ := table.key(key, true); a.name != want {
			t.Errorf("%s does %q, want %q", key, a.name, want)
		}
	}
	want := []string{
		`There is no action "fly" to bind keys to.`,
		"The key k writes a letter and cannot be bound to sessions alone; ctrl+k or alt+k can.",
		`"ctrl+tree", bound to tree, is no key. One is written like ctrl+k, alt+pgup or f5.`,
		"The key f1 is bound to palette and to editor; palette has it.",
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("said %q, want %q", wrong, want)
	}
	if a, _ := table.key("?", false); a.do != nil {
		t.Error("? in a text is a letter, not a command")
	}
	m := still(t, &desk{})
	m.composer = m.composer.SetText("two words")
	for _, own := range []bool{false, true} {
		if own {
			m.table = table
		}
		if got := m.writes("alt+t"); got == own {
			t.Errorf("Alt+T, the user's own key: %v; it edits: %v", own, got)
		}
	}
}

// Keys are read as people write them, and as they are spelt they come back.
func TestKeyNames(t *testing.T) {
	for name, want := range map[string]string{
		"ctrl+k": "ctrl+k", "C-K": "ctrl+k", "Control-Shift-Up": "ctrl+shift+up", "shift+ctrl+up": "ctrl+shift+up", "^]": "ctrl+]", "alt++": "alt++", "M--": "alt+-",
		"ctrl+_": "ctrl+_", "Return": "enter", "PgDn": "pgdown", "F12": "f12", "ö": "ö", "cmd+k": "super+k", "-": "-", "^": "^", "c": "c",
		"": "", "ctrl+": "", "f0": "", "f99": "", "ctrl+kk": "", "hold+k": "", "\x1b": "", "ctrl": "",
	} {
		if got, _ := keyNamed(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	for _, a := range actions() {
		for _, key := range a.keys {
			if got, ok := keyNamed(key); got != key || !ok {
				t.Errorf("our own %q is read as %q", key, got)
			}
		}
	}
}

// The typewriter is never more than a quarter of a second behind, and catches up
// (F47).
func TestTypewriter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, at := still(t, &desk{}), time.Unix(100, 0)
		m, _ = m.update(tea.WindowSizeMsg{Width: 100, Height: 50})
		m, _ = m.update(outputs{heardOf([]event.Event{{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("q")}}, {At: at, Data: event.MessageStart{MessageID: "a"}}}), at})
		var said strings.Builder
		due := map[time.Time]int{}
		for range rapid.IntRange(1, 60).Draw(rt, "frames") {
			at = at.Add(frame)
			var batch []event.Event
			for range rapid.IntRange(0, 5).Draw(rt, "deltas") {
				piece := rapid.StringMatching(`[a-z]{1,12} `).Draw(rt, "piece")
				said.WriteString(piece)
				batch = append(batch, event.Event{At: at, Data: event.TextDelta{Text: piece}})
			}
			m, _ = m.update(outputs{heardOf(batch), at})
			due[at] = len(strings.ReplaceAll(said.String(), " ", ""))
			shown := visible(m)
			for moment, letters := range due {
				if at.Sub(moment) >= 250*time.Millisecond {
					if got := len(shown); got < letters {
						rt.Fatalf("%v after they came %d of %d letters are shown", at.Sub(moment), got, letters)
					}
					delete(due, moment)
				}
			}
		}
	})
}

// visible is the letters of the answer that are shown, printed or not.
func visible(m Model) string {
	_, f := m.frame()
	var b strings.Builder
	for _, l := range append(f.Above, m.transcript.Tail(50, 0)...) {
		for _, r := range ansi.Strip(l) {
			if r >= 'a' && r <= 'z' {
				b.WriteRune(r)
			}
		}
	}
	return strings.TrimPrefix(b.String(), "q")
}

// long is a session of 10,000 messages, and an answer that is arriving.
func long(b *testing.B, streaming bool) Model {
	m := still(b, &desk{})
	m, _ = m.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	at := time.Unix(0, 0)
	for range 5000 {
		m, _ = m.update(outputs{heardOf([]event.Event{
			{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("a question")}},
			{At: at, Data: event.AssistantMessage{ID: "a", Content: event.Parts{event.Text{Text: "An answer."}}, StopReason: event.EndTurn}},
		}), at})
		m, _ = m.frame()
	}
	if streaming {
		m, _ = m.update(outputs{heardOf([]event.Event{{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("more")}}, {At: at, Data: event.MessageStart{MessageID: "b"}}}), at})
	}
	return m
}

// The time from a key to the frame that shows it, in a long session.
func BenchmarkKeyEcho(b *testing.B) {
	m := long(b, false)
	k := tea.KeyPressMsg{Code: 'x', Text: "x"}
	n := 0
	for b.Loop() {
		if n++; n%200 == 0 {
			m.composer = m.composer.Reset()
		}
		m, _ = m.update(k)
		m, _ = m.frame()
	}
}

// A frame of an answer that streams, a few words at a time.
func BenchmarkStreaming(b *testing.B) {
	m := long(b, true)
	words := strings.SplitAfter("Some **words** of an answer that goes on and on, with `code` and a list.\n\n- one\n- two\n\n", " ")
	at := time.Unix(0, 0)
	n := 0
	for b.Loop() {
		n++
		at = at.Add(frame)
		batch := make([]event.Event, 6)
		for i := range batch {
			batch[i] = event.Event{At: at, Data: event.TextDelta{Text: words[(n*6+i)%len(words)]}}
		}
		m, _ = m.update(outputs{heardOf(batch), at})
		m, _ = m.frame()
	}
}

// A frame when nothing has changed.
func BenchmarkView(b *testing.B) {
	m := long(b, false)
	for b.Loop() {
		_ = m.View()
	}
}

// heardOf are events of the only agent there is.
func heardOf(events []event.Event) []spoken {
	all := make([]spoken, len(events))
	for i, e := range events {
		all[i].Event = e
	}
	return all
}
