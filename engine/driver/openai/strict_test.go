package openai

import (
	"testing"

	"pgregory.net/rapid"
)

// TestShortNames gives every id nine letters and digits: always the same, to no
// two the same, and to one that has them itself.
func TestShortNames(t *testing.T) {
	for id, want := range map[string]string{"D681PevKs": "D681PevKs", "toolu_01A": "", "123456789": "123456789", "call_1": "", "": ""} {
		s := shortener{given: map[string]string{}, taken: map[string]bool{}}
		if got := s.name(id); !isShort(got) || want != "" && got != want {
			t.Errorf("%q becomes %q", id, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := shortener{given: map[string]string{}, taken: map[string]bool{}}
		again := shortener{given: map[string]string{}, taken: map[string]bool{}}
		had := map[string]string{}
		for _, id := range rapid.SliceOf(rapid.StringMatching(`[a-c_]{0,3}[a-zA-Z0-9]{6,9}`)).Draw(t, "ids") {
			short := s.name(id)
			if other, ok := had[short]; ok && other != id || !isShort(short) || again.name(id) != short || s.name(id) != short {
				t.Fatalf("%q becomes %q, as %q did", id, short, other)
			}
			had[short] = id
		}
	})
}
