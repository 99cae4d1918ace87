package composer

import (
	"strings"
	"unicode/utf8"
)

// visual takes a letter while a part of the text is marked: v marks cells, V
// whole lines.
func (m Model) visual(letter string) Model {
	if m.vi.wait == 'i' || m.vi.wait == 'a' {
		return m.markObject(letter)
	}
	if m.vi.wait != 0 {
		return m.answer(letter)
	}
	r, _ := utf8.DecodeRuneInString(letter)
	switch {
	case r == m.vi.visual:
		return m.unmark()
	case r == 'v' || r == 'V':
		m.vi.visual = r
		return m.lay()
	case r == 'o':
		at := m.vi.from
		m.vi.from = m.buf
		return m.move(func(buffer) buffer { return at })
	case r == 'i' || r == 'a':
		m.vi.wait = r
		return m
	case strings.ContainsRune("dxcsy", r):
		return m.onMarked(map[rune]rune{'x': 'd', 's': 'c'}[r], r, m.vi.visual == 'V')
	case strings.ContainsRune("DXCSRY", r):
		return m.onMarked(map[rune]rune{'D': 'd', 'X': 'd', 'Y': 'y'}[r], 'c', true)
	case r == '~':
		return m.recase(swapCase)
	case r == 'u':
		return m.recase(lower)
	case r == 'U':
		return m.recase(upper)
	case r == 'J':
		from, to := m.selected()
		m = m.unmark()
		m.buf, m.vi.count = from, max(to.above.len()-from.above.len()+1, 2)
		return m.join()
	case r == 'p' || r == 'P':
		return m.putOver()
	case r == 'j' || r == 'k' || m.vi.counts(r) || strings.ContainsRune("fFtTg", r):
		return m.order(r)
	}
	if to, ok := m.motion(r); ok {
		return m.along(to)
	}
	m.vi = m.vi.idle()
	return m
}

// startMark begins to mark at the caret.
func (m Model) startMark(kind rune) Model {
	m.vi = m.vi.idle()
	m.vi.visual, m.vi.from = kind, m.buf
	return m.lay()
}

func (m Model) unmark() Model {
	m.vi = m.vi.idle()
	m.vi.visual, m.vi.from = 0, buffer{}
	return m.lay()
}

// selected are the ends of what is marked, both of them in it.
func (m Model) selected() (from, to buffer) {
	from, to = m.vi.from, m.buf
	if to.before(from) {
		from, to = to, from
	}
	if m.vi.visual == 'V' {
		return from.home(), to.end()
	}
	return from, to
}

// onMarked is an operator on what is marked, or on its lines; els is meant where
// op is none.
func (m Model) onMarked(op, els rune, lines bool) Model {
	if op == 0 {
		op = els
	}
	from, to := m.selected()
	m = m.unmark()
	m.vi.op = op
	if lines {
		return m.lines(from, to, 0)
	}
	if to.line == "" {
		to = to.right() // an empty line is its end
	} else {
		to = stepOn(to)
	}
	m.buf = from
	return m.operate(op, from, to)
}

// recase writes what is marked in other letters.
func (m Model) recase(as func(string) string) Model {
	from, to := m.selected()
	return m.unmark().recast(from, stepOn(to), as)
}

// recast writes what lies between two places in other letters. Chips have none.
func (m Model) recast(from, to buffer, as func(string) string) Model {
	rest, was := from.remove(to)
	if now := as(was); now != was && strings.IndexByte(was, chipOpen) < 0 {
		m = m.save(other)
		m.buf = rest.insert(now, from.typedTo(to))
		for m.buf.above.len() > from.above.len() {
			m.buf = m.buf.up()
		}
		m.buf.at = snap(m.buf.line, min(from.at, len(m.buf.line)))
		return m.settle()
	}
	return m.move(func(buffer) buffer { return from })
}

// putOver puts the latest kill in the place of what is marked, which becomes the
// latest kill.
func (m Model) putOver() Model {
	from, to := m.selected()
	lines := m.vi.visual == 'V'
	m = m.unmark()
	if len(m.ring) == 0 {
		return m
	}
	k := m.ring[len(m.ring)-1]
	text := k.text
	if k.lines && !lines {
		text = "\n" + text + "\n"
	}
	if m.weight()+len(text)+m.chips.size(text) > maxText {
		return m
	}
	rest, gone := from.remove(stepOn(to))
	m = m.save(other).keep(kill{text: gone, typed: from.typedTo(stepOn(to)), lines: lines})
	m.buf = stepBack(rest.insert(text, k.typed))
	return m.settle()
}

// markObject marks a word, what is quoted and the like.
func (m Model) markObject(letter string) Model {
	from, to, lines, ok := m.object(m.vi.wait == 'a', letter)
	m.vi = m.vi.idle()
	switch {
	case !ok:
		return m
	case lines:
		m.vi.visual = 'V'
	case from.before(to):
		to = to.left()
	}
	m.vi.from = from
	return m.move(func(buffer) buffer { return to })
}

// lit is what of a row is marked, in bytes of it.
func (m Model) lit(p place) [2]int {
	if m.vi.visual == 0 {
		return [2]int{}
	}
	from, to := m.selected()
	line, begin := p.buf.above.len(), p.rows[p.row]
	if line < from.above.len() || line > to.above.len() {
		return [2]int{}
	}
	first, end := 0, len(p.buf.line)
	if line == from.above.len() {
		first = from.at
	}
	if line == to.above.len() {
		end = stepOn(to).at
	}
	n := len(p.text())
	return [2]int{min(max(first-begin, 0), n), min(max(end-begin, 0), n)}
}
