package markdown

import (
	"strings"
	"unicode/utf8"
)

// spelt is a target with its host in the letters that names on the net are made of: the name that looks like another's does not
// then. Whatever has no such host is left as it is.
func spelt(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return target
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if !strings.ContainsFunc(host, foreign) {
		return target
	}
	user, port := "", ""
	if i := strings.LastIndexByte(host, '@') + 1; i > 0 {
		user, host = host[:i], host[i:]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		host, port = host[:i], host[i:]
	}
	labels := strings.FieldsFunc(strings.ToLower(host), func(r rune) bool { return strings.ContainsRune(".。．｡", r) })
	for i, l := range labels {
		if strings.ContainsFunc(l, foreign) && len(l) < maxLabel {
			labels[i] = "xn--" + punycode([]rune(l))
		}
	}
	return scheme + "://" + user + strings.Join(labels, ".") + port + path
}

func foreign(r rune) bool { return r >= utf8.RuneSelf }

// maxLabel is how many bytes of a part of a host are spelt; names have no longer ones.
const maxLabel = 256

// punycode spells a part of a host as RFC 3492 has it.
func punycode(label []rune) string {
	var b strings.Builder
	for _, r := range label {
		if !foreign(r) {
			b.WriteRune(r)
		}
	}
	plain := b.Len()
	if plain > 0 {
		b.WriteByte('-')
	}
	delta, bias := 0, 72
	for n, done := rune(utf8.RuneSelf), plain; done < len(label); n++ {
		next := rune(utf8.MaxRune)
		for _, r := range label {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range label {
			if r < n {
				delta++
			}
			if r == n {
				digits(&b, delta, bias)
				bias = adapted(delta, done+1, done == plain)
				delta, done = 0, done+1
			}
		}
		delta++
	}
	return b.String()
}

// digits writes a number whose last digit is known by its size.
func digits(b *strings.Builder, n, bias int) {
	for k := 36; ; k += 36 {
		t := min(max(k-bias, 1), 26)
		if n < t {
			b.WriteByte(digit(n))
			return
		}
		b.WriteByte(digit(t + (n-t)%(36-t)))
		n = (n - t) / (36 - t)
	}
}

func digit(n int) byte { return "abcdefghijklmnopqrstuvwxyz0123456789"[n] }

func adapted(delta, points int, first bool) int {
	if first {
		delta /= 700
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > 35*26/2; k += 36 {
		delta /= 35
	}
	return k + 36*delta/(delta+38)
}
