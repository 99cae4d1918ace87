package composer

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	burstGap   = 10 * time.Millisecond  // no hand is faster, and no screen should be slower
	burstRunes = 12                     // as many may have waited while the screen was busy
	burstEnd   = 40 * time.Millisecond  // after which nothing more of a burst will come
	pasteTail  = 150 * time.Millisecond // what follows a paste so closely may be its rest
)

// burst tells a paste from typing where the terminal does not.
type burst struct {
	last   time.Time
	runes  int  // keys that came at once
	pasted bool // the burst began with a paste
	broken bool // it had a line end, with more behind it
	held   int  // keys until an Enter that may be the end of it; 0 is none
	keys   int  // of all bursts
}

// Ended says that nothing has come for a while behind an Enter that came too
// fast for a hand. It belongs to the composer.
type Ended struct{ keys int }

// pace takes note of a key's time and says whether it is part of a paste.
func (m Model) pace(k tea.KeyPressMsg) (Model, bool) {
	now := m.config.Now()
	since := now.Sub(m.burst.last)
	m.burst.keys++
	switch {
	case m.burst.pasted && since < pasteTail:
		if since < burstGap {
			m.burst.last = now
		}
		return m, true
	case since < burstGap:
		m.burst.runes++
	default:
		m.burst = burst{runes: 1, keys: m.burst.keys}
	}
	m.burst.last, m.burst.pasted = now, false
	return m, m.burst.runes > burstRunes
}

// pours says whether a key of a burst is text, or junk that a paste has left behind.
func (m Model) pours(key string) bool { return m.burst.pasted || key == "tab" || enter(key) }

// pour takes such a key: line ends and tabs are text, and nothing is a command.
// The first Enter may also be the end of a line that a program typed: it waits
// for what comes behind it.
func (m Model) pour(key string) Model {
	switch {
	case enter(key) && !m.burst.pasted && !m.burst.broken:
		m.burst.held = m.burst.keys
	case enter(key):
		return m.write("\n", false)
	case key == "tab":
		return m.write("\t", false)
	}
	return m
}

// release makes a line end of the Enter that waits: there is more behind it.
func (m Model) release() Model {
	if m.burst.held == 0 {
		return m
	}
	m.burst.held, m.burst.broken = 0, true
	return m.write("\n", false)
}

// wait says when nothing more has come.
func (m Model) wait() tea.Cmd {
	if m.burst.held == 0 || m.burst.held != m.burst.keys {
		return nil
	}
	n := m.burst.keys
	return tea.Tick(burstEnd, func(time.Time) tea.Msg { return Ended{n} })
}

// ended sends what was typed before an Enter with nothing behind it.
func (m Model) ended(e Ended) (Model, tea.Msg) {
	if m.burst.held == 0 || m.burst.held != e.keys {
		return m, nil
	}
	m.burst.held = 0
	return m.enter("enter")
}
