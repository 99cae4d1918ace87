package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

const (
	maxNotes   = 200  // asides of one answer: more than anybody reads
	longestURL = 2000 // bytes
)

// notes are what has been told of what the server did of its own accord, and of
// what it refers to. Some servers tell all of it again in every chunk.
type notes struct {
	known            map[event.Aside]bool
	results, sources []byte // the newest lists, as they were sent
}

// A page is somewhere on the web.
type page struct{ Title, URL text }

// chunk yields what stands beside the choices: what was found, which has titles,
// and the addresses that are referred to.
func (n *notes) chunk(out []event.Stream, c *chunk) []event.Stream {
	var results []page
	if changed(&n.results, c.Results) && lenient(c.Results, &results) {
		for _, p := range results {
			out = n.source(out, p)
		}
	}
	var sources []string
	if changed(&n.sources, c.Citations) && lenient(c.Citations, &sources) {
		for _, address := range sources {
			out = n.source(out, page{URL: address})
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
	if lenient(d.Executed, &tools) {
		for i := range tools {
			out = n.tool(out, &tools[i])
		}
	}
	var annotations []struct {
		page
		Type     string
		Citation page `json:"url_citation"`
	}
	if lenient(d.Annotations, &annotations) {
		for _, a := range annotations {
			if a.Type == "url_citation" {
				out = n.source(n.source(out, a.Citation), a.page)
			}
		}
	}
	return out
}

// source yields a page that is referred to, if there is an address.
func (n *notes) source(out []event.Stream, p page) []event.Stream {
	if web(p.URL) == "" {
		return out
	}
	return n.note(out, event.AsideSource, p.Title, p.URL)
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
	lenient(json.RawMessage(arguments(t.Arguments)), &in)
	switch {
	case in.Query != "" && strings.Contains(t.Type+t.Name, "search"):
		return n.note(out, event.AsideSearch, in.Query, "")
	case in.Code != "":
		return n.note(out, event.AsideCode, in.Code, "")
	case web(in.URL) != "":
		return n.note(out, event.AsideRead, "", in.URL)
	}
	return n.note(out, event.AsideTool, cmp.Or(t.Name, t.Type), "")
}

// note yields an aside once, whatever is said about the same address later. An
// address that is none of the web is left out, and what is left without a name is
// called by its address. What comes from a provider may have been written by anybody.
func (n *notes) note(out []event.Stream, kind, text, address string) []event.Stream {
	a := event.Aside{Kind: kind, Text: wire.Visible(text), URL: web(address)}
	a.Text = cmp.Or(a.Text, a.URL)
	key := a
	if a.URL != "" {
		key.Text = ""
	}
	if a.Text == "" || n.known[key] || len(n.known) == maxNotes {
		return out
	}
	if n.known == nil {
		n.known = map[event.Aside]bool{}
	}
	n.known[key] = true
	return append(out, a)
}

// web is an address that a browser may be sent to, else nothing.
func web(address string) string {
	hidden := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }
	if len(address) > longestURL || strings.ContainsFunc(address, hidden) {
		return ""
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return address
}

// lenient reads as much of raw as has the type that it should have.
func lenient(raw json.RawMessage, v any) bool {
	if len(raw) == 0 {
		return false
	}
	err := json.Unmarshal(raw, v)
	return err == nil || wire.Mistyped(err)
}
