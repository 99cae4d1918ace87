package engine

// text is a list of pieces, newest first. Adding shares the tail, so every
// earlier value stays true: a state can be stepped twice and not be spoiled.
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
	return text{&piece{s, t.len() + len(s), t.last}}
}

// String joins the pieces, once.
func (t text) String() string {
	if t.last == nil {
		return ""
	}
	if t.last.prev == nil {
		return t.last.s
	}
	b := make([]byte, t.last.end)
	for p := t.last; p != nil; p = p.prev {
		copy(b[p.end-len(p.s):], p.s)
	}
	return string(b)
}
