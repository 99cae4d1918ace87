package wire

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A Scanner walks through a JSON text without building anything: nearly all
// events of a stream are of one small shape, and reflection is slow for them.
// It is strict. What it does not understand is left to encoding/json.
//
//	for key, ok := s.Enter(); ok; key, ok = s.Field() {
//		switch string(key) {
//		case "text":
//			text, _ = s.String()
//		default:
//			s.Skip()
//		}
//	}
//	return s.Done()
type Scanner struct {
	b   []byte
	i   int
	bad bool
}

// Scan returns a Scanner of b.
func Scan(b []byte) Scanner { return Scanner{b: b} }

// Done reports whether the text was one value, wholly understood.
func (s *Scanner) Done() bool {
	s.space()
	return !s.bad && s.i == len(s.b)
}

// Fail gives the text up.
func (s *Scanner) Fail() { s.bad = true }

func (s *Scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return
		}
	}
}

// peek returns the byte that comes next, or 0.
func (s *Scanner) peek() byte {
	s.space()
	if s.bad || s.i >= len(s.b) {
		return 0
	}
	return s.b[s.i]
}

// eat passes c, which must come next.
func (s *Scanner) eat(c byte) bool {
	if s.peek() != c {
		s.bad = true
		return false
	}
	s.i++
	return true
}

// Enter goes into an object, to its first field if it has one.
func (s *Scanner) Enter() (key []byte, ok bool) {
	if !s.eat('{') {
		return nil, false
	}
	if s.peek() == '}' {
		s.i++
		return nil, false
	}
	return s.key()
}

// Field goes on to the next field of the object, or out of it.
func (s *Scanner) Field() (key []byte, ok bool) {
	if s.peek() == '}' {
		s.i++
		return nil, false
	}
	if !s.eat(',') {
		return nil, false
	}
	return s.key()
}

func (s *Scanner) key() ([]byte, bool) {
	raw, plain := s.quoted()
	if !plain {
		s.bad = true
	}
	return raw, s.eat(':') && !s.bad
}

// EnterList goes into a list, and reports whether it has a first element.
func (s *Scanner) EnterList() bool {
	if !s.eat('[') {
		return false
	}
	if s.peek() == ']' {
		s.i++
		return false
	}
	return !s.bad
}

// Item goes on to the next element of the list, or out of it.
func (s *Scanner) Item() bool {
	if s.peek() == ']' {
		s.i++
		return false
	}
	return s.eat(',')
}

// Null passes null, if that comes next.
func (s *Scanner) Null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.word("null")
	return !s.bad
}

// Int passes a whole number of at most nine digits.
func (s *Scanner) Int() int {
	s.space()
	from, n := s.i, 0
	negative := s.i < len(s.b) && s.b[s.i] == '-'
	if negative {
		s.i++
	}
	first := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		n = n*10 + int(s.b[s.i]-'0')
		if s.i++; s.i-first > 9 {
			break
		}
	}
	digits := s.i - first
	if digits == 0 || digits > 9 || digits > 1 && s.b[first] == '0' || s.i < len(s.b) && inNumber(s.b[s.i]) {
		s.i, s.bad = from, true
		return 0
	}
	if negative {
		return -n
	}
	return n
}

// String passes a string and returns what it says.
func (s *Scanner) String() string {
	raw, plain := s.quoted()
	switch {
	case s.bad:
		return ""
	case plain:
		return string(raw)
	}
	return unquote(raw)
}

// Bytes passes a string without escapes. It is valid for as long as the text.
func (s *Scanner) Bytes() []byte {
	raw, plain := s.quoted()
	if !plain {
		s.bad = true
	}
	return raw
}

// quoted passes a string and returns what stands between its quotes, and
// whether that is what it says.
func (s *Scanner) quoted() (raw []byte, plain bool) {
	if !s.eat('"') {
		return nil, false
	}
	from, ascii, escaped := s.i, true, false
	for s.i < len(s.b) {
		switch c := s.b[s.i]; {
		case c == '"':
			raw = s.b[from:s.i]
			s.i++
			return raw, !escaped && (ascii || utf8.Valid(raw))
		case c == '\\':
			escaped = true
			if !s.escape() {
				return nil, false
			}
			continue
		case c < ' ':
			s.bad = true
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
		s.i++
	}
	s.bad = true
	return nil, false
}

func (s *Scanner) escape() bool {
	s.i++
	if s.i < len(s.b) {
		switch s.b[s.i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.i++
			return true
		case 'u':
			if s.i+5 <= len(s.b) && hex(s.b[s.i+1]) && hex(s.b[s.i+2]) && hex(s.b[s.i+3]) && hex(s.b[s.i+4]) {
				s.i += 5
				return true
			}
		}
	}
	s.bad = true
	return false
}

func hex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unquote returns what a string with escapes says. raw is well formed.
func unquote(raw []byte) string {
	if bytes.Contains(raw, []byte(`\u`)) || !utf8.Valid(raw) {
		var v string
		quoted := make([]byte, 0, len(raw)+2)
		quoted = append(append(append(quoted, '"'), raw...), '"')
		_ = json.Unmarshal(quoted, &v)
		return v
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' {
			i++
			c = raw[i]
			switch c {
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			}
		}
		out = append(out, c)
	}
	return string(out)
}

// Skip passes a value.
func (s *Scanner) Skip() { s.skip(0) }

const maxSkip = 64 // depth

func (s *Scanner) skip(depth int) {
	switch c := s.peek(); {
	case depth > maxSkip:
		s.bad = true
	case c == '"':
		s.quoted()
	case c == '{':
		for _, ok := s.Enter(); ok; _, ok = s.Field() {
			s.skip(depth + 1)
		}
	case c == '[':
		for ok := s.EnterList(); ok; ok = s.Item() {
			s.skip(depth + 1)
		}
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.number()
	}
}

func (s *Scanner) word(w string) {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		s.bad = true
		return
	}
	s.i += len(w)
}

func (s *Scanner) number() {
	from := s.i
	for s.i < len(s.b) && inNumber(s.b[s.i]) {
		s.i++
	}
	digits := s.b[from:s.i]
	for _, c := range digits {
		if c < '0' || c > '9' {
			if !json.Valid(digits) {
				s.bad = true
			}
			return
		}
	}
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		s.bad = true
	}
}

func inNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}
