package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"agentx/engine/event"
)

// open takes over what is known of a call, and opens it as soon as that is its
// name. A call that ends is opened without.
func (d *decoder) open(out []event.Stream, it *item, s *sent) []event.Stream {
	it.callID = cmp.Or(it.callID, s.CallID)
	it.name = cmp.Or(it.name, s.Name)
	ends := s.Type == "" || it.done
	if it.given != "" || it.name == "" && !ends {
		return out
	}
	id := cmp.Or(it.callID, it.id, fmt.Sprintf("call_%d", len(d.calls)+1))
	d.calls[id] = true
	it.given = d.ids.Unique(id)
	out = append(out, event.ToolUseStart{ToolCallID: it.given, ToolName: it.name})
	if len(it.pending) > 0 {
		out = append(out, event.InputJSONDelta{PartialJSON: string(it.pending), ToolCallID: it.given})
		it.pending = nil
	}
	return out
}

// write adds a piece to the input of a call.
func (d *decoder) write(out []event.Stream, it *item, s string) []event.Stream {
	if s == "" || it.closed {
		return out
	}
	it.written = true
	if it.given == "" {
		it.pending = append(it.pending, s...)
		return out
	}
	return append(out, event.InputJSONDelta{PartialJSON: s, ToolCallID: it.given})
}

// complete takes over the whole input, where no piece came.
func (d *decoder) complete(out []event.Stream, it *item, s string) []event.Stream {
	if it.written {
		return out
	}
	return d.write(out, it, s)
}

// close ends a call that is open.
func (d *decoder) close(out []event.Stream, it *item) []event.Stream {
	if it.given == "" || it.closed {
		return out
	}
	it.closed = true
	return append(out, event.ToolUseStop{ToolCallID: it.given})
}

// arguments are JSON in a string. Some servers send the JSON itself.
func arguments(raw json.RawMessage) string {
	if !some(raw) {
		return ""
	}
	if raw[0] != '"' {
		return string(bytes.TrimSpace(raw))
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
