package screen

import (
	"bytes"
	"strconv"

	"github.com/charmbracelet/colorprofile"
)

// A Frame is what the terminal should show.
type Frame struct {
	Above  []string // lines that go into the terminal's scrollback, once, and marks between them
	Lines  []string // the live part below them, one string a row
	Cursor *Point   // where the caret stands in Lines; nil hides it
	Full   bool     // Lines take the whole of the terminal's other screen; Above waits until it is left
	Mouse  bool     // there, the mouse is ours
}

// A Point is a cell of the live part, counted from its upper left one.
type Point struct{ X, Y int }

// A row is a line on the screen.
type row struct {
	text  string
	cells []cell
}

// A painter knows what the terminal shows of the live part, and writes what it
// takes to show something else. Rows count from the live part's first one: where
// that stands on the screen the terminal alone knows.
type painter struct {
	width, height int
	profile       colorprofile.Profile
	pen           pen
	synced        bool // the terminal shows what comes between two marks at once
	reflows       bool // it wraps its lines anew when it gets narrower

	shown  []row // at least one
	at     int   // the cursor's row
	last   Point // the width and the cursor's row of the picture that was drawn last
	left   bool  // it stands in the first column
	caret  *Point
	lost   bool     // what is shown is not what is on the screen
	clear  bool     // nor is what stands above
	recent []string // the last lines that went above

	b bytes.Buffer
}

func newPainter(width, height int) *painter {
	return &painter{width: max(width, 1), height: max(height, 1), shown: []row{{}}, lost: true, caret: &Point{}}
}

// paint returns the bytes that lead to f, good until the next call.
func (p *painter) paint(f Frame) []byte {
	p.b.Reset()
	lines, caret := p.clip(f)
	text := p.lost || len(f.Above) > 0 || !p.shows(lines)
	if !text && samePoint(p.caret, caret) {
		return nil
	}
	p.begin(text)
	if text {
		p.home()
		p.restart()
		p.above(f.Above)
		p.shift(lines)
		p.below(lines)
	}
	p.place(caret, text)
	return p.b.Bytes()
}

// clip keeps of the live part what the screen can hold, its end.
func (p *painter) clip(f Frame) ([]string, *Point) {
	lines, caret := f.Lines, f.Cursor
	over := max(len(lines)-p.height, 0)
	lines = lines[over:]
	if len(lines) == 0 {
		lines = []string{""}
	}
	if caret != nil {
		caret = &Point{X: min(max(caret.X, 0), p.width-1), Y: min(max(caret.Y-over, 0), len(lines)-1)}
	}
	return lines, caret
}

func (p *painter) shows(lines []string) bool {
	if len(lines) != len(p.shown) {
		return false
	}
	for i, line := range lines {
		if line != p.shown[i].text {
			return false
		}
	}
	return true
}

const (
	hide      = "\x1b[?25l"
	show      = "\x1b[?25h"
	beginSync = "\x1b[?2026h"
	endSync   = "\x1b[?2026l"
)

func (p *painter) begin(text bool) {
	if !text {
		return
	}
	p.b.WriteString(beginSync)
	if !p.synced && p.caret != nil {
		p.b.WriteString(hide)
	}
}

// place puts the caret where it belongs; text says that the line before wrote.
func (p *painter) place(caret *Point, text bool) {
	if caret != nil {
		p.moveTo(caret.Y)
		p.column(caret.X)
		if p.caret == nil || text && !p.synced {
			p.b.WriteString(show)
		}
	} else if p.caret != nil && (!text || p.synced) {
		p.b.WriteString(hide)
	}
	p.caret = caret
	if text {
		p.b.WriteString(endSync)
	}
}

// home goes to the first cell of the live part.
func (p *painter) home() {
	p.moveTo(0)
	p.column(0)
}

func (p *painter) moveTo(row int) {
	switch {
	case row < p.at:
		p.csi(p.at-row, 'A')
	case row > p.at:
		p.csi(row-p.at, 'B')
	}
	p.at = row
}

func (p *painter) column(x int) {
	if !p.left {
		p.b.WriteByte('\r')
	}
	if x > 0 {
		p.csi(x, 'C')
	}
	p.left = x == 0
}

// next goes to the row below, and makes one where there is none.
func (p *painter) next() {
	p.column(0)
	p.b.WriteByte('\n')
	p.at++
	if p.at == len(p.shown) {
		p.shown = append(p.shown, row{})
	}
}

func (p *painter) csi(n int, final byte) {
	p.b.WriteString("\x1b[")
	if n != 1 {
		p.number(n)
	}
	p.b.WriteByte(final)
}

func (p *painter) number(n int) { p.b.WriteString(strconv.Itoa(n)) }

// restart erases a live part that is not what it was thought to be.
func (p *painter) restart() {
	if !p.lost {
		return
	}
	if p.clear {
		p.b.WriteString("\x1b[H\x1b[2J")
	} else {
		p.b.WriteString("\x1b[J")
	}
	p.shown = []row{{}}
	if p.clear {
		again := p.recent
		p.recent = nil
		p.above(again)
	}
	p.lost, p.clear = false, false
}

// above prints lines where the live part begins, and lets that begin below
// them. A line that stands there already is left as it is. A mark takes no line.
func (p *painter) above(lines []string) {
	for _, line := range lines {
		if isMark(line) {
			p.b.WriteString(line)
			continue
		}
		for _, part := range split(p.pen.cells(line), p.width) {
			p.put(row{text: line, cells: part})
			p.next()
			p.shown, p.at = p.shown[1:], 0
		}
		p.remember(line)
	}
}

func (p *painter) remember(line string) {
	if len(p.recent) >= 2*p.height {
		p.recent = append([]string(nil), p.recent[len(p.recent)-p.height+1:]...)
	}
	p.recent = append(p.recent, line)
}

// put writes the row that the cursor is on, from its first column.
func (p *painter) put(r row) {
	d := p.pen.diff(p.shown[p.at].cells, r.cells, p.width)
	p.shown[p.at] = r
	if d.text == "" && !d.erase {
		return
	}
	p.column(d.col)
	p.styled(d.text)
	if d.erase {
		p.b.WriteString("\x1b[K")
	}
	p.left = false
}

// styled writes text in the colours that the terminal has.
func (p *painter) styled(text string) {
	if p.profile == colorprofile.TrueColor || p.profile == colorprofile.Unknown {
		p.b.WriteString(text)
		return
	}
	w := colorprofile.Writer{Forward: &p.b, Profile: p.profile}
	_, _ = w.WriteString(text) // a bytes.Buffer does not fail
}

// shift moves what stands at the end of the live part, and should stay there,
// down to where it will be: a growing answer moves composer and footer with two
// short sequences instead of writing them again. What shrinks is written anew:
// lines that are deleted at the top of a screen go into the scrollback of some
// terminals.
func (p *painter) shift(lines []string) {
	had, want := len(p.shown), len(lines)
	kept := 0
	for kept < had && kept < want && p.shown[had-1-kept].text == lines[want-1-kept] {
		kept++
	}
	if kept == 0 || had >= want {
		return
	}
	p.moveTo(had - 1)
	for range want - had {
		p.next()
	}
	p.moveTo(had - kept)
	p.csi(want-had, 'L')
	p.shown = append(p.shown[:had-kept:had-kept], append(make([]row, want-had), p.shown[had-kept:had]...)...)
	p.left = false // some terminals go to the first column here, some stay
}

// below writes the rows of the live part that differ, and erases those that are
// no longer there.
func (p *painter) below(lines []string) {
	for i, line := range lines {
		if i < len(p.shown) {
			if p.shown[i].text == line {
				continue
			}
			p.moveTo(i)
		} else {
			p.moveTo(len(p.shown) - 1)
			p.next()
		}
		p.put(row{text: line, cells: fit(p.pen.cells(line), p.width)})
	}
	if len(p.shown) > len(lines) {
		p.moveTo(len(lines))
		p.column(0)
		p.b.WriteString("\x1b[J")
		p.shown = p.shown[:len(lines)]
	}
}

// resize forgets where things stand: the live part is drawn anew. What the
// terminal did to its lines can only be guessed.
func (p *painter) resize(width, height int) {
	if width == p.width && height == p.height {
		return
	}
	if !p.lost {
		p.last = Point{X: p.width, Y: p.at}
	}
	p.at = p.last.Y // lines that were wrapped anew are whole again where there is room
	if width < p.last.X && p.reflows {
		p.at = p.wrapped(width)
	}
	p.width, p.height = max(width, 1), max(height, 1)
	p.at = min(p.at, p.height-1)
	p.lost, p.left = true, false
}

// forget takes the cursor to stand where the live part begins, and nothing to be
// on the screen.
func (p *painter) forget() {
	p.at, p.last, p.lost = 0, Point{X: p.width}, true
}

// wrapped counts the rows above the cursor in a terminal of that width.
func (p *painter) wrapped(width int) int {
	n := 0
	for _, r := range p.shown[:min(p.last.Y, len(p.shown))] {
		n += max(1, (widthOf(r.cells)+width-1)/max(width, 1))
	}
	if p.caret != nil {
		n += p.caret.X / max(width, 1)
	}
	return n
}

// leave takes the live part off the screen and leaves the cursor where it was.
func (p *painter) leave() []byte {
	p.b.Reset()
	p.home()
	p.b.WriteString("\x1b[J")
	p.b.WriteString(show)
	p.forget()
	p.shown, p.caret = []row{{}}, &Point{}
	return p.b.Bytes()
}

func samePoint(a, b *Point) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
