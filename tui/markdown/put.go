package markdown

import (
	"slices"
	"strings"

	"agentx/tui/text"
)

// put writes finished lines in the open containers. Before the first lines of a block comes a blank line, where one belongs.
func (d *Doc) put(first, blank bool, lines ...string) {
	if first && d.wrote {
		if gap, ok := d.gap(blank); ok {
			d.done = append(d.done, gap)
		}
	}
	for _, line := range lines {
		d.done = append(d.done, d.fit(d.prefix(d.open)+text.Isolate(line)))
		for i := range d.open {
			d.open[i].shown = true
		}
	}
	d.wrote = true
	d.past = slices.Clone(d.open)
}

// gap returns the line between what was written last and what comes now, if there is one. Blocks side by side have one; items and
// what is inside them are as close as they were written.
func (d *Doc) gap(blank bool) (string, bool) {
	n := 0
	for n < len(d.open) && n < len(d.past) && d.open[n].id == d.past[n].id {
		n++
	}
	for _, c := range d.open[n:] {
		blank = blank || c.blank
	}
	items := n < len(d.open) && n < len(d.past) && d.open[n].list == d.past[n].list
	inside := n > 0 && !d.open[n-1].quote
	if (items || inside) && !blank {
		return "", false
	}
	return trimRight(d.prefix(d.open[:n])), true
}

// prefix returns what stands before a line: the bars of quotes, the labels of items and the room below them.
func (d *Doc) prefix(open []container) string {
	var b strings.Builder
	for _, c := range open {
		switch {
		case c.quote:
			b.WriteString(d.look.bar)
		case c.shown:
			b.WriteString(strings.Repeat(" ", text.Width(c.label)))
		default:
			b.WriteString(c.label)
		}
	}
	s := b.String()
	if most := d.width - min(d.width, 8); text.Width(s) > most {
		return text.Cut(s, 0, most)
	}
	return s
}

// room returns how many cells the open containers leave to a line.
func (d *Doc) room() int { return d.width - text.Width(d.prefix(d.open)) }

// wrap breaks a styled text into lines for the room there is, and no longer ones
// than eyes find the way back from.
func (d *Doc) wrap(flow string) []string {
	room := d.room()
	if d.measure > 0 {
		room = min(room, max(d.measure-(d.width-room), 1))
	}
	return carry(text.Wrap(flow, room))
}

// fit makes sure of the width: a character that does not fit becomes an ellipsis.
func (d *Doc) fit(line string) string {
	if len(line) <= d.width || text.Width(line) <= d.width {
		return line
	}
	return text.Truncate(line, d.width)
}

// carry makes lines stand alone: a style or a link that goes on over the end of a line ends there and begins anew. Spaces at the
// ends of lines are dropped.
func carry(lines []string) []string {
	style, link := "", ""
	for i, line := range lines {
		if style == "" && link == "" && !strings.Contains(line, "\x1b") {
			lines[i] = strings.TrimRight(line, " ")
			continue
		}
		var b strings.Builder
		b.WriteString(link)
		b.WriteString(style)
		for rest := line; rest != ""; {
			at := strings.IndexByte(rest, '\x1b')
			if at < 0 {
				b.WriteString(rest)
				break
			}
			b.WriteString(rest[:at])
			seq := sequence(rest[at:])
			rest = rest[at+len(seq):]
			switch {
			case strings.HasPrefix(seq, linkOpen):
				link = seq
				if seq == linkClose {
					link = ""
				}
			case seq == reset:
				style = ""
			default:
				style += seq
			}
			b.WriteString(seq)
		}
		if style != "" {
			b.WriteString(reset)
		}
		if link != "" {
			b.WriteString(linkClose)
		}
		lines[i] = trimRight(b.String())
	}
	return lines
}

// sequence returns the escape sequence that s begins with. We wrote it, so it is a style or a link.
func sequence(s string) string {
	end := "m"
	if strings.HasPrefix(s, "\x1b]") {
		end = "\x07"
	}
	if i := strings.Index(s, end); i >= 0 {
		return s[:i+1]
	}
	return s
}

// trimRight drops spaces at the end of a line, those within styles that have no ground too.
func trimRight(s string) string {
	body, tail := s, ""
	for {
		t := strings.TrimRight(body, " ")
		i := strings.LastIndexByte(t, '\x1b')
		if i < 0 || i+len(sequence(t[i:])) != len(t) {
			return t + tail
		}
		body, tail = t[:i], t[i:]+tail
	}
}

// strip returns s without our sequences.
func strip(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '\x1b')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i+len(sequence(s[i:])):]
	}
	return b.String() + s
}
