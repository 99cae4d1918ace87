package screen

import "bytes"

// A canvas is the terminal's other screen, which has no scrollback: every row of
// it is ours, and what was on the first one comes back when it is left. It knows
// what each row shows and writes what changes. It draws with the painter's pen.
type canvas struct {
	*painter
	simple bool // the flags of the keyboard are not touched
	on     bool
	mouse  bool
	shown  []row  // one for each row of the screen; nil where nobody knows
	caret  *Point // nil is hidden
}

// The other screen, with a stack of its own for the flags of the keyboard, and
// the mouse: its buttons and its wheel, by cell.
const (
	fullOn   = "\x1b[?1049h"
	fullOff  = "\x1b[?1049l"
	flagsOn  = "\x1b[>1u"
	flagsOff = "\x1b[<u"
	mouseOn  = "\x1b[?1000h\x1b[?1006h"
	mouseOff = "\x1b[?1006l\x1b[?1000l"
)

// paint returns the bytes that lead to f, good until the next call.
func (c *canvas) paint(f Frame) []byte {
	c.b.Reset()
	lines, caret := c.clip(f)
	fresh := !c.on || len(c.shown) != c.height
	if !fresh && f.Mouse == c.mouse && c.shows(lines) && samePoint(c.caret, caret) {
		return nil
	}
	c.b.WriteString(beginSync)
	c.enter(f.Mouse)
	if c.caret != nil && (fresh || !c.shows(lines)) {
		c.b.WriteString(hide)
		c.caret = nil
	}
	if fresh {
		c.b.WriteString("\x1b[H\x1b[2J")
		c.shown = make([]row, c.height)
	}
	c.scroll(lines)
	for y := range c.shown {
		c.put(y, lineAt(lines, y))
	}
	c.place(caret)
	c.b.WriteString(endSync)
	return c.b.Bytes()
}

// enter turns to the other screen, and the mouse on or off.
func (c *canvas) enter(mouse bool) {
	if !c.on {
		c.b.WriteString(fullOn)
		if !c.simple {
			c.b.WriteString(flagsOn)
		}
		c.on, c.mouse, c.caret = true, false, &Point{X: -1} // shown, nobody knows where
	}
	if mouse == c.mouse {
		return
	}
	if c.mouse = mouse; mouse {
		c.b.WriteString(mouseOn)
	} else {
		c.b.WriteString(mouseOff)
	}
}

// again turns once more to what a terminal may have forgotten. One that has not
// stays as it is.
func (c *canvas) again() []byte {
	if !c.on {
		return nil
	}
	flags, mouse := flagsOff+flagsOn, mouseOff
	if c.simple {
		flags = ""
	}
	if c.mouse {
		mouse = mouseOn
	}
	c.caret = &Point{X: -1} // shown, nobody knows where
	return []byte(fullOn + flags + mouse)
}

// leave turns back to the screen that has a scrollback. A terminal that has but one,
// such as screen(1) as it comes, would keep what is on it, and the shell would
// write into that.
func (c *canvas) leave() []byte {
	if !c.on {
		return nil
	}
	var b bytes.Buffer
	if c.mouse {
		b.WriteString(mouseOff)
	}
	if !c.simple {
		b.WriteString(flagsOff)
	}
	b.WriteString("\x1b[H\x1b[J" + fullOff + show)
	c.on, c.mouse, c.shown = false, false, nil
	return b.Bytes()
}

// clip keeps of the frame what the screen can hold, its beginning.
func (c *canvas) clip(f Frame) ([]string, *Point) {
	lines, caret := f.Lines[:min(len(f.Lines), c.height)], f.Cursor
	if caret != nil {
		caret = &Point{X: min(max(caret.X, 0), c.width-1), Y: min(max(caret.Y, 0), c.height-1)}
	}
	return lines, caret
}

func (c *canvas) shows(lines []string) bool { return c.changed(lines) == 0 }

func lineAt(lines []string, y int) string {
	if y < len(lines) {
		return lines[y]
	}
	return ""
}

// put writes what of a row differs.
func (c *canvas) put(y int, line string) {
	if c.shown[y].text == line {
		return
	}
	r := row{text: line, cells: fit(c.pen.cells(line), c.width)}
	d := c.pen.diff(c.shown[y].cells, r.cells, c.width)
	c.shown[y] = r
	if d.text == "" && !d.erase {
		return
	}
	c.goTo(d.col, y)
	c.styled(d.text)
	if d.erase {
		c.b.WriteString("\x1b[K")
	}
}

func (c *canvas) goTo(x, y int) {
	c.b.WriteString("\x1b[")
	c.number(y + 1)
	c.b.WriteByte(';')
	c.number(x + 1)
	c.b.WriteByte('H')
}

func (c *canvas) place(caret *Point) {
	switch {
	case caret != nil:
		c.goTo(caret.X, caret.Y)
		if c.caret == nil {
			c.b.WriteString(show)
		}
	case c.caret != nil:
		c.b.WriteString(hide)
	}
	c.caret = caret
}

// worthScrolling is how many rows must keep their text to be moved instead of
// written again.
const worthScrolling = 4

// scroll moves rows that stand elsewhere in the new picture, where they are many:
// a line that comes at the end of a long text then costs that line.
func (c *canvas) scroll(lines []string) {
	if c.changed(lines) < worthScrolling {
		return
	}
	top, n, by := c.moved(lines)
	if n < worthScrolling {
		return
	}
	first, last := top, top+n+by // of the rows that move, and those they move over
	if by < 0 {
		first, last = top+by, top+n
	}
	c.b.WriteString("\x1b[")
	c.number(first + 1)
	c.b.WriteByte(';')
	c.number(last)
	c.b.WriteByte('r')
	rows := make([]row, last-first)
	if by > 0 {
		c.csi(by, 'S')
		copy(rows, c.shown[first+by:last])
	} else {
		c.csi(-by, 'T')
		copy(rows[-by:], c.shown[first:last+by])
	}
	copy(c.shown[first:last], rows)
	c.b.WriteString("\x1b[r")
}

// changed counts the rows that differ.
func (c *canvas) changed(lines []string) int {
	n := 0
	for y, r := range c.shown {
		if r.text != lineAt(lines, y) {
			n++
		}
	}
	return n
}

// moved finds the longest run of rows that stands elsewhere now: it begins at top
// in the new picture and stood by rows further down in the old one. A run that
// stands still is as good as one that moves.
func (c *canvas) moved(lines []string) (top, n, by int) {
	_, still := c.run(lines, 0)
	for d := 1; d < c.height; d++ {
		for _, d := range []int{d, -d} {
			if at, long := c.run(lines, d); long > max(n, still) {
				top, n, by = at, long, d
			}
		}
	}
	return top, n, by
}

// run is the longest run of rows that stand by rows further down, and say
// something.
func (c *canvas) run(lines []string, by int) (top, n int) {
	long, ink := 0, 0
	for y := range c.height {
		from := y + by
		line := lineAt(lines, y)
		if from < 0 || from >= c.height || c.shown[from].text != line {
			long, ink = 0, 0
			continue
		}
		long++
		if line != "" {
			ink++
		}
		if long > n && ink >= min(long, worthScrolling) {
			top, n = y-long+1, long
		}
	}
	return top, n
}
