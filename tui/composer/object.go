package composer

import "strings"

// object is what a letter behind i or a means to an operator: a word, what is
// quoted or in brackets, a paragraph. False is for what is not there.
func (m Model) object(around bool, letter string) (from, to buffer, lines, ok bool) {
	n := m.total()
	switch letter {
	case "w", "W":
		from, to, ok = m.buf.words(letter == "W", around, n)
	case `"`, "'", "`":
		from, to, ok = m.buf.quoted(letter[0], around)
	case "(", ")", "b":
		return m.buf.bracketed("(", ")", around, n)
	case "[", "]":
		return m.buf.bracketed("[", "]", around, n)
	case "{", "}", "B":
		return m.buf.bracketed("{", "}", around, n)
	case "<", ">":
		return m.buf.bracketed("<", ">", around, n)
	case "p":
		from, to = m.buf.paragraph(around, n)
		return from, to, true, true
	}
	return from, to, false, ok
}

// words are those from the one under the caret on; the room between two counts as
// one, unless it is taken along.
func (b buffer) words(field, around bool, n int) (from, to buffer, ok bool) {
	if b.line == "" {
		return b, b, false
	}
	from = b.runBack(field)
	to = from
	for range n {
		blank := class(to, field) == 0
		to = to.run(field)
		if around {
			if next := to.run(field); blank || class(to, field) == 0 {
				to = next
			}
		}
	}
	if last := stepBack(to); around && class(last, field) != 0 && class(from, field) != 0 && from.at > 0 && class(stepBack(from), field) == 0 {
		from = stepBack(from).runBack(field) // no room behind it: that before it
	}
	return from, to, from.at < to.at
}

// run is behind what is of one kind from the caret on, in its line.
func (b buffer) run(field bool) buffer {
	c := class(b, field)
	for b.at < len(b.line) && class(b, field) == c {
		b = stepOn(b)
	}
	return b
}

// runBack is where what is of one kind with the cell under the caret begins.
func (b buffer) runBack(field bool) buffer {
	for c := class(b, field); b.at > 0 && class(stepBack(b), field) == c; {
		b = stepBack(b)
	}
	return b
}

// quoted is what stands in the quotes around the caret, or in the next ones of
// its line.
func (b buffer) quoted(quote byte, around bool) (from, to buffer, ok bool) {
	open := -1
	for c := b.home(); c.at < len(c.line); c = stepOn(c) {
		switch c.line[c.at] {
		case '\\':
			c = stepOn(c)
		case quote:
			if open < 0 {
				open = c.at
				continue
			}
			if c.at >= b.at {
				return b.between(open, c.at, around)
			}
			open = -1
		}
	}
	return b, b, false
}

// between is what lies between two marks of a line; around takes the marks, too,
// and the room behind them, or before them where there is none.
func (b buffer) between(open, end int, around bool) (from, to buffer, ok bool) {
	from, to = b, b
	from.at, to.at = open+1, end
	if !around {
		return from, to, true
	}
	from.at, to.at = open, end+1
	if rest := strings.TrimLeft(to.line[to.at:], " \t"); len(rest) < len(to.line)-to.at {
		to.at = len(to.line) - len(rest)
	} else {
		from.at = len(strings.TrimRight(from.line[:from.at], " \t"))
	}
	return from, to, true
}

// maxLook is how many cells are looked at for a bracket.
const maxLook = 1 << 16

// bracketed is what stands in the nth brackets around the caret. Where they stand
// at the ends of lines it is the lines between.
func (b buffer) bracketed(open, end string, around bool, n int) (from, to buffer, lines, ok bool) {
	from, ok = b.enclosing(open, end, n)
	if !ok {
		return b, b, false, false
	}
	to, ok = from.partner(open, end, buffer.right)
	if !ok {
		return b, b, false, false
	}
	if around {
		return from, stepOn(to), false, true
	}
	inner := stepOn(from)
	if inner.at == len(inner.line) && to.indent().at == to.at && to.above.len() > inner.above.len()+1 {
		return inner.down(), to.up(), true, true
	}
	return inner, to, false, true
}

// enclosing is the nth bracket that is open where the caret stands.
func (b buffer) enclosing(open, end string, n int) (buffer, bool) {
	if under(b) == end {
		var ok bool
		if b, ok = b.partner(end, open, buffer.left); !ok {
			return b, false
		}
	} else if under(b) != open {
		var ok bool
		if b, ok = b.opened(open, end); !ok {
			return b, false
		}
	}
	for range n - 1 {
		var ok bool
		if b, ok = b.opened(open, end); !ok {
			return b, false
		}
	}
	return b, true
}

// opened is the bracket before the caret that is still open there.
func (b buffer) opened(open, end string) (buffer, bool) {
	depth := 0
	for range maxLook {
		if b.atTop() {
			return b, false
		}
		b = b.left()
		switch under(b) {
		case end:
			depth++
		case open:
			if depth == 0 {
				return b, true
			}
			depth--
		}
	}
	return b, false
}

// partner is the bracket that belongs to the one under the caret, the way that
// step goes.
func (b buffer) partner(mine, other string, step func(buffer) buffer) (buffer, bool) {
	depth := 0
	for range maxLook {
		switch under(b) {
		case mine:
			depth++
		case other:
			if depth--; depth == 0 {
				return b, true
			}
		}
		next := step(b)
		if next == b {
			return b, false
		}
		b = next
	}
	return b, false
}

// under is the cell under the caret.
func under(b buffer) string {
	if b.at == len(b.line) {
		return ""
	}
	return cellAt(b.line[b.at:]).text
}

// match is the bracket that belongs to the next one of the line: what % means.
func (b buffer) match() buffer {
	pairs := map[string]string{"(": ")", "[": "]", "{": "}"}
	backs := map[string]string{")": "(", "]": "[", "}": "{"}
	for c := b; c.at < len(c.line); c = stepOn(c) {
		mine, other, step := under(c), pairs[under(c)], buffer.right
		if other == "" {
			other, step = backs[mine], buffer.left
		}
		if other == "" {
			continue
		}
		if to, ok := c.partner(mine, other, step); ok {
			return to
		}
		break
	}
	return b
}

func (b buffer) blank() bool { return strings.TrimSpace(b.line) == "" }

// paragraph are the lines around the caret without a blank one, or the blank ones;
// around takes those of the other kind along that follow, or that come before.
func (b buffer) paragraph(around bool, n int) (from, to buffer) {
	from, to = b.blocks(upwards), b
	for i := range n {
		if i > 0 {
			if to.below == nil {
				break
			}
			to = to.down()
		}
		to = to.blocks(downwards)
		if !around {
			continue
		}
		if to.below != nil {
			to = to.down().blocks(downwards)
		} else if from.above != nil && i == 0 {
			from = from.up().blocks(upwards)
		}
	}
	return from, to
}

func upwards(b buffer) (buffer, bool)   { return b.up(), b.above != nil }
func downwards(b buffer) (buffer, bool) { return b.down(), b.below != nil }

// blocks is the last line that way which is blank as this one, or written as it.
func (b buffer) blocks(step func(buffer) (buffer, bool)) buffer {
	for {
		next, ok := step(b)
		if !ok || next.blank() != b.blank() {
			return b
		}
		b = next
	}
}

// gapUp and gapDown are the blank lines around a paragraph: what { and } mean.
func gapUp(b buffer) buffer {
	for b.above != nil && b.up().home().blank() && b.blank() {
		b = b.up()
	}
	for b.above != nil {
		if b = b.up(); b.blank() {
			return b.home()
		}
	}
	return b.home()
}

func gapDown(b buffer) buffer {
	for b.below != nil && b.blank() && b.down().blank() {
		b = b.down()
	}
	for b.below != nil {
		if b = b.down(); b.blank() {
			return b.home()
		}
	}
	return b.end()
}
