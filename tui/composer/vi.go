package composer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// vi is the state of the keys of vi, for who wants them: a mode, and the
// command that is being typed in normal mode. The zero value does not want them.
type vi struct {
	on, normal bool
	count      int  // typed so far; 0 is none
	op         rune // d, c or y, or ~, u or U behind g, that waits for a motion; 0 is none
	opCount    int
	wait       rune // f, F, t, T, r, g, or i or a behind an operator, that waits for a letter; 0 is none
	sought     rune // the last of f, F, t and T
	letter     string
	change     change // that is being made
	done       change // that . does again
	copies     int    // of what is inserted
	visual     rune   // v or V where a part of the text is marked
	from       buffer // where that begins
}

// SetVi has the keys of vi, or those of a shell. One begins to insert.
func (m Model) SetVi(on bool) Model {
	m.vi = vi{on: on}
	return m.lay()
}

// Vi says whether the keys are those of vi.
func (m Model) Vi() bool { return m.vi.on }

// Takes says whether a key is the composer's whatever else it may mean: where a
// list or a search is open every key is, and Esc where it ends vi's insert mode
// or a command that is begun. While an answer runs and nothing is written, Esc
// is not.
func (m Model) Takes(key string) bool {
	if m.Open() {
		return true
	}
	return m.vi.on && escape(key) && (m.vi.begun() || m.vi.visual != 0 || !m.vi.normal && !(m.busy && m.Empty()))
}

func escape(key string) bool { return key == "esc" || key == "ctrl+[" }

func (v vi) begun() bool { return v.count > 0 || v.op != 0 || v.wait != 0 }

// idle forgets a command that was begun.
func (v vi) idle() vi {
	v.count, v.op, v.opCount, v.wait = 0, 0, 0, 0
	return v
}

// clamp keeps the caret on a cell, where vi's normal mode has it.
func (v vi) clamp(b buffer) buffer {
	if v.on && v.normal && b.at == len(b.line) && b.at > 0 {
		b.at = before(b.line, b.at)
	}
	return b
}

const maxCount = 9999

// modal takes a key that means something else in vi; false is for the others.
func (m Model) modal(k tea.KeyPressMsg) (Model, tea.Msg, bool) {
	key := k.Keystroke()
	switch {
	case !m.vi.normal && escape(key):
		return m.leaveInsert(), nil, true
	case !m.vi.normal:
		return m, nil, false
	case escape(key):
		return m.unmark(), nil, true
	case key == "ctrl+r":
		return m.times(Model.goForth), nil, true
	case key == "backspace" || key == "ctrl+h":
		return m.order('h'), nil, true
	}
	text, ok := typed(k)
	if !ok || text == "" {
		m.vi = m.vi.idle()
		return m, nil, false
	}
	r, _ := utf8.DecodeRuneInString(text)
	if m.vi.visual != 0 {
		return m.visual(text), nil, true
	}
	if m.vi.wait != 0 {
		return m.note(text).answer(text).noted(), nil, true
	}
	switch {
	case m.vi.op != 0:
	case r == '/':
		m.vi = m.vi.idle()
		return m.startSearch(), nil, true
	case r == '.':
		return m.repeatChange(), nil, true
	case r == 'v' || r == 'V':
		return m.startMark(r), nil, true
	}
	if !m.vi.counts(r) {
		m = m.note(text)
	}
	return m.order(r).noted(), nil, true
}

// counts says whether a letter is part of a count.
func (v vi) counts(r rune) bool { return r >= '1' && r <= '9' || r == '0' && v.count > 0 }

// order takes a letter of a command.
func (m Model) order(r rune) Model {
	v := &m.vi
	switch {
	case v.counts(r):
		v.count = min(v.count*10+int(r-'0'), maxCount)
		return m
	case strings.ContainsRune("fFtTg", r) || r == 'r' && v.op == 0:
		v.wait = r
		return m
	case v.op != 0 && (r == 'i' || r == 'a'):
		v.wait = r
		return m
	case v.op == 0 && strings.ContainsRune("dcy", r):
		v.op, v.opCount, v.count = r, v.count, 0
		return m
	case v.op == r:
		return m.lines(m.buf, m.buf, max(m.total()-1, 0))
	}
	if to, ok := m.motion(r); ok {
		return m.along(to)
	}
	if v.op != 0 {
		m.vi = m.vi.idle() // an operator with what is no motion is nothing
		return m
	}
	return m.simple(r)
}

// total is how often a command is done.
func (m Model) total() int { return min(max(m.vi.count, 1)*max(m.vi.opCount, 1), maxCount) }

// times does f as often as was said, or until nothing changes.
func (m Model) times(f func(Model) Model) Model {
	n := m.total()
	m.vi = m.vi.idle()
	for range n {
		was := m.buf
		if m = f(m); m.buf == was {
			break
		}
	}
	return m
}

// insert begins to insert where to takes the caret.
func (m Model) insert(to func(buffer) buffer) Model {
	m.vi.copies = m.total()
	m.vi = m.vi.idle()
	m.vi.normal = false
	return m.move(to)
}

// simple is the table of commands that need no motion.
func (m Model) simple(r rune) Model {
	switch r {
	case 'i':
		return m.insert(same)
	case 'a':
		return m.insert(stepOn)
	case 'I':
		return m.insert(buffer.indent)
	case 'A':
		return m.insert(buffer.end)
	case 'o':
		return m.open(buffer.end, same)
	case 'O':
		return m.open(buffer.home, buffer.left)
	case 'x':
		return m.as('d', 'l')
	case 'X':
		return m.as('d', 'h')
	case 'D':
		return m.as('d', '$')
	case 'C':
		return m.as('c', '$')
	case 's':
		return m.as('c', 'l')
	case 'S':
		return m.as('c', 'c')
	case 'Y':
		return m.as('y', 'y')
	case 'p':
		return m.putBack(true)
	case 'P':
		return m.putBack(false)
	case 'u':
		return m.times(Model.goBack)
	case 'J':
		return m.join()
	case '~':
		return m.swapCase()
	case 'j':
		return m.times(Model.down)
	case 'k':
		return m.times(Model.up)
	}
	m.vi = m.vi.idle()
	return m
}

// as is a command that is short for an operator and what it works on.
func (m Model) as(op, on rune) Model {
	m.vi.op = op
	return m.order(on)
}

// open begins a line and inserts there.
func (m Model) open(at, then func(buffer) buffer) Model {
	m = m.save(other)
	m.vi.copies = m.total()
	m.vi = m.vi.idle()
	m.vi.normal = false
	m.buf = then(at(m.buf).insert("\n", true))
	m = m.settle()
	m.last = typing // what is written there is undone with it
	return m
}

// A way is where a command takes the caret, and what an operator takes on
// the way.
type way struct {
	to        buffer
	inclusive bool // the cell there too
	lines     bool // whole lines
}

// motion is what a letter means, as often as was said. Where there is no way to
// go, the caret stays.
func (m Model) motion(r rune) (way, bool) {
	b, n := m.buf, m.total()
	step := map[rune]func(buffer) buffer{
		'h': stepBack, 'l': stepOn, ' ': stepOn, '0': buffer.home, '^': buffer.indent, '$': buffer.end,
		'w': nextWord, 'W': nextField, 'b': lastWord, 'B': lastField, 'e': wordEnd, 'E': fieldEnd,
		'{': gapUp, '}': gapDown,
	}[r]
	switch {
	case r == 'G' && m.vi.count == 0:
		return way{to: b.bottom().indent(), lines: true}, true
	case r == 'G':
		return way{to: b.nth(n), lines: true}, true
	case m.vi.op != 0 && (r == 'j' || r == 'k'):
		return m.rows(r, n), true
	case r == '%':
		return way{to: b.match(), inclusive: b.match() != b}, true
	case r == ';' || r == ',':
		return m.again(r == ','), true
	case step == nil:
		return way{}, false
	case r == '$':
		for range n - 1 {
			b = b.down()
		}
		return way{to: b.end()}, true
	case r == 'w' && m.vi.op == 'c' && class(b, false) != 0:
		return way{to: repeat(b.last(false), n-1, wordEnd), inclusive: true}, true
	case r == 'W' && m.vi.op == 'c' && class(b, true) != 0:
		return way{to: repeat(b.last(true), n-1, fieldEnd), inclusive: true}, true
	}
	b = repeat(b, n, step)
	if m.vi.op != 0 && (r == 'w' || r == 'W') && b.above.len() > m.buf.above.len() && b.at <= b.indent().at {
		b = b.left().end() // the last word of a line is taken without its end
		if b.before(m.buf) {
			b = m.buf
		}
	}
	return way{to: b, inclusive: r == 'e' || r == 'E'}, true
}

// rows are the lines that j and k take with an operator; none where there are
// not so many.
func (m Model) rows(r rune, n int) way {
	b := m.buf
	for range n {
		switch {
		case r == 'j' && b.below != nil:
			b = b.down()
		case r == 'k' && b.above != nil:
			b = b.up()
		}
	}
	return way{to: b, lines: true}
}

// nth is the beginning of the nth line, or of the last.
func (b buffer) nth(n int) buffer {
	b = b.top()
	for range n - 1 {
		if b.below == nil {
			break
		}
		b = b.down()
	}
	return b.indent()
}

// indent is the first cell of the line that is no blank.
func (b buffer) indent() buffer {
	b.at = len(b.line) - len(strings.TrimLeft(b.line, " \t"))
	if b.at == len(b.line) {
		b.at = 0
	}
	return b.snap()
}

func same(b buffer) buffer { return b }

func stepBack(b buffer) buffer {
	b.at = before(b.line, b.at)
	return b
}

func stepOn(b buffer) buffer {
	if b.at < len(b.line) {
		b.at += len(cellAt(b.line[b.at:]).text)
	}
	return b
}

func repeat(b buffer, n int, step func(buffer) buffer) buffer {
	for range n {
		next := step(b)
		if next == b {
			break
		}
		b = next
	}
	return b
}

// class sorts the cell under the caret as vi does: 0 for a blank, a line's end
// or nothing at all.
func class(b buffer, field bool) int {
	if b.at == len(b.line) {
		return 0
	}
	c := cellAt(b.line[b.at:])
	switch k := c.kind(); {
	case c.space():
		return 0
	case field:
		return 1
	default:
		return 2 + int(k)
	}
}

func nextWord(b buffer) buffer  { return b.next(false) }
func nextField(b buffer) buffer { return b.next(true) }
func lastWord(b buffer) buffer  { return b.prev(false) }
func lastField(b buffer) buffer { return b.prev(true) }
func wordEnd(b buffer) buffer   { return b.right().last(false) }
func fieldEnd(b buffer) buffer  { return b.right().last(true) }

func lastWordEnd(b buffer) buffer  { return b.endBefore(false) }
func lastFieldEnd(b buffer) buffer { return b.endBefore(true) }

// endBefore is the end of the word before the one that the caret is in; an empty
// line is one.
func (b buffer) endBefore(field bool) buffer {
	for c := class(b, field); c != 0 && b.at > 0 && class(stepBack(b), field) == c; {
		b = stepBack(b)
	}
	for !b.atTop() {
		if b = b.left(); class(b, field) != 0 || b.line == "" {
			break
		}
	}
	return b
}

// next is the beginning of the next word; an empty line is one.
func (b buffer) next(field bool) buffer {
	for c := class(b, field); c != 0 && class(b, field) == c; {
		b = stepOn(b)
	}
	for class(b, field) == 0 && !b.atBottom() {
		line := b.above.len()
		if b = b.right(); b.line == "" && b.above.len() > line {
			break
		}
	}
	return b
}

// last is the end of the word that the caret is in or comes to.
func (b buffer) last(field bool) buffer {
	for class(b, field) == 0 && !b.atBottom() {
		b = b.right()
	}
	for c := class(b, field); c != 0 && class(stepOn(b), field) == c; {
		b = stepOn(b)
	}
	return b
}

// prev is the beginning of the word before the caret.
func (b buffer) prev(field bool) buffer {
	if b.atTop() {
		return b
	}
	b = b.left()
	for class(b, field) == 0 && !b.atTop() && b.line != "" {
		b = b.left()
	}
	for c := class(b, field); c != 0 && b.at > 0 && class(stepBack(b), field) == c; {
		b = stepBack(b)
	}
	return b
}

// along takes a way, with the operator if one waits.
func (m Model) along(w way) Model {
	op := m.vi.op
	if op == 0 {
		m.vi = m.vi.idle()
		m.goal = -1
		return m.move(func(buffer) buffer { return w.to })
	}
	if w.lines {
		return m.lines(m.buf, w.to, 0)
	}
	from, to := m.buf, w.to
	if to.before(from) {
		from, to = to, from
	}
	if w.inclusive {
		to = stepOn(to)
	}
	return m.operate(op, from, to)
}

// operate takes what lies between two places.
func (m Model) operate(op rune, from, to buffer) Model {
	m.vi = m.vi.idle()
	if as := shape(op); as != nil {
		return m.recast(from, to, as)
	}
	next, gone := from.remove(to)
	if op == 'c' {
		m.vi.normal = false
	}
	if gone == "" {
		m.last = other
		return m.lay()
	}
	m = m.keep(kill{text: gone, typed: from.above == nil && to.above == nil && to.at <= from.typed})
	if op == 'y' {
		return m.move(func(buffer) buffer { return from })
	}
	m = m.save(other)
	m.buf = next
	m = m.settle()
	if op == 'c' {
		m.last = typing // what is written instead is undone with it
	}
	return m
}

// lines is an operator on the whole lines from one to another, and n more.
func (m Model) lines(from, to buffer, n int) Model {
	op := m.vi.op
	m.vi = m.vi.idle()
	if to.before(from) {
		from, to = to, from
	}
	for range n {
		if to.below == nil {
			break
		}
		to = to.down()
	}
	from, to = from.home(), to.end()
	if as := shape(op); as != nil {
		return m.recast(from, to, as)
	}
	cleared, gone := from.remove(to)
	m = m.keep(kill{text: gone, lines: true})
	switch op {
	case 'y':
		return m.move(func(b buffer) buffer {
			if from.above.len() == b.above.len() {
				return b
			}
			return from
		})
	case 'c':
		m = m.save(other)
		m.vi.normal = false
		m.buf = cleared
		m = m.settle()
		m.last = typing
		return m
	}
	m = m.save(other)
	switch {
	case cleared.below != nil:
		cleared, _ = cleared.remove(cleared.right())
	case cleared.above != nil:
		cleared, _ = cleared.remove(cleared.left())
	}
	m.buf = cleared.indent()
	return m.settle()
}

// keep puts a kill into the ring.
func (m Model) keep(k kill) Model {
	m.ring = append(slices.Clip(m.ring[max(0, len(m.ring)+1-maxRing):]), k)
	return m
}

// putBack puts the latest kill in, behind the caret or before it.
func (m Model) putBack(behind bool) Model {
	n := m.total()
	m.vi = m.vi.idle()
	if len(m.ring) == 0 {
		return m
	}
	k := m.ring[len(m.ring)-1]
	n = max(min(n, (maxText-m.weight())/max(len(k.text)+m.chips.size(k.text)+1, 1)), 0)
	if n == 0 {
		return m
	}
	m = m.save(other)
	b := m.buf
	switch {
	case k.lines && behind:
		down := b.above.len() + 1
		b = b.end().insert(strings.Repeat("\n"+k.text, n), false)
		for b.above.len() > down {
			b = b.up()
		}
		b = b.indent()
	case k.lines:
		down := b.above.len()
		b = b.home().insert(strings.Repeat(k.text+"\n", n), false)
		for b.above.len() > down {
			b = b.up()
		}
		b = b.indent()
	case behind:
		b = stepBack(stepOn(b).insert(strings.Repeat(k.text, n), k.typed))
	default:
		b = stepBack(b.insert(strings.Repeat(k.text, n), k.typed))
	}
	m.buf = b
	return m.settle()
}

// answer takes the letter that a command waited for.
func (m Model) answer(letter string) Model {
	wait := m.vi.wait
	m.vi.wait = 0
	switch wait {
	case 'g':
		return m.behindG(letter)
	case 'r':
		return m.replace(letter)
	case 'i', 'a':
		from, to, lines, ok := m.object(wait == 'a', letter)
		switch {
		case !ok:
			m.vi = m.vi.idle()
			return m
		case lines:
			return m.lines(from, to, 0)
		}
		m.buf = from
		return m.operate(m.vi.op, from, to)
	}
	m.vi.sought, m.vi.letter = wait, letter
	return m.along(m.seekLetter(wait, letter, same))
}

// behindG is what a letter means behind g.
func (m Model) behindG(letter string) Model {
	r, _ := utf8.DecodeRuneInString(letter)
	switch {
	case r == 'g':
		return m.along(way{to: m.buf.nth(m.total()), lines: true})
	case r == 'e':
		return m.along(way{to: repeat(m.buf, m.total(), lastWordEnd), inclusive: true})
	case r == 'E':
		return m.along(way{to: repeat(m.buf, m.total(), lastFieldEnd), inclusive: true})
	case shape(r) == nil:
	case m.vi.op == r:
		return m.lines(m.buf, m.buf, max(m.total()-1, 0))
	case m.vi.op == 0:
		m.vi.op, m.vi.opCount, m.vi.count = r, m.vi.count, 0
		return m
	}
	m.vi = m.vi.idle()
	return m
}

// shape is what an operator behind g makes of letters; it is nil for others.
func shape(op rune) func(string) string {
	switch op {
	case '~':
		return swapCase
	case 'u':
		return lower
	case 'U':
		return upper
	}
	return nil
}

// again looks for the last letter once more, or the other way.
func (m Model) again(back bool) way {
	kind := m.vi.sought
	if back {
		kind = map[rune]rune{'f': 'F', 'F': 'f', 't': 'T', 'T': 't'}[kind]
	}
	if kind == 0 {
		return way{to: m.buf}
	}
	skip := same // t and T stand beside what they have found
	switch kind {
	case 't':
		skip = stepOn
	case 'T':
		skip = stepBack
	}
	return m.seekLetter(kind, m.vi.letter, skip)
}

// seekLetter is where f, F, t or T finds a letter in this line, once it has
// skipped what need not be looked at.
func (m Model) seekLetter(kind rune, letter string, skip func(buffer) buffer) way {
	ahead := kind == 'f' || kind == 't'
	step := stepBack
	if ahead {
		step = stepOn
	}
	b, hit := skip(m.buf), m.buf
	for n := m.total(); n > 0; {
		next := step(b)
		if next == b || next.at == len(next.line) {
			return way{to: m.buf}
		}
		if b = next; cellAt(b.line[b.at:]).text == letter {
			hit, n = b, n-1
		}
	}
	switch kind {
	case 't':
		hit = stepBack(hit)
	case 'T':
		hit = stepOn(hit)
	}
	return way{to: hit, inclusive: ahead}
}

// replace writes a letter over as many cells as was said, if there are so many.
func (m Model) replace(letter string) Model {
	n := m.total()
	m.vi = m.vi.idle()
	end := m.buf
	for range n {
		next := stepOn(end)
		if next == end {
			return m
		}
		end = next
	}
	m = m.save(other)
	b, _ := m.buf.remove(end)
	m.buf = stepBack(b.insert(strings.Repeat(clean(letter), n), true))
	return m.settle()
}

// swapCase makes small letters large, and large ones small.
func (m Model) swapCase() Model {
	n := m.total()
	m.vi = m.vi.idle()
	end := repeat(m.buf, n, stepOn)
	if end == m.buf {
		return m
	}
	m = m.save(other)
	b, was := m.buf.remove(end)
	if strings.IndexByte(was, chipOpen) < 0 {
		was = swapCase(was)
	}
	m.buf = b.insert(was, true)
	return m.settle()
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

// join makes one line of this one and the next.
func (m Model) join() Model {
	n := max(m.total()-1, 1)
	m.vi = m.vi.idle()
	if m.buf.below == nil {
		return m
	}
	m = m.save(other)
	b := m.buf
	for range n {
		if b.below == nil {
			break
		}
		b = b.end()
		b, _ = b.remove(b.down().indent())
		if b.at > 0 && b.at < len(b.line) && !b.cellBack().space() {
			at := b
			b = b.insert(" ", true)
			b.at = at.at
		}
	}
	m.buf = b
	return m.settle()
}
