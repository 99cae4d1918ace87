package screen

import "strings"

// A cell is a character on the screen, or a change of style, which takes no room.
type cell struct {
	seq   string
	width int
}

// style is what a terminal carries from one character to the next.
type style struct {
	sgr  string // sequences since the last reset
	link string // an open hyperlink
}

func isStyle(seq string) bool {
	return strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m") && strings.Trim(seq[2:len(seq)-1], "0123456789;:") == ""
}

func isLink(seq string) bool { return strings.HasPrefix(seq, "\x1b]8;") }

// after is the style behind c.
func (s style) after(c cell) style {
	switch {
	case c.width > 0 || c.seq[0] != '\x1b':
	case isLink(c.seq):
		s.link = c.seq
		if uri := c.seq[strings.LastIndexByte(c.seq, ';')+1:]; uri == "\x1b\\" || uri == "\x07" {
			s.link = ""
		}
	case c.seq == "\x1b[m" || c.seq == "\x1b[0m":
		s.sgr = ""
	default:
		s.sgr += c.seq
	}
	return s
}

// open writes what leads from the plain style to s, and shut the way back.
func (s style) open() string { return s.link + s.sgr }

func (s style) shut() string {
	end := ""
	if s.link != "" {
		end = "\x1b]8;;\x1b\\"
	}
	if s.sgr != "" {
		end += "\x1b[m"
	}
	return end
}

// fit cuts what does not fit into width cells.
func fit(line []cell, width int) []cell {
	room := width
	for i, c := range line {
		if room -= c.width; room < 0 {
			return settle(line[:i])
		}
	}
	return settle(line)
}

// split cuts a line that is too wide into several; the style goes on.
func split(line []cell, width int) [][]cell {
	var out [][]cell
	var row []cell
	var s style
	room := width
	for _, c := range line {
		if c.width > room && len(row) > 0 {
			out = append(out, settle(row))
			row, room = nil, width
			if open := s.open(); open != "" {
				row = append(row, pen{}.cells(open)...)
			}
		}
		row, room, s = append(row, c), room-c.width, s.after(c)
	}
	return append(out, settle(row))
}

func widthOf(line []cell) int {
	n := 0
	for _, c := range line {
		n += c.width
	}
	return n
}

// A change is the piece of a line that must be written to turn one into another.
type change struct {
	col   int    // where it begins
	text  string // with the styles that it needs, closed at its end
	erase bool   // what stands behind it goes
}

// diff compares the line that is shown with the one that should be.
func (p pen) diff(old, new []cell, width int) change {
	var s style
	same, col := 0, 0
	for same < len(old) && same < len(new) && old[same] == new[same] {
		same++
	}
	if same > 0 && new[same-1].width > 0 && same < max(len(old), len(new)) {
		same-- // marks may have come to it
	}
	if same < max(len(old), len(new)) && (directed(old) || directed(new)) {
		same = 0
	}
	for _, c := range new[:same] {
		s, col = s.after(c), col+c.width
	}
	middle, kept := new[same:], tail(old[same:], new[same:], s)
	if directed(new) {
		kept = 0
	}
	if p.spills(middle[:len(middle)-kept]) {
		kept = 0 // it is written over
	}
	middle = middle[:len(middle)-kept]
	var b strings.Builder
	b.WriteString(s.open())
	at := col
	for _, c := range middle {
		p.write(&b, c, at, width)
		s, at = s.after(c), at+c.width
	}
	b.WriteString(s.shut())
	erase := kept == 0 && at < width && (widthOf(new) < widthOf(old) || p.spills(middle))
	return change{col: col, text: b.String(), erase: erase}
}

// spills says whether a terminal may take more room for a piece of a row.
func (p pen) spills(row []cell) bool {
	for _, c := range row {
		if most, ok := p.doubtful(c); ok && most > c.width {
			return true
		}
	}
	return false
}

// tail counts the cells at the end of new that already stand where they should,
// in their style.
func tail(old, new []cell, s style) int {
	if widthOf(old) != widthOf(new) {
		return 0
	}
	n := 0
	for n < len(old) && n < len(new) && old[len(old)-1-n] == new[len(new)-1-n] {
		n++
	}
	if n == 0 || styleBehind(s, old[:len(old)-n]) != styleBehind(s, new[:len(new)-n]) {
		return 0
	}
	return n
}

func styleBehind(s style, line []cell) style {
	for _, c := range line {
		s = s.after(c)
	}
	return s
}
