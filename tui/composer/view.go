package composer

import (
	"slices"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// frame is what the screen shows, laid out after each change: the rows around the caret and no others.
type frame struct {
	rows        []string // parts of lines
	last        []bool   // whether each ends its line
	lit         [][2]int // what of each is marked; nil where nothing is
	top         anchor   // of the first row
	first, more bool     // rows begins at the text's first row; something follows rows
	x, y        int      // the caret in rows
}

// anchor names a row: which line, and which of its rows.
type anchor struct{ line, row int }

func (a anchor) before(b anchor) bool { return a.line < b.line || a.line == b.line && a.row < b.row }

// place is a row of the text from which one can climb up and down.
type place struct {
	buf  buffer
	rows []int
	row  int
}

func (p place) anchor() anchor { return anchor{p.buf.above.len(), p.row} }

func (p place) text() string { return span(p.buf.line, p.rows, p.row) }

func (p place) last() bool { return p.row == len(p.rows)-1 }

func (p place) up(width int) (place, bool) {
	if p.row > 0 {
		p.row--
		return p, true
	}
	if p.buf.above == nil {
		return p, false
	}
	b := p.buf.up()
	rows := wrap(b.line, width)
	return place{b, rows, len(rows) - 1}, true
}

func (p place) down(width int) (place, bool) {
	if p.row+1 < len(p.rows) {
		p.row++
		return p, true
	}
	if p.buf.below == nil {
		return p, false
	}
	b := p.buf.down()
	return place{b, wrap(b.line, width), 0}, true
}

// here is the caret's row.
func (m Model) here(b buffer) place {
	rows := wrap(b.line, m.textWidth())
	return place{b, rows, rowOf(rows, b.at)}
}

// gutter is the prompt's width, none where the screen is too narrow for one.
func (m Model) gutter() int {
	if n := text.Width(m.config.Prompt); n+4 <= m.width {
		return n
	}
	return 0
}

// textWidth leaves a column free for the caret behind a full row.
func (m Model) textWidth() int { return max(1, m.width-m.gutter()-1) }

// maxRows is how many rows of text there may be.
func (m Model) maxRows() int {
	room := m.height
	if m.search.on {
		room--
	}
	return max(1, min(m.config.MaxRows, room))
}

// lay finds the rows to show: those that were shown, moved as little as the caret demands.
func (m Model) lay() Model {
	b, found := m.match()
	if !found {
		b = m.buf
	}
	width, limit := m.textWidth(), m.maxRows()
	p := m.here(b)
	rows, off := []place{p}, 0
	for q, ok := p.up(width); ok && len(rows) < limit; q, ok = q.up(width) {
		rows = append(rows, q)
		if !q.anchor().before(m.frame.top) {
			off++
		}
	}
	above := len(rows) - 1
	slices.Reverse(rows)
	for q, ok := p.down(width); ok && len(rows) < above+limit; q, ok = q.down(width) {
		rows = append(rows, q)
	}
	n := min(limit, len(rows))
	top := max(0, min(above-off, len(rows)-n))
	m.frame = cut(rows[top:top+n], above-top, width)
	if m.vi.visual != 0 {
		for _, p := range rows[top : top+n] {
			m.frame.lit = append(m.frame.lit, m.lit(p))
		}
	}
	return m
}

// cut is the frame of rows with the caret in row y.
func cut(rows []place, y, width int) frame {
	f := frame{top: rows[0].anchor(), y: y}
	for _, p := range rows {
		f.rows = append(f.rows, p.text())
		f.last = append(f.last, p.last())
	}
	p, end := rows[y], rows[len(rows)-1]
	f.x = min(columns(p.buf.line[p.rows[p.row]:p.buf.at]), width)
	f.first = f.top == anchor{}
	f.more = !end.last() || end.buf.below != nil
	return f
}

// vertical moves the caret by a row; false where there is none.
func (m Model) vertical(by int) (Model, bool) {
	p, width := m.here(m.buf), m.textWidth()
	goal := m.goal
	if goal < 0 {
		goal = columns(p.buf.line[p.rows[p.row]:p.buf.at])
	}
	step := place.up
	if by > 0 {
		step = place.down
	}
	q, ok := step(p, width)
	if !ok {
		return m, false
	}
	q.buf.at = offset(q.buf.line, q.rows, q.row, goal)
	m = m.move(func(buffer) buffer { return q.buf })
	m.goal = goal
	return m, true
}

// Height is how many lines View takes.
func (m Model) Height() int { return len(m.frame.rows) + m.below() }

// below is how many lines stand under the text.
func (m Model) below() int {
	if m.search.on {
		return min(1, m.height-len(m.frame.rows))
	}
	if !m.offer.open() {
		return 0
	}
	return max(0, min(maxOffers, len(m.offer.found), m.height-len(m.frame.rows)))
}

// Cursor is the caret relative to View's top left corner, or nil without the focus.
func (m Model) Cursor() *tea.Cursor {
	if m.blurred {
		return nil
	}
	if m.search.on && m.below() > 0 {
		_, x := m.searchLine()
		return tea.NewCursor(x, len(m.frame.rows))
	}
	return tea.NewCursor(min(m.gutter()+m.frame.x, m.width-1), m.frame.y)
}

// View draws the rows around the caret, and the open list or search under them.
func (m Model) View() string {
	var b strings.Builder
	if m.Empty() && !m.search.on {
		b.WriteString(m.mark(0) + m.placeholder)
	} else {
		for i, row := range m.frame.rows {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(m.mark(i))
			if m.frame.lit != nil {
				m.drawMarked(&b, row, m.frame.lit[i])
			} else {
				m.draw(&b, row, m.textWidth(), &m.config.Styles)
			}
		}
	}
	if m.search.on {
		if m.below() > 0 {
			line, _ := m.searchLine()
			b.WriteString("\n" + line)
		}
		return b.String()
	}
	for _, row := range m.offerRows(m.below()) {
		b.WriteString("\n" + row)
	}
	return b.String()
}

// invite lays out the prompt and the placeholder, which are shown in every frame
// of an answer.
func (m Model) invite() Model {
	s := m.config.Placeholder
	if m.busy && m.config.Busy != "" {
		s = m.config.Busy
	}
	m.prompt = m.config.Styles.Prompt.Render(m.config.Prompt)
	m.placeholder = m.config.Styles.Placeholder.Render(text.Truncate(text.Line(s), m.width-m.gutter()))
	return m
}

// mark stands before row i: the prompt, or an arrow where there is more to scroll to.
func (m Model) mark(i int) string {
	n := m.gutter()
	if n == 0 {
		return ""
	}
	switch {
	case i == 0 && m.vi.visual != 0:
		return m.config.Styles.Prompt.Render("V" + strings.Repeat(" ", n-1))
	case i == 0 && m.vi.normal:
		return m.config.Styles.Prompt.Render("N" + strings.Repeat(" ", n-1))
	case i == 0 && m.frame.first:
		return m.prompt
	case i == 0:
		return m.config.Styles.Prompt.Render(m.config.mark("↑", "^") + strings.Repeat(" ", n-1))
	case i == len(m.frame.rows)-1 && m.frame.more:
		return m.config.Styles.Prompt.Render(m.config.mark("↓", "v") + strings.Repeat(" ", n-1))
	}
	return strings.Repeat(" ", n)
}

// drawMarked writes a row of which a part is marked.
func (m Model) drawMarked(b *strings.Builder, row string, lit [2]int) {
	shining := m.config.Styles
	shining.Text, shining.Chip = shining.Text.Reverse(true), shining.Chip.Reverse(true)
	room := m.draw(b, row[:lit[0]], m.textWidth(), &m.config.Styles)
	room = m.draw(b, row[lit[0]:lit[1]], room, &shining)
	m.draw(b, row[lit[1]:], room, &m.config.Styles)
}

// draw writes a row, cut at the room that there is, and returns what is left of
// that: spaces that hang over are not drawn.
func (m Model) draw(b *strings.Builder, row string, room int, styles *Styles) int {
	run := 0
	flush := func(end int) {
		if run < end {
			b.WriteString(styles.Text.Inline(true).Render(m.config.isolate(row[run:end])))
		}
	}
	i := 0
	for i < len(row) && room > 0 {
		c := cellAt(row[i:])
		if c.shown == c.text && c.width <= room {
			i, room = i+len(c.text), room-c.width
			continue
		}
		flush(i)
		style := styles.Text
		if c.chip {
			style = styles.Chip
		}
		shown := text.Truncate(c.shown, room)
		b.WriteString(style.Inline(true).Render(m.config.isolate(shown)))
		i, room = i+len(c.text), room-text.Width(shown)
		run = i
	}
	flush(i)
	return room
}

// isolate keeps text that runs from right to left to itself: a terminal that
// turns it round must not turn the prompt, or a chip beside it, with it.
func (c Config) isolate(s string) string {
	if c.ASCII || !strings.ContainsFunc(s, fromRight) {
		return s
	}
	return "\u2068" + s + "\u2069"
}

// fromRight says whether a letter is of a script that is written from right to left.
func fromRight(r rune) bool {
	return r >= 0x590 && (r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff)
}
