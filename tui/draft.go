package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A draft knows what of the unsent is kept.
type draft struct {
	saved  int  // the composer's change that was saved last
	queued int  // messages that waited then
	aside  int  // and that were put aside
	due    bool // a save is coming
}

// A draft is saved this long after a change, or after so many changes.
const (
	draftDelay   = 2 * time.Second
	draftChanges = 200
)

// keepDraft sees that what is written and what waits is saved soon.
func (m Model) keepDraft() (Model, tea.Cmd) {
	switch {
	case m.kept():
		return m, nil
	case m.prefs.spoken: // a line is written and sent at once
		return m.saveDraft()
	case m.composer.Changed()-m.draft.saved >= draftChanges:
		return m.saveDraft()
	case m.draft.due:
		return m, nil
	}
	m.draft.due = true
	return m, after(draftDelay, draftDue)
}

func (m Model) kept() bool {
	return m.composer.Changed() == m.draft.saved && m.outbox.size() == m.draft.queued && len(m.aside) == m.draft.aside
}

func (m Model) saveDraft() (Model, tea.Cmd) {
	m.draft.due = false
	if m.kept() {
		return m, nil
	}
	if m.backend == nil { // it is not known yet whose draft it is
		m.draft.due = true
		return m, after(draftDelay, draftDue)
	}
	m.draft = draft{saved: m.composer.Changed(), queued: m.outbox.size(), aside: len(m.aside)}
	id, d := m.open.Session.ID, m.unsent()
	return m, m.ask(func(ctx context.Context, b Backend) error { return b.SaveDraft(ctx, id, d) })
}

// unsent is all that the user wrote and nobody has taken.
func (m Model) unsent() Draft { return m.parked().unsent() }
