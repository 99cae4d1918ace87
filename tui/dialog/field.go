package dialog

import (
	"slices"
	"strings"

	"agentx/tui/text"
)

const maxField = 4096 // bytes

// field is a line of text as grapheme clusters, and a caret between two of them.
type field struct {
	cells []string // never changed once shared
	at    int
}

func (f field) text() string { return strings.Join(f.cells, "") }

// write puts s in at the caret, on one line and without what a terminal would obey.
func (f field) write(s string) field {
	head := text.Line(strings.Join(f.cells[:f.at], "") + s) // together: a joiner needs what it joins
	all := text.Line(head + strings.Join(f.cells[f.at:], ""))
	if len(all) > maxField {
		return f
	}
	f.cells, f.at = split(all), len(split(head))
	f.at = min(f.at, len(f.cells))
	return f
}

// split cuts s into grapheme clusters.
func split(s string) []string {
	var out []string
	for s != "" {
		c, _ := text.Next(s)
		out, s = append(out, c), s[len(c):]
	}
	return out
}

// press moves the caret or deletes, with readline's keys.
func (f field) press(key string) field {
	switch key {
	case "left", "ctrl+b":
		f.at = max(0, f.at-1)
	case "right", "ctrl+f":
		f.at = min(len(f.cells), f.at+1)
	case "home", "ctrl+a":
		f.at = 0
	case "end", "ctrl+e":
		f.at = len(f.cells)
	case "alt+b", "ctrl+left", "alt+left":
		f.at = f.wordLeft()
	case "alt+f", "ctrl+right", "alt+right":
		f.at = f.wordRight()
	case "backspace", "ctrl+h":
		return f.cut(max(0, f.at-1), f.at)
	case "delete", "ctrl+d":
		return f.cut(f.at, min(len(f.cells), f.at+1))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		return f.cut(f.wordLeft(), f.at)
	case "alt+d", "ctrl+delete":
		return f.cut(f.at, f.wordRight())
	case "ctrl+u":
		return f.cut(0, f.at)
	case "ctrl+k":
		return f.cut(f.at, len(f.cells))
	}
	return f
}

// cut takes out the cells from one to another, and lets what then touches combine.
func (f field) cut(from, to int) field {
	rest := slices.Concat(f.cells[:from], f.cells[to:])
	head := len(split(strings.Join(rest[:from], "")))
	f.cells = split(strings.Join(rest, ""))
	f.at = min(head, len(f.cells))
	return f
}

func (f field) wordLeft() int {
	i := f.at
	for i > 0 && f.cells[i-1] == " " {
		i--
	}
	for i > 0 && f.cells[i-1] != " " {
		i--
	}
	return i
}

func (f field) wordRight() int {
	i := f.at
	for i < len(f.cells) && f.cells[i] == " " {
		i++
	}
	for i < len(f.cells) && f.cells[i] != " " {
		i++
	}
	return i
}

// view is what of the line fits into width columns around the caret, and the
// caret's column in it. Hide is drawn in place of each character, if there is one.
func (f field) view(width int, hide string) (string, int) {
	shown := func(c string) string {
		if hide != "" {
			return hide
		}
		return text.Truncate(c, max(width, 1))
	}
	from, x := f.at, 0
	for from > 0 && x+text.Width(shown(f.cells[from-1])) < width {
		from--
		x += text.Width(shown(f.cells[from]))
	}
	var b strings.Builder
	col := 0
	for _, c := range f.cells[from:] {
		s := shown(c)
		if col += text.Width(s); col > width {
			break
		}
		b.WriteString(s)
	}
	return b.String(), x
}
