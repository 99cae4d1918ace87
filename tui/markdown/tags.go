package markdown

import (
	"strings"

	"agentx/tui/text"
)

// tags are those of HTML that are open within a paragraph.
type tags struct {
	strong, emph, struck, code int
	script                     byte // ^ or _ for what stands above or below the line
	target                     string
	shown                      string // a tag that is, and so is its end
}

// tagNames are the tags that say how their text looks.
const tagNames = " a abbr b big br cite code del dfn em font i ins kbd mark s samp small span strike strong sub sup tt u var "

// hideTag drops an unfinished tag at the end, which will not be shown when it is
// finished.
func hideTag(s string) string {
	i := strings.LastIndexByte(s, '<')
	if i < 0 || strings.IndexByte(s[i:], '>') >= 0 || strings.Count(s, "`")%2 == 1 {
		return s
	}
	name := strings.ToLower(strings.TrimPrefix(s[i+1:], "/"))
	if strings.HasPrefix(name, "a href=") || strings.HasPrefix("a href=", name) || !strings.Contains(name, " ") && strings.Contains(tagNames, " "+name) {
		return s[:i]
	}
	return s
}

// tag takes a tag within prose. One that says no more than how its text looks
// is not shown itself; others may be what the text is about.
func (r *reader) tag(src string, w weight, url string) {
	name, step := tagName(src)
	t := &r.tags
	switch {
	case name != "a" && name != "br" && strings.Contains(src, "="):
		t.shown, name = name, "" // there is more in it
	case step < 0 && name == t.shown:
		t.shown, name = "", ""
	}
	switch name {
	case "br":
		r.add("\n", weight{}, "")
	case "b", "strong":
		t.strong = max(0, t.strong+step)
	case "i", "em", "cite", "var", "dfn":
		t.emph = max(0, t.emph+step)
	case "s", "del", "strike":
		t.struck = max(0, t.struck+step)
	case "code", "kbd", "samp", "tt":
		t.code = max(0, t.code+step)
	case "sup", "sub":
		t.script = 0
		if step > 0 {
			t.script = map[string]byte{"sup": '^', "sub": '_'}[name]
		}
	case "a":
		r.leave()
		if step > 0 {
			t.target = spelt(text.Line(unescape(attribute(src, "href"))))
		}
	case "u", "ins", "mark", "span", "small", "big", "font", "abbr":
	default:
		r.text(src, w, url)
	}
}

// leave ends a link, and says where it leads.
func (r *reader) leave() {
	if r.target != "" {
		r.add(" ("+shorten(r.target)+")", weight{kind: aside}, "")
	}
	r.target = ""
}

// dress is a text as the tags around it have it.
func (t tags) dress(s string, w weight, url string) (string, weight, string) {
	if w.kind == prose && t.target != "" {
		w.kind, url = link, reach(t.target)
	}
	if w.kind == prose && t.code > 0 {
		return s, weight{kind: code}, url
	}
	w.strong, w.emph, w.struck = w.strong || t.strong > 0, w.emph || t.emph > 0, w.struck || t.struck > 0
	if t.script != 0 && strings.TrimSpace(s) != "" {
		s = script(t.script, s)
	}
	return s, w, url
}

// tagName is the name of a tag, and 1 where it begins or -1 where it ends.
func tagName(src string) (string, int) {
	name, ends := strings.CutPrefix(strings.TrimPrefix(src, "<"), "/")
	if i := strings.IndexAny(name, " \t\n/>"); i >= 0 {
		name = name[:i]
	}
	if ends {
		return strings.ToLower(name), -1
	}
	return strings.ToLower(name), 1
}

// attribute is what a tag says of name, or nothing.
func attribute(tag, name string) string {
	i := strings.Index(strings.ToLower(tag), " "+name+"=")
	if i < 0 {
		return ""
	}
	value := tag[i+len(name)+2:]
	if value == "" {
		return ""
	}
	if q := value[0]; q == '"' || q == '\'' {
		value, _, _ = strings.Cut(value[1:], string(q))
		return value
	}
	return value[:strings.IndexAny(value+">", " \t\n>")]
}
