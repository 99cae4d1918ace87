//go:build unix

package cmd

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A sheet is a terminal that wraps its lines anew when its width changes, as
// most do and the emulator does not. It knows text of one column a letter, and
// what the chat moves the cursor with.
type sheet struct {
	width, height int
	rows          []strip // scrollback, then the screen
	top           int     // the screen's first row
	x, y          int     // the cursor; x is width behind a full row
	parser        *ansi.Parser
}

// A strip is a row. One that goes on is one line with the next.
type strip struct {
	text   []rune
	goesOn bool
}

func newSheet(width, height int) *sheet {
	s := &sheet{width: width, height: height, rows: []strip{{}}, parser: ansi.NewParser()}
	s.parser.SetHandler(ansi.Handler{Print: s.print, Execute: s.control, HandleCsi: s.sequence, HandleEsc: func(ansi.Cmd) {}})
	return s
}

func (s *sheet) write(p []byte) {
	for _, b := range p {
		s.parser.Advance(b)
	}
}

func (s *sheet) print(r rune) {
	if s.x >= s.width {
		s.rows[s.y].goesOn = true
		s.x = 0
		s.feed()
	}
	row := &s.rows[s.y]
	for len(row.text) <= s.x {
		row.text = append(row.text, ' ')
	}
	row.text[s.x] = r
	s.x++
}

func (s *sheet) control(b byte) {
	switch b {
	case '\n':
		s.feed()
	case '\r':
		s.x = 0
	}
}

// feed goes to the next row of the screen, which moves at its end.
func (s *sheet) feed() {
	if s.y == s.top+s.height-1 {
		s.top++
	}
	s.to(s.y + 1)
}

// to goes to a row of the screen.
func (s *sheet) to(y int) {
	s.y = min(max(y, s.top), s.top+s.height-1)
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, strip{})
	}
}

func (s *sheet) sequence(c ansi.Cmd, params ansi.Params) {
	if c.Prefix() != 0 || c.Intermediate() != 0 {
		return
	}
	n, _, _ := params.Param(0, 1)
	if c.Final() != 'm' {
		s.x = min(s.x, s.width-1)
	}
	switch n = max(n, 1); c.Final() {
	case 'A':
		s.to(s.y - n)
	case 'B':
		s.to(s.y + n)
	case 'C':
		s.x = min(s.x+n, s.width-1)
	case 'H':
		s.x = 0
		s.to(s.top)
	case 'J':
		first := s.y
		if all, _, _ := params.Param(0, 0); all == 2 {
			first = s.top
		} else {
			s.cut()
			first++
		}
		for y := first; y < len(s.rows); y++ {
			s.rows[y] = strip{}
		}
	case 'K':
		s.cut()
	case 'L':
		fresh := append(make([]strip, n), s.rows[s.y:]...)
		s.rows = append(s.rows[:s.y:s.y], fresh[:min(len(fresh), s.top+s.height-s.y)]...)
	case 'M':
		s.rows = append(s.rows[:s.y:s.y], s.rows[min(s.y+n, len(s.rows)):]...)
		s.to(s.y)
	}
}

// cut erases the cursor's row from the cursor on.
func (s *sheet) cut() {
	row := &s.rows[s.y]
	row.text, row.goesOn = row.text[:min(s.x, len(row.text))], false
}

// resize wraps every line anew, and keeps the cursor at its letter and on the
// screen; below it rows that find no room are lost.
func (s *sheet) resize(width, height int) {
	var rows []strip
	y, x := 0, 0
	for i := 0; i < len(s.rows); i++ {
		var line []rune
		at := -1
		for ; ; i++ {
			if i == s.y {
				at = len(line) + s.x
			}
			line = append(line, s.rows[i].text...)
			if !s.rows[i].goesOn || i+1 == len(s.rows) {
				break
			}
			for len(line)%s.width != 0 {
				line = append(line, ' ')
			}
		}
		line = []rune(strings.TrimRight(string(line), " "))
		if at >= 0 {
			y, x = len(rows)+at/width, at%width
		}
		for len(line) > width {
			rows, line = append(rows, strip{line[:width:width], true}), line[width:]
		}
		rows = append(rows, strip{text: line})
		for at >= 0 && len(rows) <= y {
			rows = append(rows, strip{})
		}
	}
	for len(rows) > y+1 && len(rows[len(rows)-1].text) == 0 {
		rows = rows[:len(rows)-1]
	}
	s.top = max(min(max(len(rows)-height, 0), y), y-height+1)
	s.rows = rows[:min(len(rows), s.top+height)]
	s.width, s.height, s.x, s.y = width, height, x, y
}

// letters is everything on the sheet without the spaces between.
func (s *sheet) letters() string {
	var b strings.Builder
	for _, row := range s.rows {
		for _, r := range row.text {
			if r != ' ' {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// String is everything on the sheet, a bar before what is in the scrollback.
func (s *sheet) String() string {
	var b strings.Builder
	for i, row := range s.rows {
		if i < s.top {
			b.WriteString("| ")
		}
		b.WriteString(strings.TrimRight(string(row.text), " ") + "\n")
	}
	return b.String()
}
