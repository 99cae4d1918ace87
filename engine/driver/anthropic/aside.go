package anthropic

import (
	"cmp"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

const maxDeed = 1 << 14 // bytes that are kept of the input of a tool of the server's

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
func (d *deed) done(out []event.Stream, had *wire.Asides) []event.Stream {
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
		return had.Note(out, event.AsideTool, d.server+": "+d.name, "")
	case d.name == "web_search" && wire.Visible(query) != "":
		return had.Note(out, event.AsideSearch, query, "")
	case d.name == "web_fetch" && wire.Web(address) != "":
		return had.Note(out, event.AsideRead, "", address)
	case strings.HasSuffix(d.name, "code_execution"):
		return had.Note(out, event.AsideCode, cmp.Or(code, strings.TrimSpace(command+" "+path), d.name), "")
	}
	return had.Note(out, event.AsideTool, d.name, "")
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

func (c *citation) told(out []event.Stream, had *wire.Asides) []event.Stream {
	switch c.Type {
	case "web_search_result_location":
		return had.Note(out, event.AsideSource, c.Title, c.URL)
	case "search_result_location":
		return had.Note(out, event.AsideSource, c.Title, c.Source)
	case "page_location", "char_location", "content_block_location":
		return had.Note(out, event.AsideSource, c.Document, "")
	}
	return out
}
