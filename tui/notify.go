package tui

import (
	"strings"

	"agentx/tui/screen"
)

// A notice is how the user is told that an answer has ended while they looked
// elsewhere.
type notice int

const (
	silent notice = iota
	ring
	desktop
)

// noticeOf is what the user wants, on the terminal that there is: off, bell,
// desktop, and anything else chooses.
func noticeOf(want string, h host) notice {
	switch {
	case want == "off" || !h.focus:
		return silent
	case want == "bell":
		return ring
	case want == "desktop", h.notice != noFormat && !h.within:
		return desktop
	}
	return ring
}

// notify tells who looks elsewhere that the chat has come to rest. Who looks here
// sees it, and who has stopped it knows.
func (m Model) notify(failed bool) {
	if !m.unseen || m.prefs.notice == silent {
		return
	}
	if m.prefs.notice == ring {
		m.term.tell(screen.Once, "\a")
		return
	}
	says := "the answer is complete"
	if failed {
		says = "the answer broke off"
	}
	m.term.tell(screen.Once, m.prefs.host.outside(notification(m.prefs.host.notice, m.called(), says)))
}

// notification is a sequence that shows one on the desktop. Where a terminal has
// not said how, it is the way that most understand.
func notification(f format, title, says string) string {
	if f == osc777 {
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + says + "\x1b\\"
	}
	return "\x1b]9;" + title + ": " + says + "\x1b\\"
}
