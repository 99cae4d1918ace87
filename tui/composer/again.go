package composer

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// A change is what a command of vi did, to be done again: the letters it was
// given, how often it was to be done, and what was written behind it.
type change struct {
	letters []string
	count   int // 0 where nobody said
	wrote   *stroke
	before  int // how often the text had changed
}

// A stroke is a key or a paste while one inserts; those before it are shared.
type stroke struct {
	msg    tea.Msg
	before *stroke
}

// maxAgain is how many bytes one repetition writes at most.
const maxAgain = 64 << 10

// note puts a letter of a command down.
func (m Model) note(letter string) Model {
	if m.vi.op == 0 && m.vi.wait == 0 {
		m.vi.change = change{before: m.changed}
	}
	c := &m.vi.change
	c.letters = append(slices.Clip(c.letters), letter)
	if c.count = 0; m.vi.count > 0 || m.vi.opCount > 0 {
		c.count = m.total()
	}
	return m
}

// noted keeps a command that is over and has changed something, unless it goes
// through what was there before.
func (m Model) noted() Model {
	c := m.vi.change
	if !m.vi.normal || m.vi.begun() || c.letters == nil {
		return m
	}
	m.vi.change = change{}
	if m.changed != c.before && !strings.Contains("ujk.", c.letters[0]) {
		m.vi.done = c
	}
	return m
}

// jot puts down what is written while one inserts. After the caret was moved it
// begins anew, as vi has it; what cannot be done again is not kept.
func (m Model) jot(msg tea.Msg) Model {
	c := &m.vi.change
	if !m.vi.on || m.vi.normal || c.letters == nil {
		return m
	}
	k, key := msg.(tea.KeyPressMsg)
	switch {
	case !key:
	case m.offer.open() && (k.Code == tea.KeyTab || k.Code == tea.KeyEnter):
		*c = change{}
		return m
	case motion(k.Keystroke()) != nil:
		*c, m.vi.copies = change{letters: []string{"i"}, before: c.before}, 0
		return m
	case !writes(k):
		*c, m.vi.copies = change{}, 0
		return m
	}
	c.wrote = &stroke{msg, c.wrote}
	return m
}

// writes says whether a key, pressed again elsewhere, writes or erases the same.
func writes(k tea.KeyPressMsg) bool {
	if s, ok := typed(k); ok {
		return s != ""
	}
	switch key := k.Keystroke(); key {
	case "backspace", "ctrl+h", "shift+backspace", "delete", "shift+delete", "ctrl+d", "ctrl+w", "alt+backspace", "ctrl+backspace", "alt+d", "ctrl+delete", "alt+delete", "ctrl+u", "ctrl+k":
		return true
	default:
		return enter(key)
	}
}

// leaveInsert ends inserting: what was written comes as often as was said.
func (m Model) leaveInsert() Model {
	c, n, undo := m.vi.change, m.vi.copies-1, m.undo
	if n > 0 && n*(c.weight()+1) <= maxAgain {
		m = m.rewrite(c, n, len(c.letters) > 0 && strings.Contains("oO", c.letters[0]))
		m.undo, m.redo = undo, nil // one step, which had begun
	}
	m.vi.normal, m.vi.copies = true, 0
	return m.move(stepBack).noted()
}

// weight is how many bytes a change writes.
func (c change) weight() int {
	n := 0
	for s := c.wrote; s != nil; s = s.before {
		switch msg := s.msg.(type) {
		case tea.KeyPressMsg:
			n += len(msg.Text)
		case tea.PasteMsg:
			n += len(msg.Content)
		}
	}
	return n
}

// rewrite writes n times more what was written, as lines of their own or not.
// Letters that follow one another come at once.
func (m Model) rewrite(c change, n int, lines bool) Model {
	var strokes []tea.Msg
	for s := c.wrote; s != nil; s = s.before {
		strokes = append(strokes, s.msg)
	}
	if lines {
		strokes = append(strokes, tea.KeyPressMsg{Text: "\n"})
	}
	slices.Reverse(strokes)
	hand := m.burst
	var text strings.Builder
	for _, msg := range slices.Repeat(strokes, n) {
		k, key := msg.(tea.KeyPressMsg)
		if s, ok := typed(k); key && ok {
			text.WriteString(s)
			continue
		}
		m = m.write(text.String(), true)
		text.Reset()
		if paste, ok := msg.(tea.PasteMsg); ok {
			m, _ = m.paste(paste.Content)
		} else {
			m = m.stroke(k.Keystroke())
		}
	}
	m = m.write(text.String(), true)
	m.burst = hand
	return m.quiet()
}

// stroke is a key that writes no letter. Nothing is ever sent by repetition.
func (m Model) stroke(key string) Model {
	if !enter(key) {
		m, _ = m.do(key)
		return m
	}
	if key == "enter" && m.buf.at > 0 && m.buf.line[m.buf.at-1] == '\\' {
		m = m.erase(buffer.left)
	}
	return m.write("\n", true)
}

// repeatChange does the last change again, in one step of undo: as often as was
// said then, or is said now.
func (m Model) repeatChange() Model {
	c, was := m.vi.done, m
	if m.vi.count > 0 {
		c.count = m.vi.count
	}
	m.vi = m.vi.idle()
	if c.letters == nil || c.weight()*max(c.count, 1) > maxAgain {
		return m
	}
	m.vi.count = c.count
	for _, letter := range c.letters {
		if m.vi.wait != 0 {
			m = m.answer(letter)
			continue
		}
		r, _ := utf8.DecodeRuneInString(letter)
		m = m.order(r)
	}
	if !m.vi.normal {
		m.vi.change = c
		m = m.rewrite(c, 1, false).leaveInsert()
	}
	m.vi = m.vi.idle()
	m.vi.done, m.vi.change = c, change{}
	if m.buf != was.buf {
		m.undo, m.redo, m.last = was.undo.push(was.buf), nil, other
	}
	return m
}
