package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentx/tui/text"
	"agentx/tui/theme"
)

// A Code is a block of code, between fences or indented, as it was written.
type Code struct {
	Lang string // where a fence says it
	Text string // without the fences or the indent; it ends with a newline
}

// Codes returns the blocks of code in a text, in their order; those that are
// empty are left out. A block in a list or a quote stands as if it were alone.
func Codes(src string) []Code {
	d := New(80, theme.Plain())
	d.kept = new(codes)
	for line := range strings.Lines(text.Clean(src)) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > maxLine && !d.inCode() && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "\t") {
			line = line[:cutRune(line, maxLine)] // what it begins with says what it is
		}
		d.say(line)
		d.done = nil
	}
	return d.kept.all()
}

// inCode reports whether the last line was one of code.
func (d *Doc) inCode() bool {
	switch d.leaf.(type) {
	case *fence, *indented:
		return true
	}
	return false
}

// codes gathers blocks of code.
type codes struct {
	langs []string
	texts []*strings.Builder
}

func (c *codes) begin(lang string) {
	c.langs, c.texts = append(c.langs, lang), append(c.texts, new(strings.Builder))
}

func (c *codes) line(s string) {
	b := c.texts[len(c.texts)-1]
	b.WriteString(s)
	b.WriteByte('\n')
}

func (c *codes) all() []Code {
	var out []Code
	for i, b := range c.texts {
		if strings.TrimSpace(b.String()) != "" {
			out = append(out, Code{Lang: c.langs[i], Text: b.String()})
		}
	}
	return out
}

// unwrapped is a width at which no line of prose is broken that a person would write.
const unwrapped = 1 << 14

// Text returns a text as it looks, for another program: no styles, no margins,
// no lines broken for a screen, no blanks at their ends.
func Text(src string) string {
	d := New(unwrapped, theme.Plain()).Literal(true)
	d.look.codeMargin = 0
	src = text.Prose(src)
	d.words.learn(src)
	d.Append(src)
	d.Close()
	lines := d.Take()
	for i, line := range lines {
		line = strings.TrimRight(text.Undirected(ansi.Strip(line)), " ")
		if len(line) >= longRule && strings.Trim(line, "─") == "" {
			line = "───"
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
