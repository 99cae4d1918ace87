package replay

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
	"agentx/tui/theme"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What the strip shows of a step, with room and without.
func TestStrip(t *testing.T) {
	s := Step{
		N: 7, Of: 20, Line: 8, At: 62*time.Second + 5*time.Millisecond, Playing: true, Speed: 0.5,
		In: event.Event{Data: event.MessageStop{StopReason: event.EndTurn}},
		Outs: []event.Event{
			{Data: event.ConversationEnd{Reason: event.EndCompleted}}, {Data: event.ConversationResponding{}},
			{Data: event.ConversationThinking{}}, {Data: event.ConversationQueued{MessageID: "u"}},
		},
		State: []Field{{Value: "idle"}, {Name: "bytes", Value: "0"}, {Name: "calls", Value: "2"}},
	}
	plain := theme.Plain()
	for _, c := range []struct {
		width, rows int
		ascii       bool
		want        string
	}{
		{60, 8, false, `────────────────────────────────────────────────────────────
▶  playing  step 7 of 20 · 1:02.005 · 0.5× · line 8
in    message_stop  {"stopReason":"end_turn"}
out   conversation_end  {"reason":"completed"}
      conversation_responding  {}
      and 2 more: conversation_thinking, conversation_queued
state idle · calls 2
Space stop · ← → step · [ ] message · Home End · q quit`},
		{30, 5, true, `------------------------------
>  playing  step 7 of 20 - 1:…
in    message_stop  {"stopRea…
state idle - calls 2
Space stop - q quit`},
		{12, 2, true, "------------\n>  playing …"},
	} {
		got := View(s, c.width, c.rows, Look{&plain, c.ascii})
		for i, row := range got {
			got[i] = strings.TrimRight(ansi.Strip(row), " ")
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%d by %d: -want +got\n%s", c.width, c.rows, diff)
		}
	}
}

// However small the screen and whatever a recording says, the strip keeps to its
// place, and no escape gets out.
func TestStripKeepsToItsPlace(t *testing.T) {
	plain := theme.Plain()
	hostile := rapid.SampledFrom([]string{"x", "\x1b[2J", "\u009b2J", "\n", "\r", "\u202e", "漢字", "👩‍👩‍👧", strings.Repeat("long ", 500)})
	style := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	rapid.Check(t, func(t *rapid.T) {
		screen, width := rapid.IntRange(1, 60).Draw(t, "screen"), rapid.IntRange(1, 200).Draw(t, "width")
		said := hostile.Draw(t, "said") + hostile.Draw(t, "more")
		s := Step{
			N: 1, Of: 1, Speed: 1, Playing: rapid.Bool().Draw(t, "playing"),
			In:    event.Event{Data: event.TextDelta{Text: said}},
			State: []Field{{Name: said, Value: said}},
		}
		for range rapid.IntRange(0, 9).Draw(t, "outputs") {
			s.Outs = append(s.Outs, event.Event{Data: event.Unknown{Name: said, Raw: []byte(`"` + said + `"`)}})
		}
		rows := Rows(screen)
		if rows >= screen {
			t.Fatalf("%d rows of a screen of %d", rows, screen)
		}
		got := View(s, width, rows, Look{Theme: &plain})
		if len(got) != rows {
			t.Fatalf("%d rows, want %d:\n%s", len(got), rows, strings.Join(got, "\n"))
		}
		for _, row := range got {
			if text.Width(row) > width || strings.ContainsAny(style.ReplaceAllString(row, ""), "\x1b\n\r\u009b\u202e") {
				t.Fatalf("a row of %d cells, of %d: %q", text.Width(row), width, row)
			}
		}
	})
}
