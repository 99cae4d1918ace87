package tui

import (
	"strings"
	"time"

	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// press gives a key to whoever it is for: an open question, a list that the
// composer has open, an action, or the composer.
func (m Model) press(k tea.KeyPressMsg) (Model, tea.Cmd) {
	m = m.wakeUp()
	key := k.Keystroke()
	if m.overlays.open() {
		return m.toOverlay(k)
	}
	if (m.composer.Takes(key) || m.writes(key)) && key != "ctrl+c" {
		return m.toComposer(k)
	}
	if key == "esc" && m.rewound.any() && !m.outbox.busy {
		return m.leaveEdit()
	}
	m.full.failed, m.full.find.said = false, ""
	if m.full.focus != none || m.full.find.typing {
		if m, cmd, ok := m.reading(k); ok {
			return m, cmd
		}
	}
	if a, ok := m.table.key(key, m.composer.Empty()); ok && (!a.full || m.full.on) {
		return a.do(m, "")
	}
	if place, ok := chatKey(key); ok {
		return m.switchTo(place)
	}
	if m.composer.Empty() {
		switch {
		case key == "up" && len(m.outbox.waiting) > 0:
			return m.takeBack()
		case key == "enter" && m.outbox.held:
			m.outbox.held = false
			return m.pump()
		}
	}
	return m.toComposer(k)
}

// writes says whether a key that also belongs to an action edits what is written:
// where the user did not choose it for the action.
func (m Model) writes(key string) bool {
	several := m.composer.Empty() && m.chats.size() > 1
	return m.full.focus == none && !m.full.find.typing && !m.table.mine[key] && m.composer.Edits(key) && !several
}

// takeBack moves the last message that waits into the composer.
func (m Model) takeBack() (Model, tea.Cmd) {
	var d Message
	m.outbox, d = m.outbox.back()
	m.composer = m.composer.SetDraft(d)
	return m.keepDraft()
}

// A hint is a line that is shown for a moment.
type hint struct {
	text string
}

const (
	again       = 2 * time.Second
	againToQuit = "Ctrl+C again to quit"
)

// cancel is what Ctrl+C means: stop what runs, else clear what is written, else
// leave, if it comes twice.
func (m Model) cancel() (Model, tea.Cmd) {
	switch {
	case m.outbox.busy || m.shell.running():
		return m.stop()
	case !m.composer.Empty():
		return m.leaveEdit()
	case m.hint.text == againToQuit:
		return m.quit()
	}
	m.hint.text = againToQuit
	return m, after(again, hintOver)
}

// A tick is a moment that was waited for.
type tick int

const (
	hintOver tick = iota
	draftDue
	lookOver
	worldDue
)

func after(d time.Duration, t tick) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return t })
}

func (m Model) tick(t tick) (Model, tea.Cmd) {
	switch t {
	case hintOver:
		if m.hint.text == againToQuit {
			m.hint = hint{}
		}
	case draftDue:
		return m.saveDraft()
	case lookOver:
		m.prefs.waiting = false
	case worldDue:
		if m.backend == nil {
			m.hint.text = opening
		}
	}
	return m, nil
}

// command runs what was typed behind a slash.
func (m Model) command(text string) (Model, tea.Cmd) {
	word, arg, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	a, near := m.table.word(word)
	switch {
	case a.do != nil:
		return a.do(m, strings.TrimSpace(arg))
	case len(near) > 0:
		return m.say(transcript.Info, "Which one: "+strings.Join(near, " ")+"?"), nil
	}
	hint := "/help shows them; a space before the slash makes it a message."
	if meant := m.table.meant(word); meant != "" {
		hint = "Did you mean /" + meant + "?"
	}
	return m.say(transcript.Info, "There is no command /"+word+". "+hint), nil
}
