package cmd

import (
	"io"
	"strings"

	"agentx/tui/text"
)

// A table is rows of cells, its columns as wide as they must be and the last
// as wide as there is room.
type table struct {
	width int // of the screen; 0 is without limit
	rows  [][]string
}

func (t *table) row(cells ...string) {
	clean := make([]string, len(cells))
	for i, c := range cells {
		clean[i] = text.Line(c)
	}
	t.rows = append(t.rows, clean)
}

// note is a line of its own below the last row.
func (t *table) note(s string) { t.rows = append(t.rows, []string{"    " + text.Line(s)}) }

func (t *table) print(out io.Writer) error {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-text.Width(cell)+2))
			}
		}
		s := strings.TrimRight(line.String(), " ")
		if t.width > 0 {
			s = text.Truncate(s, t.width)
		}
		b.WriteString(s + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if len(row) == 1 {
				continue // a note
			}
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	return widths
}
