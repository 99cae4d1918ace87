package markdown

import (
	"strings"
	"unicode/utf8"
)

const (
	settleAt = 512  // bytes of prose after which the beginning of a paragraph is laid out for good
	hugeAt   = 4096 // and after which it is released before its end
)

// A paragraph is prose. What it begins with is settled from time to time, so that only its end is laid out again as it grows.
type paragraph struct {
	gap     bool
	text    []byte
	last    int // where its last line begins
	settled int // so much of the text is in held and carry
	next    int // more than usual has to come before it settles again
	held    []string
	carry   string // the last line of what is settled, which may grow
	huge    bool   // held is released at once
	put     bool
}

func (p *paragraph) clone() leaf {
	c := *p
	c.text = c.text[:len(c.text):len(c.text)]
	c.held = c.held[:len(c.held):len(c.held)]
	return &c
}

// add adds a line.
func (p *paragraph) add(line string) {
	if len(p.text) > 0 {
		p.text = append(p.text, '\n')
	}
	p.last = len(p.text)
	p.text = append(p.text, line...)
}

// tabulated makes a table of the last line if the next one is the delimiter row for it.
func (p *paragraph) tabulated(d *Doc, line string) bool {
	if p.settled > p.last || p.last == len(p.text) {
		return false
	}
	t := tableStart(d, string(p.text[p.last:]), line)
	if t == nil || p.text[0] == '[' && len(d.words.spans(string(p.text), false, true)) == 0 {
		return false // no table, or a definition of a link
	}
	t.gap = p.gap
	d.leaf = nil
	if p.last > 0 {
		p.text = p.text[:p.last-1]
		p.close(d)
		t.gap = false
	}
	d.enter(t)
	return true
}

// extend adds to the last line.
func (p *paragraph) extend(d *Doc, s string) {
	for s != "" {
		n := cutRune(s, hugeAt)
		p.text = append(p.text, s[:n]...)
		p.settle(d)
		s = s[n:]
	}
}

// settle lays out the beginning of a long paragraph, up to where no emphasis, link or code is open. It goes on in steps that depend on
// nothing but the text.
func (p *paragraph) settle(d *Doc) {
	for !d.live && len(p.text)-p.settled >= p.next+settleAt {
		window := p.text[p.settled : p.settled+p.next+settleAt]
		n := calm(window)
		if p.text[0] == '[' && p.settled == 0 {
			n = 0 // it may define a link
		}
		if n == 0 && len(window) < hugeAt {
			p.next += settleAt
			continue
		}
		if n == 0 {
			n = cutRune(string(window), len(window)-utf8.UTFMax)
		}
		lines := d.wrap(p.join(d.flow(string(window[:n]), 0)))
		p.held, p.carry = append(p.held, lines[:len(lines)-1]...), lines[len(lines)-1]
		p.settled += n
		p.next = 0
		if p.huge = p.huge || p.settled >= hugeAt; p.huge {
			p.release(d)
		}
	}
}

// loosen forgets how what is not released was laid out.
func (p *paragraph) loosen() {
	if !p.huge {
		p.held, p.carry, p.settled, p.next = nil, "", 0, 0
	}
}

// release writes what is settled, and forgets it.
func (p *paragraph) release(d *Doc) {
	if len(p.held) > 0 {
		d.put(!p.put, p.gap, p.held...)
		p.put, p.held = true, nil
	}
	p.text = append([]byte(nil), p.text[p.settled:]...)
	p.last, p.settled = max(0, p.last-p.settled), 0
}

// join puts more behind the last settled line.
func (p *paragraph) join(more string) string {
	if p.carry == "" || more == "" {
		return p.carry + more
	}
	if c := p.text[p.settled]; c == ' ' || c == '\n' {
		return p.carry + " " + more
	}
	return p.carry + more
}

func (p *paragraph) close(d *Doc) {
	if p.huge || d.live {
		lines := p.held
		rest := ""
		if p.settled < len(p.text) {
			rest = d.flow(string(p.text[p.settled:]), 0)
		}
		if rest != "" || p.carry != "" {
			lines = append(lines, d.wrap(p.join(rest))...)
		}
		if len(lines) > 0 {
			d.put(!p.put, p.gap, lines...)
		}
		return
	}
	if flow := d.flow(string(p.text), 0); flow != "" {
		d.put(true, p.gap, d.wrap(flow)...)
	}
}

// underlined makes a heading of the paragraph if the line is its underline.
func (p *paragraph) underlined(d *Doc, line string) bool {
	s := strings.TrimRight(line, " \t")
	if strings.Trim(s, "=") != "" && strings.Trim(s, "-") != "" {
		return false
	}
	if p.huge || len(p.text) == 0 {
		return false
	}
	level := 2
	if s[0] == '=' {
		level = 1
	}
	d.leaf = nil
	spans := d.words.spans(string(p.text), false, d.live)
	if len(spans) == 0 {
		return false // it was nothing but definitions of links
	}
	d.put(true, p.gap, d.wrap(d.draw(spans, level))...)
	return true
}

// calm returns the place of the last space in s, or of a character that needs none, where no emphasis, code, link or tag is open, or 0.
func calm(s []byte) (at int) {
	var stars, unders, tildes, ticks, square, round, angle int
	for i := 0; i < len(s); i++ {
		run := 1
		for i+run < len(s) && s[i+run] == s[i] {
			run++
		}
		switch s[i] {
		case '\\', '$':
			n, open := whole(s[i:])
			if open && ticks == 0 {
				return at
			}
			switch {
			case n > 0 && ticks == 0:
				run = n
			case s[i] == '\\':
				run = 2
			}
		case '`':
			switch ticks {
			case 0:
				ticks = run
			case run:
				ticks = 0
			}
		case ' ', '\n':
			hard := s[i] == ' ' && run > 1 || s[i] == '\n' && i > 0 && s[i-1] == ' ' // may break the line
			if !hard && ticks|stars|unders|tildes|square|round|angle == 0 {
				at = i
			}
		default:
			if s[i] >= 0xe3 && i > 0 && ticks|stars|unders|tildes|square|round|angle == 0 {
				at = i // most of what begins so is written without spaces
			}
			if ticks == 0 {
				switch s[i] {
				case '*':
					stars ^= run
				case '_':
					if unders != 0 || i == 0 || s[i-1] == ' ' || s[i-1] == '(' {
						unders ^= run
					}
				case '~':
					tildes ^= run
				case '[':
					square += run
				case ']':
					square = max(0, square-run)
					if square == 0 && i+run < len(s) && s[i+run] == '(' {
						round++
						run++
					}
				case ')':
					round = max(0, round-run)
				case '<':
					if i+1 < len(s) && (s[i+1] >= 'a' && s[i+1] <= 'z' || s[i+1] == '/') {
						angle = 1
					}
				case '>':
					angle = 0
				default:
					run = 1
				}
			}
		}
		i += run - 1
	}
	return at
}

// heading writes a heading.
func (d *Doc) heading(level int, title string) {
	d.fill()
	if flow := d.flow(title, level); flow != "" {
		d.put(true, d.blank, d.wrap(flow)...)
	}
}

// longRule is more cells than a terminal has: a text that is laid out for no
// terminal has rules, too.
const longRule = 500

// rule writes a thematic break.
func (d *Doc) rule() {
	d.fill()
	d.put(true, d.blank, d.look.rule(min(d.room(), longRule)))
}

// An indented code block has no language.
type indented struct {
	gap    bool
	put    bool
	blanks int
}

func (l *indented) clone() leaf { c := *l; return &c }
func (l *indented) close(*Doc)  {}

func (l *indented) say(d *Doc, c *cursor) bool {
	switch {
	case c.blank():
		l.blanks++
		d.blank = true
		return true
	case c.indent() < 4:
		return false
	}
	c.skip(4)
	if d.kept != nil {
		l.keep(d.kept, c.rest)
	} else {
		for range l.blanks {
			if l.put {
				d.put(false, false, "")
			}
		}
		d.put(!l.put, l.gap, d.code(nil, c.rest)...)
	}
	l.put, l.blanks, d.blank = true, 0, false
	return true
}

// keep gives a line to whoever wants the code, with the blank ones before it.
func (l *indented) keep(kept *codes, line string) {
	if !l.put {
		kept.begin("")
		l.blanks = 0
	}
	for range l.blanks {
		kept.line("")
	}
	kept.line(line)
}
