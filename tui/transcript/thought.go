package transcript

import (
	"strings"
	"time"

	"agentx/tui/text"
)

const (
	maxThought  = 4       // rows of a thought that runs
	keptThought = 1 << 12 // bytes of it that are kept to draw those
)

// think adds to what the model thinks. Only its end is shown while it runs, and
// how long it took when it is over.
func (m Model) think(at time.Time, s string) Model {
	if s == "" {
		return m // a signature
	}
	if !m.message.thinking {
		m = m.endText().apart()
		m.message.thinking, m.message.since = true, at
		m.message.thought, m.message.cleaner = "", text.Cleaner{}
	}
	m.message.streamed = true
	t := m.message.thought + m.message.cleaner.Feed(s)
	if len(t) > 2*keptThought {
		t = strings.ToValidUTF8(t[len(t)-keptThought:], "")
	}
	m.message.thought = t
	return m
}

// thoughtTail is the thought's last n rows.
func (m Model) thoughtTail(n int) []string {
	rows := text.Wrap(expand(strings.TrimSpace(m.message.thought)), m.measure())
	rows = rows[max(0, len(rows)-n):]
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = margin + m.look.theme.Thinking.Render(row)
	}
	return out
}

// endThought folds the thought to one line. A zero time does not say how long
// it took.
func (m Model) endThought(at time.Time) Model {
	if !m.message.thinking {
		return m
	}
	blank := strings.TrimSpace(m.message.thought) == ""
	since := m.message.since
	m.message.thinking, m.message.thought = false, ""
	if blank {
		return m
	}
	return m.block(margin + m.look.theme.Thinking.Render(folded(since, at)))
}

func folded(since, at time.Time) string {
	if d := at.Sub(since); !at.IsZero() && !since.IsZero() && d >= time.Second {
		return "thought for " + span(d)
	}
	return "thought"
}
