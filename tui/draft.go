package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A draft knows what of the composer is kept.
type draft struct {
	saved int  // the composer's change that was saved last
	due   bool // a save is coming
}

// A draft is saved this long after a change, or after so many changes.
const (
	draftDelay   = 2 * time.Second
	draftChanges = 200
)

// keepDraft sees that what is written is saved soon.
func (m Model) keepDraft() (Model, tea.Cmd) {
	switch changed := m.composer.Changed() - m.draft.saved; {
	case changed == 0:
		return m, nil
	case changed >= draftChanges:
		return m.saveDraft()
	case m.draft.due:
		return m, nil
	}
	m.draft.due = true
	return m, after(draftDelay, draftDue)
}

func (m Model) saveDraft() (Model, tea.Cmd) {
	m.draft.due = false
	if m.composer.Changed() == m.draft.saved {
		return m, nil
	}
	m.draft.saved = m.composer.Changed()
	d := m.unsent()
	return m, m.ask(func(ctx context.Context, b Backend) error { return b.SaveDraft(ctx, d) })
}

// unsent is all that the user wrote and nobody has taken.
func (m Model) unsent() Draft { return Draft{Text: m.composer.Draft(), Queued: m.outbox.all()} }
