package markdown

import (
	"strings"

	"agentx/tui/text"
)

// A display is a formula on lines of its own, between $$ and $$, \[ and \], or the
// beginning and the end of an environment. It is laid out when it has ended; one
// that does not is shown as it was written.
type display struct {
	gap   bool
	text  []byte
	mark  int    // how much of its beginning is no more than a mark
	end   string // what ends it
	ended bool
	after string // the stop behind it
}

func (l *display) clone() leaf {
	c := *l
	c.text = c.text[:len(c.text):len(c.text)]
	return &c
}

// environments are those whose lines are a formula.
const environments = " align aligned alignat array bmatrix cases equation eqnarray gather gathered matrix multline pmatrix split vmatrix "

// displayStart makes a display of the line if it begins one. Within a paragraph a
// mark has to stand alone, or to be ended by the other.
func displayStart(line string, within bool) *display {
	line = strings.TrimRight(line, " \t")
	l := &display{mark: 2}
	switch {
	case strings.HasPrefix(line, "$$"):
		l.end = "$$"
	case strings.HasPrefix(line, `\[`):
		l.end = `\]`
	case strings.HasPrefix(line, `\begin{`):
		env, _, _ := strings.Cut(line[len(`\begin{`):], "}")
		if !strings.Contains(environments, " "+strings.TrimSuffix(env, "*")+" ") {
			return nil
		}
		l.end, l.mark = `\end{`+env+"}", 0
	default:
		return nil
	}
	body := line[l.mark:]
	at := strings.Index(body, l.end)
	switch {
	case body == "" || l.mark == 0 && at < 0:
	case at > 0 && strings.Trim(body[at+len(l.end):], ".,;") == "":
	case at >= 0 || within || l.end == `\]` && strings.Contains(body, "]"):
		return nil
	}
	return l
}

// say takes a line, until one ends the formula.
func (l *display) say(d *Doc, c *cursor) bool {
	if c.blank() {
		return false
	}
	d.blank = false
	line := strings.TrimRight(c.rest, " \t")
	from := len(l.text)
	if from > 0 {
		l.text = append(l.text, '\n')
	} else {
		line = strings.TrimLeft(line, " \t")
		from = l.mark
	}
	l.text = append(l.text, line...)
	at := strings.Index(string(l.text[from:]), l.end)
	if at < 0 && len(l.text) < longFormula {
		return true
	}
	if at >= 0 {
		l.after = string(l.text[from+at+len(l.end):])
		l.ended = strings.Trim(l.after, ".,;") == ""
	}
	d.leaf = nil
	l.close(d)
	return true
}

func (l *display) close(d *Doc) {
	if said, ok := l.said(d); ok {
		var lines []string
		for row := range strings.SplitSeq(said+l.after, "\n") {
			lines = append(lines, d.row(row)...)
		}
		d.put(true, l.gap, lines...)
		return
	}
	src := string(l.text)
	if l.ended && l.mark > 0 && !d.words.literal {
		src = strings.Trim(src[l.mark:len(src)-len(l.after)-len(l.end)], "\n") + l.after
	}
	var lines []string
	for line := range strings.SplitSeq(src, "\n") {
		lines = append(lines, d.code(nil, line)...)
	}
	d.put(true, l.gap, lines...)
}

// said is a formula that has ended, in letters.
func (l *display) said(d *Doc) (string, bool) {
	if !l.ended || d.words.literal {
		return "", false
	}
	body := string(l.text[l.mark : len(l.text)-len(l.after)])
	if l.mark > 0 {
		body = strings.TrimSuffix(body, l.end)
	}
	return readable(body)
}

// row lays out a row of a formula where code stands.
func (d *Doc) row(s string) []string {
	margin := d.look.codeMargin
	if d.room() < 8*margin {
		margin = 0
	}
	flow := d.draw([]span{{text: s, weight: weight{emph: true}}}, 0)
	lines := carry(text.Wrap(flow, d.room()-margin))
	for i := range lines {
		lines[i] = strings.Repeat(" ", margin) + lines[i]
	}
	return lines
}
