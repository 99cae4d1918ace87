package palette

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// maxSpoken is how many items are read out at once.
const maxSpoken = 20

// Spoken is the palette in lines to be read one after the other: its items with
// numbers, and how to answer. [Model.Hear] takes the answer.
func (m Model) Spoken() []string {
	out := []string{text.Line(m.config.Title) + ":"}
	for i := range min(len(m.found), maxSpoken) {
		it := m.found[i].item
		parts := []string{strings.TrimSpace(it.Title), strings.TrimSpace(it.Detail), strings.TrimSpace(it.Hint)}
		line := strconv.Itoa(i+1) + "."
		for n, part := range parts {
			if part = text.Line(part); part == "" {
				continue
			}
			if n > 0 {
				line += ","
			}
			line += " " + part
		}
		out = append(out, line)
		for _, l := range m.preview(i) {
			out = append(out, "   "+text.Line(l))
		}
	}
	if len(m.found) == 0 {
		out = append(out, cmp.Or(text.Line(m.missing()), "Nothing."))
	}
	if over := len(m.found) - maxSpoken; over > 0 {
		out = append(out, fmt.Sprintf("And %d more.", over))
	}
	return append(out, m.howTo())
}

// howTo says what can be answered.
func (m Model) howTo() string {
	says := "Words narrow the list, an empty line goes back."
	if m.config.Esc != "close" {
		says = "Words narrow the list, an empty line: " + m.config.Esc + "."
	}
	if len(m.found) == 0 {
		return says
	}
	says = "A number: " + m.config.Enter + ". " + says
	if len(m.config.Actions) == 0 {
		return says
	}
	words := make([]string, len(m.config.Actions))
	for i, a := range m.config.Actions {
		words[i] = a.Help + " 1"
	}
	return says + " With the first, for one: " + strings.Join(words, ", ") + "."
}

// Hear takes a line as an answer to [Model.Spoken]: a number chooses, the word of
// an action and a number act, an empty line closes, and other words narrow. Out is
// as Update's.
func (m Model) Hear(line string) (Model, tea.Msg) {
	line = strings.TrimSpace(line)
	if line == "" {
		return m, Closed{}
	}
	if at, ok := m.numbered(line); ok {
		m.at = at
		return m.choose()
	}
	for _, a := range m.config.Actions {
		word, rest, _ := strings.Cut(line, " ")
		if at, ok := m.numbered(rest); ok && strings.EqualFold(word, a.Help) {
			m.at, m.unfolded = at, false
			m, out, _ := m.act(a.Key)
			return m, out
		}
	}
	m, out := m.refine(text.Line(line[:min(len(line), maxFilter)]))
	return m, out
}

// numbered is the item that a number means.
func (m Model) numbered(s string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(s), "."))
	return n - 1, err == nil && n >= 1 && n <= min(len(m.found), maxSpoken)
}
