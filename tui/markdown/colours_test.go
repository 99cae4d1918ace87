package markdown

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"

	"agentx/tui/theme"
)

// Code that comes line by line has the colours of the whole: comments, strings and here-documents go on over the ends of lines.
func TestLinesHaveTheColoursOfTheWhole(t *testing.T) {
	for lang, src := range map[string]string{
		"go":         "package main\n\n/* a\n\n   \"b\" */\nvar s = `x\n// no comment\ny` + \"z\"\n\nfunc f(n int) (err error) { return nil } // end\n",
		"python":     "def f(a: int) -> str:\n    \"\"\"A doc\n    string.\n    \"\"\"\n    return f'{a}' # x\n\nx = '''\n# no comment\n'''\n",
		"javascript": "const t = `a ${b}\n c`; /* d\n e */ let r = /x+/g;\nclass A { #p = 1 }\n",
		"bash":       "cat <<EOF\nhello $USER\nEOF\nif [ -f \"a\nb\" ]; then echo $(ls); fi # c\n",
		"html":       "<!-- a\n b -->\n<div class=\"x\"\n  id='y'>t &amp; u</div>\n<p>z</p>\n",
		"c":          "#include <stdio.h>\n/* a\n b */\nint main(void) { return 0x1F; }\n",
		"rust":       "/// doc\nfn main() {\n    /* a\n    b */\n    let s = \"x\n y\";\n}\n",
		"json":       "{\n  \"a\": [1, true, null],\n  \"b\": \"c\"\n}\n",
		"yaml":       "a: 1\nb:\n  - c\n  - \"d\"\n# e\n",
		"diff":       "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
		"sql":        "SELECT a, 'b\nc' FROM t -- d\nWHERE x = 1;\n",
	} {
		t.Run(lang, func(t *testing.T) {
			of := inks(theme.Dark().Markdown.CodeBlock.Chroma)
			tokens, err := lexers.Get(lang).Tokenise(&chroma.TokeniseOptions{State: "root"}, src)
			if err != nil {
				t.Fatal(err)
			}
			c := colours{of: of}
			var want strings.Builder
			for _, tok := range tokens.Tokens() {
				for i, part := range strings.Split(tok.Value, "\n") {
					if i > 0 {
						want.WriteByte('\n')
					}
					want.WriteString(dress(c.ink(tok.Type), part))
				}
			}
			l := newLook(theme.Dark()).colours(lang)
			var got []string
			for line := range strings.Lines(src) {
				got = append(got, l.line(strings.TrimSuffix(line, "\n")))
			}
			ink := func(s string) []string { // of what has ink
				return slices.DeleteFunc(cellsOf(s), func(c string) bool { return c[0] == ' ' || c == "\n" })
			}
			if got, want := ink(strings.Join(got, "\n")), ink(want.String()); !slices.Equal(got, want) {
				t.Errorf("line by line:\n%q\nwhole:\n%q", got, want)
			}
		})
	}
}

// No language holds the chat up for ever, whatever stands in its lines: console
// and others have no rule for a line that is empty.
func TestEveryLanguageComesToAnEnd(t *testing.T) {
	l := newLook(theme.Dark())
	for _, lang := range []string{"console", "shell-session", "bash-session", "http", "ini", "toml", "docker", "make", "cmake", "css", "scss", "lua", "perl", "php", "ruby", "swift", "kotlin", "haskell", "elixir", "latex", "vim", "powershell", "nix", "zig", "protobuf", "graphql", "markdown"} {
		c := l.colours(lang)
		for _, line := range []string{"", "$ ls", " ", "\"'`(<{[", "x = 1"} {
			if got := ansi.Strip(c.line(line)); got != line {
				t.Errorf("%s: %q became %q", lang, line, got)
			}
		}
	}
}

// A line that is looked at before it has ended does not change how the lines after it are read.
func TestLookingAheadChangesNothing(t *testing.T) {
	d, quiet := New(80, theme.Dark()), New(80, theme.Dark())
	src := "```go\nx := `a\nb` + \"c\" /* d\n e */ + f(1)\n```\n"
	for _, b := range []byte(src) {
		d.Append(string(b))
		d.Tail(10)
		quiet.Append(string(b))
	}
	if got, want := d.Take(), quiet.Take(); !slices.Equal(got, want) {
		t.Errorf("with frames between:\n%q\nwithout:\n%q", got, want)
	}
}

func TestUnknownLanguagesArePlain(t *testing.T) {
	for _, lang := range []string{"", "nonsense", strings.Repeat("x", 1000), "*", "[", "../../etc"} {
		if got, want := Render("```"+lang+"\nx := 1\n```", 80, theme.Dark()), []string{"  x := 1"}; !slices.Equal(got, want) {
			t.Errorf("in %q: %q, want %q", lang, got, want)
		}
	}
}

// What a delta and a frame do does not grow with what came before, in any kind of text.
func TestDeltasCostTheSameAfterMuchText(t *testing.T) {
	tokens := 20_000
	if raced {
		tokens = 5000
	}
	for _, variant := range []string{"mixed", "list", "code", "paragraph", "table", "ref"} {
		cost := func(tokens int) float64 {
			d := New(80, theme.Dark())
			d.Append(strings.Join(doc(tokens, variant), ""))
			d.Append("\n\n```\n\n```\n\n") // all that was open ends
			d.Take()
			return testing.AllocsPerRun(20, func() {
				d.Append("a **word** ")
				d.Take()
				d.Tail(30)
			})
		}
		if little, much := cost(500), cost(tokens); much > little*1.2+5 {
			t.Errorf("%s: %v allocations after 500 tokens, %v after %d", variant, little, much, tokens)
		}
	}
}
