package gemini

import (
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
// what it refers to: many chunks tell the same again.
type notes struct{ known map[event.Aside]bool }

// grounds are what an answer stands on.
type grounds struct {
	Searches  []string                                       `json:"webSearchQueries"`
	Images    []string                                       `json:"imageSearchQueries"`
	Retrieved []string                                       `json:"retrievalQueries"`
	Chunks    []struct{ Web, RetrievedContext, Maps source } `json:"groundingChunks"`
}

// A source is a page, or a passage of a document that may have no name.
type source struct{ URI, Title, Text string }

// candidate yields what stands beside an answer.
func (n *notes) candidate(out []event.Stream, c *candidate) []event.Stream {
	out = n.pages(out, c.Pages)
	out = n.grounds(out, c.Grounds)
	return n.citations(out, c.Citations)
}

func (n *notes) grounds(out []event.Stream, raw json.RawMessage) []event.Stream {
	var g grounds
	if !lenient(raw, &g) {
		return out
	}
	for _, searches := range [][]string{g.Searches, g.Images, g.Retrieved} {
		for _, s := range searches {
			out = n.note(out, event.AsideSearch, s, "")
		}
	}
	for _, c := range g.Chunks {
		for _, s := range []source{c.Web, c.RetrievedContext, c.Maps} {
			out = n.note(out, event.AsideSource, cmp.Or(s.Title, s.Text), s.URI)
		}
	}
	return out
}

// pages yields the pages that were read, not those that could not be.
func (n *notes) pages(out []event.Stream, raw json.RawMessage) []event.Stream {
	var read struct {
		Pages []struct {
			URL    string `json:"retrievedUrl"`
			Status string `json:"urlRetrievalStatus"`
		} `json:"urlMetadata"`
	}
	if !lenient(raw, &read) {
		return out
	}
	for _, p := range read.Pages {
		if p.Status == "" || strings.HasSuffix(p.Status, "_SUCCESS") {
			out = n.note(out, event.AsideRead, "", p.URL)
		}
	}
	return out
}

// citations yields what the answer quotes. The list has two names.
func (n *notes) citations(out []event.Stream, raw json.RawMessage) []event.Stream {
	var quoted struct{ CitationSources, Citations []source }
	if !lenient(raw, &quoted) {
		return out
	}
	for _, sources := range [][]source{quoted.CitationSources, quoted.Citations} {
		for _, s := range sources {
			out = n.note(out, event.AsideSource, s.Title, s.URI)
		}
	}
	return out
}

// part yields what a part tells of the server's own tools.
func (n *notes) part(out []event.Stream, p *part) []event.Stream {
	switch {
	case p.Code != nil:
		return n.note(out, event.AsideCode, p.Code.Code, "")
	case p.Result != nil && strings.TrimSpace(p.Result.Output) != "":
		return n.note(out, event.AsideCode, "→ "+p.Result.Output, "")
	case p.Tool != nil:
		return n.note(out, event.AsideTool, strings.ReplaceAll(strings.ToLower(p.Tool.Type), "_", " "), "")
	}
	return out
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
