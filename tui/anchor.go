package tui

// An anchor keeps what is in the window where it is while a page of the log comes:
// a row of a message that is here, and the row of the window that it has. What
// comes above moves a message's beginning, for a page may bring the head of what
// it had cut; what comes below moves its end.
type anchor struct {
	key   int64
	row   int // of the window, where the message begins, or behind which it ends
	above bool
}

// hold is an anchor for a page that begins with what first counts: on the side of
// it of which more is in the window.
func (m Model) hold(first int64) (anchor, bool) {
	items := m.transcript.Items()
	rows := m.full.view.Rows(items, m.window())
	if len(rows) == 0 || m.full.view.Following() {
		return anchor{}, false
	}
	page, over, under := items.Index(first), 0, 0
	for _, r := range rows {
		switch {
		case r.Item < page:
			over++
		case r.Item > page:
			under++
		}
	}
	y := -rows[0].N
	for i := rows[0].Item; i < items.Len(); i++ {
		_, _, gap := items.Missing(i)
		switch {
		case gap:
		case i < page && over > under:
			return anchor{items.Key(i), y, false}, true
		case i > page:
			return anchor{items.Next(i) - 1, y + len(items.Rows(i)), true}, true
		}
		y += len(items.Rows(i))
	}
	return anchor{}, false
}

// drop puts the window where the anchor says.
func (m Model) drop(a anchor) Model {
	items := m.transcript.Items()
	i, y := items.Index(a.key), a.row
	if a.above {
		y -= len(items.Rows(i))
	}
	m.full.view = m.full.view.Put(items, m.window(), i, 0, y)
	return m
}
