package composer

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNothingPastedCountsAsTyped keeps book of every byte's origin: what the
// buffer says was typed at the beginning must have been. It may forget some.
func TestNothingPastedCountsAsTyped(t *testing.T) {
	moves := []func(buffer) buffer{buffer.left, buffer.right, buffer.home, buffer.end, buffer.top, buffer.bottom, buffer.wordLeft}
	rapid.Check(t, func(t *rapid.T) {
		var b buffer
		var typed []bool // of each byte of the text
		at := func(b buffer) int { return b.above.size() + b.at }
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			old := b
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				s, hand := rapid.SampledFrom([]string{"/", "quit", "q\nx", "\n", " ", "é", "\u0301"}).Draw(t, "text"), rapid.Bool().Draw(t, "by hand")
				typed = slices.Insert(typed, at(b), slices.Repeat([]bool{hand}, len(s))...)
				b = b.insert(s, hand)
			case 2:
				to := rapid.SampledFrom(moves).Draw(t, "to")(b)
				from, end := min(at(b), at(to)), max(at(b), at(to))
				typed = slices.Delete(typed, from, end)
				b, _ = b.remove(to)
			case 3:
				b = b.transpose()
				for i, s := range []byte(b.text()) {
					typed[i] = typed[i] && s == old.text()[i]
				}
			default:
				b = rapid.SampledFrom(moves).Draw(t, "move")(b)
			}
			first, _, _ := strings.Cut(b.text(), "\n")
			if b.typed > len(first) {
				t.Fatalf("%d bytes of %q count as typed", b.typed, first)
			}
			if i := slices.Index(typed[:b.typed], false); i >= 0 {
				t.Fatalf("byte %d of %q counts as typed", i, first)
			}
		}
	})
}

// TestSlashSurvivesEditing: what a hand does to a slash word leaves it one.
func TestSlashSurvivesEditing(t *testing.T) {
	b := buffer{}.insert("/mode", true).insert("l x", true)
	b, _ = b.remove(b.left())
	b, _ = b.home().right().remove(b.home().right().right())
	b = b.insert("m", true)
	if got := (Model{buf: b}).slash(); got != "model" {
		t.Errorf("slash() = %q of %q, want model", got, b.text())
	}
}
