package composer

// past is a chain of earlier buffers, the latest first.
type past struct {
	buf   buffer
	next  *past
	count int
}

const maxUndo = 1000 // steps; twice as many are held before the older half goes

func (p *past) push(b buffer) *past {
	n := 1
	if p != nil {
		n = p.count + 1
	}
	if n > 2*maxUndo {
		p = p.newest(maxUndo)
		n = maxUndo + 1
	}
	return &past{buf: b, next: p, count: n}
}

// newest copies the latest n steps.
func (p *past) newest(n int) *past {
	if p == nil || n == 0 {
		return nil
	}
	return &past{buf: p.buf, next: p.next.newest(n - 1), count: n}
}

// save keeps the buffer for undo before a change. Typing goes on in the step that it began, and so does deleting.
func (m Model) save(a act) Model {
	if a != m.last || a != typing && a != deleting {
		m.undo = m.undo.push(m.buf)
	}
	m.redo, m.last = nil, a
	return m
}

func (m Model) goBack() Model {
	if m.undo == nil {
		return m
	}
	m.redo = m.redo.push(m.buf)
	m.buf, m.undo, m.last = m.undo.buf, m.undo.next, other
	return m.settle()
}

func (m Model) goForth() Model {
	if m.redo == nil {
		return m
	}
	m.undo = m.undo.push(m.buf)
	m.buf, m.redo, m.last = m.redo.buf, m.redo.next, other
	return m.settle()
}
