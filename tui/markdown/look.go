package markdown

import (
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"

	glamour "charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentx/tui/theme"
)

const (
	reset     = ansi.ResetStyle
	linkOpen  = "\x1b]8;"
	linkClose = "\x1b]8;;\x07"
)

// A look is a theme made ready: what is drawn for marks, and the sequences that begin each style.
type look struct {
	style                    glamour.StyleConfig
	bullet, ticked, unticked string
	bar, column              string
	codeMargin               int
	opened                   map[ground]string
	finished                 map[bool]*finisher
	lexers                   map[string]*colours
}

// A ground is what the style of a span depends on.
type ground struct {
	weight
	level  int // of a heading
	quoted bool
}

func newLook(th theme.Theme) *look {
	s := th.Markdown
	l := &look{
		style:    s,
		opened:   map[ground]string{},
		finished: map[bool]*finisher{},
		lexers:   map[string]*colours{},
		bullet:   styled(s.Item, orElse(s.Item.BlockPrefix, "• ")),
		ticked:   styled(s.Task.StylePrimitive, orElse(s.Task.Ticked, "[✓] ")),
		unticked: styled(s.Task.StylePrimitive, orElse(s.Task.Unticked, "[ ] ")),
		bar:      "│ ",
	}
	if s.BlockQuote.IndentToken != nil {
		l.bar = *s.BlockQuote.IndentToken
	}
	l.bar = styled(glamour.StylePrimitive{Color: s.HorizontalRule.Color}, l.bar)
	l.column = styled(glamour.StylePrimitive{Color: s.HorizontalRule.Color}, orElse(deref(s.Table.ColumnSeparator), "│"))
	if m := s.CodeBlock.Margin; m != nil {
		l.codeMargin = int(*m)
	}
	return l
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// number returns the label of an item that is counted.
func (l *look) number(n int, mark byte) string {
	return styled(l.style.Enumeration, strconv.Itoa(n)+string(mark)+" ")
}

func (l *look) rule(width int) string {
	return styled(l.style.HorizontalRule, strings.Repeat("─", width))
}

func (l *look) aside(s string) string { return styled(l.style.HTMLBlock.StylePrimitive, s) }

// open returns the sequence that begins a style.
func (l *look) open(g ground) string {
	s, ok := l.opened[g]
	if !ok {
		s = begin(l.primitive(g))
		l.opened[g] = s
	}
	return s
}

// primitive lays the styles over each other in glamour's order.
func (l *look) primitive(g ground) glamour.StylePrimitive {
	var p glamour.StylePrimitive
	if g.quoted {
		p = over(p, l.style.BlockQuote.StylePrimitive)
	}
	if g.level > 0 {
		h := []glamour.StyleBlock{l.style.H1, l.style.H2, l.style.H3, l.style.H4, l.style.H5, l.style.H6}
		p = over(over(p, l.style.Heading.StylePrimitive), h[g.level-1].StylePrimitive)
	}
	switch g.kind {
	case code:
		return over(p, l.style.Code.StylePrimitive)
	case aside:
		return over(p, l.style.ImageText)
	case link:
		p = over(p, l.style.LinkText)
	}
	if g.struck {
		p = over(p, l.style.Strikethrough)
	}
	if g.emph {
		p = over(p, l.style.Emph)
	}
	if g.strong {
		p = over(p, l.style.Strong)
	}
	return p
}

// over returns p with what q says laid over it.
func over(p, q glamour.StylePrimitive) glamour.StylePrimitive {
	set := func(to **bool, from *bool) {
		if from != nil {
			*to = from
		}
	}
	if q.Color != nil {
		p.Color = q.Color
	}
	if q.BackgroundColor != nil {
		p.BackgroundColor = q.BackgroundColor
	}
	set(&p.Bold, q.Bold)
	set(&p.Italic, q.Italic)
	set(&p.Underline, q.Underline)
	set(&p.CrossedOut, q.CrossedOut)
	set(&p.Inverse, q.Inverse)
	p.Prefix, p.Suffix = q.Prefix, q.Suffix
	return p
}

// begin returns the sequence that begins p, or nothing.
func begin(p glamour.StylePrimitive) string {
	is := func(b *bool) bool { return b != nil && *b }
	var s ansi.Style
	if p.Color != nil {
		s = s.ForegroundColor(lipgloss.Color(*p.Color))
	}
	if p.BackgroundColor != nil {
		s = s.BackgroundColor(lipgloss.Color(*p.BackgroundColor))
	}
	if is(p.Underline) {
		s = s.Underline(true)
	}
	if is(p.Bold) {
		s = s.Bold()
	}
	if is(p.Italic) {
		s = s.Italic(true)
	}
	if is(p.CrossedOut) {
		s = s.Strikethrough(true)
	}
	if is(p.Inverse) {
		s = s.Reverse(true)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

func styled(p glamour.StylePrimitive, s string) string { return dress(begin(p), s) }

// dress puts s between the sequence that begins a style and the one that ends it.
func dress(open, s string) string {
	if open == "" || s == "" {
		return s
	}
	return open + s + reset
}

// light returns spans as styled text. It is quick, and says the same as glamour.
func (l *look) light(spans []span, g ground) string {
	var b strings.Builder
	for _, s := range spans {
		g.weight = s.weight
		t := s.text
		if s.kind == code {
			t = l.style.Code.Prefix + t + l.style.Code.Suffix
		}
		b.WriteString(dress(l.open(g), hyperlink(s.url, t)))
	}
	return b.String()
}

// hyperlink makes s lead to target, if there is one.
func hyperlink(target, s string) string {
	if target == "" {
		return s
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(target))
	return fmt.Sprintf("%sid=%x;%s\x07%s%s", linkOpen, h.Sum32(), target, s, linkClose)
}

// flow returns prose, or a heading of that level, as one styled text that is not yet broken into lines.
func (d *Doc) flow(src string, level int) string {
	if d.live {
		src = mend(src)
	}
	return d.draw(d.words.spans(src, level > 0, d.live), level)
}

// cell returns what a table's cell says. There is little room: of where links lead, it shows the host.
func (d *Doc) cell(src string, head bool) string {
	if d.live {
		src = mend(src)
	}
	spans := hosts(d.words.spans(src, true, true))
	for i := range spans {
		spans[i].strong = spans[i].strong || head
	}
	return d.draw(spans, 0)
}

func (d *Doc) draw(spans []span, level int) string {
	g := ground{level: level}
	for _, c := range d.open {
		g.quoted = g.quoted || c.quote
	}
	if d.live {
		return d.look.light(spans, g)
	}
	return d.look.finish(spans, g)
}

// hosts shortens what is said about links to their hosts.
func hosts(spans []span) []span {
	for i := 1; i < len(spans); i++ {
		if s, before := &spans[i], spans[i-1]; s.kind == aside && before.kind == link && before.url != "" {
			if u, err := url.Parse(before.url); err == nil {
				s.text = " (" + u.Host + ")"
			}
		}
	}
	return spans
}
