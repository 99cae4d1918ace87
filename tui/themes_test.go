package tui

import (
	"testing"

	"agentx/tui/storytest"

	tea "charm.land/bubbletea/v2"
)

// The theme under the mark is worn while it is there, and nobody keeps one that
// was not chosen. What comes too late is not put on.
func TestThemesAreTriedOn(t *testing.T) {
	m := still(t, &desk{})
	m, _ = m.update(tea.WindowSizeMsg{Width: 80, Height: 30})
	then := func(cmd tea.Cmd) {
		t.Helper()
		if cmd == nil {
			t.Fatal("nothing follows")
		}
		m, _ = m.update(cmd())
	}
	press := func(key string) (cmd tea.Cmd) {
		m, cmd = m.update(storytest.Key(key))
		return cmd
	}
	m, cmd := m.theme("")
	then(cmd)
	if got := m.overlays.tried(); got != "dark" {
		t.Fatalf("the mark is on %q, want what is worn", got)
	}
	before, head := m.prefs, m.overlays.top().drawn[0]

	then(press("down"))
	if m.prefs.worn != "light" || m.prefs.theme.Name != "light" {
		t.Errorf("on light %s is worn", m.prefs.worn)
	}
	if m.overlays.top().drawn[0] == head {
		t.Error("the sample looks as before")
	}
	late := press("down")
	then(press("up"))
	then(late)
	if m.prefs.worn != "light" {
		t.Errorf("%s is worn, which is not under the mark any more", m.prefs.worn)
	}
	press("esc")
	if m.overlays.open() || m.prefs.worn != before.worn || m.prefs.theme != before.theme || m.prefs.auto != before.auto {
		t.Errorf("after Esc %s is worn, want %s", m.prefs.worn, before.worn)
	}

	m, cmd = m.theme("")
	then(cmd)
	then(press("down"))
	then(press("enter"))
	if m.overlays.open() || m.prefs.theme.Name != "light" {
		t.Errorf("after Enter %s is worn, want light", m.prefs.worn)
	}
	m, cmd = m.theme("nothing")
	then(cmd)
	if m.prefs.theme.Name != "light" {
		t.Errorf("after a name that is none %s is worn, want what was", m.prefs.worn)
	}
}
