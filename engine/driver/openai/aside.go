package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// notes are what stands beside an answer. Some servers tell all of it again in
// every chunk.
type notes struct {
	wire.Asides
	results, sources []byte // the newest lists, as they were sent
}

// A page is somewhere on the web.
type page struct{ Title, URL text }

// chunk yields what stands beside the choices: what was found, which has titles,
// and the addresses that are referred to.
func (n *notes) chunk(out []event.Stream, c *chunk) []event.Stream {
	var results []page
	if changed(&n.results, c.Results) && wire.Lenient(c.Results, &results) {
		for _, p := range results {
			out = n.Source(out, p.Title, p.URL)
		}
	}
	var sources []string
	if changed(&n.sources, c.Citations) && wire.Lenient(c.Citations, &sources) {
		for _, address := range sources {
			out = n.Source(out, "", address)
		}
	}
	return out
}

// changed reports whether now is a list other than the one before.
func changed(before *[]byte, now json.RawMessage) bool {
	if len(now) == 0 || bytes.Equal(*before, now) {
		return false
	}
	*before = now
	return true
}

// delta yields what stands beside a text.
func (n *notes) delta(out []event.Stream, d *delta) []event.Stream {
	var tools []tooled
	if wire.Lenient(d.Executed, &tools) {
		for i := range tools {
			out = n.tool(out, &tools[i])
		}
	}
	var annotations []struct {
		page
		Type     string
		Citation page `json:"url_citation"`
	}
	if wire.Lenient(d.Annotations, &annotations) {
		for _, a := range annotations {
			if a.Type == "url_citation" {
				out = n.Source(n.Source(out, a.Citation.Title, a.Citation.URL), a.Title, a.URL)
			}
		}
	}
	return out
}

// A tooled is one use of a tool that the server has itself.
type tooled struct {
	Type      string
	Name      string
	Arguments json.RawMessage
}

// tool yields what the server did with a tool, where its input is known to say
// that, else that it used it.
func (n *notes) tool(out []event.Stream, t *tooled) []event.Stream {
	var in struct{ Query, Code, URL string }
	wire.Lenient(json.RawMessage(arguments(t.Arguments)), &in)
	switch {
	case in.Query != "" && strings.Contains(t.Type+t.Name, "search"):
		return n.Note(out, event.AsideSearch, in.Query, "")
	case in.Code != "":
		return n.Note(out, event.AsideCode, in.Code, "")
	case wire.Web(in.URL) != "":
		return n.Note(out, event.AsideRead, "", in.URL)
	}
	return n.Note(out, event.AsideTool, cmp.Or(t.Name, t.Type), "")
}
