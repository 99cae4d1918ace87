package tui

import (
	"fmt"
	"slices"
	"strings"

	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// aside are the drafts that were put aside, the latest last.
type aside []Message

// maxAside is how many there can be.
const maxAside = 20

// stash puts what is written aside, or brings back what was put aside last
// where nothing is written.
func (m Model) stash(arg string) (Model, tea.Cmd) {
	d := m.composer.Draft()
	if arg != "" {
		d = Message{Text: arg} // behind the slash word
	}
	switch n := len(m.aside); {
	case strings.TrimSpace(d.Text) == "" && n == 0:
		return m.say(transcript.Info, "Nothing was put aside. With something written, this puts it aside."), nil
	case strings.TrimSpace(d.Text) == "":
		d, m.aside = m.aside[n-1], m.aside[:n-1:n-1]
		m.composer = m.composer.SetDraft(d)
	case n == maxAside:
		return m.say(transcript.Info, "Enough is put aside; bring some of it back first."), nil
	default:
		m.aside = append(slices.Clip(m.aside), d)
		m.composer = m.composer.Reset()
	}
	return m.keepDraft()
}

// asideLines shows what is put aside last, and how much more there is.
func (m Model) asideLines() []string {
	if len(m.aside) == 0 {
		return nil
	}
	says := "put aside"
	if n := len(m.aside); n > 1 {
		says += fmt.Sprintf(" (the last of %d)", n)
	}
	if a, ok := m.table.named("stash"); ok && m.composer.Empty() {
		says += ", " + a.hintOf() + " brings it back"
	}
	return []string{m.waits(says, m.aside[len(m.aside)-1])}
}
