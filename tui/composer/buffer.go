package composer

import (
	"slices"
	"strings"
)

// lines is a stack of lines that is shared between buffers and never changed.
type lines struct {
	text  string
	next  *lines
	count int // this line and those under it
	bytes int // of their texts, a newline each
}

func (l *lines) push(text string) *lines {
	return &lines{text: text, next: l, count: l.len() + 1, bytes: l.size() + len(text) + 1}
}

func (l *lines) len() int {
	if l == nil {
		return 0
	}
	return l.count
}

func (l *lines) size() int {
	if l == nil {
		return 0
	}
	return l.bytes
}

// buffer is a text and a caret in it. An edit costs the line it is in, however
// many lines there are, and leaves the old buffer as it was: undo keeps those.
type buffer struct {
	above *lines // nearest first
	line  string // the caret's
	below *lines // nearest first
	at    int    // the caret in line, between two cells
	typed int    // how many bytes from the text's beginning were typed by hand
}

func (b buffer) empty() bool { return b.above == nil && b.below == nil && b.line == "" }

func (b buffer) size() int { return b.above.size() + len(b.line) + b.below.size() }

func (b buffer) len() int { return b.above.len() + 1 + b.below.len() }

// all yields the lines from first to last.
func (b buffer) all() []string {
	out := make([]string, 0, b.len())
	for l := b.above; l != nil; l = l.next {
		out = append(out, l.text)
	}
	slices.Reverse(out)
	out = append(out, b.line)
	for l := b.below; l != nil; l = l.next {
		out = append(out, l.text)
	}
	return out
}

func (b buffer) text() string { return strings.Join(b.all(), "\n") }

// same says whether b and o hold the same text; it is quick where they share lines.
func (b buffer) same(o buffer) bool {
	if b.above == o.above && b.below == o.below {
		return b.line == o.line
	}
	return b.size() == o.size() && b.text() == o.text()
}

// insert puts text at the caret, which then stands behind it. Typed says that a hand did it.
func (b buffer) insert(text string, typed bool) buffer {
	if text == "" {
		return b
	}
	first, rest, broken := strings.Cut(text, "\n")
	if b.above == nil {
		b.typed = b.grow(len(first), typed, broken)
	}
	tail := b.line[b.at:]
	b.line, b.at = b.line[:b.at]+first, b.at+len(first)
	for broken {
		b.above = b.above.push(b.line)
		b.line, rest, broken = strings.Cut(rest, "\n")
		b.at = len(b.line)
	}
	b.line += tail
	return b.snap()
}

// grow is how much of the beginning is typed after n bytes came in at the caret.
func (b buffer) grow(n int, typed, broken bool) int {
	switch {
	case b.at > b.typed:
		return b.typed
	case !typed:
		return b.at
	case broken:
		return b.at + n
	}
	return b.typed + n
}

// remove takes out what lies between b and to, two places in one text, and returns it too.
func (b buffer) remove(to buffer) (buffer, string) {
	from := b
	if to.before(from) {
		from, to = to, from
	}
	one := from.above.len() == to.above.len()
	gone := from.line[from.at:]
	if one {
		gone = from.line[from.at:to.at]
	} else {
		var mid []string
		for l := to.above; l.len() > from.above.len()+1; l = l.next {
			mid = append(mid, l.text)
		}
		mid = append(mid, gone)
		slices.Reverse(mid)
		gone = strings.Join(append(mid, to.line[:to.at]), "\n")
	}
	out := buffer{above: from.above, line: from.line[:from.at] + to.line[to.at:], below: to.below, at: from.at, typed: from.typed}
	if out.above == nil && from.at < from.typed {
		out.typed = from.at
		if one && to.at <= from.typed {
			out.typed = from.typed - len(gone)
		}
	}
	return out.snap(), gone
}

// before says whether b's caret stands earlier than o's in the same text.
func (b buffer) before(o buffer) bool {
	if b.above.len() != o.above.len() {
		return b.above.len() < o.above.len()
	}
	return b.at < o.at
}

// snap moves the caret out of a cell that an edit has joined under it.
func (b buffer) snap() buffer {
	b.at = snap(b.line, b.at)
	return b
}

func (b buffer) left() buffer {
	if b.at > 0 {
		b.at = before(b.line, b.at)
		return b
	}
	if b.above == nil {
		return b
	}
	return b.up().end()
}

func (b buffer) right() buffer {
	if b.at < len(b.line) {
		b.at += len(cellAt(b.line[b.at:]).text)
		return b
	}
	if b.below == nil {
		return b
	}
	return b.down().home()
}

// up is the beginning of the line above, or of this one where there is none.
func (b buffer) up() buffer {
	b.at = 0
	if b.above != nil {
		b.below, b.line, b.above = b.below.push(b.line), b.above.text, b.above.next
	}
	return b
}

// down is the beginning of the line below, or of this one where there is none.
func (b buffer) down() buffer {
	b.at = 0
	if b.below != nil {
		b.above, b.line, b.below = b.above.push(b.line), b.below.text, b.below.next
	}
	return b
}

func (b buffer) home() buffer { b.at = 0; return b }

func (b buffer) end() buffer { b.at = len(b.line); return b }

func (b buffer) top() buffer {
	for b.above != nil {
		b = b.up()
	}
	return b.home()
}

func (b buffer) bottom() buffer {
	for b.below != nil {
		b = b.down()
	}
	return b.end()
}

// wordLeft is the beginning of the word before the caret.
func (b buffer) wordLeft() buffer {
	for b.back() == gap && !b.atTop() {
		b = b.left()
	}
	for k := b.back(); k != gap && b.back() == k; {
		b = b.left()
		if k == unit {
			break
		}
	}
	return b
}

// wordRight is the end of the word after the caret.
func (b buffer) wordRight() buffer {
	for b.ahead() == gap && !b.atBottom() {
		b = b.right()
	}
	for k := b.ahead(); k != gap && b.ahead() == k; {
		b = b.right()
		if k == unit {
			break
		}
	}
	return b
}

// fieldLeft is the beginning of the run without spaces before the caret.
func (b buffer) fieldLeft() buffer {
	for !b.atTop() && (b.at == 0 || b.cellBack().space()) {
		b = b.left()
	}
	for b.at > 0 && !b.cellBack().space() {
		b = b.left()
	}
	return b
}

func (b buffer) atTop() bool { return b.at == 0 && b.above == nil }

func (b buffer) atBottom() bool { return b.at == len(b.line) && b.below == nil }

func (b buffer) cellBack() cell { return cellAt(b.line[before(b.line, b.at):]) }

// back is the kind of the cell before the caret.
func (b buffer) back() kind {
	if b.at == 0 {
		return gap
	}
	return b.cellBack().kind()
}

// ahead is the kind of the cell after the caret.
func (b buffer) ahead() kind {
	if b.at == len(b.line) {
		return gap
	}
	return cellAt(b.line[b.at:]).kind()
}

// transpose swaps the cells around the caret, at a line's end the two before it.
func (b buffer) transpose() buffer {
	if b.at == len(b.line) && b.at > 0 {
		b = b.left()
	}
	if b.at == 0 || b.at == len(b.line) {
		return b
	}
	i, n := before(b.line, b.at), len(cellAt(b.line[b.at:]).text)
	end := b.at + n
	b.line = b.line[:i] + b.line[b.at:end] + b.line[i:b.at] + b.line[end:]
	b.at = end
	if b.above == nil {
		b.typed = min(b.typed, max(i, 0)) // cheap and safe: what was moved is no longer counted
	}
	return b.snap()
}
