package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is s with a capital letter at its beginning, unless a name and a
// colon or an address stands there, and a stop at its end.
func Sentence(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ".")
	if s == "" {
		return ""
	}
	if word, _, _ := strings.Cut(s, " "); strings.HasSuffix(word, ":") || strings.ContainsAny(word, "./") {
		return s + "."
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:] + "."
}
