package text

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells s takes on a line, by grapheme cluster; escape sequences take none.
func Width(s string) int {
	cells := 0
	for s != "" {
		piece, n := Next(s)
		cells, s = cells+n, s[len(piece):]
	}
	return cells
}

// Next returns what s begins with, a character or an escape sequence, and how many cells that takes. A character is what a reader
// takes for one: a grapheme cluster. Of text that is clean, all that takes no cells is a sequence, or a mark with nothing to stand on.
func Next(s string) (piece string, cells int) {
	switch {
	case s == "":
		return "", 0
	case s[0] == '\x1b':
		return s[:escape(s)], 0
	case s[0] < ' ' || s[0] == 0x7f:
		return s[:1], 0
	case s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf):
		return s[:1], 1
	}
	return cluster(s)
}

// maxCells is how many cells a character may take. No language has wider ones.
const maxCells = 8

// cluster measures a grapheme cluster. An emoji, of however many parts, takes two cells, as the standard has it; a terminal that
// thinks otherwise is put right by who writes to it. Syllables take what their letters take one by one: nearly all terminals draw
// them so, and where one does not, a gap is better than half a syllable.
func cluster(s string) (string, int) {
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	first, n := utf8.DecodeRuneInString(c)
	if n == len(c) || first >= 0x1100 && first <= 0x115f || strings.ContainsFunc(c, pictograph) || Emoji(c) {
		return c, cells
	}
	return c, min(ansi.StringWidthWc(c), maxCells)
}

// Emoji says whether a character is drawn as a picture: it is one, or two letters of a flag, or was told to be one.
func Emoji(c string) bool {
	r, n := utf8.DecodeRuneInString(c)
	return pictograph(r) || n < len(c) && keycap(r) && strings.ContainsRune(c, emojiStyle)
}

// Truncate returns s cut to width cells, its last one an ellipsis where something was cut. Escape sequences are kept.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width || Width(s) <= width {
		return s
	}
	return cut(s, 0, width-1, "…")
}

// Cut returns the cells of s from from on, before to, and all of its escape sequences. Characters that are only partly there are
// left out.
func Cut(s string, from, to int) string { return cut(s, from, to, "") }

// cut puts tail where the first character is left out behind to.
func cut(s string, from, to int, tail string) string {
	var b strings.Builder
	for at := 0; s != ""; {
		piece, cells := Next(s)
		s = s[len(piece):]
		switch {
		case piece[0] == '\x1b' || at >= from && at+cells <= to:
			b.WriteString(piece)
		case at >= from && tail != "":
			b.WriteString(tail)
			tail, to = "", 0
		}
		at += cells
	}
	return b.String()
}

// Doubt says whether terminals differ over how many cells a character takes, and how many one may give it at most.
func Doubt(c string) (most int, ok bool) {
	letters := 0
	for _, r := range c {
		n := ansi.StringWidthWc(string(r))
		switch {
		case pictograph(r) && r >= 0x1f000:
			n, ok = 2, ok || recent(r) || len(c) > utf8.UTFMax
		case n > 0:
			letters++
		case r == emojiStyle:
			ok = true
		}
		ok = ok || r >= 0x1f1e6 && r <= 0x1f1ff
		most += n
	}
	return most, ok || letters > 1
}

// recent says whether r is an emoji that some terminals do not know yet, roughly: those that came after 2016.
func recent(r rune) bool {
	return r >= 0x1f6d3 && r <= 0x1f6ff || r >= 0x1f7e0 && r <= 0x1f7ff || r >= 0x1f900
}
