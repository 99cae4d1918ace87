package markdown

import (
	"slices"
	"strings"
	"testing"

	"agentx/tui/theme"

	"pgregory.net/rapid"
)

// A text that was cloned anywhere becomes what it would have become, whatever
// became of its clone in the meantime.
func TestClonesGoTheirOwnWay(t *testing.T) {
	whole := strings.Join(doc(600, "mixed"), "") + "\n\n[a]: https://example.org\n\n1. one\n   - [a] two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n"
	rapid.Check(t, func(t *rapid.T) {
		runes := []rune(whole)
		at := rapid.IntRange(0, len(runes)).Draw(t, "at")
		before, after := string(runes[:at]), string(runes[at:])
		d := New(60, theme.Plain())
		d.Append(before)
		c := d.Clone()
		c.Append(rapid.SampledFrom([]string{"", "```go\nx", "\n\n# other\n\n[b]: x\n", "| a |\n|---|\n", "word", "\n- [a]\n"}).Draw(t, "elsewhere"))
		c.Close()
		d.Append(after)
		d.Close()
		straight := New(60, theme.Plain())
		straight.Append(whole)
		straight.Close()
		if got, want := d.Take(), straight.Take(); !slices.Equal(got, want) {
			t.Fatalf("after a clone at %d:\n%s\nwant\n%s", at, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A clone goes on as the text that it was made of.
func TestACloneIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runes := []rune(strings.Join(doc(600, "mixed"), ""))
		at := rapid.IntRange(0, len(runes)).Draw(t, "at")
		d := New(60, theme.Plain())
		d.Append(string(runes[:at]))
		c := d.Clone()
		if got, want := c.Tail(1000), d.Tail(1000); !slices.Equal(got, want) {
			t.Fatalf("the tail of the clone at %d is\n%s\nwant\n%s", at, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, one := range []*Doc{c, d} {
			one.Append(string(runes[at:]))
			one.Close()
		}
		if got, want := c.Take(), d.Take(); !slices.Equal(got, want) {
			t.Fatalf("the clone at %d became\n%s\nwant\n%s", at, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
