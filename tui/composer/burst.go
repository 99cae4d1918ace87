package composer

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	burstGap   = 10 * time.Millisecond  // no hand is faster, and no screen should be slower
	burstRunes = 12                     // as many may have waited while the screen was busy
	pasteTail  = 150 * time.Millisecond // what follows a paste so closely may be its rest
)

// burst tells a paste from typing where the terminal does not.
type burst struct {
	last   time.Time
	runes  int  // keys that came at once
	pasted bool // the burst began with a paste
}

// pace takes note of a key's time and says whether it is part of a paste.
func (m Model) pace(k tea.KeyPressMsg) (Model, bool) {
	now := m.config.Now()
	since := now.Sub(m.burst.last)
	switch {
	case m.burst.pasted && since < pasteTail:
		if since < burstGap {
			m.burst.last = now
		}
		return m, true
	case since < burstGap:
		m.burst.runes++
	default:
		m.burst = burst{runes: 1}
	}
	m.burst.last, m.burst.pasted = now, false
	return m, m.burst.runes > burstRunes
}

// pours says whether a key of a burst is text, or junk that a paste has left behind.
func (m Model) pours(key string) bool { return m.burst.pasted || key == "tab" || enter(key) }

// pour takes such a key: line ends and tabs are text, and nothing is a command.
func (m Model) pour(key string) Model {
	switch {
	case enter(key):
		return m.write("\n", false)
	case key == "tab":
		return m.write("\t", false)
	}
	return m
}
