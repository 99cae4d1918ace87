package tui

import (
	"slices"
	"strings"

	"agentx/tui/markdown"
	"agentx/tui/scroll"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// toReading gives the keys to the transcript: to the last message in the window.
func (m Model) toReading() (Model, tea.Cmd) {
	items := m.transcript.Items()
	for _, r := range slices.Backward(m.full.view.Rows(items, m.window())) {
		if items.Message(r.Item) {
			m.full.focus = items.Key(r.Item)
			return m, nil
		}
	}
	return m, nil
}

// reading takes a key while the transcript has them; false says that it is
// somebody else's.
func (m Model) reading(k tea.KeyPressMsg) (Model, tea.Cmd, bool) {
	if m.full.find.typing {
		return m.lookFor(k)
	}
	m, cmd, done := m.walks(k.Keystroke())
	if !done {
		m, cmd, done = m.acts(k.Keystroke())
	}
	return m, cmd, done || k.Text != "" && k.Mod&^tea.ModShift == 0 // a letter too many writes nothing
}

// walks are the keys that go elsewhere.
func (m Model) walks(key string) (_ Model, cmd tea.Cmd, done bool) {
	switch key {
	case "esc", "tab", "shift+tab", "i", "q":
		m.full.focus, m.full.find = none, find{}
	case "up", "k":
		m = m.move(-1)
	case "down", "j":
		m = m.move(+1)
	case "ctrl+e":
		m = m.scrollBy(1)
	case "ctrl+y":
		m = m.scrollBy(-1)
	case "ctrl+d":
		m = m.scrollBy(max(m.window()/2, 1))
	case "ctrl+u":
		m = m.scrollBy(-max(m.window()/2, 1))
	case "ctrl+f":
		m, cmd = m.pageDown()
	case "ctrl+b":
		m, cmd = m.pageUp()
	case "[", "{":
		m, cmd = m.promptUp()
	case "]", "}":
		m, cmd = m.promptDown()
		m = m.readOn()
	case "home", "g":
		m, cmd = m.toTop()
	case "end", "G", "shift+g":
		m, cmd = m.toEnd()
		m = m.readOn()
	case "n":
		m, cmd = m.seek(-1)
	case "N", "shift+n":
		m, cmd = m.seek(+1)
	case "/":
		m.full.find = find{typing: true, words: m.full.find.words}
	default:
		return m, nil, false
	}
	return m, cmd, true
}

// readOn lets the conversation keep the keys where one has come to its end.
func (m Model) readOn() Model {
	if m.full.focus == none {
		m, _ = m.toReading()
	}
	return m
}

// acts are the keys that do something with the message that has the keys.
func (m Model) acts(key string) (_ Model, cmd tea.Cmd, done bool) {
	switch key {
	case "enter", "space", "ctrl+o":
		m = m.fold()
	case "y":
		m, cmd = m.copyFocused()
	case "c":
		m, cmd = m.copyItsCode()
	case "e":
		m, cmd = m.withFocused(func(m Model, id string) (Model, tea.Cmd) { return m.reviseOne(0, id) })
	case "r":
		m, cmd = m.withFocused(func(m Model, id string) (Model, tea.Cmd) { return m.retryOne(0, id) })
	case "f":
		m, cmd = m.withFocused(Model.climb)
	case "?", "shift+?":
		m, cmd = m.showKeys()
	default:
		return m, nil, false
	}
	return m, cmd, true
}

// deeds say in so many columns what the keys do: what there is room for, and the
// way back.
func (m Model) deeds(width int) string {
	keys := []string{"y copies", "e edits", "r retries", "? keys"}
	if items := m.transcript.Items(); items.Foldable(items.Index(m.full.focus)) {
		keys = append([]string{"Space folds"}, keys...)
	}
	if m.full.find.words != "" {
		keys = append([]string{"n above, N below"}, keys...)
	}
	const back = "Esc writes"
	for len(keys) > 0 && text.Width(strings.Join(keys, " · "))+len(" · "+back) > width {
		keys = slices.Delete(keys, max(len(keys)-2, 0), max(len(keys)-1, 1))
	}
	return strings.Join(append(keys, back), " · ")
}

// withFocused does something with the question that has the keys, or whose answer
// has them.
func (m Model) withFocused(do func(Model, string) (Model, tea.Cmd)) (Model, tea.Cmd) {
	items := m.transcript.Items()
	id := items.Asked(items.Index(m.full.focus))
	if id == "" {
		m.full.find.said = "Its question is not here; scroll up to it"
		return m, nil
	}
	if m, ok := m.idle(); !ok {
		m.full.find.said = "Not while an answer comes; Esc twice stops it"
		return m, nil
	}
	m.full.focus, m.full.find = none, find{}
	return do(m, id)
}

// move goes to the message before or after, or on in one that is longer than the
// window.
func (m Model) move(by int) Model {
	items, window := m.transcript.Items(), m.window()
	at := items.Index(m.full.focus)
	edge := 0
	if by > 0 {
		edge = len(items.Rows(at)) - 1
	}
	rows := m.full.view.Rows(items, window)
	if !slices.ContainsFunc(rows, func(r scroll.Row) bool { return r.Item == at && r.N == edge }) && slices.ContainsFunc(rows, func(r scroll.Row) bool { return r.Item == at }) {
		return m.scrollBy(by * max(window/2, 1))
	}
	for i := at + by; i >= 0 && i < items.Len(); i += by {
		if !items.Message(i) {
			continue
		}
		row := 0
		if by < 0 {
			row = len(items.Rows(i)) - 1
		}
		m.full.focus = items.Key(i)
		return m.lookAt(m.full.view.To(items, window, i, row))
	}
	return m.scrollBy(by * window)
}

// fold opens or closes the thoughts and calls of the message that has the keys.
func (m Model) fold() Model {
	items := m.transcript.Items()
	i := items.Index(m.full.focus)
	if !items.Foldable(i) {
		return m
	}
	items.Fold(i)
	return m.lookAt(m.full.view.To(items, m.window(), i, 0))
}

func (m Model) copyFocused() (Model, tea.Cmd) {
	items := m.transcript.Items()
	s := items.Said(items.Index(m.full.focus))
	if s == "" {
		m.full.find.said = "There is nothing to copy"
		return m, nil
	}
	return m.clip(s)
}

func (m Model) copyItsCode() (Model, tea.Cmd) {
	items := m.transcript.Items()
	blocks := markdown.Codes(items.Said(items.Index(m.full.focus)))
	if len(blocks) == 0 {
		m.full.find.said = "There is no block of code in it"
		return m, nil
	}
	return m.chooseCode("Code of this message, from its end", blocks)
}
