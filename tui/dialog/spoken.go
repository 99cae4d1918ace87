package dialog

import (
	"strconv"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// Spoken is the dialog in lines to be read one after the other, its choices with
// numbers, and how to answer. [Model.Hear] takes the answer; where there is none
// to give, asks is false.
func (m Model) Spoken() (lines []string, asks bool) {
	q := m.question
	title := text.Line(q.title)
	if !strings.HasSuffix(title, "?") {
		title += ":"
	}
	lines = append(lines, title)
	if body := strings.TrimRight(text.Clean(q.body[:min(len(q.body), maxBody)]), "\n"); body != "" {
		lines = append(lines, strings.Split(body, "\n")...)
	}
	for _, r := range q.rows {
		line := text.Line(r.Left)
		if r.Right != "" {
			line += ": " + text.Line(r.Right)
		}
		lines = append(lines, line)
	}
	switch q.kind {
	case asking:
		for i, c := range q.confirm.Choices {
			lines = append(lines, strconv.Itoa(i+1)+". "+text.Line(c.Label))
		}
		return append(lines, "Answer with a number; an empty line changes nothing."), true
	case writing:
		if q.prompt.Secret {
			return append(lines, "What is written here would be seen, so it cannot be asked for in plain lines."), false
		}
		if now := m.field.text(); now != "" {
			lines = append(lines, "Now: "+text.Line(now))
		}
		says := "An empty line leaves it as it is."
		if q.prompt.Empty {
			says = "An empty line leaves it as it is, a single - empties it."
		}
		return append(lines, says), true
	}
	return lines, false
}

// Hear takes a line as an answer to [Model.Spoken]. Out is as Update's; where the
// line is no answer it is nil.
func (m Model) Hear(line string) (Model, tea.Msg) {
	q := m.question
	line = strings.TrimSpace(line)
	switch {
	case line == "" || q.kind == reading || q.prompt.Secret:
		return m, Closed{ID: q.id}
	case q.kind == writing && line == "-" && q.prompt.Empty:
		return m, Answer{ID: q.id}
	case q.kind == writing:
		return m, Answer{ID: q.id, Text: line}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(line, "."))
	if err != nil || n < 1 || n > len(q.confirm.Choices) {
		return m, nil
	}
	return m.answer(n - 1)
}
