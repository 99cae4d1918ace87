package composer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
	"github.com/dustin/go-humanize"
)

const (
	maxText   = 10 << 20 // bytes of one message; a larger paste is refused
	maxLines  = 10       // a paste with more is folded
	maxRunes  = 1000     // and so is one with more of these
	maxInline = 1 << 20  // bytes that SetText and the history leave unfolded
	maxLine   = 8 << 10  // bytes of one line that they leave unfolded
)

// paste puts a pasted text in, folded if it is big.
func (m Model) paste(s string) (Model, tea.Msg) {
	m.burst = burst{last: m.config.Now(), pasted: true}
	if m.search.on {
		return m.refine(m.search.query + oneLine(clean(s))), nil
	}
	if n := len(s); n > maxText {
		return m, Notice{fmt.Sprintf("That paste is %s; the most a message can hold is %s. Attach it as a file instead.", humanize.Bytes(uint64(n)), humanize.Bytes(maxText))}
	}
	s = clean(s)
	if s == "" {
		return m, nil
	}
	if n := len(s) + m.weight(); n > maxText {
		return m, Notice{fmt.Sprintf("With that paste the message would be %s; the most it can hold is %s.", humanize.Bytes(uint64(n)), humanize.Bytes(maxText))}
	}
	m = m.save(other)
	if big(s) {
		m = m.shed()
		m.chips, s = m.chips.fold(s, Chip{Label: m.count(s, "pasted")})
	}
	m.buf = m.buf.insert(s, false)
	return m.settle(), nil
}

// weight is the size of the message so far, pastes unfolded.
func (m Model) weight() int {
	n := m.buf.size()
	if m.chips.bytes > 0 {
		n += m.chips.size(m.buf.text())
	}
	return n
}

// shed lets go of undo and kills when the pastes that only they hold have grown too many.
func (m Model) shed() Model {
	if m.chips.bytes < 4*maxText {
		return m
	}
	m.undo, m.redo, m.ring = nil, nil, nil
	m.chips = m.chips.only(nil, m.buf.text(), m.walk.draft.text())
	return m
}

func big(s string) bool {
	return strings.Count(strings.TrimSuffix(s, "\n"), "\n") >= maxLines || len(s) > maxRunes && utf8.RuneCountInString(s) > maxRunes
}

// fill makes s the whole text.
func (m Model) fill(s string) Model {
	m, s = m.shed().tame(s)
	m.buf = buffer{}.insert(s, false)
	return m
}

// tame folds what would make every key slow: a huge text as one, otherwise each
// line that is longer than any hand writes.
func (m Model) tame(s string) (Model, string) {
	if len(s) > maxInline {
		m.chips, s = m.chips.fold(s, Chip{Label: m.count(s, "text of")})
		return m, s
	}
	if len(s) <= maxLine {
		return m, s
	}
	all := strings.Split(s, "\n")
	for i, line := range all {
		if len(line) > maxLine {
			m.chips, all[i] = m.chips.fold(line, Chip{Label: m.count(line, "text of")})
		}
	}
	return m, strings.Join(all, "\n")
}

// clean makes text from outside fit for a line: UTF-8, newlines as \n, controls visible.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	i := dirty(s)
	if i >= 0 && s[i] == '\r' { // of which there are as many as lines
		s = strings.ReplaceAll(s, "\r\n", "\n")
		i = dirty(s)
	}
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r':
			b.WriteByte('\n')
		default:
			b.WriteString(text.Clean(string(r)))
		}
		s = s[i+n:]
		i = dirty(s)
	}
	b.WriteString(s)
	return b.String()
}

// dirty is the first control character in s but tab and newline, or -1.
func dirty(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0xc2 && s[i+1] < 0xa0 {
			return i
		}
	}
	return -1
}

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(s) }
