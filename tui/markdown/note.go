package markdown

import "strings"

// hardBreak ends a line of prose for good.
const hardBreak = "  "

// footnote is a line that says what a footnote is, as it is shown.
func footnote(line string) (string, bool) {
	label, rest, ok := strings.Cut(strings.TrimPrefix(line, "[^"), "]:")
	if !ok || !strings.HasPrefix(line, "[^") || label == "" || strings.ContainsAny(label, "[] \t") {
		return line, false
	}
	return noted("[^"+label+"]") + " " + strings.TrimLeft(rest, " \t"), true
}

// noted is prose whose footnotes are above the line, if they are counted.
func noted(s string) string {
	before, rest, ok := strings.Cut(s, "[^")
	if !ok {
		return s
	}
	var b strings.Builder
	for ok {
		b.WriteString(before)
		number, _, closed := strings.Cut(rest[:min(len(rest), 4)], "]")
		if closed && number != "" && strings.Trim(number, "0123456789") == "" {
			b.WriteString(script('^', number))
			rest = rest[len(number)+1:]
		} else {
			b.WriteString("[^")
		}
		before, rest, ok = strings.Cut(rest, "[^")
	}
	b.WriteString(before)
	return b.String()
}

// notes shows the footnotes in prose.
func notes(spans []span) []span {
	for i := range spans {
		if spans[i].kind == prose {
			spans[i].text = noted(spans[i].text)
		}
	}
	return spans
}

// alert is the first line of a quote: alone, [!NOTE] and its like are its label.
func alert(line string) string {
	word, ok := strings.CutPrefix(strings.TrimRight(line, " \t"), "[!")
	word, end := strings.CutSuffix(word, "]")
	if !ok || !end || len(word) < 2 || strings.ContainsFunc(word, func(r rune) bool { return r > 'z' || !letter(byte(r)) }) {
		return line
	}
	return "**" + strings.ToUpper(word[:1]) + strings.ToLower(word[1:]) + "**" + hardBreak
}

// summary is what a line of <details> shows: the title of what is folded
// elsewhere, or nothing. False is for other lines.
func summary(line string) (title string, ok bool) {
	s := strings.TrimSpace(line)
	for _, tag := range []string{"<details>", "<details open>", "</details>"} {
		if rest, cut := strings.CutPrefix(s, tag); cut {
			s, ok = strings.TrimSpace(rest), true
		}
	}
	if s == "" {
		return "", ok
	}
	title, begins := strings.CutPrefix(s, "<summary>")
	title, ends := strings.CutSuffix(title, "</summary>")
	return title, begins && ends
}
