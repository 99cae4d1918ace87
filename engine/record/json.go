package record

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// inJSON masks what is marked or found in a JSON text as it stands, and in its
// strings as they are read: a secret can be spelt \u0073ecret. What was JSON
// stays JSON, of the same shape and length.
func (m *masker) inJSON(raw string, marks []bool) string {
	m.mark(raw, marks)
	inside := make([]bool, len(raw)) // of a string
	for _, l := range stringsOf(raw) {
		l.spread(m.mark(l.text, make([]bool, len(l.text))), marks)
		for i := range l.from {
			for at := l.from[i]; at < l.to[i]; at++ {
				inside[at] = true
			}
		}
	}
	if !json.Valid([]byte(raw)) {
		return m.blank(raw, marks)
	}
	for i, c := range []byte(raw) {
		marks[i] = marks[i] && (inside[i] || c >= '0' && c <= '9')
	}
	b := []byte(m.blank(raw, marks))
	for i := range b {
		if marks[i] && !inside[i] {
			b[i] = '1' // stays a number
		}
	}
	return string(b)
}

// A literal is a string in a JSON text: what it says, and for each byte of that
// where it is spelt.
type literal struct {
	text     string
	from, to []int
}

// spread marks the spelling of each byte that is marked in the text, and all of
// one that is marked in part.
func (l literal) spread(said, marks []bool) {
	for i := range l.from {
		spelling := marks[l.from[i]:l.to[i]]
		if !said[i] && !slices.Contains(spelling, true) {
			continue
		}
		for at := range spelling {
			spelling[at] = true
		}
	}
}

// stringsOf finds the strings of a JSON text. Of a text that is none it finds
// what would be strings.
func stringsOf(raw string) []literal {
	var all []literal
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		var l literal
		l, i = read(raw, i+1)
		all = append(all, l)
	}
	return all
}

// read reads the string that begins at i, and returns where its quote closes.
func read(raw string, i int) (literal, int) {
	var l literal
	var text strings.Builder
	for i < len(raw) && raw[i] != '"' {
		n, s := 1, raw[i:i+1]
		if raw[i] == '\\' {
			n, s = escape(raw[i:])
		}
		text.WriteString(s)
		for range len(s) {
			l.from, l.to = append(l.from, i), append(l.to, i+n)
		}
		i += n
	}
	l.text = text.String()
	return l, i
}

// escape reads what a backslash begins: how long that is, and what it says.
func escape(s string) (n int, says string) {
	if len(s) < 2 {
		return len(s), s
	}
	switch s[1] {
	case 'b':
		return 2, "\b"
	case 'f':
		return 2, "\f"
	case 'n':
		return 2, "\n"
	case 'r':
		return 2, "\r"
	case 't':
		return 2, "\t"
	case 'u':
		r, ok := unit(s)
		if !ok {
			return 2, s[:2]
		}
		if utf16.IsSurrogate(r) {
			if low, ok := unit(s[6:]); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return 12, string(utf16.DecodeRune(r, low))
			}
		}
		return 6, string(r)
	}
	return 2, s[1:2]
}

// unit reads \uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n), err == nil
}
