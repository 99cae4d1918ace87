package markdown

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentx/tui/text"
	"agentx/tui/theme"
)

// On a wide screen a line of prose is no longer than its measure, containers
// included, while code and tables take what there is; and nothing is lost.
func TestMeasure(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		measure, width := rapid.IntRange(20, 90).Draw(t, "measure"), rapid.IntRange(91, 240).Draw(t, "width")
		prose := strings.Join(rapid.SliceOfN(word, 30, 120).Draw(t, "words"), " ")
		for _, lead := range []string{"", "> ", "- ", "1. ", "> - ", "# "} {
			d := New(width, theme.Plain()).Measure(measure)
			for rest := lead + prose + "\n"; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "n")
				d.Append(rest[:n])
				rest = rest[n:]
			}
			d.Close()
			said := ""
			for _, line := range d.Take() {
				if text.Width(line) > measure {
					t.Fatalf("%q takes %d cells, want at most %d", line, text.Width(line), measure)
				}
				said += " " + ansi.Strip(line)
			}
			for _, mark := range []string{"│", "•", "1."} {
				said = strings.ReplaceAll(said, mark, "")
			}
			if got, want := strings.Join(strings.Fields(said), " "), prose; got != want {
				t.Fatalf("of %q there is %q", want, got)
			}
		}
	})
	long := strings.Repeat("x", 150)
	for _, wide := range []string{"```\n" + long + "\n```\n", "| a | b |\n|---|---|\n| " + long + " | " + long + " |\n"} {
		most := 0
		d := New(200, theme.Plain()).Measure(60)
		d.Append(wide)
		d.Close()
		for _, line := range d.Take() {
			most = max(most, text.Width(line))
		}
		if most < 150 {
			t.Errorf("the widest line of %.20q takes %d cells, want all it needs", wide, most)
		}
	}
}
