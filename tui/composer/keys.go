package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// act is what a key did; some do more when they are repeated.
type act int

const (
	none act = iota
	typing
	deleting
	killing
	yanking
	lending
	other
)

// press takes one key.
func (m Model) press(k tea.KeyPressMsg) (Model, tea.Msg) {
	m, fast := m.pace(k)
	if m.search.on {
		return m.seek(k)
	}
	if m.prefix {
		next, out, done := m.chord(k.Keystroke())
		if m = next; done {
			return m, out
		}
	}
	if m.vi.on && !m.vi.normal && !escape(k.Keystroke()) {
		m = m.jot(k)
	}
	if m.vi.on && !fast && !(m.offer.open() && !m.vi.normal) {
		next, out, done := m.modal(k)
		if m = next; done {
			return m, out
		}
	}
	if text, ok := typed(k); ok {
		return m.write(text, !fast), nil
	}
	key := k.Keystroke()
	if fast && m.pours(key) {
		return m.pour(key), nil
	}
	if m.offer.open() {
		var out tea.Msg
		var done bool
		if m, out, done = m.pick(key); done {
			return m, out
		}
	}
	if enter(key) {
		return m.enter(key)
	}
	if move := motion(key); move != nil {
		return m.move(move), nil
	}
	return m.do(key)
}

// typed is the text that a key writes.
func typed(k tea.KeyPressMsg) (string, bool) {
	if k.Text == "" || k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModSuper|tea.ModMeta|tea.ModHyper) != 0 {
		return "", false
	}
	return clean(k.Text), true
}

// motion is where a key takes the caret.
func motion(key string) func(buffer) buffer {
	switch key {
	case "ctrl+b", "left":
		return buffer.left
	case "ctrl+f", "right":
		return buffer.right
	case "ctrl+a", "home", "find":
		return buffer.home
	case "ctrl+e", "end", "select":
		return buffer.end
	case "alt+b", "ctrl+left", "alt+left":
		return buffer.wordLeft
	case "alt+f", "ctrl+right", "alt+right":
		return buffer.wordRight
	case "ctrl+home", "alt+<", "alt+shift+<":
		return buffer.top
	case "ctrl+end", "alt+>", "alt+shift+>":
		return buffer.bottom
	}
	return nil
}

// do is the table of keys that edit, walk and ask.
func (m Model) do(key string) (Model, tea.Msg) {
	switch key {
	case "up", "ctrl+p":
		return m.up(), nil
	case "down", "ctrl+n":
		return m.down(), nil
	case "backspace", "ctrl+h", "shift+backspace":
		return m.erase(buffer.left), nil
	case "delete", "ctrl+d", "shift+delete":
		return m.erase(buffer.right), nil
	case "ctrl+w":
		return m.kill(buffer.fieldLeft), nil
	case "alt+backspace", "ctrl+backspace":
		return m.kill(buffer.wordLeft), nil
	case "alt+d", "ctrl+delete", "alt+delete":
		return m.kill(buffer.wordRight), nil
	case "ctrl+u":
		return m.kill(toHome), nil
	case "ctrl+k":
		return m.kill(toEnd), nil
	case "ctrl+y":
		return m.yank(), nil
	case "alt+y":
		return m.yankNext(), nil
	case "ctrl+t":
		return m.edit(other, buffer.transpose), nil
	case "alt+t":
		return m.edit(other, buffer.swapWords), nil
	case "alt+u":
		return m.reshape(upper), nil
	case "alt+l":
		return m.reshape(lower), nil
	case "alt+c":
		return m.reshape(capital), nil
	case "alt+.":
		return m.lend(), nil
	case "ctrl+x":
		m.prefix = true
		return m, nil
	case "ctrl+_", "ctrl+/", "ctrl+shift+-", "super+z":
		return m.goBack(), nil
	case "alt+_", "alt+shift+_", "alt+shift+-", "shift+super+z":
		return m.goForth(), nil
	case "ctrl+r":
		return m.startSearch(), nil
	case "ctrl+g":
		return m, Edit{m.Text()}
	}
	return m, nil
}

// move takes the caret elsewhere.
func (m Model) move(to func(buffer) buffer) Model {
	m.buf, m.last, m.goal = m.vi.clamp(to(m.buf)), other, -1
	return m.suggest().lay()
}

// edit changes the text in one step of undo.
func (m Model) edit(a act, change func(buffer) buffer) Model {
	next := change(m.buf)
	if next == m.buf {
		return m
	}
	m = m.save(a)
	m.buf = next
	return m.settle()
}

// write puts typed text in; a word and the spaces after it are one step of undo.
func (m Model) write(s string, typed bool) Model {
	if s == "" {
		return m
	}
	a := typing
	if m.last == typing && !m.vi.on && strings.TrimSpace(s) != "" && m.buf.at > 0 && m.buf.cellBack().space() {
		m.last = other
	}
	m = m.save(a)
	m.buf = m.buf.insert(s, typed)
	m = m.settle()
	if typed && m.offer.word == "@" {
		m.offer.hand = true
	}
	return m
}

// erase deletes without a trace in the kill ring.
func (m Model) erase(to func(buffer) buffer) Model {
	return m.edit(deleting, func(b buffer) buffer {
		b, _ = b.remove(to(b))
		return b
	})
}

func enter(key string) bool { return strings.HasSuffix(key, "enter") || key == "ctrl+j" }

// enter sends, or begins a line with a modifier or a backslash before the caret.
func (m Model) enter(key string) (Model, tea.Msg) {
	switch {
	case key != "enter":
		m.last = other // a line is a step of undo
		return m.write("\n", true), nil
	case m.buf.at > 0 && m.buf.line[m.buf.at-1] == '\\':
		m = m.save(other)
		m.buf, _ = m.buf.remove(m.buf.left())
		m.buf = m.buf.insert("\n", true)
		return m.settle(), nil
	}
	return m.submit()
}

// submit hands the text out and begins an empty one.
func (m Model) submit() (Model, tea.Msg) {
	d := m.Draft()
	if strings.TrimSpace(d.Text) == "" {
		return m, nil
	}
	if m.slash() != "" {
		d.Text = strings.TrimRight(d.Text, " ")
	}
	out := Submit{Draft: d, Slash: m.slash() != "", Bang: m.bang(), Mentions: m.mentions(d)}
	return m.Reset(), out
}
