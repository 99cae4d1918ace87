package scroll

import (
	"strings"
	"unicode"

	"agentx/tui/text"

	"github.com/charmbracelet/x/ansi"
)

// A Match is a place in rows where words stand: the cells of a row, from From on
// before To. Words that a line's end parts are several, the first of them Begins.
type Match struct {
	Row, From, To int
	Begins        bool
}

// A letter is a character of rows, in lower case, and where it is.
type letter struct {
	r             rune
	row, from, to int
}

// Find returns where words stand in rows, whatever their case, their colours and
// how much room is between them.
func Find(rows []string, words string) []Match {
	want := []rune(strings.ToLower(strings.Join(strings.Fields(words), " ")))
	if len(want) == 0 {
		return nil
	}
	all := letters(rows)
	var out []Match
	for i := 0; i+len(want) <= len(all); i++ {
		if !stands(all[i:], want) {
			continue
		}
		out = append(out, spans(all[i:i+len(want)])...)
		i += len(want) - 1
	}
	return out
}

func stands(all []letter, want []rune) bool {
	for i, r := range want {
		if all[i].r != r {
			return false
		}
	}
	return true
}

// letters are those of all rows, with one space for whatever is between words.
func letters(rows []string) []letter {
	var out []letter
	space := func(row, at int) {
		if len(out) > 0 && out[len(out)-1].r != ' ' {
			out = append(out, letter{' ', row, at, at})
		}
	}
	for y, row := range rows {
		x := 0
		for rest := row; rest != ""; {
			seq, width := text.Next(rest)
			rest = rest[len(seq):]
			if width == 0 {
				continue
			}
			for _, r := range seq {
				if unicode.IsSpace(r) {
					space(y, x)
				} else {
					out = append(out, letter{unicode.ToLower(r), y, x, x + width})
				}
			}
			x += width
		}
		space(y, x)
	}
	return out
}

// spans are the cells of letters that follow one another, row by row.
func spans(word []letter) []Match {
	var out []Match
	for _, l := range word {
		n := len(out)
		if n == 0 || out[n-1].Row != l.row {
			out = append(out, Match{Row: l.row, From: l.from, To: l.to, Begins: n == 0})
		} else {
			out[n-1].To = max(out[n-1].To, l.to)
		}
	}
	return out
}

// Light draws the cells of a row from From on before To by draw, and the rest as
// it is.
func Light(row string, from, to int, draw func(...string) string) string {
	return text.Cut(row, 0, from) + draw(ansi.Strip(text.Cut(row, from, to))) + text.Cut(row, to, 1<<30)
}
