package anthropic

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
	maxAsides = 200     // of one message
	maxURL    = 2000    // bytes
	maxDeed   = 1 << 14 // bytes that are kept of the input of a tool of the server's
)

// asides are those that a message has had: each is told once.
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

// A deed is a tool that the provider uses by itself.
type deed struct {
	name   string
	server string // where it is not the provider's
	input  []byte
}

// write takes over a piece of the input.
func (d *deed) write(piece string) {
	d.input = append(d.input, piece[:min(len(piece), maxDeed-len(d.input))]...)
}

// done appends what was done. Of an input that is cut off counts what stands
// before the cut.
func (d *deed) done(out []event.Stream, had asides) []event.Stream {
	var query, address, code, command, path string
	s := wire.Scan(d.input)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "query":
			query = s.String()
		case "url":
			address = s.String()
		case "code":
			code = s.String()
		case "command":
			command = s.String()
		case "path":
			path = s.String()
		default:
			s.Skip()
		}
	}
	switch {
	case d.server != "":
		return had.note(out, event.AsideTool, d.server+": "+d.name, "")
	case d.name == "web_search" && wire.Visible(query) != "":
		return had.note(out, event.AsideSearch, query, "")
	case d.name == "web_fetch" && link(address) != "":
		return had.note(out, event.AsideRead, "", address)
	case strings.HasSuffix(d.name, "code_execution"):
		return had.note(out, event.AsideCode, cmp.Or(code, strings.TrimSpace(command+" "+path), d.name), "")
	}
	return had.note(out, event.AsideTool, d.name, "")
}

// A citation is what a text refers to: a page of the web, a result that a tool
// found, or a place in a document.
type citation struct {
	Type     string
	Title    string
	URL      string
	Source   string
	Document string `json:"document_title"`
}

func (c *citation) told(out []event.Stream, had asides) []event.Stream {
	switch c.Type {
	case "web_search_result_location":
		return had.note(out, event.AsideSource, c.Title, c.URL)
	case "search_result_location":
		return had.note(out, event.AsideSource, c.Title, c.Source)
	case "page_location", "char_location", "content_block_location":
		return had.note(out, event.AsideSource, c.Document, "")
	}
	return out
}
