package composer

import "slices"

// walk is where one stands in the history.
type walk struct {
	entries []string // the newest last
	at      int      // steps back from the draft; zero is the draft itself
	draft   buffer
	shown   buffer // as it was recalled; what differs from it is a draft
}

// SetHistory gives what was sent before, the newest last. Equal neighbours count as one. The slice is not changed.
func (m Model) SetHistory(entries []string) Model {
	m.walk = walk{entries: entries}
	m.search = search{}
	return m.lay()
}

// up moves a row up, or at the first row back in the history.
func (m Model) up() Model {
	if next, ok := m.vertical(-1); ok {
		return next
	}
	at := m.walk.back(m.walk.at)
	if at == m.walk.at {
		return m.move(buffer.home)
	}
	return m.recall(at)
}

// down moves a row down, or at the last row forward in the history.
func (m Model) down() Model {
	if next, ok := m.vertical(1); ok {
		return next
	}
	if m.walk.at == 0 {
		return m.move(buffer.end)
	}
	return m.recall(m.walk.forth(m.walk.at))
}

// entry is the text that stands n steps back.
func (w walk) entry(n int) string { return w.entries[len(w.entries)-n] }

// back is the next step whose entry differs from the present one.
func (w walk) back(at int) int {
	for n := at + 1; n <= len(w.entries); n++ {
		if s := w.entry(n); s != "" && (at == 0 || s != w.entry(at)) {
			return n
		}
	}
	return at
}

func (w walk) forth(at int) int {
	for n := at - 1; n > 0; n-- {
		if s := w.entry(n); s != "" && s != w.entry(at) {
			return n
		}
	}
	return 0
}

// recall shows the entry n steps back. What was written meanwhile is kept as the draft.
func (m Model) recall(n int) Model {
	if m.walk.at == 0 || !m.buf.same(m.walk.shown) {
		m.walk.draft = m.buf
	}
	m = m.save(other)
	m.walk.at = n
	if n == 0 {
		m.buf = m.walk.draft
		m.walk.draft = buffer{}
		return m.settle().quiet()
	}
	m = m.fill(clean(m.walk.entry(n)))
	m.buf.typed = recalled(m.buf)
	m.walk.shown = m.buf
	return m.settle().quiet()
}

// quiet keeps the list closed over a slash word that was recalled: up and down belong to the history.
func (m Model) quiet() Model {
	m.offer.closed = true
	return m.lay()
}

// recalled trusts a slash word from the history: a pasted one was kept with a space before it.
func recalled(b buffer) int {
	if b.above == nil {
		return len(b.line)
	}
	first := b.top()
	return len(first.line)
}

// match is the first step from n back on whose entry fits query; 0 where there is none.
func (w walk) match(query string, n int) int {
	for ; n <= len(w.entries); n++ {
		if w.fits(n, query) {
			return n
		}
	}
	return 0
}

// fits says whether the entry n steps back fits query and equals no newer one.
func (w walk) fits(n int, query string) bool {
	s := w.entry(n)
	return s != "" && fits(s, query) && !slices.Contains(w.entries[len(w.entries)-n+1:], s)
}
