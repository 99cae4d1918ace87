package tui

import (
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// toggleVi writes with the keys of vi, or without them, until the chat ends.
func (m Model) toggleVi() (Model, tea.Cmd) {
	on := !m.composer.Vi()
	m.composer = m.composer.SetVi(on)
	if on {
		return m.say(transcript.Info, "The keys of vi: Esc for commands, i to write. /vi ends it; vi_keys = true in config.toml keeps it."), nil
	}
	return m.say(transcript.Info, "The keys of a shell again."), nil
}
