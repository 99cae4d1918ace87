package markdown

import (
	"strings"

	"agentx/tui/text"
)

// A fence is a block of code between two fences. Each of its lines is finished when it ends.
type fence struct {
	gap     bool
	put     bool
	mark    byte
	size    int
	indent  int
	lang    string
	colours *colours
}

func fenceStart(s string, indent int) (*fence, bool) {
	n := 0
	for n < len(s) && s[n] == s[0] {
		n++
	}
	if s[0] != '`' && s[0] != '~' || n < 3 || s[0] == '`' && strings.Contains(s[n:], "`") {
		return nil, false
	}
	lang, _, _ := strings.Cut(strings.Trim(s[n:], " \t"), " ")
	lang, _, _ = strings.Cut(strings.TrimPrefix(lang, "{."), "}")
	return &fence{mark: s[0], size: n, indent: indent, lang: lang}, true
}

func (f *fence) clone() leaf {
	c := *f
	c.colours = f.colours.clone()
	return &c
}

func (f *fence) close(*Doc) {}

func (f *fence) say(d *Doc, c *cursor) {
	if c.indent() <= 3 {
		s := strings.TrimRight(c.trimmed(), " \t")
		if len(s) >= f.size && strings.Trim(s, string(f.mark)) == "" {
			d.leaf = nil
			return
		}
	}
	c.skip(min(f.indent, c.indent()))
	if d.kept != nil {
		d.kept.line(c.rest)
		return
	}
	d.put(!f.put, f.gap, d.code(f.colours, c.rest)...)
	f.put = true
}

// code lays out one line of code.
func (d *Doc) code(colours *colours, line string) []string {
	margin := d.look.codeMargin
	if d.room() < 8*margin {
		margin = 0
	}
	room := d.room() - margin
	line = strings.TrimRight(expand(text.Clean(line)), " ") // code is shown as it is
	if line == "" {
		return []string{""}
	}
	flow := line
	if colours != nil {
		flow = colours.line(line)
	}
	lines, hang := []string{flow}, 0
	if text.Width(line) > room {
		hang = hanging(line, room)
		lines = carry(text.Break(flow, room, room-hang))
	}
	for i := range lines {
		if i == 1 {
			margin += hang
		}
		lines[i] = strings.Repeat(" ", margin) + lines[i]
	}
	return lines
}

// hanging is how far the rest of a line that is too long stands in: deeper than
// its beginning, so that it is not taken for another line.
func hanging(line string, room int) int {
	hang := len(line) - len(strings.TrimLeft(line, " ")) + 2
	if hang > room/2 {
		return 0
	}
	return hang
}

// expand turns tabs into spaces, up to the next multiple of four cells.
func expand(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	col := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := 4 - col%4
			b.WriteString("    "[:n])
			col += n
		}
		b.WriteString(part)
		col += text.Width(part)
	}
	return b.String()
}
