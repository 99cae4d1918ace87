package composer

import "slices"

// kill is a text that was cut out and can be put in again.
type kill struct {
	text  string
	typed bool // all of it was typed at the text's beginning
	lines bool // it is whole lines, cut out by vi
}

const maxRing = 30

func toHome(b buffer) buffer {
	if b.at == 0 {
		return b.left()
	}
	return b.home()
}

func toEnd(b buffer) buffer {
	if b.at == len(b.line) {
		return b.right()
	}
	return b.end()
}

// kill cuts out what lies between the caret and to. Kills in a row are one.
func (m Model) kill(to func(buffer) buffer) Model {
	end := to(m.buf)
	next, gone := m.buf.remove(end)
	if gone == "" {
		return m
	}
	k := kill{text: gone, typed: m.buf.above == nil && end.above == nil && max(m.buf.at, end.at) <= m.buf.typed}
	if n := len(m.ring); m.last == killing && n > 0 {
		k = join(m.ring[n-1], k, end.before(m.buf))
		m.ring = m.ring[:n-1]
	}
	m.ring = append(slices.Clip(m.ring[max(0, len(m.ring)+1-maxRing):]), k)
	m = m.save(killing)
	m.buf = next
	return m.settle()
}

func join(old, k kill, backward bool) kill {
	if backward {
		return kill{text: k.text + old.text, typed: old.typed && k.typed}
	}
	return kill{text: old.text + k.text, typed: old.typed && k.typed}
}

// yank puts the latest kill in.
func (m Model) yank() Model {
	if len(m.ring) == 0 {
		return m
	}
	m.yanked = len(m.ring) - 1
	return m.put()
}

// yankNext replaces what was just put in by the kill before it.
func (m Model) yankNext() Model {
	if m.last != yanking || len(m.ring) == 0 {
		return m
	}
	m.yanked = (m.yanked + len(m.ring) - 1) % len(m.ring)
	m.buf, m.undo = m.undo.buf, m.undo.next
	return m.put()
}

func (m Model) put() Model {
	k := m.ring[m.yanked]
	m = m.save(yanking)
	m.buf = m.buf.insert(k.text, k.typed)
	return m.settle()
}
