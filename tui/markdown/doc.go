// Package markdown lays out a markdown text that grows. Its lines are finished one after the other, and a finished line never
// changes, so that it can be printed once; only the open tail is laid out again as it grows. It knows a width and a theme, and
// nothing of screens.
package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"agentx/tui/text"
	"agentx/tui/theme"
)

const (
	maxDepth = 16   // containers within containers; what lies deeper is text
	longLine = 256  // bytes after which a line of prose need not have ended to be known for prose
	maxLine  = 4096 // bytes after which any other line is taken as ended
)

// A Doc is a markdown text that grows, laid out for a width and a theme. The text comes from outside: no escape sequence in it
// gets out. A Doc belongs to one goroutine.
type Doc struct {
	width   int
	measure int // at most this wide is prose; 0 is as wide as the rest
	look    *look
	words   *grammar
	in      text.Cleaner
	line    []byte // the line that has not ended
	prose   bool   // the beginning of that line is in the open paragraph already
	tried   int    // its length when that was tried
	state
	done []string // finished lines that nobody has taken
	kept *codes   // where its code goes, if anybody wants that
}

// state is where a text stands between two lines. A copy of it is fed the unfinished line to see what would become of it.
type state struct {
	open  []container
	leaf  leaf
	blank bool        // the last line was blank
	past  []container // around what was written last
	wrote bool
	ids   int
	live  bool // this is such a copy
}

// New returns an empty Doc whose lines are at most width cells wide.
func New(width int, th theme.Theme) *Doc {
	return &Doc{width: max(width, 1), look: newLook(th), words: newGrammar(), in: text.NewProse()}
}

// Measure says that prose takes no more than so many cells of a line, before any
// text is added; 0 is all. Code and tables take what there is.
func (d *Doc) Measure(cells int) *Doc {
	d.measure = max(cells, 0)
	return d
}

// Literal says, before any text is added, that formulas are shown as they were
// written: for who sees few letters, or hears them.
func (d *Doc) Literal(on bool) *Doc {
	d.words.literal = on
	return d
}

// Another returns an empty Doc of the same width and theme. It costs less than New, since what is known of programming languages is
// shared; so the two belong to one goroutine.
func (d *Doc) Another() *Doc {
	return &Doc{width: d.width, measure: d.measure, look: d.look, words: d.words.fresh(), in: text.NewProse()}
}

// Render lays out a whole text. Unlike a text that grows, it knows the definitions of links that come after their use.
func Render(src string, width int, th theme.Theme) []string {
	d := New(width, th)
	src = text.Prose(src)
	d.words.learn(src)
	d.Append(src)
	d.Close()
	return d.Take()
}

// Append adds text at the end.
func (d *Doc) Append(delta string) { d.feed(d.in.Feed(delta)) }

// Close ends the text: its tail is finished too.
func (d *Doc) Close() {
	d.feed(d.in.Flush())
	if len(d.line) > 0 {
		d.endLine()
	}
	d.prose = false
	d.close(0)
}

// Resize lays out what is not finished, and all that comes, for another width.
func (d *Doc) Resize(width int) {
	d.width = max(width, 1)
	switch l := d.leaf.(type) {
	case *paragraph:
		l.loosen()
		l.settle(d)
	case *table:
		l.widths = nil
	}
}

// Take returns the lines that were finished since the last Take. They are styled, without newlines, and never change.
func (d *Doc) Take() []string {
	lines := d.done
	d.done = nil
	return lines
}

// Tail returns what is not finished as it looks now, of that at most the last maxLines lines.
func (d *Doc) Tail(maxLines int) []string {
	if maxLines <= 0 || d.leaf == nil && len(d.line) == 0 {
		return nil
	}
	c := d.copy()
	c.live = true
	if !d.unsure() {
		c.say(string(d.line))
	}
	c.foresee()
	c.close(0)
	return c.done[max(0, len(c.done)-maxLines):]
}

// copy returns a Doc that can go on from here without changing d.
func (d *Doc) copy() *Doc {
	c := &Doc{width: d.width, measure: d.measure, look: d.look, words: d.words, state: d.state}
	c.open = slices.Clone(d.open)
	if d.leaf != nil {
		c.leaf = d.leaf.clone()
	}
	return c
}

// feed takes clean text. What becomes of it does not depend on the pieces it comes in.
func (d *Doc) feed(s string) {
	for s != "" {
		piece, rest, ended := strings.Cut(s, "\n")
		for piece != "" && !d.prose {
			n := cutRune(piece, max(longLine, 2*d.tried)-len(d.line))
			d.line = append(d.line, piece[:n]...)
			piece = piece[n:]
			if len(d.line) >= max(longLine, 2*d.tried) {
				d.try()
			}
		}
		if d.prose {
			d.leaf.(*paragraph).extend(d, piece)
		}
		if s = rest; ended {
			d.endLine()
		}
	}
}

// try puts the beginning of a long line into the paragraph that it belongs to. If it is of another kind and too long, it ends here.
func (d *Doc) try() {
	d.tried = len(d.line)
	if _, code := d.leaf.(*fence); !code {
		c := d.copy()
		c.say(string(d.line))
		if _, ok := c.leaf.(*paragraph); ok {
			d.state, d.done = c.state, append(d.done, c.done...)
			d.line, d.prose = d.line[:0], true
			return
		}
	}
	if d.tried >= maxLine {
		d.endLine()
	}
}

func (d *Doc) endLine() {
	d.tried = 0
	if d.prose {
		d.prose = false
		return
	}
	line := string(d.line)
	d.line = d.line[:0]
	d.say(line)
}

// cutRune returns n or a little more, so that no character of s is cut.
func cutRune(s string, n int) int {
	n = min(n, len(s))
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}
