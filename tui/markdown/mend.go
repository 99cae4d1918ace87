package markdown

import "strings"

// unsure says whether the unfinished line may yet become anything, so that showing it now would make the screen flicker.
func (d *Doc) unsure() bool {
	if f, ok := d.leaf.(*fence); ok {
		return strings.Trim(string(d.line[:min(len(d.line), longLine)]), " >"+string(f.mark)) == ""
	}
	return unsure(d.line)
}

func unsure(line []byte) bool {
	s := strings.Trim(string(line[:min(len(line), longLine)]), " \t>")
	for strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "* ") || strings.HasPrefix(s, "+ ") {
		s = strings.TrimLeft(s[2:], " ")
	}
	if n := len(s) - len(strings.TrimLeft(s, "0123456789")); n > 0 && n < 10 {
		s = strings.TrimLeft(strings.TrimLeft(s[n:], ".)"), " ")
	}
	switch s {
	case "[", "[x", "[x]", "[X", "[X]", "[]", "[ ]":
		return true // a box to tick
	}
	for _, tag := range []string{"<details>", "</details>", "<summary>"} {
		if s != "" && strings.HasPrefix(tag, s) {
			return true
		}
	}
	return strings.Trim(s, "-=*_+`~#|$\\: \t") == ""
}

// foresee ends the header of a table that has no more than a header yet.
func (d *Doc) foresee() {
	p, ok := d.leaf.(*paragraph)
	if !ok || p.settled > p.last {
		return
	}
	header := string(p.text[p.last:])
	if n := len(cells(header)); strings.HasPrefix(header, "|") && len(header) > 1 && n <= maxColumns {
		p.tabulated(d, strings.Repeat("|-", n))
	}
}

// mend ends what an unfinished text leaves open, so that half a word in bold is shown in bold and not with two stars.
func mend(s string) string {
	if !strings.ContainsAny(s, "*_`~[<") {
		return s
	}
	s = hideTag(hideTarget(s))
	var open []string
	for i := 0; i < len(s); i++ {
		c := s[i]
		n := 1
		for i+n < len(s) && s[i+n] == c {
			n++
		}
		switch {
		case c == '\\':
			n = 2
		case c == '`':
			mark := s[i : i+n]
			end := closing(s[i+n:], n)
			if end < 0 {
				if i+n == len(s) {
					return finish(s[:i], open)
				}
				return finish(s+mark, open)
			}
			n += end + n
		case c == '*' || c == '_' || c == '~':
			if n > 3 || c == '~' && n != 2 {
				break
			}
			mark := s[i : i+n]
			before, after := edge(s, i-1), edge(s, i+n)
			switch {
			case len(open) > 0 && open[len(open)-1] == mark && !before:
				open = open[:len(open)-1]
			case i+n == len(s) && !before && len(open) > 0 && strings.HasPrefix(open[len(open)-1], mark):
				return finish(s[:i], open) // half of what ends it
			case i+n == len(s):
				return finish(strings.TrimRight(s[:i], " "), open) // nothing to be bold yet
			case !after && (before || c == '*' && punct(s, i-1)):
				open = append(open, mark)
			}
		}
		i += n - 1
	}
	return finish(s, open)
}

// finish adds the ends of what is open.
func finish(s string, open []string) string {
	if len(open) == 0 {
		return s
	}
	s = strings.TrimRight(s, " \n")
	for i := len(open) - 1; i >= 0; i-- {
		s += open[i]
	}
	return s
}

// hideTarget drops the unfinished target of a link at the end: its text is what is to be read.
func hideTarget(s string) string {
	i := strings.LastIndex(s, "](")
	if i < 0 || strings.ContainsAny(s[i:], ") \n") {
		return s
	}
	open := strings.LastIndexByte(s[:i], '[')
	if open < 0 {
		return s
	}
	return s[:i] + "]()"
}

// closing returns where a run of n backticks is in s.
func closing(s string, n int) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		run := 1
		for i+run < len(s) && s[i+run] == '`' {
			run++
		}
		if run == n {
			return i
		}
		i += run - 1
	}
	return -1
}

// edge says whether there is white space at s[i], or nothing.
func edge(s string, i int) bool {
	return i < 0 || i >= len(s) || s[i] == ' ' || s[i] == '\n'
}

func punct(s string, i int) bool {
	return i >= 0 && strings.IndexByte("([{\"'-—*_~>", s[i]) >= 0
}
