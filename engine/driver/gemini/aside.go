package gemini

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// notes are what stands beside an answer: many chunks tell the same again.
type notes struct{ wire.Asides }

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
	if !wire.Lenient(raw, &g) {
		return out
	}
	for _, searches := range [][]string{g.Searches, g.Images, g.Retrieved} {
		out = n.Each(out, event.AsideSearch, searches...)
	}
	for _, c := range g.Chunks {
		for _, s := range []source{c.Web, c.RetrievedContext, c.Maps} {
			out = n.Note(out, event.AsideSource, cmp.Or(s.Title, s.Text), s.URI)
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
	if !wire.Lenient(raw, &read) {
		return out
	}
	for _, p := range read.Pages {
		if p.Status == "" || strings.HasSuffix(p.Status, "_SUCCESS") {
			out = n.Note(out, event.AsideRead, "", p.URL)
		}
	}
	return out
}

// citations yields what the answer quotes. The list has two names.
func (n *notes) citations(out []event.Stream, raw json.RawMessage) []event.Stream {
	var quoted struct{ CitationSources, Citations []source }
	if !wire.Lenient(raw, &quoted) {
		return out
	}
	for _, sources := range [][]source{quoted.CitationSources, quoted.Citations} {
		for _, s := range sources {
			out = n.Note(out, event.AsideSource, s.Title, s.URI)
		}
	}
	return out
}

// part yields what a part tells of the server's own tools.
func (n *notes) part(out []event.Stream, p *part) []event.Stream {
	switch {
	case p.Code != nil:
		return n.Note(out, event.AsideCode, p.Code.Code, "")
	case p.Result != nil && strings.TrimSpace(p.Result.Output) != "":
		return n.Note(out, event.AsideCode, "→ "+p.Result.Output, "")
	case p.Tool != nil:
		return n.Note(out, event.AsideTool, strings.ReplaceAll(strings.ToLower(p.Tool.Type), "_", " "), "")
	}
	return out
}
