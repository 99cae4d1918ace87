package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"agentx/engine/event"
)

// A call is a tool call that is being written.
type call struct {
	index *int
	id    string // the provider's
	name  string

	given   string // id of ours, once the call is open
	pending []byte // input that came before the name
	written int    // bytes of input
}

// write adds a piece to the call that it belongs to, and opens calls as soon as
// their names are known.
func (d *decoder) write(out []event.Stream, t *toolCall) []event.Stream {
	return d.piece(out, t, arguments(t.Function.Arguments))
}

func (d *decoder) piece(out []event.Stream, t *toolCall, input string) []event.Stream {
	c := d.find(t)
	if c == nil {
		c = &call{index: t.Index, id: t.ID}
		d.calls = append(d.calls, c)
	}
	if c.id == "" {
		c.id = t.ID
	}
	if c.name == "" && t.Function.Name != "" {
		c.name = t.Function.Name
		out = d.open(out, c)
	}
	if input == "" {
		return out
	}
	c.written += len(input)
	if c.given == "" {
		c.pending = append(c.pending, input...)
		return out
	}
	return append(out, event.InputJSONDelta{PartialJSON: input, ToolCallID: c.given})
}

// find returns the call that t goes on with, or nil where t begins one. Some
// servers give no index, some no id, some the same index to all.
func (d *decoder) find(t *toolCall) *call {
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := d.calls[i]
		sameID := t.ID == "" || c.id == "" || t.ID == c.id || t.Function.Name == ""
		switch {
		case t.Index != nil && c.index != nil:
			if *t.Index == *c.index && sameID {
				return c
			}
		case t.ID != "":
			if t.ID == c.id {
				return c
			}
		case t.Function.Name == "" || t.Function.Name == c.name && c.written == 0:
			return c // the newest
		default:
			return nil
		}
	}
	return nil
}

func (d *decoder) open(out []event.Stream, c *call) []event.Stream {
	id := c.id
	if id == "" {
		id = fmt.Sprintf("call_%s_%d", d.id, len(d.calls))
	}
	c.given = d.ids.Unique(id)
	out = append(out, event.ToolUseStart{ToolCallID: c.given, ToolName: c.name})
	if len(c.pending) > 0 {
		out = append(out, event.InputJSONDelta{PartialJSON: string(c.pending), ToolCallID: c.given})
		c.pending = nil
	}
	return out
}

// arguments are a piece of JSON in a string. Some servers send the JSON itself.
func arguments(raw json.RawMessage) string {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] == '"':
		return str(raw)
	}
	return string(bytes.TrimSpace(raw))
}
