package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/scroll"
	"agentx/tui/storytest"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// ink is what lines say, wherever they end.
func ink(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		for _, r := range ansi.Strip(l) {
			if r > ' ' && (r < 0x2500 || r > 0x257f) && r != '•' && r != '…' { // no frames and marks of a layout
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// whole is everything that the full screen can show.
func whole(m Model) []string {
	var lines []string
	items := m.transcript.Items()
	for i := range items.Len() {
		lines = append(lines, items.Rows(i)...)
	}
	return lines
}

// Whatever comes, and however often one turns to the full screen and back,
// scrolls, folds and drags the window meanwhile: in the end it shows all that was
// said, each word once, and it was printed as if nobody had turned there (F118).
func TestFullScreenLosesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, at := still(t, &desk{}), time.Unix(0, 0)
		m, _ = m.update(tea.WindowSizeMsg{Width: 80, Height: 20})
		var printed []string
		var said []string
		word := func() string {
			said = append(said, fmt.Sprintf("w%03d", len(said)))
			return said[len(said)-1] + " "
		}
		hear := func(d event.Data) {
			at = at.Add(100 * time.Millisecond)
			m, _ = m.update(outputs{[]spoken{{Event: event.Event{At: at, Data: d}}}, at})
		}
		id := ""
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				m, _ = m.toggleFull()
			case 1:
				m, _ = m.update(tea.WindowSizeMsg{Width: rapid.IntRange(20, 120).Draw(rt, "width"), Height: rapid.IntRange(1, 40).Draw(rt, "height")})
			case 2, 3:
				k := rapid.SampledFrom([]string{"pgup", "pgdown", "home", "end", "alt+up", "alt+down", "shift+tab"}).Draw(rt, "key")
				m, _ = m.update(storytest.Key(k))
			case 4:
				hear(event.UserMessage{ID: "u", Content: event.Say(word())})
				id = ""
			case 5:
				m = m.say(transcript.Info, word())
			default:
				if id == "" {
					id = fmt.Sprint("a", len(said))
					hear(event.MessageStart{MessageID: id})
				}
				for range rapid.IntRange(1, 5).Draw(rt, "deltas") {
					hear(event.TextDelta{Text: word() + rapid.SampledFrom([]string{"", "", "\n\n", "\n- "}).Draw(rt, "gap")})
				}
				if rapid.Bool().Draw(rt, "ends") {
					hear(event.AssistantMessage{ID: id, Content: event.Parts{event.Text{Text: "it has been seen"}}, StopReason: event.EndTurn})
					id = ""
				}
			}
			next, f := m.frame()
			if m = next; len(f.Lines) > m.height {
				rt.Fatalf("%d lines in %d rows", len(f.Lines), m.height)
			}
			printed = append(printed, f.Above...)
		}
		if !m.full.on {
			m, _ = m.toggleFull()
		}
		m.transcript = m.transcript.End()
		shown := whole(m)
		m = m.inline()
		_, f := m.frame()
		printed = append(printed, f.Above...)
		for _, w := range said {
			if n := strings.Count(ink(shown), w); n != 1 {
				rt.Fatalf("%s is shown %d times:\n%s", w, n, strings.Join(shown, "\n"))
			}
			if n := strings.Count(ink(printed), w); n < 1 || n > 2 { // the line that a new width cuts is printed whole
				rt.Fatalf("%s is printed %d times:\n%s", w, n, strings.Join(printed, "\n"))
			}
		}
	})
}

// log is a session of n messages, long ones among them.
func log(n int) []event.Event {
	events := make([]event.Event, 0, n)
	at := time.Unix(0, 0)
	for i := range n {
		d := event.Data(event.UserMessage{ID: fmt.Sprint("u", i), Content: event.Say(fmt.Sprintf("Question %d, and what it is about?", i/2))})
		if i%2 == 1 {
			d = event.AssistantMessage{ID: fmt.Sprint("a", i), StopReason: event.EndTurn, Content: event.Parts{event.Text{Text: strings.Repeat("Some **words** of an answer that goes on, with `code` in it. ", 4) + "\n\n- one\n- two\n"}}}
		}
		events = append(events, event.Event{At: at, Data: d})
	}
	return events
}

// What is in the window stays where it is while pages of the log come, above it and
// below it, wherever they cut a message.
func TestPagesMoveNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := drawLog(rt)
		d := &desk{log: log}
		m := still(t, d)
		m, _ = m.update(tea.WindowSizeMsg{Width: 60, Height: rapid.IntRange(4, 14).Draw(rt, "height")})
		shown := rapid.IntRange(1, len(log)).Draw(rt, "shown")
		first := int64(len(log) - shown + 1)
		m, _ = m.opened(Opened{Model: small, Saved: true, First: first, Earlier: int(first) - 1, Events: log[first-1:]})
		m, _ = m.toggleFull()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			m = m.scrollBy(rapid.IntRange(-30, 10).Draw(rt, "by"))
			items := m.transcript.Items()
			var gaps [][2]int64
			for i := range items.Len() {
				if a, b, gap := items.Missing(i); gap {
					gaps = append(gaps, [2]int64{a, b})
				}
			}
			if len(gaps) == 0 || m.full.view.Following() {
				continue
			}
			gap := rapid.SampledFrom(gaps).Draw(rt, "gap")
			from := rapid.Int64Range(gap[0], gap[1]-1).Draw(rt, "from")
			n := rapid.Int64Range(1, gap[1]-from).Draw(rt, "n")
			was := m.full.view.Rows(items, m.window())
			held, more := [2]map[int]string{{}, {}}, 1 // above the gap, and below it
			for y, r := range was {
				_, _, hole := items.Missing(r.Item)
				if k := items.Key(r.Item); k < gap[0] {
					more--
				} else if k > gap[0] {
					more++
				}
				if hole || strings.TrimSpace(r.Text) == "" || strings.Contains(r.Text, "✓") || strings.Contains(r.Text, "look") || strings.Contains(r.Text, "saved") {
					continue // a result knows its call when that comes, and a failure what there was of the answer
				}
				side := 0
				if items.Key(r.Item) > gap[0] {
					side = 1
				}
				held[side][y] = ansi.Strip(r.Text)
			}
			m = m.fill(from, log[from-1:from-1+n])
			now := m.full.view.Rows(m.transcript.Items(), m.window())
			if len(now) > 0 && now[0].Item == 0 && now[0].N == 0 {
				continue // there is nothing above that it could make room from
			}
			for y, want := range held[min(max(more, 0), 1)] {
				if y >= len(now) || ansi.Strip(now[y].Text) != want {
					rt.Fatalf("row %d was %q; with %d–%d the window shows\n%s\nand showed\n%s", y, want, from, from+n-1, rowsOf(now), rowsOf(was))
				}
			}
		}
	})
}

func rowsOf(rows []scroll.Row) string {
	var b strings.Builder
	for y, r := range rows {
		fmt.Fprintf(&b, "%d: %d.%d %s\n", y, r.Item, r.N, ansi.Strip(r.Text))
	}
	return b.String()
}

// drawLog is a session as its log has it, with all that messages can bring.
func drawLog(t *rapid.T) []event.Event {
	var events []event.Event
	add := func(d event.Data) { events = append(events, event.Event{At: time.Unix(0, 0), Data: d}) }
	for i := range rapid.IntRange(2, 25).Draw(t, "messages") {
		id := fmt.Sprint("m", i)
		add(event.UserMessage{ID: id, Content: event.Say(fmt.Sprintf("Question %d", i) + strings.Repeat(" and more", rapid.IntRange(0, 20).Draw(t, "long")))})
		for k := range rapid.IntRange(0, 2).Draw(t, "calls") {
			call := event.ToolCall{ID: fmt.Sprint("c", i, k), Name: "look", Input: []byte(`{"at":"it"}`)}
			parts := event.Parts{call}
			if rapid.Bool().Draw(t, "talks") {
				parts = event.Parts{event.Text{Text: fmt.Sprint("Let me look ", i, ".", k)}, call}
			}
			add(event.AssistantMessage{ID: fmt.Sprint("a", i, k), Content: parts, StopReason: event.ToolUse})
			add(event.ToolCallMessage{ToolCall: call})
			add(event.ToolResultMessage{ToolCallID: call.ID, ToolResult: event.ToolReturn{Output: event.Output{Text: "seen"}}})
		}
		switch rapid.IntRange(0, 5).Draw(t, "ends") {
		case 0:
			add(event.ErrorMessage{Content: "the line is dead", ErrorCode: event.CodeNetwork})
		case 1:
			add(event.AssistantMessage{ID: fmt.Sprint("b", i), Content: event.Parts{event.Thinking{Text: "hm"}}, StopReason: event.EndTurn})
		default:
			add(event.AssistantMessage{ID: fmt.Sprint("b", i), Content: event.Parts{event.Thinking{Text: "hm"}, event.Text{Text: fmt.Sprintf("Answer %d\n\n- one\n- two", i)}}, StopReason: event.EndTurn})
		}
		add(event.TurnResponse{MessageID: id})
	}
	return events
}

// crowded is the full screen with n messages in memory.
func crowded(b *testing.B, n int) Model {
	m := still(b, &desk{})
	m, _ = m.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	m, _ = m.toggleFull()
	at := time.Unix(0, 0)
	for _, e := range log(n) {
		m.transcript.Items().Add(e)
	}
	m, _ = m.update(outputs{nil, at})
	m, _ = m.frame()
	return m
}

// With 10,000 messages a jump, a new width and a key cost what the window shows;
// the baseline lays out a hundredth of them.
func BenchmarkFullScreen(b *testing.B) {
	const n = 10_000
	run := func(name string, do func(Model, int) Model) {
		b.Run(name, func(b *testing.B) {
			m := crowded(b, n)
			i := 0
			for b.Loop() {
				i++
				m = do(m, i)
				m, _ = m.frame()
			}
		})
	}
	run("jump to the top, cold", func(m Model, i int) Model {
		m.transcript.Items().Hide()
		m.transcript.Items().Show()
		m, _ = m.toTop()
		return m
	})
	run("top and end", func(m Model, i int) Model {
		if i%2 == 0 {
			m, _ = m.toTop()
		} else {
			m, _ = m.toEnd()
		}
		return m
	})
	run("resize", func(m Model, i int) Model {
		m, _ = m.update(tea.WindowSizeMsg{Width: 80 + i%60, Height: 40})
		return m
	})
	run("enter", func(m Model, i int) Model {
		m, _ = m.toggleFull()
		m, _ = m.toggleFull()
		return m
	})
	run("key", func(m Model, i int) Model {
		if i%200 == 0 {
			m.composer = m.composer.Reset()
		}
		m, _ = m.update(tea.KeyPressMsg{Code: 'x', Text: "x"})
		return m
	})
	run("delta", func(m Model, i int) Model {
		at := time.Unix(0, 0).Add(time.Duration(i) * frame)
		if i == 1 {
			m, _ = m.update(outputs{[]spoken{{Event: event.Event{At: at, Data: event.MessageStart{MessageID: "live"}}}}, at})
		}
		gap := ""
		if i%8 == 0 {
			gap = "\n\n"
		}
		m, _ = m.update(outputs{[]spoken{{Event: event.Event{At: at, Data: event.TextDelta{Text: "some words of it " + gap}}}}, at})
		return m
	})
	b.Run("laying out a hundredth", func(b *testing.B) {
		events := log(n / 100)
		for b.Loop() {
			m := still(b, &desk{})
			m, _ = m.update(tea.WindowSizeMsg{Width: 120, Height: 40})
			m.transcript = m.transcript.Replay(events, 0)
		}
	})
}
