package engine

import (
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However a text comes, and wherever it branches, every value of it says what
// was added to it, in few pieces (F49).
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts, want := []text{{}}, []string{""}
		for range rapid.IntRange(0, 60).Draw(t, "adds") {
			i := rapid.IntRange(0, len(texts)-1).Draw(t, "to")
			if rapid.Bool().Draw(t, "last") {
				i = len(texts) - 1
			}
			s := strings.Repeat(rapid.StringN(0, 2, 8).Draw(t, "s"), rapid.IntRange(1, 20).Draw(t, "times"))
			texts, want = append(texts, texts[i].add(s)), append(want, want[i]+s)
		}
		for i, text := range texts {
			if got := text.String(); got != want[i] || text.len() != len(got) {
				t.Fatalf("text %d: String() = %q, len() = %d, want %q", i, got, text.len(), want[i])
			}
			if n, most := pieces(text), bits.Len(uint(text.len())); n > most {
				t.Fatalf("%d bytes in %d pieces, want at most %d", text.len(), n, most)
			}
		}
	})
}

func pieces(t text) (n int) {
	for p := t.last; p != nil; p = p.prev {
		n++
	}
	return n
}
