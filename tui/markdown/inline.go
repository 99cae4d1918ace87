package markdown

import (
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"agentx/tui/text"
)

// maxLink is how long a link's target may be for terminals to take it.
const maxLink = 2083

// shownLink is how many cells of a target are shown after a link's text.
const shownLink = 80

// A span is text of one kind and weight, fit for the screen.
type span struct {
	text string
	weight
	url string // where it leads, fit for a link
}

type weight struct {
	kind                 kind
	strong, emph, struck bool
}

type kind uint8

const (
	prose kind = iota
	code
	link
	aside // what we say: where a link leads, what an image shows
)

// A grammar reads prose.
type grammar struct {
	paragraph parser.Parser // which may begin with definitions of links
	line      parser.Parser
	refs      map[string]parser.Reference
	literal   bool // formulas are left as they were written
}

func newGrammar() *grammar {
	inline := append(parser.DefaultInlineParsers(), util.Prioritized(strike{}, 500), util.Prioritized(maths{}, 150))
	blocks := parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000))
	return &grammar{
		paragraph: parser.NewParser(blocks, parser.WithInlineParsers(inline...),
			parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100))),
		line: parser.NewParser(blocks, parser.WithInlineParsers(inline...)),
		refs: map[string]parser.Reference{},
	}
}

// fresh returns a grammar that knows no definitions.
func (g *grammar) fresh() *grammar {
	return &grammar{paragraph: g.paragraph, line: g.line, refs: map[string]parser.Reference{}, literal: g.literal}
}

// maxRefs is how many definitions of links a text may make.
const maxRefs = 1000

// references is a parser's context that knows the definitions of the whole text so far.
type references struct {
	parser.Context
	refs   map[string]parser.Reference
	frozen bool
	never  map[string]bool // marks of formulas that nothing ends
}

func (r references) AddReference(ref parser.Reference) {
	key := util.ToLinkReference(ref.Label())
	if _, ok := r.refs[key]; !ok && !r.frozen && len(r.refs) < maxRefs {
		r.refs[key] = ref
	}
}

func (r references) Reference(label string) (parser.Reference, bool) {
	ref, ok := r.refs[label]
	return ref, ok
}

// learn remembers the definitions of links in a text.
func (g *grammar) learn(src string) {
	if !strings.Contains(src, "]:") {
		return
	}
	open := true // a definition may stand here: not in the middle of a paragraph
	for line := range strings.Lines(src) {
		line = strings.Trim(line, " >\n")
		if open && strings.HasPrefix(line, "[") && len(line) < maxLine && strings.Contains(line, "]:") {
			g.spans(line, false, false)
			continue
		}
		open = line == ""
	}
}

// spans reads prose. Definitions of links in it are remembered, unless frozen.
func (g *grammar) spans(src string, heading, frozen bool) []span {
	p := g.line
	if !heading && strings.HasPrefix(src, "[") && !strings.HasPrefix(src, "[^") {
		p = g.paragraph
	}
	source := []byte(src)
	doc := p.Parse(gtext.NewReader(source), parser.WithContext(references{parser.NewContext(), g.refs, frozen, map[string]bool{}}))
	r := reader{source: source, literal: g.literal}
	for b := doc.FirstChild(); b != nil; b = b.NextSibling() {
		if b.Kind() == ast.KindParagraph {
			r.children(b, weight{}, "")
		}
	}
	r.leave()
	if n := len(r.out); n > 0 {
		if r.out[n-1].text = strings.TrimRight(r.out[n-1].text, "\n"); r.out[n-1].text == "" {
			r.out = r.out[:n-1]
		}
	}
	return linkify(notes(r.out))
}

// A reader gathers the spans of a tree.
type reader struct {
	source  []byte
	out     []span
	literal bool
	tags
}

func (r *reader) children(n ast.Node, w weight, url string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c, w, url)
	}
}

func (r *reader) node(n ast.Node, w weight, url string) {
	switch n := n.(type) {
	case *ast.Text:
		r.text(written(string(n.Segment.Value(r.source))), w, url)
		if n.HardLineBreak() {
			r.add("\n", weight{}, "")
		} else if n.SoftLineBreak() {
			r.add(" ", w, url)
		}
	case *ast.String:
		r.text(unescape(string(n.Value)), w, url)
	case *verbatim:
		r.formula(r.plain(n), w, url)
	case *ast.CodeSpan:
		if w.kind == prose {
			w = weight{kind: code}
		}
		r.text(r.plain(n), w, url)
	case *ast.Emphasis:
		if n.Level > 1 {
			w.strong = true
		} else {
			w.emph = true
		}
		r.children(n, w, url)
	case *east.Strikethrough:
		w.struck = true
		r.children(n, w, url)
	case *ast.Link:
		r.link(n, string(n.Destination), w)
	case *ast.AutoLink:
		r.auto(n, w)
	case *ast.Image:
		r.image(n)
	case *ast.RawHTML:
		r.tag(string(n.Segments.Value(r.source)), w, url)
	default:
		r.children(n, w, url)
	}
}

// text adds text from outside. It was cleaned when it came in, but entities may have brought back what that took out.
func (r *reader) text(s string, w weight, url string) {
	s, w, url = r.dress(s, w, url)
	if w.kind == prose {
		r.add(text.ProseLine(s), w, url)
		return
	}
	r.add(text.Line(s), w, url)
}

func (r *reader) add(s string, w weight, url string) {
	if s == "" || s == "\n" && len(r.out) == 0 {
		return
	}
	if n := len(r.out); n > 0 && r.out[n-1].weight == w && r.out[n-1].url == url {
		r.out[n-1].text += s
		return
	}
	r.out = append(r.out, span{s, w, url})
}

// link adds a link's text, and after it where it leads, unless the text says so.
func (r *reader) link(n ast.Node, target string, w weight) {
	target = spelt(text.Line(unescape(target)))
	w.kind = link
	at := len(r.out)
	r.children(n, w, reach(target))
	if len(r.out) == at {
		r.add(target, w, reach(target))
		return
	}
	var said strings.Builder
	for _, s := range r.out[at:] {
		said.WriteString(s.text)
	}
	if s := said.String(); target != "" && !strings.HasPrefix(target, "#") && s != target && "mailto:"+s != target {
		r.add(" ("+shorten(target)+")", weight{kind: aside}, "")
	}
}

func (r *reader) auto(n *ast.AutoLink, w weight) {
	label := text.Line(string(n.Label(r.source)))
	if n.AutoLinkType == ast.AutoLinkURL {
		w.kind = link
		target := spelt(text.Line(string(n.URL(r.source))))
		r.add(label, w, reach(target))
		r.add(elsewhere(label), weight{kind: aside}, "")
		return
	}
	r.add(label, w, "")
}

// elsewhere says where an address leads if that is not how it is written.
func elsewhere(address string) string {
	if target := spelt(address); target != address {
		return " (" + shorten(target) + ")"
	}
	return ""
}

// image says what an image shows and where it is. It is never fetched.
func (r *reader) image(n *ast.Image) {
	parts := []string{}
	if alt := strings.TrimSpace(text.Line(unescape(r.plain(n)))); alt != "" {
		parts = append(parts, alt)
	}
	target := spelt(text.Line(string(n.Destination)))
	if u, err := url.Parse(target); err == nil && u.Host != "" {
		parts = append(parts, u.Host)
	} else if target != "" {
		parts = append(parts, shorten(target))
	}
	r.add("[image: "+strings.Join(parts, ", ")+"]", weight{kind: aside}, "")
}

// plain returns the text in n as it was written.
func (r *reader) plain(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		} else {
			b.WriteString(r.plain(c))
		}
	}
	return b.String()
}

// reach returns target if a terminal may be told to open it, else nothing.
func reach(target string) string {
	if len(target) > maxLink || !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") {
		return ""
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// shorten returns a target as it is shown: whole, or if it is long its beginning, with the whole of its host.
func shorten(target string) string {
	if text.Width(target) <= shownLink {
		return target
	}
	room := shownLink
	if u, err := url.Parse(target); err == nil {
		room = max(room, len(u.Scheme)+len("://")+text.Width(u.Host)+2)
	}
	return text.Truncate(target, room)
}

// written is prose without the backslashes and entities that were needed to write
// it. Before what needs none a backslash belongs to a formula, and stays.
func written(s string) string { return resolve(s, "()[]{},;:!|") }

// unescape resolves backslashes and entities.
func unescape(s string) string { return resolve(s, "") }

// resolve leaves those backslashes that stand before a character of kept.
func resolve(s, kept string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) && strings.IndexByte(kept, s[i+1]) < 0:
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			end := strings.IndexByte(s[i:min(len(s), i+40)], ';')
			if end < 0 {
				b.WriteByte('&')
				continue
			}
			b.WriteString(html.UnescapeString(s[i : i+end+1]))
			i += end
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
