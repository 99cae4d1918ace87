package footer_test

import (
	"testing"

	"agentx/engine/event"
	"agentx/tui/footer"
	"agentx/tui/text"
	"agentx/tui/theme"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func turn(u event.Usage, cost *event.USD) event.Event {
	return event.Event{Data: event.TurnResponse{Usage: u, CostUSD: cost, DurationMs: 2500, TimeToFirstTokenMs: new(int64(500))}}
}

// A session as the footer counts it (F47).
func TestTotals(t *testing.T) {
	th := theme.Plain()
	m := footer.New("test/model", 200_000)
	for _, step := range []struct {
		event event.Event
		want  string
	}{
		{event.Event{Data: event.UserMessage{}}, "test/model"},
		{event.Event{Data: event.AssistantMessage{Usage: &event.Usage{InputTokens: 20_000, OutputTokens: 500}}}, "test/model · 10% of 200k"},
		{turn(event.Usage{InputTokens: 20_000, OutputTokens: 500}, new(event.Dollar/100)), "test/model · 10% of 200k · 20k in 500 out · $0.010 · 250 tok/s"},
		{turn(event.Usage{InputTokens: 1000, CacheReadTokens: 20_000, OutputTokens: 700}, new(event.Dollar)), "test/model · 10% of 200k · 41k in 1.2k out · 20k cached · $1.01 · last $1.00 · 350 tok/s"},
		{turn(event.Usage{InputTokens: 10, OutputTokens: 2}, nil), "test/model · 10% of 200k · 41k in 1.2k out · 20k cached · $1.01 + unknown · 1 tok/s"},
	} {
		m = m.Apply(step.event)
		if got := ansi.Strip(m.View(120, &th)); got != step.want {
			t.Errorf("after %s: %q, want %q", step.event.Data.Type(), got, step.want)
		}
	}
	for width, want := range map[int]string{60: "test/model · 10% of 200k · 41k in 1.2k out · $1.01 + unknown", 30: "test/model · 10% of 200k", 12: "test/model", 4: "tes…"} {
		if got := ansi.Strip(m.View(width, &th)); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

func TestUnknownCost(t *testing.T) {
	th := theme.Plain()
	m := footer.New("local", 0).Apply(turn(event.Usage{InputTokens: 10, OutputTokens: 20}, nil))
	if got, want := ansi.Strip(m.View(80, &th)), "local · 10 in 20 out · cost unknown · 10 tok/s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Nothing that a provider counts, and no width, breaks the line.
func TestNonsense(t *testing.T) {
	th := theme.Dark()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64()
		u := event.Usage{InputTokens: n.Draw(t, "in"), OutputTokens: n.Draw(t, "out"), CacheReadTokens: n.Draw(t, "cached")}
		width := rapid.IntRange(0, 100).Draw(t, "width")
		m := footer.New(rapid.String().Draw(t, "model"), n.Draw(t, "window")).Apply(turn(u, new(event.USD(n.Draw(t, "cost"))))).
			Apply(event.Event{Data: event.AssistantMessage{Usage: &u}})
		if got := m.View(width, &th); text.Width(got) > width {
			t.Fatalf("%q in %d columns", got, width)
		}
	})
}
