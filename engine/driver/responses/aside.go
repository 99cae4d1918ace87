package responses

import (
	"cmp"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// asides are what stands beside an answer: it comes with its item, and once more
// with the end.
type asides struct{ wire.Asides }

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
func (had *asides) deed(out []event.Stream, s *sent) []event.Stream {
	name, tool := strings.CutSuffix(s.Type, "_call")
	a := &s.Action
	switch s.Type {
	case "web_search_call":
		return had.browse(out, a)
	case "file_search_call":
		return had.Each(out, event.AsideSearch, s.Queries...)
	case "code_interpreter_call", "program":
		return had.Note(out, event.AsideCode, s.Code, "")
	case "shell_call", "local_shell_call":
		return had.Note(out, event.AsideCode, cmp.Or(strings.Join(a.Commands, "; "), strings.Join(a.Command, " ")), "")
	case "mcp_call":
		if s.Name != "" && s.Server != "" {
			return had.Note(out, event.AsideTool, s.Server+": "+s.Name, "")
		}
		return had.Note(out, event.AsideTool, s.Name, "")
	case "custom_tool_call":
		return had.Note(out, event.AsideTool, s.Name, "")
	case "computer_call":
		return had.Note(out, event.AsideTool, strings.TrimSpace(name+" "+a.Type), "")
	}
	if tool {
		return had.Note(out, event.AsideTool, name, "")
	}
	return out
}

// browse appends what a search of the web did: it searches, opens pages, and
// looks for something in them. There are servers that do not say for what.
func (had *asides) browse(out []event.Stream, a *action) []event.Stream {
	switch {
	case wire.Web(a.URL) != "":
		return had.Note(out, event.AsideRead, a.Pattern, a.URL)
	case a.Query != "":
		return had.Note(out, event.AsideSearch, a.Query, "")
	case len(a.Queries) > 0:
		return had.Each(out, event.AsideSearch, a.Queries...)
	case a.Type != "":
		return had.Note(out, event.AsideTool, "web_search", "")
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

func (had *asides) cite(out []event.Stream, all ...annotation) []event.Stream {
	for _, a := range all {
		switch a.Type {
		case "url_citation":
			out = had.Note(out, event.AsideSource, a.Title, a.URL)
		case "file_citation", "container_file_citation":
			out = had.Note(out, event.AsideSource, a.Filename, "")
		}
	}
	return out
}
