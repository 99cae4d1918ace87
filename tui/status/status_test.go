package status_test

import (
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui/status"
	"agentx/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

// A turn as the status line tells it, second by second (F47).
func TestWords(t *testing.T) {
	m, start := status.New(false, true), time.Unix(1000, 0)
	th := theme.Plain()
	for _, step := range []struct {
		at   time.Duration
		data event.Data
		want string
	}{
		{0, event.UserMessage{ID: "u"}, "⠋ waiting · 0 s · esc to stop"},
		{time.Second, event.Retrying{Attempt: 1, MaxAttempts: 4, DelayMs: 3000, Reason: "429"}, "⠋ retrying in 3 s (1 of 4) · 429 · 1 s · esc to stop"},
		{4 * time.Second, event.ConversationStart{}, "⠋ waiting · 4 s · esc to stop"},
		{5 * time.Second, event.ConversationThinking{}, "⠋ thinking · 5 s · esc to stop"},
		{20 * time.Second, nil, "⠋ thinking · no data for 15 s · 20 s · esc to stop"},
		{21 * time.Second, event.ThinkingDelta{Text: strings.Repeat("hm, ", 20)}, "⠋ thinking · 21 s · ~20 tokens · esc to stop"},
		{22 * time.Second, event.ToolExecuting{ToolName: "rm\x1b[2J"}, "⠋ calling rm␛[2J · 22 s · ~20 tokens · esc to stop"},
		{82 * time.Second, nil, "⠋ calling rm␛[2J · 1 min 22 s · ~20 tokens · esc to stop"},
		{83 * time.Second, event.ToolCompleted{}, "⠋ waiting · 1 min 23 s · ~20 tokens · esc to stop"},
		{84 * time.Second, event.ConversationEnd{}, ""},
	} {
		now := start.Add(step.at)
		if step.data != nil {
			m = m.Apply(event.Event{At: now, Data: step.data})
		}
		if got := ansi.Strip(m.View(80, now, &th, "esc")); got != step.want {
			t.Errorf("after %v: %q, want %q", step.at, got, step.want)
		}
	}
}

// In a narrow window the least dear goes first.
func TestNarrow(t *testing.T) {
	th, start := theme.Plain(), time.Unix(1000, 0)
	m := status.New(true, true).Begin(start)
	m = m.Apply(event.Event{At: start, Data: event.TextDelta{Text: strings.Repeat("x", 400)}})
	for width, want := range map[int]string{60: "| sending · 2 s · ~100 tokens · esc to stop", 40: "| sending · 2 s · esc to stop", 25: "| sending · esc to stop", 12: "| sending", 5: "| se…", 1: "…", 0: ""} {
		if got := ansi.Strip(m.View(width, start.Add(2*time.Second), &th, "esc")); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// Why something is tried again takes the room that is left, before for how long:
// and how to stop it stays in sight.
func TestNarrowReason(t *testing.T) {
	th, start := theme.Plain(), time.Unix(1000, 0)
	m := status.New(true, true).Begin(start)
	m = m.Apply(event.Event{At: start, Data: event.Retrying{Attempt: 2, MaxAttempts: 4, DelayMs: 5000, Reason: "openai is overloaded (503): The model is overloaded, please try again later"}})
	for width, want := range map[int]string{
		120: "| retrying in 5 s (2 of 4) · openai is overloaded (503): The model is overloaded, please try again … · 0 s · esc to stop",
		80:  "| retrying in 5 s (2 of 4) · openai is overloaded (503): Th… · 0 s · esc to stop",
		60:  "| retrying in 5 s (2 of 4) · openai is overlo… · esc to stop",
		40:  "| retrying in 5 s (2 of 4) · esc to stop",
	} {
		if got := ansi.Strip(m.View(width, start, &th, "esc")); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}
