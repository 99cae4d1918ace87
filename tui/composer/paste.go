package composer

import (
	"fmt"
	"maps"
	"strconv"
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

// chips are the folded texts, by id. The map is never changed once it is shared.
type chips struct {
	texts map[int]string
	next  int
	bytes int
}

// fold keeps s and returns what stands for it in a line, shown as label.
func (c chips) fold(s, label string) (chips, string) {
	texts := maps.Clone(c.texts)
	if texts == nil {
		texts = map[int]string{}
	}
	id := c.next
	texts[id] = s
	mark := string(chipOpen) + strconv.Itoa(id) + string(chipSplit) + label + string(chipClose)
	return chips{texts, id + 1, c.bytes + len(s)}, mark
}

// label is what a chip shows: [pasted 1,234 lines · 56 kB].
func (m Model) label(s, verb string) string {
	n := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
	noun := "lines"
	if n == 1 {
		noun = "line"
	}
	return fmt.Sprintf("[%s %s %s%s%s]", verb, humanize.Comma(int64(n)), noun, m.config.mark(" · ", ", "), humanize.Bytes(uint64(len(s))))
}

// unfold puts the folded texts back into s.
func (c chips) unfold(s string) string {
	if strings.IndexByte(s, chipOpen) < 0 {
		return s
	}
	var b strings.Builder
	for {
		head, rest, found := strings.Cut(s, string(chipOpen))
		b.WriteString(head)
		if !found {
			return b.String()
		}
		mark, tail, _ := strings.Cut(rest, string(chipClose))
		b.WriteString(c.texts[id(mark)])
		s = tail
	}
}

// size is how many bytes the chips in s stand for.
func (c chips) size(s string) int {
	n := 0
	for {
		_, rest, found := strings.Cut(s, string(chipOpen))
		if !found {
			return n
		}
		mark, tail, _ := strings.Cut(rest, string(chipClose))
		n += len(c.texts[id(mark)])
		s = tail
	}
}

func id(mark string) int {
	head, _, _ := strings.Cut(mark, string(chipSplit))
	n, err := strconv.Atoi(head)
	if err != nil {
		return -1
	}
	return n
}

// only keeps what the kill ring still needs.
func (c chips) only(ring []kill, more ...string) chips {
	if len(c.texts) == 0 {
		return c
	}
	out := chips{texts: map[int]string{}, next: c.next}
	for _, k := range ring {
		more = append(more, k.text)
	}
	for _, s := range more {
		for _, part := range strings.Split(s, string(chipOpen))[1:] {
			i := id(part[:max(0, strings.IndexByte(part, chipClose))])
			if kept, ok := c.texts[i]; ok && out.texts[i] == "" {
				out.texts[i] = kept
				out.bytes += len(kept)
			}
		}
	}
	return out
}

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
		m.chips, s = m.chips.fold(s, m.label(s, "pasted"))
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

// fill makes s the whole text. What would make every key slow is folded: a
// huge text as one, otherwise each line that is longer than any hand writes.
func (m Model) fill(s string) Model {
	m = m.shed()
	m.buf = buffer{}
	if len(s) > maxInline {
		m.chips, s = m.chips.fold(s, m.label(s, "text of"))
	} else if len(s) > maxLine {
		all := strings.Split(s, "\n")
		for i, line := range all {
			if len(line) > maxLine {
				m.chips, all[i] = m.chips.fold(line, m.label(line, "text of"))
			}
		}
		s = strings.Join(all, "\n")
	}
	m.buf = m.buf.insert(s, false)
	return m
}

// clean makes text from outside fit for a line: UTF-8, newlines as \n, controls visible.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	i := dirty(s)
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
