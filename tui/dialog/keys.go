package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// press takes one key.
func (m Model) press(k tea.KeyPressMsg) (Model, tea.Msg) {
	key := k.Keystroke()
	if key == "esc" {
		return m, Closed{ID: m.question.id}
	}
	if by := m.scrolls(key); by != 0 && m.question.kind != writing && m.scrollable() {
		return m.scroll(by), nil
	}
	switch m.question.kind {
	case asking:
		return m.choose(key)
	case writing:
		return m.write(k)
	}
	return m.turn(k)
}

// turn takes a key of a text that asks nothing: as less, but that one may go on
// writing.
func (m Model) turn(k tea.KeyPressMsg) (Model, tea.Msg) {
	key := k.Keystroke()
	if by := m.pages(key); by != 0 && m.scrollable() {
		return m.scroll(by), nil
	}
	switch {
	case key == "q" || key == "enter" || key == "?" || key == "space":
		return m, Closed{ID: m.question.id}
	case writes(k):
		return m, Closed{ID: m.question.id, Unread: k}
	}
	return m, nil
}

// writes reports whether a key is one that writes something.
func writes(k tea.KeyPressMsg) bool {
	return k.Text != "" && k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModSuper|tea.ModMeta|tea.ModHyper) == 0
}

// pages is by how many lines a key of less moves a text that asks nothing.
func (m Model) pages(key string) int {
	page := max(1, m.room()-1)
	switch key {
	case "k", "ctrl+y":
		return -1
	case "j", "ctrl+e":
		return 1
	case "ctrl+u":
		return -max(page/2, 1)
	case "ctrl+d":
		return max(page/2, 1)
	case "b", "ctrl+b":
		return -page
	case "f", "ctrl+f":
		return page
	case "g":
		return -len(m.body) - 1
	case "G", "shift+g":
		return len(m.body) + 1
	}
	return 0
}

// scrolls is by how many lines a key moves the text.
func (m Model) scrolls(key string) int {
	page := max(1, m.room()-1)
	switch key {
	case "up", "ctrl+p":
		return -1
	case "down", "ctrl+n":
		return 1
	case "pgup":
		return -page
	case "pgdown", "space":
		return page
	case "home":
		return -len(m.body) - 1
	case "end":
		return len(m.body) + 1
	}
	return 0
}

// choose takes a letter, moves the mark or answers.
func (m Model) choose(key string) (Model, tea.Msg) {
	choices := m.question.confirm.Choices
	n := len(choices)
	if n == 0 {
		return m, nil
	}
	switch key {
	case "left", "shift+tab":
		m.marked = (max(m.marked, 0) + n - 1) % n
		return m, nil
	case "right", "tab":
		m.marked = (m.marked + 1) % n
		return m, nil
	case "enter":
		return m.answer(m.marked)
	}
	for i, c := range choices {
		if !strings.EqualFold(key, c.Letter) {
			continue
		}
		m.marked = i
		if m.question.confirm.Twice {
			return m, nil
		}
		return m.answer(i)
	}
	return m, nil
}

func (m Model) answer(i int) (Model, tea.Msg) {
	if i < 0 {
		return m, nil
	}
	return m, Answer{ID: m.question.id, Choice: m.question.confirm.Choices[i].Value}
}

// write takes a key of a prompt.
func (m Model) write(k tea.KeyPressMsg) (Model, tea.Msg) {
	key := k.Keystroke()
	if key == "enter" {
		s := m.field.text()
		if strings.TrimSpace(s) == "" && !m.question.prompt.Empty {
			return m, nil
		}
		return m, Answer{ID: m.question.id, Text: s}
	}
	if writes(k) {
		m.field = m.field.write(k.Text)
		return m, nil
	}
	m.field = m.field.press(key)
	return m, nil
}
