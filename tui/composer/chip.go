package composer

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"agentx/tui/text"

	"github.com/dustin/go-humanize"
)

// A Draft is a text that is being written, and what of it is shown as chips. The zero value is empty.
type Draft struct {
	Text  string // chips unfolded
	Chips []Chip `json:",omitempty"` // in the order of the text
}

// A Chip is a stretch of a text that is shown as one mark.
type Chip struct {
	At, Len int    // where it stands in the text, in bytes
	Kind    Kind   `json:",omitempty"`
	Label   string // what is shown instead
	Path    string `json:",omitempty"` // of a file
	Size    int64  `json:",omitempty"` // of a file, in bytes
}

// A Kind says what a chip stands for.
type Kind string

const (
	Folded   Kind = ""       // a long text
	Output   Kind = "output" // what a command has printed
	Attached Kind = "file"   // a file that goes with the text, which mentions it
)

// Files are the chips of files, each path once.
func (d Draft) Files() []Chip {
	var files []Chip
	for _, c := range d.Chips {
		if c.Kind == Attached && !hasPath(files, c.Path) {
			files = append(files, c)
		}
	}
	return files
}

func hasPath(chips []Chip, path string) bool {
	for _, c := range chips {
		if c.Path == path {
			return true
		}
	}
	return false
}

// Empty says whether there is nothing in it.
func (d Draft) Empty() bool { return d.Text == "" }

// Trim is d without the blanks around it.
func (d Draft) Trim() Draft {
	head := len(d.Text) - len(strings.TrimLeft(d.Text, " \t\r\n"))
	out := Draft{Text: strings.TrimSpace(d.Text)}
	for _, c := range d.Chips {
		from, to := max(c.At-head, 0), min(c.At-head+c.Len, len(out.Text))
		if c.At, c.Len = from, to-from; c.Len > 0 {
			out.Chips = append(out.Chips, c)
		}
	}
	return out
}

// Then is d, and more on the next line.
func (d Draft) Then(more Draft) Draft {
	switch {
	case d.Empty():
		return more
	case more.Empty():
		return d
	}
	out := Draft{Text: d.Text + "\n" + more.Text, Chips: append([]Chip(nil), d.Chips...)}
	for _, c := range more.Chips {
		c.At += len(d.Text) + 1
		out.Chips = append(out.Chips, c)
	}
	return out
}

// Without is the text without what chips of a kind stand for, and that.
func (d Draft) Without(k Kind) (rest string, gone []string) {
	var b strings.Builder
	at := 0
	for _, c := range d.Chips {
		if c.Kind != k || c.At < at || c.At+c.Len > len(d.Text) {
			continue
		}
		b.WriteString(d.Text[at:c.At])
		gone = append(gone, d.Text[c.At:c.At+c.Len])
		at = c.At + c.Len
	}
	if at == 0 {
		return d.Text, nil
	}
	return b.String() + d.Text[at:], gone
}

// Only are the chips of a kind, each on a line of its own.
func (d Draft) Only(k Kind) Draft {
	var out Draft
	for _, c := range d.Chips {
		if c.Kind == k {
			one := c
			one.At = 0
			out = out.Then(Draft{Text: d.Text[c.At : c.At+c.Len], Chips: []Chip{one}})
		}
	}
	return out
}

// Folded is the text with labels in the place of what chips stand for.
func (d Draft) Folded() string {
	var b strings.Builder
	at := 0
	for _, c := range d.Chips {
		if c.At < at || c.At > len(d.Text)-c.Len {
			continue
		}
		b.WriteString(d.Text[at:c.At])
		b.WriteString(c.Label)
		at = c.At + c.Len
	}
	b.WriteString(d.Text[at:])
	return b.String()
}

// Edited is the draft with another text; chips stay where what they stand for does.
func (d Draft) Edited(s string) Draft {
	out, at := Draft{Text: s}, 0
	for _, c := range d.Chips {
		i := strings.Index(s[at:], d.Text[c.At:c.At+c.Len])
		if i < 0 {
			continue
		}
		c.At = at + i
		at = c.At + c.Len
		out.Chips = append(out.Chips, c)
	}
	return out
}

// With makes a chip of the first word in the text that is not in a chip yet. A
// draft without the word stays as it is.
func (d Draft) With(word string, c Chip) Draft {
	for from := 0; ; from++ {
		i := strings.Index(d.Text[from:], word)
		if i < 0 {
			return d
		}
		from += i
		c.At, c.Len = from, len(word)
		at := 0
		for at < len(d.Chips) && d.Chips[at].At+d.Chips[at].Len <= from {
			at++
		}
		if at < len(d.Chips) && d.Chips[at].At < from+len(word) {
			continue // within one
		}
		d.Chips = slices.Insert(slices.Clone(d.Chips), at, c)
		return d
	}
}

// folded is what a chip stands for.
type folded struct {
	text string
	chip Chip // without its place
}

// chips are what is folded, by id. The map is never changed once it is shared.
type chips struct {
	all   map[int]folded
	next  int
	bytes int
}

// fold keeps s and returns what stands for it in a line.
func (c chips) fold(s string, as Chip) (chips, string) {
	all := maps.Clone(c.all)
	if all == nil {
		all = map[int]folded{}
	}
	id := c.next
	as.Label = label(as.Label)
	all[id] = folded{s, as}
	mark := string(chipOpen) + strconv.Itoa(id) + string(chipSplit) + as.Label + string(chipClose)
	return chips{all, id + 1, c.bytes + len(s)}, mark
}

const maxLabel = 80 // columns

// label makes a chip's label fit for a line.
func label(s string) string { return text.Truncate(oneLine(clean(text.Line(s))), maxLabel) }

// count is the label of a long text: [pasted 1,234 lines · 56 kB].
func (m Model) count(s, verb string) string {
	n := strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1
	noun := "lines"
	if n == 1 {
		noun = "line"
	}
	return fmt.Sprintf("[%s %s %s%s%s]", verb, humanize.Comma(int64(n)), noun, m.config.mark(" · ", ", "), humanize.Bytes(uint64(len(s))))
}

// each calls f for every stretch of s: text as it is, and chips with what they stand for.
func (c chips) each(s string, f func(plain string, chip *folded)) {
	for s != "" {
		head, rest, found := strings.Cut(s, string(chipOpen))
		if head != "" {
			f(head, nil)
		}
		if !found {
			return
		}
		mark, tail, _ := strings.Cut(rest, string(chipClose))
		if chip, ok := c.all[id(mark)]; ok {
			f("", &chip)
		}
		s = tail
	}
}

// draft puts the folded texts back into s, and notes where they stand.
func (c chips) draft(s string) Draft {
	if strings.IndexByte(s, chipOpen) < 0 {
		return Draft{Text: s}
	}
	var b strings.Builder
	var out Draft
	c.each(s, func(plain string, chip *folded) {
		if chip == nil {
			b.WriteString(plain)
			return
		}
		at := chip.chip
		at.At, at.Len = b.Len(), len(chip.text)
		out.Chips = append(out.Chips, at)
		b.WriteString(chip.text)
	})
	out.Text = b.String()
	return out
}

// size is how many bytes the chips in s stand for.
func (c chips) size(s string) int {
	n := 0
	c.each(s, func(_ string, chip *folded) {
		if chip != nil {
			n += len(chip.text)
		}
	})
	return n
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
	if len(c.all) == 0 {
		return c
	}
	out := chips{all: map[int]folded{}, next: c.next}
	for _, k := range ring {
		more = append(more, k.text)
	}
	for _, s := range more {
		for _, part := range strings.Split(s, string(chipOpen))[1:] {
			i := id(part[:max(0, strings.IndexByte(part, chipClose))])
			if kept, ok := c.all[i]; ok && out.all[i].text == "" {
				out.all[i] = kept
				out.bytes += len(kept.text)
			}
		}
	}
	return out
}

// SetDraft replaces the text and its chips, as a crash or a queue brings them
// back; undo restores what was there. A slash word in it counts as pasted.
func (m Model) SetDraft(d Draft) Model {
	m = m.save(other)
	m.search = search{}
	m.walk.at = 0
	m = m.shed()
	m, s := m.marked(d)
	m.buf = buffer{}.insert(s, false)
	return m.settle()
}

// SetTyped replaces the text by one that counts as typed: a slash word or an
// exclamation mark at its beginning means what it says.
func (m Model) SetTyped(s string) Model {
	m = m.SetText(s)
	m.buf.typed = recalled(m.buf)
	return m.quiet()
}

// InsertDraft puts a draft at the caret.
func (m Model) InsertDraft(d Draft) Model {
	m = m.save(other)
	m, s := m.marked(d)
	m.buf = m.buf.insert(s, false)
	return m.settle()
}

// marked is a draft as it stands in lines.
func (m Model) marked(d Draft) (Model, string) {
	var b strings.Builder
	at := 0
	for _, c := range d.Chips {
		if c.At < at || c.Len <= 0 || c.Len > len(d.Text) || c.At > len(d.Text)-c.Len {
			continue // not one of ours
		}
		var plain, mark string
		m, plain = m.tame(clean(d.Text[at:c.At]))
		m.chips, mark = m.chips.fold(clean(d.Text[c.At:c.At+c.Len]), c)
		b.WriteString(plain)
		b.WriteString(mark)
		at = c.At + c.Len
	}
	m, plain := m.tame(clean(d.Text[at:]))
	b.WriteString(plain)
	return m, b.String()
}

// Attach puts a chip that unfolds to text in the place of the word nearest
// before the caret, or at the caret where word is empty. It does nothing where
// the word has gone.
func (m Model) Attach(word, text string, c Chip) Model {
	b, i := m.buf, m.buf.at
	if word != "" {
		var ok bool
		if b, i, ok = m.buf.find(word); !ok {
			return m
		}
	}
	m = m.forget(named(word)).save(other)
	var mark string
	m.chips, mark = m.chips.fold(clean(text), c)
	m.buf = b.replace(i, len(word), mark, m.buf.above.len())
	if word == "" {
		if b.at > 0 && !b.cellBack().space() {
			b = b.insert(" ", false)
		}
		m.buf = b.insert(mark+" ", false)
	}
	return m.settle()
}

// Append puts a draft under the text; the caret stays where it is.
func (m Model) Append(d Draft) Model {
	m = m.save(other)
	m, s := m.marked(d)
	up, at := m.buf.above.len(), m.buf.at
	b := m.buf.bottom().insert("\n"+s, false)
	for b.above.len() > up {
		b = b.up()
	}
	b.at = at
	m.buf = b.snap()
	return m.settle()
}

// Prepend puts a draft before the text; the caret stays where it is.
func (m Model) Prepend(d Draft) Model {
	if m.Empty() {
		return m.InsertDraft(d)
	}
	m = m.save(other)
	m, s := m.marked(d)
	down, at := m.buf.above.len(), m.buf.at
	if down == 0 {
		at += len(s)
	}
	b := m.buf.top().insert(s, false)
	for range down {
		b = b.down()
	}
	b.at = at
	m.buf = b.snap()
	return m.settle()
}

// Forget takes no notice of a mention any more: what it names is nothing.
func (m Model) Forget(name string) Model { return m.forget(name) }

func (m Model) forget(name string) Model {
	var kept []string
	for _, n := range m.mentioned {
		if n != name {
			kept = append(kept, n)
		}
	}
	m.mentioned = kept
	return m
}

// find looks for a word in the caret's line, nearest before the caret first,
// and in the line above. The buffer that it returns stands in that line.
func (b buffer) find(word string) (buffer, int, bool) {
	if i := strings.LastIndex(b.line[:b.at], word); i >= 0 {
		return b, i, true
	}
	if i := strings.Index(b.line, word); i >= 0 {
		return b, i, true
	}
	if b.above == nil {
		return b, 0, false
	}
	up := b.up()
	i := strings.LastIndex(up.line, word)
	return up, i, i >= 0
}

// replace puts s in the place of n bytes at offset i of this line; the caret
// stays where it was in the text, which is in line home.
func (b buffer) replace(i, n int, s string, home int) buffer {
	if b.above == nil {
		b.typed = min(b.typed, i)
	}
	b.line = b.line[:i] + s + b.line[i+n:]
	if b.above.len() < home {
		return b.down().end() // a word was ended by a new line, and the caret has not gone far
	}
	if b.at >= i+n {
		b.at += len(s) - n
	} else if b.at > i {
		b.at = i + len(s)
	}
	return b.snap()
}
