package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"agentx/tui/text"
)

// A pen writes characters as a terminal can show them, and as wide as they were
// measured, whatever the terminal thinks of that. The zero pen trusts a terminal
// with letters alone.
type pen struct {
	glyphs   Glyphs
	clusters bool // it measures an emoji as readers do
	isolates bool // it does not show marks of direction
}

// Glyphs are the characters that a terminal has.
type Glyphs int

const (
	AllGlyphs   Glyphs = iota
	FewGlyphs          // letters, and few signs: a console
	ASCIIGlyphs        // others are not of its character set: it might take a part of one for a sequence
)

// cells cuts a line into what may be written: text, styles, links and marks of
// direction. Every other sequence and control character is dropped: this is the
// last net before the terminal, and not where text is cleaned.
func (p pen) cells(line string) []cell {
	out := make([]cell, 0, len(line))
	for line != "" {
		seq, width := next(line)
		line = line[len(seq):]
		switch {
		case width > 0:
			out = p.draw(out, cell{seq, width})
		case seq == "\t":
			out = append(out, cell{" ", 1})
		case isStyle(seq) || isLink(seq) || p.isolates && isDirection(seq):
			out = append(out, cell{seq, 0})
		}
	}
	return out
}

// next is what line begins with: a character, or the whole of a sequence.
func next(line string) (seq string, width int) {
	if r, n := utf8.DecodeRuneInString(line); r < ' ' || r == utf8.RuneError && n == 1 {
		seq, width, _, _ = ansi.DecodeSequence(line, 0, nil)
		return seq, width
	}
	return text.Next(line)
}

// draw adds a character, in the glyphs that there are.
func (p pen) draw(out []cell, c cell) []cell {
	if p.glyphs == AllGlyphs || len(c.seq) == 1 || p.glyphs == FewGlyphs && strings.Contains("·•─│┼←↑→↓×", c.seq) {
		return append(out, c)
	}
	if i := strings.Index(fairGlyphs, c.seq); i >= 0 && c.width == 1 {
		i = utf8.RuneCountInString(fairGlyphs[:i])
		return append(out, cell{plainGlyphs[i : i+1], 1})
	}
	if p.glyphs == FewGlyphs {
		return append(out, c)
	}
	for range c.width {
		out = append(out, cell{"?", 1})
	}
	return out
}

// Glyphs, and what stands for them where there are none.
const (
	fairGlyphs  = "›●•·…│┃▎─┼╭╮╰╯├┤┬┴←↑→↓▶✓✗■▮○×–—‘’“”⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	plainGlyphs = ">**-~|||-+++++++++<^>v>+x##ox--''\"\"||///---\\\\"
)

// isDirection says whether seq changes the order in which a terminal shows what
// stands beside it, within isolates.
func isDirection(seq string) bool {
	switch seq {
	case "\u200e", "\u200f", "\u061c", closeIsolate:
		return true
	}
	return opensIsolate(seq)
}

const closeIsolate = "\u2069"

func opensIsolate(seq string) bool { return seq == "\u2066" || seq == "\u2067" || seq == "\u2068" }

// settle closes what is open at the end of a row, and drops what closes nothing:
// the next row begins anew.
func settle(row []cell) []cell {
	open := 0
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case c.width > 0 || c.seq[0] == '\x1b':
		case opensIsolate(c.seq):
			open++
		case c.seq == closeIsolate && open > 0:
			open--
		case c.seq == closeIsolate:
			row = append(row[:i:i], row[i+1:]...)
			i--
		}
	}
	for range open {
		row = append(row[:len(row):len(row)], cell{closeIsolate, 0})
	}
	return row
}

// directed says whether a row has marks of direction. Only whole does a terminal
// show it right.
func directed(row []cell) bool {
	for _, c := range row {
		if c.width == 0 && c.seq[0] != '\x1b' {
			return true
		}
	}
	return false
}

// doubtful says whether the terminal may take a character for wider or narrower
// than it is; most is what it may take at most.
func (p pen) doubtful(c cell) (most int, ok bool) {
	if len(c.seq) < utf8.UTFMax || c.width == 0 || p.clusters && c.seq[0] >= utf8.RuneSelf && text.Emoji(c.seq) {
		return c.width, false
	}
	most, ok = text.Doubt(c.seq)
	return max(most, c.width), ok
}

// write writes a character that begins in column x, of so many. One that the
// terminal may measure in another way gets the room that it has here, and what
// follows it its place: on what it does not fill there are spaces, and what it
// fills beside that is written over. Where it could go over the end of the row,
// its first part stands for it.
func (p pen) write(b *strings.Builder, c cell, x, columns int) {
	most, ok := p.doubtful(c)
	if !ok {
		b.WriteString(c.seq)
		return
	}
	for range c.width {
		b.WriteByte(' ')
	}
	column(b, x)
	if x+most > columns {
		_, n := utf8.DecodeRuneInString(c.seq)
		c.seq = c.seq[:n]
	}
	b.WriteString(c.seq)
	column(b, x+c.width)
}

func column(b *strings.Builder, x int) {
	b.WriteByte('\r')
	if x > 0 {
		b.WriteString("\x1b[" + strconv.Itoa(x) + "C")
	}
}
