package markdown

import (
	"bytes"
	"fmt"
	"strings"

	glamour "charm.land/glamour/v2/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A finisher is glamour for text that will not change any more. It gets a flat tree of what is already clean, and breaks no lines: so
// it cannot be made slow, and what it says is broken into lines just as the tail was.
type finisher struct {
	out renderer.Renderer
}

func newFinisher(style glamour.StyleConfig, quoted bool) *finisher {
	style.Document = glamour.StyleBlock{}
	if quoted {
		style.Document.StylePrimitive = style.BlockQuote.StylePrimitive
	}
	r := glamour.NewRenderer(glamour.Options{Styles: style, PreserveNewLines: true})
	return &finisher{renderer.NewRenderer(renderer.WithNodeRenderers(util.Prioritized(r, 1000)))}
}

// linkStart and linkEnd stand around the text of a link on its way through glamour. Clean text has no controls, so they cannot be meant.
const (
	linkStart = "\x0e"
	linkEnd   = "\x0f"
)

// finish returns spans as styled text, by glamour. Where glamour does not do it, light does.
func (l *look) finish(spans []span, g ground) string {
	if len(spans) == 0 {
		return ""
	}
	f := l.finished[g.quoted]
	if f == nil {
		f = newFinisher(l.style, g.quoted)
		l.finished[g.quoted] = f
	}
	out, err := f.render(spans, g.level)
	if err != nil {
		delete(l.finished, g.quoted)
		return l.light(spans, g)
	}
	return out
}

func (f *finisher) render(spans []span, level int) (s string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("markdown: glamour: %v", r)
		}
	}()
	t := tree{}
	var block ast.Node = ast.NewParagraph()
	if level > 0 {
		block = ast.NewHeading(level)
	}
	for _, s := range spans {
		block.AppendChild(block, t.node(s))
	}
	doc := ast.NewDocument()
	doc.AppendChild(doc, block)
	var b bytes.Buffer
	if err := f.out.Render(&b, t.source, doc); err != nil {
		return "", fmt.Errorf("markdown: glamour: %w", err)
	}
	return relink(strings.Trim(b.String(), "\n"), spans), nil
}

// A tree is the source of the nodes that are made.
type tree struct{ source []byte }

// node returns the node by which glamour gives a span its style.
func (t *tree) node(s span) ast.Node {
	switch s.kind {
	case code:
		return within(ast.NewCodeSpan(), t.text(strings.ReplaceAll(s.text, "&", "&amp;")))
	case aside:
		return within(ast.NewImage(ast.NewLink()), t.text(strings.ReplaceAll(s.text, `\`, `\\`)))
	}
	said := s.text
	if s.url != "" {
		said = linkStart + said + linkEnd
	}
	n := t.text(escape(said))
	if s.struck {
		n = within(east.NewStrikethrough(), n)
	}
	if s.emph {
		n = within(ast.NewEmphasis(1), n)
	}
	if s.strong {
		n = within(ast.NewEmphasis(2), n)
	}
	if s.kind == link {
		l := ast.NewLink()
		l.Destination = []byte("#") // glamour says nothing of where it leads
		n = within(l, n)
	}
	return n
}

func within(parent, child ast.Node) ast.Node {
	parent.AppendChild(parent, child)
	return parent
}

func (t *tree) text(s string) ast.Node {
	start := len(t.source)
	t.source = append(t.source, s...)
	return ast.NewTextSegment(text.NewSegment(start, len(t.source)))
}

// relink puts our links where their marks are, and drops glamour's.
func relink(s string, spans []span) string {
	if !strings.ContainsAny(s, linkStart+"\x07") {
		return s
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexAny(s, linkStart+"\x1b")
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		if s[0] == '\x1b' {
			seq := sequence(s)
			if !strings.HasPrefix(seq, linkOpen) {
				b.WriteString(seq)
			}
			s = s[len(seq):]
			continue
		}
		said, rest, _ := strings.Cut(s[1:], linkEnd)
		for spans[0].url == "" {
			spans = spans[1:]
		}
		b.WriteString(hyperlink(spans[0].url, said))
		spans, s = spans[1:], rest
	}
	return b.String() + s
}

// escape protects s from glamour, which resolves entities and backslashes.
func escape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "&", "&amp;")
}
