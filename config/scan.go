package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

const (
	deepest = 32 // brackets within brackets
	longest = 16 // parts of a dotted key
)

// spot is where a key stands in a TOML text. The decoder tells what the keys are; this tells where, for messages and for edits.
type spot struct {
	path     []string
	at       int // offset of the key
	from, to int // extent of its value; a table's header has none
	table    bool
}

// scanner walks over a TOML text without judging it: that is the decoder's part. On a broken text it ends, but finds little.
type scanner struct {
	text  string
	i     int
	table []string
	spots []spot
	deep  int // offset of what is nested too deep, or -1
}

// scan finds the keys of text. deep is the offset of brackets or a key that no sensible file has and no decoder should see, or -1.
func scan(text string) (spots []spot, deep int) {
	s := scanner{text: text, deep: -1}
	for s.blank(); s.i < len(s.text); s.blank() {
		began := s.i
		if s.text[s.i] == '[' {
			s.header()
		} else {
			s.pair(s.table, 0)
		}
		if s.i == began {
			s.i++
		}
	}
	return s.spots, s.deep
}

// tooDeep ends the walk.
func (s *scanner) tooDeep() {
	s.deep, s.i = min(s.i, len(s.text)), len(s.text)
}

func (s *scanner) peek() byte {
	if s.i < len(s.text) {
		return s.text[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.i++
	}
}

// blank skips white space, line ends and comments.
func (s *scanner) blank() {
	for s.i < len(s.text) {
		switch s.text[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		case '#':
			n := strings.IndexByte(s.text[s.i:], '\n')
			if n < 0 {
				n = len(s.text) - s.i
			}
			s.i += n
		default:
			return
		}
	}
}

func (s *scanner) header() {
	for s.peek() == '[' {
		s.i++
	}
	s.space()
	at := s.i
	s.table = s.key()
	s.spots = append(s.spots, spot{path: s.table, at: at, table: true})
	for s.peek() == ']' {
		s.i++
	}
}

func (s *scanner) pair(table []string, depth int) {
	at := s.i
	key := s.key()
	path := append(append(make([]string, 0, len(table)+len(key)), table...), key...)
	if len(path) > longest {
		s.tooDeep()
		return
	}
	if s.peek() != '=' {
		return
	}
	s.i++
	s.space()
	n, from := len(s.spots), s.i
	s.spots = append(s.spots, spot{path: path, at: at, from: from})
	s.value(path, depth)
	s.spots[n].to = s.i
}

// key reads a dotted key and the spaces behind it.
func (s *scanner) key() []string {
	var parts []string
	for {
		s.space()
		part, ok := s.part()
		if !ok {
			return parts
		}
		if parts = append(parts, part); len(parts) > longest {
			s.tooDeep()
			return nil
		}
		if s.space(); s.peek() != '.' {
			return parts
		}
		s.i++
	}
}

func (s *scanner) part() (string, bool) {
	began := s.i
	if c := s.peek(); c == '"' || c == '\'' {
		s.quoted()
		return unquote(s.text[began:s.i]), true
	}
	for s.i < len(s.text) && bare(s.text[s.i]) {
		s.i++
	}
	return s.text[began:s.i], s.i > began
}

func bare(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func unquote(raw string) string {
	if text := raw[1:max(1, len(raw)-1)]; !strings.Contains(text, `\`) || raw[0] == '\'' {
		return text
	}
	var doc struct{ K string }
	if _, err := toml.Decode("K="+raw, &doc); err != nil {
		return raw
	}
	return doc.K
}

func (s *scanner) value(path []string, depth int) {
	if depth > deepest {
		s.tooDeep()
		return
	}
	switch s.peek() {
	case '"', '\'':
		s.quoted()
	case '[':
		s.list(path, depth, ']')
	case '{':
		s.list(path, depth, '}')
	default:
		began := s.i
		for s.i < len(s.text) && !strings.ContainsRune(",]}#\r\n", rune(s.text[s.i])) {
			s.i++
		}
		s.i = began + len(strings.TrimRight(s.text[began:s.i], " \t")) // a date may hold a space
	}
}

// list reads an array or an inline table up to its closing bracket.
func (s *scanner) list(path []string, depth int, end byte) {
	s.i++
	for s.blank(); s.i < len(s.text); s.blank() {
		began := s.i
		switch s.text[s.i] {
		case end:
			s.i++
			return
		case ',':
			s.i++
			continue
		}
		if end == '}' {
			s.pair(path, depth+1)
		} else {
			s.value(path, depth+1)
		}
		if s.i == began {
			s.i++
		}
	}
}

// quoted skips a string of any of the four kinds.
func (s *scanner) quoted() {
	quote := s.text[s.i : s.i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s.text[s.i:], triple) {
		s.i += 3
		s.until(triple, quote == `"`)
		for n := 0; n < 2 && s.i < len(s.text) && s.text[s.i:s.i+1] == quote; n++ {
			s.i++ // up to two quotes may stand before the closing three
		}
		return
	}
	s.i++
	s.until(quote, quote == `"`)
}

// until skips to behind end, or to the end of the text.
func (s *scanner) until(end string, escapes bool) {
	for s.i < len(s.text) {
		switch {
		case escapes && s.text[s.i] == '\\':
			s.i = min(s.i+2, len(s.text))
		case strings.HasPrefix(s.text[s.i:], end):
			s.i += len(end)
			return
		case len(end) == 1 && s.text[s.i] == '\n':
			return // not closed: the decoder will say so
		default:
			s.i++
		}
	}
}
