package markdown

import (
	"slices"
	"strings"

	"agentx/tui/text"
)

const (
	maxColumns = 200
	fixedAfter = 30 // rows after which the columns are as wide as they are
	mostWord   = 12 // cells up to which a column is not made narrower than a word in it
)

// A table keeps its rows until it ends, or until it is long: then its columns are fixed and rows are finished as they come.
type table struct {
	gap    bool
	put    bool
	tall   bool   // the last row written has several lines
	align  []byte // l, c, r for each column
	head   []string
	rows   [][]string
	widths []int // once they are fixed
}

func (t *table) clone() leaf {
	c := *t
	c.rows = slices.Clip(c.rows)
	return &c
}

// tableStart returns a table if the line is a delimiter row for that header.
func tableStart(d *Doc, header, line string) *table {
	if strings.Trim(line, "|:- \t") != "" || !strings.Contains(line, "-") {
		return nil
	}
	t := &table{}
	for _, c := range cells(line) {
		left, right := strings.HasPrefix(c, ":"), strings.HasSuffix(c, ":")
		if c = strings.TrimSuffix(strings.TrimPrefix(c, ":"), ":"); c == "" || strings.Trim(c, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			t.align = append(t.align, 'c')
		case right:
			t.align = append(t.align, 'r')
		default:
			t.align = append(t.align, 'l')
		}
	}
	names := cells(header)
	if len(names) > len(t.align) || len(t.align) > maxColumns {
		return nil
	}
	t.head = make([]string, len(t.align))
	for i, name := range names {
		t.head[i] = d.cell(name, true)
	}
	return t
}

// cells splits a row at its pipes.
func cells(row string) []string {
	row = strings.Trim(row, " \t")
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] == '\\' && i+1 < len(row) && row[i+1] == '|':
			i++
			b.WriteByte('|')
		case row[i] == '|':
			out = append(out, strings.Trim(b.String(), " \t"))
			b.Reset()
		default:
			b.WriteByte(row[i])
		}
	}
	return append(out, strings.Trim(b.String(), " \t"))
}

// add adds a row.
func (t *table) add(d *Doc, line string) {
	row := make([]string, len(t.head))
	for i, c := range cells(line) {
		if i < len(row) {
			row[i] = d.cell(c, false)
		}
	}
	t.rows = append(t.rows, row)
	if len(t.rows) >= fixedAfter && !d.live {
		t.release(d)
	}
}

func (t *table) close(d *Doc) { t.release(d) }

// release writes the rows there are.
func (t *table) release(d *Doc) {
	if t.put && len(t.rows) == 0 {
		return
	}
	if t.widths == nil {
		t.widths = t.measure(d.room())
	}
	var lines []string
	if t.told() {
		lines = t.records(d)
	} else {
		if !t.put {
			lines = append(t.row(d, t.head), t.line(d))
		}
		for i, row := range t.rows {
			next := t.row(d, row)
			if (t.put || i > 0) && (t.tall || len(next) > 1) {
				lines = append(lines, t.rest(d))
			}
			lines, t.tall = append(lines, next...), len(next) > 1
		}
	}
	d.put(!t.put, t.gap, lines...)
	t.put, t.rows = true, nil
}

// measure returns how wide the columns are in that room, or none if it is too narrow for them.
func (t *table) measure(room int) []int {
	widths, least := make([]int, len(t.head)), make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			for _, line := range strings.Split(cell, "\n") {
				widths[i] = max(widths[i], text.Width(line), 1)
			}
			for _, word := range strings.Fields(strip(cell)) {
				least[i] = max(least[i], min(text.Width(word), mostWord))
			}
		}
	}
	over := sum(widths) + 3*len(widths) - 1 - room
	if over > 0 && sum(least)+3*len(least)-1 > room {
		return []int{}
	}
	for over > 0 {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		widths[widest]--
		over--
	}
	return widths
}

func sum(ns []int) (s int) {
	for _, n := range ns {
		s += n
	}
	return s
}

// told says whether rows are told as name: value.
func (t *table) told() bool { return len(t.widths) == 0 }

// row lays out one row: a line, or more where a cell has to be wrapped.
func (t *table) row(d *Doc, row []string) []string {
	columns := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		columns[i] = carry(text.Wrap(cell, t.widths[i]))
		height = max(height, len(columns[i]))
	}
	lines := make([]string, height)
	for y := range lines {
		var b strings.Builder
		for i, column := range columns {
			if i > 0 {
				b.WriteString(d.look.column)
			}
			cell := ""
			if y < len(column) {
				cell = column[y]
			}
			b.WriteString(" ")
			b.WriteString(pad(text.Isolate(cell), t.widths[i], t.align[i]))
			b.WriteString(" ")
		}
		lines[y] = trimRight(b.String())
	}
	return lines
}

func pad(s string, width int, align byte) string {
	n := max(0, width-text.Width(s))
	left := 0
	switch align {
	case 'r':
		left = n
	case 'c':
		left = n / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", n-left)
}

// rest is a row of nothing: it keeps rows of several lines apart.
func (t *table) rest(d *Doc) string {
	parts := make([]string, len(t.widths))
	for i, w := range t.widths {
		parts[i] = strings.Repeat(" ", w+2)
	}
	return trimRight(strings.Join(parts, d.look.column))
}

// line is what stands between the header and the rows.
func (t *table) line(d *Doc) string {
	parts := make([]string, len(t.widths))
	for i, w := range t.widths {
		parts[i] = strings.Repeat("─", w+2)
	}
	return styled(d.look.style.HorizontalRule, strings.Join(parts, "┼"))
}

// records tells rows as lines of name: value, for a terminal that is too narrow for columns.
func (t *table) records(d *Doc) []string {
	var lines []string
	for i, row := range t.rows {
		if t.put || i > 0 {
			lines = append(lines, "")
		}
		for j, cell := range row {
			if cell != "" {
				lines = append(lines, d.wrap(t.head[j]+": "+strings.ReplaceAll(cell, "\n", " "))...)
			}
		}
	}
	if len(t.rows) == 0 {
		lines = append(lines, d.wrap(strings.Join(t.head, ", "))...)
	}
	return lines
}
