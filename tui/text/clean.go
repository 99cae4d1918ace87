// Package text makes text from outside fit for a terminal: what a model, a tool or a file name says is cleaned of everything
// that a terminal would obey, and measured, cut and wrapped by grapheme cluster. It knows no styles.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks a base character keeps; more climb over the lines above.
const maxMarks = 8

// Clean returns s with everything that a terminal would obey, and everything that hides or reorders text, made visible:
// ESC becomes ␛, a lone CR ␍, C1 controls \x9b, bidirectional and invisible characters <U+202E>. Newlines and tabs stay, CRLF
// becomes a newline, invalid UTF-8 U+FFFD, and combining marks beyond eight on one character are dropped. Joiners and variation
// selectors stay where emoji and scripts need them. Clean is idempotent and returns a clean s itself.
func Clean(s string) string {
	var f filter
	return f.run(s)
}

// Prose is Clean for text that people read: marks of direction stay, and isolates, which a screen ends with the line. What turns
// letters round, or embeds them without an end, is made visible there too.
func Prose(s string) string {
	f := filter{prose: true}
	return f.run(s)
}

// ProseLine is to Prose what Line is to Clean.
func ProseLine(s string) string { return line(Prose(s)) }

// Line is Clean for what must stay on one line, such as a title or a name: newlines and tabs become spaces.
func Line(s string) string { return line(Clean(s)) }

func line(s string) string {
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(s)
}

// A Cleaner is Clean for text that comes in pieces: what is cut in the middle of a character, or between CR and LF, waits for
// the next piece. The zero value is ready; NewProse makes one that is Prose.
type Cleaner struct {
	filter filter
	held   string // an incomplete character, or a CR
}

// NewProse returns a Cleaner that is Prose.
func NewProse() Cleaner { return Cleaner{filter: filter{prose: true}} }

// Feed returns what of the text so far can be said now. The pieces it returns, with Flush's, are Clean of the whole.
func (c *Cleaner) Feed(piece string) string {
	if c.held != "" {
		piece = c.held + piece
	}
	cut := incomplete(piece)
	c.held = strings.Clone(piece[cut:])
	return c.filter.run(piece[:cut])
}

// Flush returns what was still waiting; the text has ended.
func (c *Cleaner) Flush() string {
	s := c.held
	c.held = ""
	return c.filter.run(s)
}

// incomplete returns where the unfinished end of s begins: a CR that may be half of CRLF, or the first bytes of a character.
func incomplete(s string) int {
	if strings.HasSuffix(s, "\r") {
		return len(s) - 1
	}
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return i
			}
			break
		}
	}
	return len(s)
}

// A filter decides about one character by what was written before it, so that its output passes it unchanged.
type filter struct {
	prev  rune // what was written last
	marks int  // combining marks on the present base
	prose bool // marks of direction may stay
}

// run returns s cleaned, s itself where it is clean.
func (f *filter) run(s string) string {
	n, at := f.clean(s)
	*f = at
	if n == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:n])
	f.write(&b, s[n:])
	return b.String()
}

// clean returns how much of s can stay as it is, and the filter's state there.
func (f filter) clean(s string) (int, filter) {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i, f
			}
			f.prev, f.marks = rune(c), 0
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || !f.keeps(r) {
			return i, f
		}
		f = f.after(r)
		i += n
	}
	return len(s), f
}

// write writes s, cleaned, to b.
func (f *filter) write(b *strings.Builder, s string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r' && i < len(s) && s[i] == '\n':
			continue
		case f.keeps(r):
			b.WriteRune(r)
			*f = f.after(r)
		case unicode.Is(unicode.M, r) && f.marks >= maxMarks:
			continue
		default:
			v := visible(r)
			b.WriteString(v)
			last, _ := utf8.DecodeLastRuneInString(v)
			f.prev, f.marks = last, 0
		}
	}
}

func (f filter) after(r rune) filter {
	switch {
	case r >= 0x300 && unicode.Is(unicode.M, r):
		f.marks++
	case r != zwj && r != zwnj:
		f.marks = 0
	}
	f.prev = r
	return f
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// keeps says whether r may stand after what was written last.
func (f filter) keeps(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return false
	case r < 0xad:
		return true
	case r == zwj:
		return pictograph(f.prev) || f.prev == emojiStyle || joins(f.prev)
	case r == zwnj:
		return joins(f.prev)
	case r == textStyle || r == emojiStyle:
		return pictograph(f.prev) || keycap(f.prev)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Han, f.prev) || f.prev >= 0x2200 && unicode.Is(unicode.Sm, f.prev) || unicode.Is(unicode.Mongolian, f.prev)
	case f.prose && directs(r):
		return true
	case hidden(r):
		return false
	case r >= 0x300 && unicode.Is(unicode.M, r):
		return f.marks < maxMarks
	}
	return true
}

const (
	textStyle  = '\ufe0e'
	emojiStyle = '\ufe0f'
)

// hidden says whether r has no ink of its own, or changes the order of what stands around it.
func hidden(r rune) bool {
	switch r {
	case 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x3164, 0xfeff, 0xffa0, 0xfffc, 0x1d159:
		return true
	}
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3, r >= 0x1d173 && r <= 0x1d17a:
		return true
	case r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return r&0xfffe == 0xfffe
}

// visible returns r in words.
func visible(r rune) string {
	switch {
	case r == utf8.RuneError:
		return "\ufffd"
	case r < ' ':
		return string(0x2400 + r)
	case r == 0x7f:
		return "\u2421"
	case r < 0xa0:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// pictograph says whether r can begin an emoji or be its skin tone, roughly Unicode's Extended_Pictographic.
func pictograph(r rune) bool {
	switch {
	case r < 0x203c:
		return r == 0xa9 || r == 0xae
	case r >= 0x1f000 && r <= 0x1faff:
		return true
	case r >= 0x2190 && r <= 0x21ff, r >= 0x2300 && r <= 0x23ff, r >= 0x24c2 && r <= 0x27bf, r >= 0x2900 && r <= 0x297f, r >= 0x2b00 && r <= 0x2bff:
		return true
	}
	return r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
}

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// joins says whether r belongs to a script that is written with joiners.
func joins(r rune) bool {
	return r >= 0x600 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
		unicode.Tibetan, unicode.Mongolian)
}
