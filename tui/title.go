package tui

import (
	"time"

	"agentx/engine/event"
	"agentx/tui/screen"
	"agentx/tui/text"
)

// What is asked of a terminal with its window, and taken back: that it tells when
// it has the focus, and keeps its title.
const (
	focusOn, focusOff   = "\x1b[?1004h", "\x1b[?1004l"
	keepTitle, oldTitle = "\x1b[22;2t", "\x1b[23;2t"
	working, rested     = "\x1b]9;4;3\x1b\\", "\x1b]9;4;0\x1b\\"
)

// enter is what is asked of the terminal, and leave what takes it back.
func (p prefs) enter() (enter, leave string) {
	if p.notice != silent {
		enter, leave = focusOn, focusOff
	}
	if p.host.title {
		enter, leave = enter+keepTitle, oldTitle+leave
	}
	if p.host.progress {
		leave = rested + leave
	}
	return enter, leave
}

// An announced is what the terminal was told last of the session and its work.
type announced struct {
	title string
	busy  bool
	at    time.Time // it was told that the work goes on
}

// refresh is after how long a terminal is told again that the work goes on: some
// take progress that is silent for one that has died.
const refresh = 5 * time.Second

// signal tells the terminal what has changed of title and progress.
func (m Model) signal() Model {
	is := announced{title: m.windowTitle(), busy: m.outbox.busy, at: m.announced.at}
	if m.prefs.host.title && is.title != m.announced.title {
		m.term.tell(screen.Title, "\x1b]2;"+is.title+"\x1b\\")
	}
	if m.prefs.host.progress {
		switch {
		case is.busy && (!m.announced.busy || m.now.Sub(is.at) >= refresh):
			is.at = m.now
			m.term.tell(screen.Progress, working)
		case !is.busy && m.announced.busy:
			m.term.tell(screen.Progress, rested)
		}
	}
	m.announced = is
	return m
}

// windowTitle is what the window is called: the session, with a mark while it
// answers.
func (m Model) windowTitle() string {
	if !m.prefs.host.title {
		return ""
	}
	name := m.called()
	switch {
	case !m.outbox.busy:
		return name
	case m.prefs.ascii:
		return "* " + name
	}
	return "● " + name
}

// maxTitle is how many cells of a session's title a window is given.
const maxTitle = 60

// called is the session as the world outside of the chat may be told of it. What
// comes from outside is cleaned, and stands behind our name.
func (m Model) called() string {
	name := m.open.Session.Title
	if name == "" {
		name = m.subject
	}
	if name == "" {
		return "agentx"
	}
	return "agentx: " + text.Truncate(text.Line(name[:min(len(name), 8*maxTitle)]), maxTitle)
}

// subject is what a session without a title is about: the first thing that was
// said, which is in e where nothing was before.
func subject(before string, e event.Event) string {
	if d, ok := e.Data.(event.UserMessage); ok && before == "" {
		return d.Content.Text()
	}
	return before
}
