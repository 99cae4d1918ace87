// Package footer adds up what a conversation takes: context, tokens, money. It
// reads turn events, and of messages only what they used.
package footer

import (
	"fmt"
	"strings"

	"agentx/engine/event"
	"agentx/tui/text"
	"agentx/tui/theme"
)

// Model is a line of totals.
type Model struct {
	model   string
	window  int64 // tokens the model can read; 0 unknown
	context int64 // tokens the next request will at least carry

	total event.Usage
	cost  event.USD
	turns int
	dark  int // turns whose cost is unknown
	last  event.TurnResponse
}

// New returns the footer of a conversation that begins. Window is the number of
// tokens that the model can read, 0 where nobody knows.
func New(model string, window int64) Model { return Model{model: model, window: window} }

// SetModel says which model answers from now on.
func (m Model) SetModel(model string, window int64) Model {
	m.model, m.window = model, window
	return m
}

// Add counts turns that are not shown.
func (m Model) Add(u event.Usage, cost event.USD, turns, unpriced int) Model {
	m.total, m.cost = m.total.Add(u), m.cost+cost
	m.turns, m.dark = m.turns+turns, m.dark+unpriced
	return m
}

// Apply adds one event.
func (m Model) Apply(e event.Event) Model {
	switch d := e.Data.(type) {
	case event.AssistantMessage:
		if d.Usage != nil && d.Usage.Context() > 0 {
			m.context = d.Usage.Context()
		}
	case event.TurnResponse:
		m.last, m.turns, m.total = d, m.turns+1, m.total.Add(d.Usage)
		switch {
		case d.CostUSD != nil:
			m.cost += *d.CostUSD
		case d.Unpriced():
			m.dark++
		}
	}
	return m
}

// View draws the line. What does not fit is left out, the least dear first.
func (m Model) View(width int, th *theme.Theme) string {
	fields := m.fields()
	for len(fields) > 1 && text.Width(line(fields)) > width {
		fields = drop(fields)
	}
	return th.Footer.Render(text.Truncate(line(fields), width))
}

// A field is a piece of the line; the lower its rank, the dearer it is.
type field struct {
	rank int
	text string
}

func line(fields []field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.text
	}
	return strings.Join(texts, " · ")
}

func drop(fields []field) []field {
	worst := 0
	for i, f := range fields {
		if f.rank >= fields[worst].rank {
			worst = i
		}
	}
	return append(fields[:worst:worst], fields[worst+1:]...)
}

func (m Model) fields() []field {
	var out []field
	add := func(rank int, s string) {
		if s != "" {
			out = append(out, field{rank, s})
		}
	}
	add(0, text.Line(m.model))
	add(1, m.used())
	if m.turns > 0 {
		add(3, tokens(m.total))
		add(5, cached(m.total))
		add(2, m.spent())
		add(4, m.lastCost())
		add(6, m.speed())
	}
	return out
}

// Used is how much of what the model can read is used, in percent; 0 where
// nobody knows.
func (m Model) Used() int {
	if m.window <= 0 {
		return 0
	}
	return int(min(m.context*100/m.window, 999))
}

func (m Model) used() string {
	switch {
	case m.context == 0:
		return ""
	case m.window <= 0:
		return count(m.context) + " context"
	}
	return fmt.Sprintf("%d%% of %s", m.Used(), count(m.window))
}

func tokens(u event.Usage) string {
	if u == (event.Usage{}) {
		return ""
	}
	return count(u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens) + " in " + count(u.OutputTokens) + " out"
}

func cached(u event.Usage) string {
	if u.CacheReadTokens == 0 {
		return ""
	}
	return count(u.CacheReadTokens) + " cached"
}

func (m Model) spent() string {
	switch {
	case m.total == event.Usage{} && m.dark == 0:
		return ""
	case m.dark > 0 && m.cost == 0:
		return "cost unknown"
	case m.dark > 0:
		return Money(m.cost) + " + unknown"
	}
	return Money(m.cost)
}

func (m Model) lastCost() string {
	if m.last.CostUSD == nil || m.cost == 0 || m.turns < 2 {
		return ""
	}
	return "last " + Money(*m.last.CostUSD)
}

func (m Model) speed() string {
	d := m.last.DurationMs
	if m.last.TimeToFirstTokenMs != nil {
		d -= *m.last.TimeToFirstTokenMs
	}
	if d < 100 || m.last.Usage.OutputTokens == 0 {
		return ""
	}
	return fmt.Sprintf("%d tok/s", m.last.Usage.OutputTokens*1000/d)
}

// Money is an amount in dollars, with as many places as it takes to see it.
func Money(a event.USD) string {
	d := a.Dollars()
	switch {
	case a == 0:
		return "$0"
	case d < 0.0001:
		return "<$0.0001"
	case d < 0.01:
		return fmt.Sprintf("$%.4f", d)
	case d < 1:
		return fmt.Sprintf("$%.3f", d)
	}
	return fmt.Sprintf("$%.2f", d)
}

// count is a number of tokens, short.
func count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Rows are the totals in words, for whoever asks what it cost.
func (m Model) Rows() [][2]string {
	rows := [][2]string{
		{"model", text.Line(m.model)},
		{"context", strings.Replace(m.used(), " context", " tokens", 1)},
		{"turns", fmt.Sprint(m.turns)},
		{"tokens read", fmt.Sprint(m.total.InputTokens)},
		{"read from cache", fmt.Sprint(m.total.CacheReadTokens)},
		{"written to cache", fmt.Sprint(m.total.CacheWriteTokens)},
		{"tokens written", fmt.Sprint(m.total.OutputTokens)},
		{"of that reasoning", fmt.Sprint(m.total.ReasoningTokens)},
		{"this session", m.spent()},
		{"last turn", "unknown"},
	}
	if m.last.CostUSD != nil {
		rows[len(rows)-1][1] = Money(*m.last.CostUSD)
	}
	return rows
}
