package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentx/tui/markdown"
	"agentx/tui/text"
)

func TestCodes(t *testing.T) {
	src := strings.Join([]string{
		"Here:", "", "```go", "func main() {", "\tprintln(\"a   \")  ", "}", "```", "",
		"- in an item", "  ~~~sh", "  ls -l", "", "  exit", "  ~~~", "", "> ```", "> quoted", "> ```", "",
		"```", "```", "", "````md", "```inner", "````", "",
		"Run:", "", "    make", "", "\t  test", "", "and wait;", "    this is prose.", "", "- so:", "", "      exit 1", "",
		"```", "never closed \x1b[2J",
	}, "\n")
	want := []markdown.Code{
		{Lang: "go", Text: "func main() {\n\tprintln(\"a   \")  \n}\n"},
		{Lang: "sh", Text: "ls -l\n\nexit\n"},
		{Text: "quoted\n"},
		{Lang: "md", Text: "```inner\n"},
		{Text: "make\n\n  test\n"},
		{Text: "exit 1\n"},
		{Text: "never closed ␛[2J\n"},
	}
	if got := markdown.Codes(src); !slices.Equal(got, want) {
		t.Errorf("Codes = %q,\nwant %q", got, want)
	}
}

// A line of code is copied whole, however long it is.
func TestCodesAreNotBroken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"x", "word ", "世界", "- a ", "\tb"})
		code := strings.TrimRight(strings.Join(rapid.SliceOfN(line, 1, 5000).Draw(t, "code"), ""), " \t") + "."
		before := strings.Repeat("long prose ", rapid.IntRange(0, 2000).Draw(t, "before"))
		got := markdown.Codes(before + "\n\n```\n" + code + "\n```\n")
		if len(got) != 1 || got[0].Text != code+"\n" {
			t.Fatalf("%d blocks, want the line of %d bytes", len(got), len(code))
		}
	})
}

func TestText(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("a long sentence ", 40))
	src := "# Title\n\n" + long + " with **bold** and [a link](https://example.com).\n\n```go\nx := 1\n```\n\n- one\n- [x] two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\nend"
	want := "Title\n\n" + long + " with bold and a link (https://example.com).\n\nx := 1\n\n• one\n[✓] two\n\n a │ b\n───┼───\n 1 │ 2\n\n───\n\nend"
	if got := markdown.Text(src); got != want {
		t.Errorf("Text =\n%s\nwant\n%s", got, want)
	}
}

// Whatever comes, what goes to the clipboard has no sequence and no blank at the
// end of a line in it.
func FuzzText(f *testing.F) {
	for _, s := range []string{"# a\n\n***\n", "> > ```\n> > x\n", "| a |\n|-|\n| b |", "[a](javascript:x)\x1b]52;c;eA==\x07"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got := markdown.Text(src)
		for line := range strings.SplitSeq(got, "\n") {
			if strings.HasSuffix(line, " ") {
				t.Fatalf("%q ends with a blank", line)
			}
		}
		if text.Clean(got) != got {
			t.Fatalf("%q is not clean", got)
		}
		for _, c := range markdown.Codes(src) {
			if text.Clean(c.Text) != c.Text {
				t.Fatalf("%q is not clean", c.Text)
			}
		}
	})
}
