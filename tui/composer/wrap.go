package composer

import "strings"

// wrap cuts a line into rows of at most width columns and returns the offset
// at which each begins. It breaks after spaces, and on both sides of wide
// characters; a word longer than a row is cut. Spaces that do not fit hang
// over the edge and are not drawn.
func wrap(line string, width int) []int {
	rows := []int{0}
	var row, col int          // where this row begins, and its width so far
	var brk, brkCol, held int // the last place to break, its column, and the place before it
	for i := 0; i < len(line); {
		g := glyphAt(line[i:])
		if g.space {
			i, col = i+g.bytes, col+g.width
			held, brk, brkCol = brk, i, col
			continue
		}
		w, wide := min(g.width, width), g.width > 1
		switch {
		case !wide || i == row:
		case !closing(line[i : i+g.bytes]):
			brk, brkCol = i, col
		case brk == i && !spaceBefore(line, i):
			brk, brkCol = held, columns(line[row:max(row, held)])
		}
		for col+w > width && i > row {
			if brk > row {
				row, col = brk, col-brkCol
			} else {
				row, col = i, 0
			}
			rows = append(rows, row)
			brk, brkCol, held = row, 0, row
		}
		i, col = i+g.bytes, col+w
		if wide {
			held, brk, brkCol = brk, i, col
		}
	}
	return rows
}

// glyph is what wrapping needs to know of a cell.
type glyph struct {
	bytes, width int
	space        bool
}

// glyphAt is the first of s, which is not empty; for ASCII it is quick.
func glyphAt(s string) glyph {
	if plain(s) {
		return glyph{1, 1, s[0] == ' '}
	}
	c := cellAt(s)
	return glyph{len(c.text), c.width, c.space()}
}

func spaceBefore(line string, i int) bool { return line[i-1] == ' ' || line[i-1] == '\t' }

// closing says whether c must not begin a row.
func closing(c string) bool {
	return len(c) > 1 && strings.Contains("、。，．：；？！）」』】》〉〕…", c)
}

// columns is the width of s.
func columns(s string) int {
	col := 0
	for s != "" {
		g := glyphAt(s)
		col, s = col+g.width, s[g.bytes:]
	}
	return col
}

// rowOf is the row in which offset at stands; a border belongs to the row that it begins.
func rowOf(rows []int, at int) int {
	r := len(rows) - 1
	for r > 0 && rows[r] > at {
		r--
	}
	return r
}

// span is the text of row r.
func span(line string, rows []int, r int) string {
	if r+1 < len(rows) {
		return line[rows[r]:rows[r+1]]
	}
	return line[rows[r]:]
}

// offset is the place in row r that is nearest to column x from the left.
func offset(line string, rows []int, r, x int) int {
	s, at, col := span(line, rows, r), 0, 0
	for at < len(s) {
		c := cellAt(s[at:])
		last := at+len(c.text) == len(s) && r+1 < len(rows) // the border belongs to the next row
		if col+c.width > x || last {
			break
		}
		at, col = at+len(c.text), col+c.width
	}
	return rows[r] + at
}
