package transcript

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentx/engine/event"
	"agentx/tui/markdown"
	"agentx/tui/text"
)

// A message is an answer that is arriving.
type message struct {
	id       string
	streamed bool // pieces of it have come
	said     bool // a word or a call was among them
	mused    bool // a thought was

	doc    *markdown.Doc // nil between texts
	source []string      // of doc, to lay it out anew
	marked bool          // its mark has been drawn
	skip   int           // ink of doc that are printed in another width

	thinking bool
	since    time.Time // when the thought began
	thought  string    // its end, as much as can be shown
	mind     []string  // its beginning, as much as is kept
	thoughts int       // bytes of it
	cleaner  text.Cleaner
}

func (m Model) begin(d event.MessageStart) Model {
	m.message = message{id: d.MessageID}
	return m
}

// say adds to the answer's text.
func (m Model) say(at time.Time, s string) Model {
	m = m.endThought(at).flushCalls(true)
	m.message.streamed = true
	if m.message.doc == nil {
		if strings.TrimSpace(s) == "" {
			return m
		}
		m.message.said = true
		m = m.apart()
		m.message.doc, m.message.source = markdown.New(m.inner(), *m.look.theme).Measure(m.config.Measure).Literal(m.config.ASCII), nil
	}
	m.message.source = append(m.message.source, s)
	m.message.doc.Append(s)
	return m.takeDoc()
}

// takeDoc prints the lines of the text that have become final.
func (m Model) takeDoc() Model {
	return m.printText(m.message.doc.Take())
}

func (m Model) printText(lines []string) Model {
	if m.message.skip > 0 {
		lines, m.message.skip = skip(lines, m.message.skip)
	}
	for _, line := range lines {
		m = m.print(m.gutter(line))
		m.message.marked = true
	}
	return m
}

// gutter sets a line of the answer beside the margin that only we draw in.
func (m Model) gutter(line string) string {
	switch {
	case !m.message.marked:
		return m.look.agent + " " + line
	case line == "":
		return ""
	}
	return margin + line
}

func (m Model) endText() Model {
	if m.message.doc == nil {
		return m
	}
	m.message.doc.Close()
	m = m.takeDoc()
	m.message.doc, m.message.source, m.message.skip, m.message.marked = nil, nil, 0, false
	return m
}

// relay lays the text out for another width or theme. What was printed is not
// printed again: it is found by its ink, which no layout changes.
func (m Model) relay() Model {
	g := m.message
	if g.doc == nil {
		return m
	}
	said, tail := strings.Join(g.source, ""), ink(g.doc.Tail(everything))
	g.doc, g.source = markdown.New(m.inner(), *m.look.theme).Measure(m.config.Measure).Literal(m.config.ASCII), []string{said}
	g.doc.Append(said)
	lines := g.doc.Take()
	g.skip = max(0, ink(lines)+ink(g.doc.Tail(everything))-tail)
	m.message = g
	return m.printText(lines)
}

const everything = 1 << 20 // rows

// skip drops the lines that hold the first n pieces of ink, and says how many of
// those are still to come. A line that holds both stays.
func skip(lines []string, n int) ([]string, int) {
	for len(lines) > 0 && n > 0 {
		has := ink(lines[:1])
		if has > n {
			return lines, 0
		}
		lines, n = lines[1:], n-has
	}
	return lines, n
}

func ink(lines []string) int {
	n := 0
	for _, line := range lines {
		for _, r := range ansi.Strip(line) {
			if r > ' ' && (r < 0x2066 || r > 0x2069) && (r < 0x2500 || r > 0x257f) && r != '•' && r != '…' { // no frames and marks of a layout
				n++
			}
		}
	}
	return n
}

// tail is what is not finished, at most n rows of it.
func (g message) tail(m Model, n int) []string {
	if g.thinking {
		return m.thoughtTail(n)
	}
	if g.doc == nil {
		return nil
	}
	lines := g.doc.Tail(n)
	if g.skip > 0 {
		lines, _ = skip(g.doc.Tail(everything), g.skip)
		lines = lines[max(0, len(lines)-n):]
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = m.gutter(line)
		m.message.marked = true
	}
	return out
}
