package palette

import (
	"slices"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

const maxFilter = 200 // bytes; more finds nothing anyway

// press takes one key.
func (m Model) press(k tea.KeyPressMsg) (Model, tea.Msg) {
	key := k.Keystroke()
	if m, out, ok := m.act(key); ok {
		return m, out
	}
	if k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModSuper|tea.ModMeta|tea.ModHyper) == 0 {
		return m.write(k.Text)
	}
	switch key {
	case "enter":
		return m.choose()
	case "esc", "ctrl+g":
		return m, Closed{}
	case "backspace", "ctrl+h":
		return m.refine(chop(m.filter))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		s := strings.TrimRight(m.filter, " ")
		return m.refine(s[:strings.LastIndexByte(s, ' ')+1])
	case "ctrl+u":
		return m.refine("")
	}
	return m.step(key), nil
}

// act does what the configuration says for key.
func (m Model) act(key string) (Model, tea.Msg, bool) {
	i := slices.IndexFunc(m.config.Actions, func(a Action) bool { return a.Key == key })
	if i < 0 || key == "space" && m.filter != "" {
		return m, nil, false
	}
	id, ok := m.Selected()
	switch {
	case !ok:
		return m, nil, true
	case m.config.Actions[i].Preview && len(m.found[m.at].item.Preview) > 0:
		m.unfolded = !m.unfolded
		return m.scroll(), nil, true
	}
	return m, Acted{key, id}, true
}

func (m Model) choose() (Model, tea.Msg) {
	if id, ok := m.Selected(); ok {
		return m, Chosen{id}
	}
	return m, nil
}

// step moves the mark.
func (m Model) step(key string) Model {
	page := max(1, m.room()-1)
	switch key {
	case "up", "ctrl+p", "ctrl+k":
		m.at--
	case "down", "ctrl+n", "ctrl+j":
		m.at++
	case "pgup":
		m.at -= page
	case "pgdown":
		m.at += page
	case "home":
		m.at = 0
	case "end":
		m.at = len(m.found)
	}
	return m.scroll()
}

// write adds to the filter.
func (m Model) write(s string) (Model, tea.Msg) {
	s = text.Line(m.filter + s) // together: a joiner needs what it joins
	if len(s) > maxFilter {
		return m, nil
	}
	return m.refine(s)
}

func (m Model) refine(filter string) (Model, tea.Msg) {
	if filter == m.filter {
		return m, nil
	}
	m = m.SetFilter(filter)
	if !m.config.Search {
		return m, nil
	}
	return m, Query{filter}
}

// chop takes the last grapheme cluster off.
func chop(s string) string {
	last := 0
	for i := 0; i < len(s); {
		last = i
		c, _ := text.Next(s[i:])
		i += len(c)
	}
	return s[:last]
}
