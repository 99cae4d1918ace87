package markdown

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentx/tui/text"
	"agentx/tui/theme"
)

// A tester is a test, be it testing's or rapid's.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// stream gives src to a Doc in pieces and takes its lines as they come, as a chat does.
func stream(t tester, pieces []string, width int) []string {
	d := New(width, theme.Dark())
	var out []string
	for _, p := range pieces {
		d.Append(p)
		out = append(out, d.Take()...)
		for _, line := range d.Tail(50) {
			check(t, line, width)
		}
	}
	d.Close()
	return append(out, d.Take()...)
}

// check fails if a line is too wide or says more to the terminal than styles and our links.
func check(t tester, line string, width int) {
	t.Helper()
	if w := text.Width(line); w > width {
		t.Fatalf("%q takes %d cells of %d", line, w, width)
	}
	for rest := line; ; {
		i := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
		if i < 0 {
			return
		}
		n := ours(rest[i:])
		if n == 0 {
			t.Fatalf("%q has a control that is not ours at %q", line, rest[i:])
		}
		rest = rest[i+n:]
	}
}

// ours returns the length of the SGR or OSC 8 sequence that s begins with.
func ours(s string) int {
	if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789;:"))
		if n < len(rest) && rest[n] == 'm' {
			return 2 + n + 1
		}
		return 0
	}
	if rest, ok := strings.CutPrefix(s, "\x1b]8;"); ok {
		body, _, ended := strings.Cut(rest, "\x07")
		_, target, _ := strings.Cut(body, ";")
		if ended && (target == "" || strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://")) &&
			!strings.ContainsFunc(body, func(r rune) bool { return r < ' ' || r > '~' }) && len(target) <= maxLink {
			return len("\x1b]8;") + len(body) + 1
		}
	}
	return 0
}

// plain drops styles and links.
func plain(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(strip(line), " ")
	}
	return out
}

// document draws a markdown text in the shapes that models write.
func document() *rapid.Generator[string] { return documentOf(allKinds) }

const (
	commonKinds = 9  // of blocks, that any reader of markdown knows
	allKinds    = 14 // and formulas, footnotes, labels of quotes, what folds
)

func documentOf(kinds int) *rapid.Generator[string] {
	words := []string{"alpha", "**beta**", "*gamma*", "`delta()`", "epsilon", "zeta-eta", "世界", "👩\u200d👧", "[go](https://go.dev)", "x*y", "snake_case", "a&lt;b", "~~no~~", "https://x.example/y", "***both***", "\\*star\\*", "![i](http://h/i.png)", "2 < 3", "*a **b** c*", "`` a`b ``", "$a_1 * b$", "$5", "$$\n*x*\n$$", "\\(y\\)",
		"\\(x^{2}\\)", "$\\frac{1}{2}$", "<kbd>K</kbd>", "H<sub>2</sub>O", "<b>so", "so</b>", "x<br>y", "<a href=\"https://x.example\">x</a>", "[^1]"}
	prose := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 40).Draw(t, "words"), " ")
	})
	block := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, kinds).Draw(t, "kind") {
		case 0:
			return strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + prose.Draw(t, "title")
		case 1:
			return "```go\nfunc main() {\n\tprintln(\"x\") /* a\n\n b */ // c\n}\n```"
		case 2:
			return "- " + prose.Draw(t, "a") + "\n- " + prose.Draw(t, "b") + "\n  - " + prose.Draw(t, "c") + "\n\n    more\n- d"
		case 3:
			return "1. " + prose.Draw(t, "a") + "\n\n2. " + prose.Draw(t, "b") + "\n   ```\n   code\n   ```\n3. c"
		case 4:
			return "> " + prose.Draw(t, "a") + "\n> " + prose.Draw(t, "b") + "\n>\n> - c\nlazy"
		case 5:
			return "| a | b |\n|---|:-:|\n| " + strings.NewReplacer("|", "", "\n", " ").Replace(prose.Draw(t, "a")) + " | 2 |\n| 3 |"
		case 6:
			return "---"
		case 7:
			return prose.Draw(t, "a") + "\n==="
		case 8:
			return prose.Draw(t, "a") + "  \n" + prose.Draw(t, "b") + "\n" + prose.Draw(t, "c")
		case 10:
			return rapid.SampledFrom([]string{"$$\nx^2 \\\\\n\\unknown\n$$", "$$\n\\le y\n$$.", "\\[ a_1 \\]", "\\begin{align}\na &= b\n\\end{align}", "$$\nnever"}).Draw(t, "display")
		case 11:
			return prose.Draw(t, "a") + "\n$$\nx^2\n$$\n" + prose.Draw(t, "b")
		case 12:
			return "[^1]: " + prose.Draw(t, "a") + "\n[^n]: " + prose.Draw(t, "b")
		case 13:
			return "> [!NOTE]\n> " + prose.Draw(t, "a") + "\n: b"
		case 14:
			return "<details>\n<summary>" + prose.Draw(t, "a") + "</summary>\n\nb\n</details>"
		}
		return prose.Draw(t, "a")
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(block, 1, 6).Draw(t, "blocks"), "\n\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
}

func pieces(t *rapid.T, s string) []string {
	var out []string
	for s != "" {
		n := rapid.IntRange(1, min(len(s), 60)).Draw(t, "n")
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// However a text is cut into deltas, what is printed in the end is the same.
func TestPiecesLookLikeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, width := document().Draw(t, "src"), rapid.IntRange(1, 100).Draw(t, "width")
		want := Render(src, width, theme.Dark())
		got := stream(t, pieces(t, src), width)
		if !slices.Equal(got, want) {
			t.Fatalf("in pieces:\n%s\nwhole:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, line := range want {
			check(t, line, width)
		}
	})
}

// glamour says how finished text looks; the tail's quick renderer must say the same, or the screen would jump.
func TestTheTailLooksAsGlamourDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := document().Draw(t, "src")
		themes := map[string]theme.Theme{"dark": theme.Dark(), "light": theme.Light(), "plain": theme.Plain()}
		g := ground{level: rapid.IntRange(0, 6).Draw(t, "level"), quoted: rapid.Bool().Draw(t, "quoted")}
		l := newLook(themes[rapid.SampledFrom([]string{"dark", "light", "plain"}).Draw(t, "theme")])
		spans := newGrammar().spans(src, false, false)
		got, want := cellsOf(l.light(spans, g)), cellsOf(l.finish(spans, g))
		if !slices.Equal(got, want) {
			t.Fatalf("light:\n%q\nglamour:\n%q\n%q\n%q", got, want, l.light(spans, g), l.finish(spans, g))
		}
	})
}

// cellsOf returns each character of s with the style and link that it is drawn in.
func cellsOf(s string) (out []string) {
	style, link := "", ""
	for s != "" {
		if s[0] == '\x1b' {
			seq := sequence(s)
			switch {
			case seq == reset:
				style = ""
			case seq == linkClose:
				link = ""
			case strings.HasPrefix(seq, linkOpen):
				link = seq
			default:
				style = sorted(style + seq)
			}
			s = s[len(seq):]
			continue
		}
		r := []rune(s)[0]
		s = s[len(string(r)):]
		if r == '\n' {
			out = append(out, "\n")
		} else {
			out = append(out, string(r)+style+link)
		}
	}
	return out
}

// sorted puts the parameters of styles in order; terminals do not mind it.
func sorted(seq string) string {
	parts := strings.FieldsFunc(seq, func(r rune) bool { return strings.ContainsRune("\x1b[;m", r) })
	slices.Sort(parts)
	return strings.Join(parts, ";")
}

// doc is an answer of n tokens in one of the shapes that we measure with.
func doc(n int, variant string) []string {
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega stream render buffer cache token event frame model state turn")
	out := []string{}
	add := func(s ...string) { out = append(out, s...) }
	k := 0
	w := func() string { k++; return words[(k*7+k/5)%len(words)] }
	para := func(m int) {
		for i := range m {
			add(w() + " ")
			if i%17 == 16 {
				add("**", w(), "** ")
			}
			if i%23 == 22 {
				add("`", w(), "()` ")
			}
		}
		add(".", "\n\n")
	}
	switch variant {
	case "code":
		add("Here", " it", " is", ":\n\n", "```", "go", "\n")
		for i := 0; len(out) < n; i++ {
			add("\t", w(), " :=", " "+w(), "(", strconv.Itoa(i), ",", " \""+w()+"\"", ")", "\n")
		}
		add("```\n")
	case "list":
		for len(out) < n {
			add("- ", w(), " "+w(), " **"+w()+"**", " `x`", "\n")
		}
	case "paragraph":
		for len(out) < n {
			add(" "+w(), " **", w(), "**")
		}
	case "table":
		add("| a | b | c |\n", "|---|---|---|\n")
		for len(out) < n {
			add("| ", w(), " | ", w(), " | ", w(), " |\n")
		}
	case "ref":
		add("See", " [", "1", "]", ".", "\n\n", "[1]: http://example.com/", "\n\n")
		fallthrough
	default:
		for sec := 1; len(out) < n; sec++ {
			add("## ", "Section", fmt.Sprintf(" %d", sec), " "+w(), "\n\n")
			para(60)
			for range 5 {
				add("- ", w(), " "+w(), " "+w(), " "+w(), "\n")
			}
			add("\n", "```", "go", "\n")
			for i := range 12 {
				add("\t", w(), " :=", " "+w(), "(", strconv.Itoa(i), ",", " \""+w()+"\"", ")", "\n")
			}
			add("```", "\n\n")
			para(50)
			add("| ", w(), " | ", w(), " | ", w(), " |\n", "|---|", "---|", "---|\n")
			for i := range 4 {
				add("| ", w(), " | ", w(), " | ", strconv.Itoa(i), " |\n")
			}
			add("\n", "> ", w(), " "+w(), " "+w(), "\n\n")
		}
	}
	return out
}

// When a block closes, nothing jumps: what was its tail is what is printed.
func TestTheLastTailIsWhatIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, width := document().Draw(t, "src"), rapid.IntRange(10, 100).Draw(t, "width")
		d := New(width, theme.Dark())
		d.Append(src)
		d.Take()
		tail := d.Tail(1000)
		d.Close()
		done := d.Take()
		if unsure([]byte(src[strings.LastIndexByte(src, '\n')+1:])) {
			t.Skip("the last line is held back until it is known what it is")
		}
		if got, want := plain(tail), plain(done); !slices.Equal(got, want) {
			t.Fatalf("tail:\n%s\nprinted:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A terminal that is made narrower or wider in the middle of an answer loses no word of it, and no line is wider than it was then.
func TestResize(t *testing.T) {
	bare := func(lines []string) string { // without spaces, bars and rules
		return strings.NewReplacer(" ", "", "│", "", "─", "").Replace(strings.Join(plain(lines), ""))
	}
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(document(), 1, 3).Draw(t, "src")
		text := strings.ReplaceAll(strings.Join(src, "\n\n"), "|", "/") // the rows of tables are laid out in many ways
		d := New(100, theme.Dark())
		var got []string
		for _, piece := range pieces(t, text) {
			width := rapid.IntRange(60, 100).Draw(t, "width")
			d.Resize(width)
			d.Append(piece)
			for _, line := range d.Take() {
				check(t, line, width)
				got = append(got, line)
			}
			for _, line := range d.Tail(50) {
				check(t, line, width)
			}
		}
		d.Close()
		got = append(got, d.Take()...)
		whole := New(100, theme.Dark())
		whole.Append(text)
		whole.Close()
		if got, want := bare(got), bare(whole.Take()); got != want {
			t.Fatalf("resized:\n%s\nnot:\n%s", got, want)
		}
	})
}

// A paragraph, a list and a code block that do not end are printed as they grow, so that what is drawn anew stays small.
func TestHugeBlocksAreReleased(t *testing.T) {
	for _, variant := range []string{"code", "list", "paragraph", "table"} {
		d := New(80, theme.Dark())
		taken, most := 0, 0
		for _, tok := range doc(6000, variant) {
			d.Append(tok)
			taken += len(d.Take())
			most = max(most, len(d.Tail(1000)))
		}
		if most > 100 || taken < 100 {
			t.Errorf("%s: %d lines were finished before the end, %d were in the tail at most", variant, taken, most)
		}
	}
}

// A long paragraph of hard breaks has one line for each, wherever its beginning is laid out for good.
func TestHardBreaksOfALongParagraph(t *testing.T) {
	d := New(78, theme.Plain())
	const n = 3000
	for i := range n {
		d.Append(fmt.Sprintf("line %d of many  \n", i))
	}
	d.Close()
	lines := d.Take()
	if len(lines) != n {
		t.Errorf("%d lines, want %d", len(lines), n)
	}
	for i, line := range lines {
		if got := strings.TrimSpace(line); i < n && got != fmt.Sprintf("line %d of many", i) {
			t.Fatalf("line %d is %q", i, got)
		}
	}
}

// Rows of several lines are kept apart, and those of one line are not.
func TestTallRowsStandApart(t *testing.T) {
	src := "| a | b |\n|---|---|\n| x | y |\n| x | one two three four five six |\n| x | y |\n| z | z |\n"
	want := []string{
		" a │ b",
		"───┼────────────────",
		" x │ y",
		"   │",
		" x │ one two three",
		"   │ four five six",
		"   │",
		" x │ y",
		" z │ z",
	}
	got := Render(src, 20, theme.Plain())
	for i := range got {
		got[i] = ansi.Strip(got[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
