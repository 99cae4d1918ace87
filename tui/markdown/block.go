package markdown

import (
	"bytes"
	"strconv"
	"strings"
)

// A container is a quote or an item of a list that is open.
type container struct {
	id     int
	quote  bool
	list   int    // the list this is an item of
	mark   byte   // how its items are marked: - + * . )
	indent int    // columns that its content stands in
	label  string // what is drawn for the mark
	blank  bool   // a blank line came before it
	filled bool   // it has content
	shown  bool   // its label is drawn
	number int
}

// A leaf is a block that contains no blocks and has not ended.
type leaf interface {
	clone() leaf
	close(d *Doc)
}

// A cursor walks along a line by columns: a tab reaches to the next multiple of four.
type cursor struct {
	rest string
	col  int
}

// indent returns how many columns of white space come next.
func (c *cursor) indent() int {
	col := c.col
	for _, b := range []byte(c.rest) {
		switch b {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.col
		}
	}
	return col - c.col
}

// skip goes over n columns of white space, or fewer when there are no more.
func (c *cursor) skip(n int) {
	for n > 0 && c.rest != "" {
		switch c.rest[0] {
		case ' ':
			c.rest = c.rest[1:]
			c.col++
			n--
		case '\t':
			w := 4 - c.col%4
			c.rest = strings.Repeat(" ", w) + c.rest[1:]
		default:
			return
		}
	}
}

// step goes over n bytes that are no white space.
func (c *cursor) step(n int) { c.rest, c.col = c.rest[n:], c.col+n }

func (c *cursor) blank() bool { return strings.Trim(c.rest, " \t") == "" }

// trimmed returns what comes after the white space.
func (c *cursor) trimmed() string { return strings.TrimLeft(c.rest, " \t") }

// say takes one line: containers go on or end, blocks begin, the rest is text.
func (d *Doc) say(line string) {
	c := &cursor{rest: line}
	depth := d.match(c)
	if depth == len(d.open) && d.verbatim(c) {
		return
	}
	if c.blank() {
		d.pause(depth)
		return
	}
	d.begin(c, depth)
	d.blank = false
}

// match returns how many of the open containers the line goes on with, and moves the cursor past their marks.
func (d *Doc) match(c *cursor) int {
	for i, b := range d.open {
		ind := c.indent()
		switch {
		case b.quote:
			if ind > 3 || !strings.HasPrefix(c.trimmed(), ">") {
				return i
			}
			c.skip(ind)
			c.step(1)
			c.skip(1)
		case c.blank():
			if !b.filled {
				return i
			}
		case ind >= b.indent:
			c.skip(b.indent)
		default:
			return i
		}
	}
	return len(d.open)
}

// verbatim gives the line to an open block whose lines are not markdown, and says whether there was one that took it.
func (d *Doc) verbatim(c *cursor) bool {
	switch l := d.leaf.(type) {
	case *fence:
		d.blank = false
		l.say(d, c)
		return true
	case *markup:
		return l.say(d, c)
	case *display:
		return l.say(d, c)
	case *indented:
		return l.say(d, c)
	}
	return false
}

// pause takes a blank line: it ends paragraphs, tables, and the quotes that it is not in.
func (d *Doc) pause(depth int) {
	d.close(depth)
	d.blank = true
}

// begin opens the blocks that begin on a line which is not blank, and puts the rest of it where it belongs.
func (d *Doc) begin(c *cursor, depth int) {
	for {
		ind := c.indent()
		switch {
		case c.blank():
			return // an item whose text may follow
		case ind >= 4 && !d.lazy():
			d.close(depth)
			d.enter(&indented{gap: d.blank}).(*indented).say(d, c)
			return
		case ind >= 4:
			d.text(c, depth)
			return
		case d.beginLeaf(c, depth):
			return
		case !d.beginContainer(c, depth):
			d.text(c, depth)
			return
		}
		depth = len(d.open)
	}
}

// beginLeaf takes the line if it is a heading, a rule, or begins with code or HTML.
func (d *Doc) beginLeaf(c *cursor, depth int) bool {
	rest := c.trimmed()
	if p, ok := d.leaf.(*paragraph); ok && depth == len(d.open) && p.underlined(d, rest) {
		return true
	}
	if rule(rest) {
		d.close(depth)
		d.rule()
		return true
	}
	if level, title, ok := heading(rest); ok {
		d.close(depth)
		d.heading(level, title)
		return true
	}
	if f, ok := fenceStart(rest, c.indent()); ok {
		d.close(depth)
		f.gap = d.blank
		if d.kept != nil {
			d.kept.begin(f.lang)
		} else {
			f.colours = d.look.colours(f.lang)
		}
		d.enter(f)
		return true
	}
	if l := displayStart(rest, d.lazy()); l != nil && !d.within(l) {
		d.close(depth)
		l.gap = d.blank
		d.enter(l).(*display).say(d, c)
		return true
	}
	if end, ok := htmlStart(rest); ok {
		d.close(depth)
		d.enter(&markup{gap: d.blank, end: end}).(*markup).say(d, c)
		return true
	}
	return false
}

// beginContainer opens a quote or an item if the line begins with its mark, and moves the cursor past it. The first item of a list
// interrupts a paragraph only if it is not empty and begins to count at 1.
func (d *Doc) beginContainer(c *cursor, depth int) bool {
	if depth >= maxDepth {
		return false
	}
	rest := c.trimmed()
	if rest[0] == '>' {
		d.close(depth)
		c.skip(c.indent())
		c.step(1)
		c.skip(1)
		d.push(container{quote: true})
		return true
	}
	m, ok := marker(rest)
	if !ok || depth == len(d.open) && d.lazy() && (m.empty || m.ordered && m.number != 1) {
		return false
	}
	d.item(c, depth, m)
	return true
}

// within says whether a formula's mark ends one that the open paragraph has begun.
func (d *Doc) within(l *display) bool {
	p, ok := d.leaf.(*paragraph)
	return ok && l.end == "$$" && bytes.Count(p.text, []byte("$$"))%2 == 1
}

// lazy says whether the open leaf takes text from outside its containers.
func (d *Doc) lazy() bool {
	switch d.leaf.(type) {
	case *paragraph, *table:
		return true
	}
	return false
}

// text adds a line of prose to what is open, or opens a paragraph.
func (d *Doc) text(c *cursor, depth int) {
	line := c.trimmed()
	switch l := d.leaf.(type) {
	case *paragraph:
		if c.indent() <= 3 && l.tabulated(d, line) {
			return
		}
		note, ok := footnote(line)
		if ok || strings.HasPrefix(line, ": ") {
			l.text = append(l.text, hardBreak...)
		}
		l.add(note)
		l.settle(d)
	case *table:
		l.add(d, line)
	default:
		d.close(depth)
		p := &paragraph{gap: d.blank}
		if n := len(d.open); n > 0 && !d.open[n-1].quote && !d.open[n-1].filled {
			line = d.task(&d.open[n-1], line)
		} else if n > 0 && !d.open[n-1].filled {
			line = alert(line)
		}
		d.enter(p)
		note, _ := footnote(line)
		p.add(note)
		p.settle(d)
	}
}

// task turns an item's label into a box where its text begins with one.
func (d *Doc) task(item *container, line string) string {
	if len(line) < 4 || line[0] != '[' || line[2] != ']' || line[3] != ' ' {
		return line
	}
	switch line[1] {
	case ' ':
		item.label = d.look.unticked
	case 'x', 'X':
		item.label = d.look.ticked
	default:
		return line
	}
	return line[4:]
}

// A mark is what an item of a list begins with.
type mark struct {
	kind    byte
	ordered bool
	number  int
	size    int
	empty   bool // nothing comes after it
}

func marker(s string) (mark, bool) {
	m := mark{kind: s[0], size: 1}
	switch digits := len(s) - len(strings.TrimLeft(s, "0123456789")); {
	case digits > 9 || digits == len(s):
		return m, false
	case digits > 0:
		m.ordered, m.kind, m.size = true, s[digits], digits+1
		m.number, _ = strconv.Atoi(s[:digits])
		if m.kind != '.' && m.kind != ')' {
			return m, false
		}
	case m.kind != '-' && m.kind != '+' && m.kind != '*':
		return m, false
	}
	rest := s[m.size:]
	m.empty = strings.Trim(rest, " \t") == ""
	return m, rest == "" || rest[0] == ' ' || rest[0] == '\t'
}

// item opens an item of a list: of the one that is open there, if it has the same marks, or of a new one.
func (d *Doc) item(c *cursor, depth int, m mark) {
	item := container{mark: m.kind, number: m.number, label: d.look.bullet}
	if depth < len(d.open) && !d.open[depth].quote && d.open[depth].mark == m.kind {
		item.list, item.number = d.open[depth].list, d.open[depth].number+1
	}
	if m.ordered {
		item.label = d.look.number(item.number, m.kind)
	}
	d.close(depth)
	ind := c.indent()
	c.skip(ind)
	c.step(m.size)
	pad := c.indent()
	if m.empty || pad > 4 {
		pad = 1
	}
	c.skip(pad)
	item.indent = ind + m.size + pad
	d.push(item)
}

// push opens a container in the innermost one.
func (d *Doc) push(c container) {
	d.ids++
	c.id = d.ids
	if c.list == 0 {
		c.list = c.id
	}
	c.blank = d.blank
	d.fill()
	d.open = append(d.open, c)
}

// enter opens a leaf in the innermost container.
func (d *Doc) enter(l leaf) leaf {
	d.fill()
	d.leaf = l
	return l
}

func (d *Doc) fill() {
	if n := len(d.open); n > 0 {
		d.open[n-1].filled = true
	}
}

// close ends the open leaf, and all containers but the outer depth ones.
func (d *Doc) close(depth int) {
	if l := d.leaf; l != nil {
		d.leaf = nil
		l.close(d)
	}
	for len(d.open) > depth {
		if last := d.open[len(d.open)-1]; !last.quote && !last.shown {
			d.put(true, last.blank, "")
		}
		d.open = d.open[:len(d.open)-1]
	}
}

// heading returns level and title if s is a heading that begins with number signs.
func heading(s string) (level int, title string, ok bool) {
	for level < len(s) && s[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(s) && s[level] != ' ' && s[level] != '\t' {
		return 0, "", false
	}
	title = strings.Trim(s[level:], " \t")
	if t := strings.TrimRight(title, "#"); t == "" || strings.HasSuffix(t, " ") || strings.HasSuffix(t, "\t") {
		title = strings.TrimRight(t, " \t")
	}
	return level, title, true
}

// rule says whether s is a thematic break.
func rule(s string) bool {
	if s[0] != '-' && s[0] != '*' && s[0] != '_' {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case s[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}
