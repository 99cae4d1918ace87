package markdown

import (
	"slices"
	"strings"
)

// linkify makes links of the addresses that stand in prose.
func linkify(spans []span) []span {
	for i := 0; i < len(spans); i++ {
		s := spans[i]
		if s.kind != prose {
			continue
		}
		from, to := address(s.text)
		if from == to || reach(s.text[from:to]) == "" {
			continue
		}
		before, it, after := s, s, s
		before.text, it.text, after.text = s.text[:from], s.text[from:to], s.text[to:]
		it.kind, it.url = link, reach(spelt(it.text))
		aside := span{text: elsewhere(it.text), weight: weight{kind: aside}}
		parts := slices.DeleteFunc([]span{before, it, aside, after}, func(s span) bool { return s.text == "" })
		spans = slices.Replace(spans, i, i+1, parts...)
		if before.text != "" {
			i++ // and after the address there may be another
		}
	}
	return spans
}

// address returns where the first address of the web is in s. Stops and brackets at its end belong to the sentence around it.
func address(s string) (from, to int) {
	for at := 0; ; at = from + len("http") {
		i := strings.Index(s[at:], "http")
		if i < 0 {
			return 0, 0
		}
		from = at + i
		if from > 0 && letterOrDigit(s[from-1]) {
			continue
		}
		n := len("http://")
		if strings.HasPrefix(s[from:], "https://") {
			n++
		} else if !strings.HasPrefix(s[from:], "http://") {
			continue
		}
		to = len(s)
		if i := strings.IndexAny(s[from:], " \n\"<>`，。；：！？、）」』】"); i >= 0 {
			to = from + i
		}
		for to > from+n {
			last := s[to-1]
			if strings.IndexByte(".,:;!?*_~'|", last) < 0 &&
				(last != ')' || strings.Count(s[from:to], "(") >= strings.Count(s[from:to], ")")) &&
				(last != ']' || strings.Count(s[from:to], "[") >= strings.Count(s[from:to], "]")) {
				return from, to
			}
			to--
		}
	}
}

func letterOrDigit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
