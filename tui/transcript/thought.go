package transcript

import (
	"strings"
	"time"

	"agentx/tui/text"
)

// Thoughts say how much is shown of what a model thinks.
type Thoughts int

const (
	Folded Thoughts = iota // one line, when it is over
	Always                 // all of it
	Never                  // nothing
)

const (
	maxThought  = 4       // rows of a thought that runs
	keptThought = 1 << 12 // bytes of it that are kept to draw those
)

// A thought is what a model thought before it went on.
type thought struct {
	text string        // its beginning, as much as is kept
	size int           // bytes of it
	took time.Duration // 0 where nobody has measured it
}

// think adds to what the model thinks. Only its end is shown while it runs.
func (m Model) think(at time.Time, s string) Model {
	if s == "" {
		return m // a signature
	}
	if !m.message.thinking {
		m = m.endText()
		if m.config.Thoughts != Never {
			m = m.apart()
		}
		m.message.thinking, m.message.since = true, at
		m.message.thought, m.message.mind, m.message.cleaner = "", nil, text.Cleaner{}
		m.message.thoughts = 0
	}
	m.message.streamed, m.message.mused = true, true
	if m.message.thoughts < maxFold {
		m.message.mind = append(m.message.mind, s)
	}
	m.message.thoughts += len(s)
	t := m.message.thought + m.message.cleaner.Feed(s)
	if len(t) > 2*keptThought {
		t = strings.ToValidUTF8(t[len(t)-keptThought:], "")
	}
	m.message.thought = t
	return m
}

// thoughtTail is the last n rows of the thought that runs.
func (m Model) thoughtTail(n int) []string {
	switch m.config.Thoughts {
	case Never:
		return nil
	case Folded:
		n = min(n, maxThought)
	}
	rows := m.mused(m.message.thought)
	rows = rows[max(0, len(rows)-n):]
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:] // it stands apart as it is
	}
	return rows
}

// endThought says in a line that the model has thought, or all of what. A zero
// time does not say how long it took.
func (m Model) endThought(at time.Time) Model {
	if !m.message.thinking {
		return m
	}
	t := thought{text: kept(strings.Join(m.message.mind, "")), size: m.message.thoughts}
	if d := at.Sub(m.message.since); !at.IsZero() && !m.message.since.IsZero() && d > 0 {
		t.took = d
	}
	m.message.thinking, m.message.thought, m.message.mind = false, "", nil
	if strings.TrimSpace(t.text) == "" {
		return m
	}
	m = m.fold(t)
	switch {
	case m.unfolded:
		return m.block(m.Line(t)).print(m.Unfolded(t)...)
	case m.config.Thoughts == Never:
		return m
	case m.config.Thoughts == Always:
		return m.block(m.Unfolded(t)...)
	}
	line := m.Line(t)
	if m.config.Unfold != "" && len(m.folds) == 1 {
		line += m.look.muted(text.Truncate(" · "+m.config.Unfold+" shows it", max(m.width-text.Width(line), 0)))
	}
	return m.block(line)
}

// head is what the thought was: how long it took, and its size where that is worth a word.
func (t thought) head() string {
	s := "thought"
	if t.took >= time.Second {
		s += " for " + span(t.took)
	}
	if t.size >= 1000 {
		s += " · " + bytesOf(t.size)
	}
	return s
}

func (t thought) folded(m Model) string {
	return margin + m.look.theme.Thinking.Render(text.Truncate(t.head(), m.inner()))
}

func (t thought) unfolded(m Model) []string { return m.mused(text.Clean(t.body())) }

// body is the thought, and what of it is not kept.
func (t thought) body() string { return strings.TrimSpace(t.text) + missing(t.size, len(t.text)) }

func (t thought) weight() int { return len(t.text) }

// mused lays out what was thought.
func (m Model) mused(s string) []string {
	rows := text.Wrap(expand(strings.TrimSpace(s)), m.measure())
	for i, row := range rows {
		if row != "" {
			rows[i] = margin + m.look.theme.Thinking.Render(text.Isolate(row))
		}
	}
	return rows
}
