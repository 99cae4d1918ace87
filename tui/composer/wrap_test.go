package composer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rows shows how a line is wrapped, with a bar between rows.
func rows(line string, width int) string {
	at := wrap(line, width)
	var out []string
	for r := range at {
		out = append(out, span(line, at, r))
	}
	return strings.Join(out, "|")
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"words", 9, "the quick |brown fox |jumps"},
		{"a word that fills the row", 5, "quick |brown"},
		{"spaces hang", 5, "quick     |brown"},
		{"a word too long", 4, "ab |abcd|efgh|i"},
		{"a word too long goes on in the row", 4, "abcd|ef |gh"},
		{"wide", 5, "世界|世界|世"},
		{"wide among words", 6, "ab 世|界 cd"},
		{"no closing mark begins a row", 8, "世界你|好。再见"},
		{"nor after a single one", 4, "世|好。"},
		{"what a closing mark takes along counts", 4, "ab|世。|cd"},
		{"a column alone", 1, "a|b|世|c"},
		{"leading spaces stay", 6, "    a |b"},
		{"nothing", 5, ""},
		{"emoji", 4, "👩\u200d👧👩\u200d👧|🇩🇪"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rows(strings.ReplaceAll(c.want, "|", ""), c.width); got != c.want {
				t.Errorf("rows are %q, want %q", got, c.want)
			}
		})
	}
}

// TestWrapLosesNothing: rows are the line, cut between cells; each fits but
// for the spaces that hang over, and none could have taken the next word.
func TestWrapLosesNothing(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "word", " ", "  ", "\t", "世", "界", "。", "👩\u200d👧", "e\u0301", "\u202e", "longer-word"})
	rapid.Check(t, func(t *rapid.T) {
		line, width := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "line"), ""), rapid.IntRange(1, 20).Draw(t, "width")
		at := wrap(line, width)
		if !slices.IsSorted(at) || at[0] != 0 || len(slices.Compact(slices.Clone(at))) != len(at) {
			t.Fatalf("rows begin at %v", at)
		}
		for r, from := range at {
			if snap(line, from) != from {
				t.Fatalf("row %d begins within a cell: %q", r, rows(line, width))
			}
			row := span(line, at, r)
			ink := strings.TrimRight(row, " \t")
			if one := ink != "" && len(cellAt(ink).text) == len(ink); columns(ink) > width && !one {
				t.Fatalf("%q takes %d columns of %d", ink, columns(ink), width)
			}
			if r == 0 || row == "" || strings.Contains(line, "。") {
				continue
			}
			word, _, _ := strings.Cut(row, " ")
			if before := span(line, at, r-1); strings.HasSuffix(before, " ") && !strings.ContainsAny(word, "\t世界👩") && columns(before+word) <= width {
				t.Fatalf("%q had room for %q", before, word)
			}
		}
	})
}

// TestBackIsForth: going back over a line finds the same cells as going forth, chips included.
func TestBackIsForth(t *testing.T) {
	_, chip := chips{}.fold("a\nb", Chip{Label: "[two lines]"})
	piece := rapid.SampledFrom([]string{"a", " ", "世", "🇩", "👩", "\u200d", "👧", "e", "\u0301", "क", "्", "ष", "؀", "\t", chip})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "line"), "")
		var forth, back []int
		for i := 0; i < len(line); i += len(cellAt(line[i:]).text) {
			forth = append(forth, i)
		}
		for i := len(line); i > 0; {
			i = before(line, i)
			back = append(back, i)
		}
		slices.Reverse(back)
		if !slices.Equal(forth, back) {
			t.Fatalf("%q: forth %v, back %v", line, forth, back)
		}
	})
}
