package composer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/tui/text"
)

// A chip stands in a line as chipOpen, its id, chipSplit, its label, chipClose.
// Text that comes in holds no control characters but tab, so the marks are ours alone.
const (
	chipOpen  = '\x0e'
	chipSplit = '\x1f'
	chipClose = '\x0f'
)

const (
	tabWidth   = 4
	maxCluster = 64 // bytes of one cluster that are drawn; a family of four with skin tones has 41
)

// cell is what the caret steps over in one go: a grapheme cluster, a tab or a chip.
type cell struct {
	text  string // as it stands in the line
	shown string // as it is drawn, without control characters
	width int    // columns of shown
	chip  bool
}

// cellAt is the first cell of s, which is not empty.
func cellAt(s string) cell {
	if plain(s) {
		return cell{text: s[:1], shown: s[:1], width: 1}
	}
	switch s[0] {
	case chipOpen:
		if end := strings.IndexByte(s, chipClose); end > 0 {
			return chipCell(s[:end+1])
		}
	case '\t':
		return cell{text: s[:1], shown: "    ", width: tabWidth}
	}
	cluster, width := text.Next(s)
	shown := visible(cluster, width)
	if shown != cluster {
		width = text.Width(shown)
	}
	return cell{text: cluster, shown: shown, width: width}
}

// plain says whether s begins with a printable ASCII character that nothing can combine with.
func plain(s string) bool {
	return s[0] >= ' ' && s[0] < 0x7f && (len(s) == 1 || s[1] < utf8.RuneSelf)
}

func chipCell(s string) cell {
	_, label, _ := strings.Cut(s[1:len(s)-1], string(chipSplit))
	return cell{text: s, shown: label, width: text.Width(label), chip: true}
}

// visible spells out what a terminal would hide or obey, and a mark that has nothing to stand on.
func visible(cluster string, width int) string {
	if width > 0 && len(cluster) <= maxCluster {
		return text.Clean(cluster)
	}
	var b strings.Builder
	for _, r := range cluster {
		if b.Len() > maxCluster {
			b.WriteRune('…')
			break
		}
		if width == 0 {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return text.Clean(b.String())
}

// before is where the cell that ends at offset at begins.
func before(s string, at int) int {
	if at == 0 {
		return 0
	}
	if s[at-1] == chipClose {
		return max(0, strings.LastIndexByte(s[:at], chipOpen))
	}
	i := border(s, at-1)
	for {
		n := len(cellAt(s[i:]).text)
		if i+n >= at {
			return i
		}
		i += n
	}
}

// snap is the first offset from at on that stands between two cells.
func snap(s string, at int) int {
	if at <= 0 || at >= len(s) {
		return min(max(at, 0), len(s))
	}
	i := border(s, at)
	for i < at {
		i += len(cellAt(s[i:]).text)
	}
	return i
}

// border is an offset up to at that surely stands between two cells: at the
// beginning, beside a chip, or between two ASCII characters.
func border(s string, at int) int {
	for i := at; i > 0; i-- {
		if s[i-1] == chipClose || s[i] == chipOpen || s[i-1] < utf8.RuneSelf && s[i] < utf8.RuneSelf {
			return i
		}
	}
	return 0
}

// kind sorts cells for word movement.
type kind int

const (
	gap       kind = iota // spaces and punctuation
	word                  // letters and digits
	ideograph             // Han and kana
	unit                  // a chip or an emoji, a word of its own
)

func (c cell) kind() kind {
	r, _ := utf8.DecodeRuneInString(c.text)
	switch {
	case c.chip:
		return unit
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
		return ideograph
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return word
	case c.width == 2 && unicode.IsSymbol(r):
		return unit
	}
	return gap
}

func (c cell) space() bool {
	r, _ := utf8.DecodeRuneInString(c.text)
	return unicode.IsSpace(r)
}
