package engine

import "strings"

// text is a list of pieces, newest first. Adding shares the tail, so every
// earlier value stays true: a state can be stepped twice and not be spoiled.
//
// A piece is longer than all that is newer together: what is added takes in
// those that are not. So there are few, each byte is copied seldom (a dozen
// times in an answer of 100 KB), and a million deltas take the room of what
// they say.
type text struct{ last *piece }

type piece struct {
	s    string
	end  int // length of the text up to and including s
	prev *piece
}

func (t text) len() int {
	if t.last == nil {
		return 0
	}
	return t.last.end
}

func (t text) add(s string) text {
	if s == "" {
		return t
	}
	start, end, prev := t.len(), t.len()+len(s), t.last
	for prev != nil && len(prev.s) <= end-start {
		start -= len(prev.s)
		prev = prev.prev
	}
	if prev != t.last {
		s = t.with(start, s)
	}
	return text{&piece{s, end, prev}}
}

// with is the text from the start of a piece on, and s behind it.
func (t text) with(start int, s string) string {
	var b strings.Builder
	b.Grow(t.len() - start + len(s))
	t.last.write(&b, start)
	b.WriteString(s)
	return b.String()
}

func (p *piece) write(b *strings.Builder, start int) {
	if p != nil && p.end > start {
		p.prev.write(b, start)
		b.WriteString(p.s)
	}
}

// String joins the pieces, once.
func (t text) String() string {
	switch {
	case t.last == nil:
		return ""
	case t.last.prev == nil:
		return t.last.s
	}
	return t.with(0, "")
}
