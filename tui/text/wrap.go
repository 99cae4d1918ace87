package text

import (
	"strings"
	"unicode/utf8"
)

// Wrap returns s as lines of at most width cells. Lines are broken at spaces, which are dropped there, after hyphens and between the
// characters of scripts that are written without spaces; words that are longer than a line are broken anywhere, by grapheme cluster.
// Escape sequences take no room and stay where they are. A character wider than width becomes a dot.
func Wrap(s string, width int) []string {
	w := wrapper{s: s, width: max(width, 1)}
	for w.at < len(s) {
		w.step()
	}
	return append(w.lines, strings.TrimRight(s[w.start:], " "))
}

// A wrapper goes through s once. A line begins at start; it may end at end, and the next one begin at next.
type wrapper struct {
	s     string
	width int
	lines []string

	at, start   int
	cells       int // taken from start to at
	end, next   int // the last place to break, if next is beyond start
	cellsAtNext int
	last        rune
}

func (w *wrapper) step() {
	switch c := w.s[w.at]; {
	case c == '\x1b':
		w.at += escape(w.s[w.at:])
	case c == '\n':
		w.lines = append(w.lines, strings.TrimRight(w.s[w.start:w.at], " "))
		w.begin(w.at + 1)
		w.at = w.start
		w.cells, w.last = 0, 0
	case c == ' ':
		w.spaces()
	default:
		w.character()
	}
}

// spaces goes over spaces; they may hang over the end of the line.
func (w *wrapper) spaces() {
	from := w.at
	for w.at < len(w.s) && w.s[w.at] == ' ' {
		w.at++
		w.cells++
	}
	if from > w.start && w.last != 0 {
		w.mark(from)
	}
	w.last = ' '
}

func (w *wrapper) character() {
	n, cells := 1, 1
	r := rune(w.s[w.at])
	if r >= utf8.RuneSelf || w.at+1 < len(w.s) && w.s[w.at+1] >= utf8.RuneSelf {
		var c string
		c, cells = cluster(w.s[w.at:])
		n = len(c)
		r, _ = utf8.DecodeRuneInString(c)
	}
	if unspaced(r) && w.last > ' ' && !opening(w.last) && !closing(r) || unspaced(w.last) && !opening(w.last) && !closing(r) {
		w.mark(w.at)
	}
	for w.cells+cells > w.width && w.cells > 0 {
		if w.next > w.start {
			w.lines = append(w.lines, w.s[w.start:w.end])
			w.begin(w.next)
			w.cells -= w.cellsAtNext
			continue
		}
		w.lines = append(w.lines, strings.TrimRight(w.s[w.start:w.at], " "))
		w.begin(w.at)
		w.cells = 0
	}
	if cells > w.width {
		w.lines = append(w.lines, w.s[w.start:w.at]+"·")
		w.begin(w.at + n)
		cells = 0
	}
	w.at += n
	w.cells += cells
	if r == '-' && letter(w.last) && w.at < len(w.s) && letter(rune(w.s[w.at])) {
		w.mark(w.at)
	}
	w.last = r
}

// mark remembers that the line may end at end, and that the next would begin here.
func (w *wrapper) mark(end int) { w.end, w.next, w.cellsAtNext = end, w.at, w.cells }

func (w *wrapper) begin(at int) { w.start = at; w.next = 0 }

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf
}

// unspaced says whether r belongs to a script that is written without spaces.
func unspaced(r rune) bool {
	return r >= 0x2e80 && (r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff)
}

// opening and closing say whether r clings to what follows and to what came before.
func opening(r rune) bool { return strings.ContainsRune("([{（「『【〈《〔［｛“‘", r) }

func closing(r rune) bool {
	return strings.ContainsRune(")]}.,:;!?%、。，．：；！？）」』】〉》〕］｝”’ー々ゝゞ…‥ぁぃぅぇぉっゃゅょァィゥェォッャュョ", r)
}

// escape returns the length of the escape sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' {
				return min(i+2, len(s))
			}
		}
		return len(s)
	}
	return 2
}

// Break returns a line of code as lines of at most width cells, those after the first of at most rest, broken wherever they are
// full. Spaces stay, and escape sequences where they are.
func Break(s string, width, rest int) []string {
	var lines []string
	at, cells := 0, 0
	for i := 0; i < len(s); {
		piece, n := Next(s[i:])
		if cells+n > width && cells > 0 {
			lines, at, cells = append(lines, s[at:i]), i, 0
			width = rest
		}
		i, cells = i+len(piece), cells+n
	}
	return append(lines, s[at:])
}
