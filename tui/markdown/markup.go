package markdown

import "strings"

// markup is a block of HTML. It is shown as it was written, stepping
// back; of what folds elsewhere the title and the content.
type markup struct {
	gap bool
	put bool
	end string // what its last line contains; "" is a blank line
}

func (l *markup) clone() leaf { c := *l; return &c }
func (l *markup) close(*Doc)  {}

func (l *markup) say(d *Doc, c *cursor) bool {
	if l.end == "" && c.blank() {
		return false
	}
	d.blank = false
	line := c.rest
	title, details := summary(line)
	switch {
	case details && title == "":
		return true
	case details:
		d.put(!l.put, l.gap, d.wrap(d.cell(title, true))...)
	case strings.Trim(line, " \t") == "":
		d.put(!l.put, l.gap, "")
	default:
		d.put(!l.put, l.gap, d.wrap(d.look.aside(expand(line)))...)
	}
	l.put = true
	if l.end != "" && strings.Contains(strings.ToLower(c.rest), l.end) {
		d.leaf = nil
	}
	return true
}

// htmlTags begin a block wherever they stand at the beginning of a line.
const htmlTags = " address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset" +
	" figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem nav" +
	" noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul "

// htmlStart says whether s begins a block of HTML, and what ends it.
func htmlStart(s string) (end string, ok bool) {
	if s[0] != '<' || len(s) < 2 {
		return "", false
	}
	low := strings.ToLower(s)
	for _, tag := range []string{"script", "pre", "style", "textarea"} {
		if rest, is := strings.CutPrefix(low[1:], tag); is && (rest == "" || strings.ContainsAny(rest[:1], " \t>")) {
			return "</" + tag + ">", true
		}
	}
	switch {
	case strings.HasPrefix(s, "<!--"):
		return "-->", true
	case s[1] == '?':
		return "?>", true
	case strings.HasPrefix(s, "<![CDATA["):
		return "]]>", true
	case s[1] == '!' && len(s) > 2 && low[2] >= 'a' && low[2] <= 'z':
		return ">", true
	}
	name := strings.TrimPrefix(low[1:], "/")
	n := 0
	for n < len(name) && (name[n] >= 'a' && name[n] <= 'z' || n > 0 && (name[n] >= '0' && name[n] <= '9' || name[n] == '-')) {
		n++
	}
	if n == 0 {
		return "", false
	}
	if strings.Contains(htmlTags, " "+name[:n]+" ") && (n == len(name) || strings.ContainsAny(name[n:n+1], " \t/>")) {
		return "", true
	}
	return "", false
}
