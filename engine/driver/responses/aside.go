package responses

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

const (
	maxAsides = 200  // of one answer
	maxURL    = 2000 // bytes
)

// asides are those that an answer has had. Each is told once: it comes with its
// item, and once more with the end.
type asides map[event.Aside]bool

// note appends an aside that says something.
func (had asides) note(out []event.Stream, kind, text, address string) []event.Stream {
	a := event.Aside{Kind: kind, Text: wire.Visible(text), URL: link(address)}
	if a.Text == "" && a.URL == "" || had[a] || len(had) >= maxAsides {
		return out
	}
	had[a] = true
	return append(out, a)
}

// link is an address of the web, or nothing.
func link(s string) string {
	strange := func(r rune) bool { return r == ' ' || r == utf8.RuneError || !unicode.IsPrint(r) }
	if len(s) > maxURL || strings.ContainsFunc(s, strange) {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return s
}

// An action is what a tool of the server's did, exactly.
type action struct {
	Type     string
	Query    string
	Queries  []string
	URL      string
	Pattern  string
	Command  []string
	Commands []string
}

// deed appends what the server did by itself. An item that says no more than
// its type says that it is not done.
func (had asides) deed(out []event.Stream, s *sent) []event.Stream {
	name, tool := strings.CutSuffix(s.Type, "_call")
	a := &s.Action
	switch s.Type {
	case "web_search_call":
		return had.browse(out, a)
	case "file_search_call":
		return had.search(out, s.Queries)
	case "code_interpreter_call", "program":
		return had.note(out, event.AsideCode, s.Code, "")
	case "shell_call", "local_shell_call":
		return had.note(out, event.AsideCode, cmp.Or(strings.Join(a.Commands, "; "), strings.Join(a.Command, " ")), "")
	case "mcp_call":
		if s.Name != "" && s.Server != "" {
			return had.note(out, event.AsideTool, s.Server+": "+s.Name, "")
		}
		return had.note(out, event.AsideTool, s.Name, "")
	case "custom_tool_call":
		return had.note(out, event.AsideTool, s.Name, "")
	case "computer_call":
		return had.note(out, event.AsideTool, strings.TrimSpace(name+" "+a.Type), "")
	}
	if tool {
		return had.note(out, event.AsideTool, name, "")
	}
	return out
}

// browse appends what a search of the web did: it searches, opens pages, and
// looks for something in them. There are servers that do not say for what.
func (had asides) browse(out []event.Stream, a *action) []event.Stream {
	switch {
	case link(a.URL) != "":
		return had.note(out, event.AsideRead, a.Pattern, a.URL)
	case a.Query != "":
		return had.note(out, event.AsideSearch, a.Query, "")
	case len(a.Queries) > 0:
		return had.search(out, a.Queries)
	case a.Type != "":
		return had.note(out, event.AsideTool, "web_search", "")
	}
	return out
}

func (had asides) search(out []event.Stream, queries []string) []event.Stream {
	for _, q := range queries {
		out = had.note(out, event.AsideSearch, q, "")
	}
	return out
}

// An annotation is what a text refers to.
type annotation struct {
	Type     string
	Title    string
	URL      string
	Filename string
}

func (had asides) cite(out []event.Stream, all ...annotation) []event.Stream {
	for _, a := range all {
		switch a.Type {
		case "url_citation":
			out = had.note(out, event.AsideSource, a.Title, a.URL)
		case "file_citation", "container_file_citation":
			out = had.note(out, event.AsideSource, a.Filename, "")
		}
	}
	return out
}
