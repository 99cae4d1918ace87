package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const masked = "[secret]"

// Redact returns s without the secrets, and without whatever looks like a key.
func Redact(s string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 {
			s = strings.ReplaceAll(s, secret, masked)
		}
	}
	return redactKeys(s)
}

// redactKeys masks the words of s that have the form of a known kind of key.
func redactKeys(s string) string {
	var b strings.Builder
	before := "" // the word behind which the next one stands
	for len(s) > 0 {
		n := strings.IndexFunc(s, inKey)
		if n < 0 {
			n = len(s)
		}
		b.WriteString(s[:n])
		s = s[n:]
		end := strings.IndexFunc(s, func(r rune) bool { return !inKey(r) })
		if end < 0 {
			end = len(s)
		}
		word := s[:end]
		if keyLike(word) || (strings.EqualFold(before, "bearer") && len(word) >= 8) {
			b.WriteString(masked)
		} else {
			b.WriteString(word)
		}
		before, s = word, s[end:]
	}
	return b.String()
}

func inKey(r rune) bool {
	return r == '-' || r == '_' || r == '.' || r == '+' || r == '~' ||
		'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// keyLike reports whether word begins like the key of a known provider and has
// the length of one.
func keyLike(word string) bool {
	for _, k := range []struct {
		prefix string
		length int
	}{
		{"sk-", 16}, {"sk_", 16}, {"pk-", 20}, {"rk-", 20}, {"xai-", 20}, {"gsk_", 20}, {"hf_", 20}, {"pplx-", 20}, {"nvapi-", 20}, {"r8_", 20},
		{"AIza", 30}, {"ya29.", 20}, {"ghp_", 20}, {"gho_", 20}, {"ghs_", 20}, {"github_pat_", 20}, {"glpat-", 16},
		{"xoxb-", 16}, {"xoxp-", 16}, {"AKIA", 20}, {"ASIA", 20}, {"eyJ", 40}, {"vck_", 20}, {"csk-", 20}, {"fw_", 20}, {"tgp_", 20},
	} {
		if len(word) >= k.length && strings.HasPrefix(word, k.prefix) {
			return true
		}
	}
	return false
}

// Visible returns s as one line in which every control character can be seen
// and none acts, shortened to what a message has room for.
func Visible(s string) string { return visible(s, 400) }

func visible(s string, room int) string {
	var b strings.Builder
	space := false
	for i, r := range s {
		if b.Len() >= room {
			b.WriteString(" …")
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == ' ':
			space = b.Len() > 0
			continue
		case space:
			b.WriteByte(' ')
			space = false
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteRune(utf8.RuneError)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			b.WriteString("\uFFFD")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
