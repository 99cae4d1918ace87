package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// upper, lower and capital are what a shell makes of a word.
func upper(s string) string { return strings.ToUpper(s) }
func lower(s string) string { return strings.ToLower(s) }

func capital(s string) string {
	at := strings.IndexFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if at < 0 {
		return s
	}
	_, n := utf8.DecodeRuneInString(s[at:])
	return s[:at] + strings.ToUpper(s[at:at+n]) + strings.ToLower(s[at+n:])
}

// reshape writes what is left of a word in other letters and goes behind it. A
// chip has none.
func (m Model) reshape(as func(string) string) Model {
	end := m.buf.wordRight()
	rest, was := m.buf.remove(end)
	now := as(was)
	if now == was || strings.IndexByte(was, chipOpen) >= 0 {
		return m.move(func(buffer) buffer { return end })
	}
	return m.edit(other, func(b buffer) buffer { return rest.insert(now, b.typedTo(end)) })
}

// typedTo says whether all that lies before to was typed at the text's beginning.
func (b buffer) typedTo(to buffer) bool {
	return b.above == nil && to.above == nil && max(b.at, to.at) <= b.typed
}

// swapWords puts the word before the caret behind the one after it, at the end
// the last but one behind the last.
func (b buffer) swapWords() buffer {
	end := b.wordRight()
	second := end.wordLeft()
	first := second.wordLeft()
	middle := first.wordRight()
	if !first.before(middle) || second.before(middle) || !second.before(end) {
		return b
	}
	_, one := first.remove(middle)
	_, between := middle.remove(second)
	_, two := second.remove(end)
	b, _ = first.remove(end)
	return b.insert(two+between+one, false)
}

// lend puts in the last word of what was sent before; pressed again, that of what
// was sent before that.
func (m Model) lend() Model {
	at := 0
	if m.last == lending {
		at = m.lent
		m.buf, m.undo = m.undo.buf, m.undo.next
	}
	for n := at + 1; n <= len(m.walk.entries); n++ {
		if word := lastOf(m.walk.entry(n)); word != "" {
			at = n
			break
		}
	}
	if at == 0 {
		return m
	}
	m.lent = at
	m = m.save(lending)
	m.buf = m.buf.insert(lastOf(m.walk.entry(at)), true)
	return m.settle().quiet()
}

// lastOf is the last word of an entry.
func lastOf(entry string) string {
	s := strings.TrimRightFunc(entry[max(0, len(entry)-maxLine):], unicode.IsSpace)
	return clean(s[strings.LastIndexFunc(s, unicode.IsSpace)+1:])
}

// chord takes the key behind Ctrl+X; one that means nothing there does its own
// work.
func (m Model) chord(key string) (Model, tea.Msg, bool) {
	m.prefix = false
	switch key {
	case "ctrl+e":
		return m, Edit{m.Text()}, true
	case "ctrl+u":
		return m.goBack(), nil, true
	case "esc", "ctrl+g", "ctrl+x":
		return m, nil, true
	}
	return m, nil, false
}

// Edits says whether a key that may mean something else is the composer's while
// there is something to edit.
func (m Model) Edits(key string) bool {
	switch key {
	case "alt+c", "alt+t":
		return !m.Empty()
	case "alt+.":
		return !m.Empty() || len(m.walk.entries) > 0
	}
	return false
}
