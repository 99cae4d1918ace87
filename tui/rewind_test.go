package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
	"agentx/tui/replay"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// reelOf is a film that a test makes.
type reelOf []Moment

func (f reelOf) Len() int            { return len(f) }
func (f reelOf) Moment(n int) Moment { return f[n] }

// filmed puts inputs through the machine, as a recording has them.
func filmed(inputs []event.Event) reelOf {
	var s engine.State
	var f reelOf
	for i, in := range inputs {
		var all []event.Event
		for e := range mealy.Follow(engine.Step, &s, in) {
			all = append(all, e)
		}
		f = append(f, Moment{Line: i + 2, In: in, Outs: all[1:], State: []replay.Field{
			{Name: "phase", Value: s.Phase().String()}, {Name: "bytes", Value: fmt.Sprint(s.Summary().Bytes)},
		}})
	}
	return f
}

// story is two turns, 100 ms from piece to piece, a minute between the turns.
func story() reelOf {
	at := time.UnixMilli(1000)
	var inputs []event.Event
	say := func(d event.Data) {
		inputs = append(inputs, event.Event{At: at, Data: d})
		at = at.Add(100 * time.Millisecond)
	}
	say(event.UserMessage{ID: "u1", Content: event.Say("What is a monad?")})
	say(event.MessageStart{MessageID: "m1", Model: "mock"})
	say(event.ToolUseStart{ToolCallID: "c1", ToolName: "look_up"})
	say(event.InputJSONDelta{PartialJSON: `{"word":"monad"}`})
	say(event.ToolUseStop{ToolCallID: "c1"})
	say(event.ToolResult{ToolCallID: "c1", Result: event.Output{Text: "a burrito"}})
	say(event.TextDelta{Text: "A monad is "})
	say(event.TextDelta{Text: "**a burrito**."})
	say(event.MessageStop{StopReason: event.EndTurn})
	at = at.Add(time.Minute)
	say(event.UserMessage{ID: "u2", Content: event.Say("Thank you")})
	say(event.MessageStart{MessageID: "m2", Model: "mock"})
	say(event.TextDelta{Text: "You are welcome."})
	say(event.MessageStop{StopReason: event.EndTurn})
	return filmed(inputs)
}

// shown is a projector with a film in it, 64 by 20, and what it shows.
func shown(t *testing.T, f Film, speed float64) projector {
	t.Helper()
	plain := colorprofile.ASCII
	m := newProjector(FilmOptions{Film: f, Speed: speed}, newPrefs(Options{Env: []string{"LANG=C.UTF-8"}, Profile: &plain}))
	return m.resize(64, 20)
}

func picture(m projector) string {
	var rows []string
	for row := range strings.Lines(m.View().Content) {
		rows = append(rows, strings.TrimRight(ansi.Strip(row), " \n"))
	}
	return strings.Join(rows, "\n")
}

func pressed(m projector, keys ...string) projector {
	for _, key := range keys {
		next, _ := m.press(key)
		m = next.(projector)
	}
	return m
}

// The arrow keys go to and fro in what was said, and below it stands what
// happened in the machine.
func TestSteppingThroughAFilm(t *testing.T) {
	m := pressed(shown(t, story(), 1), "home", "right", "right", "right", "right", "right")
	want := `› What is a monad?

⠋ look_up  monad









────────────────────────────────────────────────────────────────
▮▮ stopped  step 5 of 13 · 0:00.400 · 1× · line 6
in    tool_use_stop  {"toolCallId":"c1"}
out   tool_call_message  {"role":"assistant","id":"m1/c1","tool…
      tool_executing  {"toolId":"c1","toolName":"look_up","inpu…

state phase awaiting_tool_result · bytes 16
Space play · ← → step · [ ] message · Home End · q quit`
	if diff := cmp.Diff(want, picture(m)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, c := range []struct {
		keys  []string
		at    int
		shows string
	}{
		{[]string{"right"}, 6, "✓ look_up  monad → a burrito"},
		{[]string{"right"}, 7, "● A monad is"},
		{[]string{"left", "left"}, 5, "⠋ look_up  monad"},
		{[]string{"]"}, 10, "› Thank you"},
		{[]string{"]"}, 11, "in    message_start"},
		{[]string{"[", "["}, 2, "in    message_start"},
		{[]string{"end"}, 13, "● You are welcome."},
		{[]string{"right"}, 13, `turn_response  {"turnId":"turn_u2"`},
		{[]string{"home"}, 0, "nothing has happened yet"},
		{[]string{"left"}, 0, "as in the beginning"},
	} {
		m = pressed(m, c.keys...)
		if m.reel.at != c.at || !strings.Contains(picture(m), c.shows) {
			t.Errorf("%v leads to step %d, want %d with %q:\n%s", c.keys, m.reel.at, c.at, c.shows, picture(m))
		}
	}
}

// A film runs at its own pace, faster when asked, and stands still for no longer
// than two seconds where people were thinking.
func TestAFilmRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			speed float64
			takes time.Duration
		}{{1, 3100 * time.Millisecond}, {2, 1550 * time.Millisecond}, {0.5, 6200 * time.Millisecond}} {
			began := time.Now()
			m := shown(t, story(), c.speed)
			var model tea.Model = m
			for cmd := m.Init(); cmd != nil; {
				msg := cmd()
				if batch, ok := msg.(tea.BatchMsg); ok {
					msg = batch[len(batch)-1]()
				}
				model, cmd = model.Update(msg)
			}
			m = model.(projector)
			if took := time.Since(began); m.reel.at != 13 || m.playing || took < c.takes-100*time.Millisecond || took > c.takes+200*time.Millisecond {
				t.Errorf("speed %v: step %d after %v, want 13 after %v", c.speed, m.reel.at, took, c.takes)
			}
		}
	})
}

// Space at the end begins again; a clock from before a stop counts no more.
func TestStopAndGo(t *testing.T) {
	m := shown(t, story(), 0)
	if m.reel.at != 13 || m.playing {
		t.Errorf("at once is step %d, playing %t", m.reel.at, m.playing)
	}
	m = pressed(m, "space")
	if m.reel.at != 0 || !m.playing {
		t.Errorf("Space at the end leads to step %d, playing %t", m.reel.at, m.playing)
	}
	old := m.tick
	m = pressed(m, "space", "space", "+", "+")
	next, _ := m.Update(turning{old, time.UnixMilli(1)})
	if got := next.(projector); got.reel.at != 0 || got.speed != 4 {
		t.Errorf("an old clock leads to step %d, speed %v", got.reel.at, got.speed)
	}
	for _, key := range []string{"q", "esc", "ctrl+c"} {
		if _, cmd := m.press(key); cmd == nil || cmd() != (tea.QuitMsg{}) {
			t.Errorf("%s does not leave", key)
		}
	}
}

// Wherever one goes in a film, and by whatever way, it looks as if one had come
// there straight; so it does in every recorded conversation.
func TestToAndFro(t *testing.T) {
	for _, tr := range enginetest.Traces(t, "../testdata/traces/*.txtar") {
		f := filmed(causes(tr.Run(t)))
		th := newPrefs(Options{Theme: "dark"}).theme
		straight := make([][]string, len(f)+1)
		for n := range straight {
			straight[n] = newReel(f, th, false, 60, 30).to(n).rows(25, 0)
		}
		rapid.Check(t, func(t *rapid.T) {
			r := newReel(f, th, false, 60, 30)
			r.between = rapid.IntRange(1, 5).Draw(t, "between")
			for range 12 {
				n := rapid.IntRange(0, len(f)).Draw(t, "step")
				if r = r.to(n); !slices.Equal(r.rows(25, 0), straight[n]) {
					t.Fatalf("%s: step %d looks like\n%s\nand straight like\n%s", tr.Name, n, strings.Join(r.rows(25, 0), "\n"), strings.Join(straight[n], "\n"))
				}
			}
		})
	}
}

// causes are the inputs among events.
func causes(events []event.Event) []event.Event {
	var all []event.Event
	for _, e := range events {
		_, said := e.Data.(event.UserMessage)
		if said || event.LayerOf(e.Data) == event.StreamLayer {
			all = append(all, e)
		}
	}
	return all
}

// longFilm is an answer in n pieces, with all that markdown has.
func longFilm(n int) reelOf {
	at := time.UnixMilli(1000)
	inputs := []event.Event{{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("Hello")}}, {At: at, Data: event.MessageStart{MessageID: "m"}}}
	for i := range n - 2 {
		s := fmt.Sprintf("word%d ", i%10)
		switch {
		case i%200 == 0:
			s = "\n\n## Heading\n\n"
		case i%97 == 0:
			s = "\n\n```go\nfunc main() { x := 1 }\n```\n\n"
		case i%50 == 0:
			s = "\n\n- item\n- [link](https://example.org)\n\n"
		}
		inputs = append(inputs, event.Event{At: at, Data: event.TextDelta{Text: s}})
	}
	return filmed(inputs)
}

// A step back in a film of ten thousand steps, at its end. The baseline plays it
// from the beginning.
func BenchmarkStepBack(b *testing.B) {
	th := newPrefs(Options{Theme: "dark"}).theme
	for _, n := range []int{1_000, 10_000} {
		f := longFilm(n)
		b.Run(fmt.Sprint("reel/", n), func(b *testing.B) {
			r := newReel(f, th, false, 100, 40).to(n)
			for b.Loop() {
				if r = r.to(r.at - 1); r.at < n/2 {
					r = r.to(n)
				}
				r.rows(32, 0)
			}
		})
		b.Run(fmt.Sprint("anew/", n), func(b *testing.B) {
			for b.Loop() {
				newReel(f, th, false, 100, 40).to(n-1).rows(32, 0)
			}
		})
	}
}
