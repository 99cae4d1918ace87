package markdown

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"agentx/tui/theme"
)

// An oracle lays out goldmark's tree of a whole text in the simplest way there is, without blank lines between blocks.
type oracle struct {
	reader
	doc *Doc
	out []string
}

func askOracle(src string, width int) []string {
	o := oracle{reader: reader{source: []byte(src)}, doc: New(width, theme.Plain())}
	md := goldmark.New(goldmark.WithExtensions(extension.Strikethrough, extension.Table))
	o.blocks(md.Parser().Parse(gtext.NewReader(o.source)), "", "")
	return o.out
}

func (o *oracle) blocks(n ast.Node, first, rest string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := len(o.out)
		o.block(c, first, rest)
		if len(o.out) > before {
			first = rest
		}
	}
}

func (o *oracle) block(n ast.Node, first, rest string) {
	switch n := n.(type) {
	case *ast.Blockquote:
		o.blocks(n, first+"│ ", rest+"│ ")
	case *ast.List:
		number := n.Start
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			label := "• "
			if n.IsOrdered() {
				label = strip(o.doc.look.number(number, n.Marker))
				number++
			}
			before := len(o.out)
			o.blocks(item, first+label, rest+strings.Repeat(" ", len([]rune(label))))
			if len(o.out) == before {
				o.say(first+label, rest, []string{""})
			}
			first = rest
		}
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		o.reader.out = nil
		o.children(n, weight{}, "")
		if flow := o.doc.look.light(linkify(notes(o.reader.out)), ground{}); strip(flow) != "" {
			o.say(first, rest, strings.Split(strip(flow), "\n"))
		}
	case *ast.FencedCodeBlock:
		o.say(first, rest, o.code(n))
	case *ast.CodeBlock:
		o.say(first, rest, o.code(n))
	case *ast.HTMLBlock:
		var lines []string
		for i := range n.Lines().Len() {
			s := n.Lines().At(i)
			lines = append(lines, strings.TrimRight(expand(strings.TrimRight(string(s.Value(o.source)), "\n")), " "))
		}
		if n.HasClosure() {
			lines = append(lines, strings.TrimRight(expand(strings.TrimRight(string(n.ClosureLine.Value(o.source)), "\n")), " "))
		}
		o.say(first, rest, lines)
	case *ast.ThematicBreak:
		o.say(first, rest, []string{strings.Repeat("─", o.doc.width-len([]rune(first)))})
	case *east.Table:
		t := &table{}
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			var cells []string
			for c := row.FirstChild(); c != nil; c = c.NextSibling() {
				o.reader.out = nil
				o.children(c, weight{}, "")
				cells = append(cells, strip(o.doc.look.light(hosts(linkify(notes(o.reader.out))), ground{})))
			}
			if t.head == nil {
				t.head = cells
			} else {
				t.rows = append(t.rows, cells)
			}
		}
		for _, a := range n.Alignments {
			t.align = append(t.align, map[east.Alignment]byte{east.AlignCenter: 'c', east.AlignRight: 'r'}[a])
		}
		t.widths = t.measure(o.doc.width - len([]rune(first)))
		lines := append(t.row(o.doc, t.head), t.line(o.doc))
		for _, row := range t.rows {
			lines = append(lines, t.row(o.doc, row)...)
		}
		o.say(first, rest, lines)
	}
}

func (o *oracle) code(n ast.Node) []string {
	var lines []string
	for i := range n.Lines().Len() {
		s := n.Lines().At(i)
		line := strings.TrimRight(expand(strings.TrimSuffix(string(s.Value(o.source)), "\n")), " ")
		if line != "" {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func (o *oracle) say(first, rest string, lines []string) {
	for _, line := range lines {
		o.out = append(o.out, strings.TrimRight(strip(first+line), " "))
		first = rest
	}
}

// tangle draws texts in which blocks meet in ways that nobody would write.
func tangle() *rapid.Generator[string] {
	starts := []string{"", "", "", "- ", "* ", "1. ", "2) ", "7. ", "0. ", "> ", ">", "  ", "   ", "    ", "-   ", "  - ", "    - ", "   1. ", "> - "}
	ends := []string{"", "text", "word **b** `c`", "# title", "## t ##", "#", "---", "***", "```", "```go", "~~~", "````", "| a | b |", "|---|:-:|", "a | b",
		"--- | ---", "text  ", "lazy", "-", "1.", "+ x", "<div>", "</div>", "<!-- c", "-->", "\\", "[x](http://h/p)", "code", "[l]"}
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(starts), 0, 3).Draw(t, "starts"), "") + rapid.SampledFrom(ends).Draw(t, "end")
	})
	return rapid.Custom(func(t *rapid.T) string {
		definition := rapid.SampledFrom([]string{"", "[l]: http://h/x\n", "[l]: http://h/x\n\n"}).Draw(t, "definition")
		return definition + strings.Join(rapid.SliceOfN(line, 1, 9).Draw(t, "lines"), "\n")
	})
}

var emptyItem = regexp.MustCompile(`(?m)([-*+]|[0-9][.)])[ \t]*$`)

// Read line by line, a text has the blocks that goldmark finds in the whole.
func TestBlocksAreGoldmarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.OneOf(tangle(), documentOf(commonKinds)).Draw(t, "src")
		if emptyItem.MatchString(src) {
			t.Skip("goldmark ends an item that begins with an empty line where CommonMark does not")
		}
		src = strings.NewReplacer("$$\n*x*\n$$", "$$x$$", "$$ *x* $$", "$$x$$").Replace(src) // goldmark knows no formulas
		want := askOracle(src, 5000)
		d := New(5000, theme.Plain()).Literal(true)
		d.words.learn(src)
		d.Append(src)
		d.Close()
		got := plain(d.Take())
		drop := func(lines []string) []string {
			return slices.DeleteFunc(slices.Clone(lines), func(s string) bool { return strings.Trim(s, "│ ") == "" })
		}
		if got, want := drop(got), drop(want); !slices.Equal(got, want) {
			t.Fatalf("%s\n-- got --\n%s\n-- want --\n%s", src, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
