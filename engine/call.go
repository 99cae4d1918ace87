package engine

import (
	"encoding/json"
	"fmt"

	"agentx/engine/event"
)

// A call is a tool call whose input is being written.
type call struct {
	id, name string
	input    text
}

// calls are the calls that are open. They may interleave: a piece goes to the
// call that it names, and without a name to the one that was opened last.
type calls struct{ list[call] }

func named(id string) func(call) bool {
	return func(c call) bool { return id == "" || c.id == id }
}

func (c calls) open(in event.ToolUseStart) calls {
	return calls{c.push(call{id: in.ToolCallID, name: in.ToolName})}
}

func (c calls) write(in event.InputJSONDelta) calls {
	return calls{c.change(named(in.ToolCallID), func(c call) (call, bool) {
		c.input = c.input.add(in.PartialJSON)
		return c, true
	})}
}

// close takes the call that in ends out of those that are open.
func (c calls) close(in event.ToolUseStop) (call, calls, bool) {
	closed, ok := c.find(named(in.ToolCallID))
	if !ok {
		return call{}, c, false
	}
	return closed, calls{c.change(named(in.ToolCallID), func(c call) (call, bool) { return c, false })}, true
}

// A made call is one whose input is complete: of which message, and of what tool.
type made struct{ message, id, tool string }

// waiting are the calls that have been made and have no result yet.
type waiting struct{ list[made] }

func (w waiting) add(c made) waiting { return waiting{w.push(c)} }

// take takes out the call that a result names. One that was never made is taken
// for a call of message to a tool that nobody knows.
func (w waiting) take(id, message string) (made, waiting) {
	meant := func(c made) bool { return c.id == id }
	c, ok := w.find(meant)
	if !ok {
		return made{message, id, "unknown"}, w
	}
	return c, waiting{w.change(meant, func(c made) (made, bool) { return c, false })}
}

// Limits of a tool's input.
const (
	maxInput = 1 << 20 // bytes
	maxDepth = 64      // of nested values
)

// whole is the call with its input. What was streamed wins over fallback; a
// call without any has no arguments. Input that is not JSON is never silently
// empty: the call says what is wrong, and keeps what was written.
func (c call) whole(fallback json.RawMessage) event.ToolCall {
	raw := c.input.String()
	if raw == "" {
		raw = string(fallback)
	}
	if raw == "" {
		raw = "{}"
	}
	t := event.ToolCall{ID: c.id, Name: c.name, Input: json.RawMessage(raw)}
	if err := checkInput(raw); err != nil {
		t.Input, t.InputError, t.Raw = json.RawMessage("{}"), err.Error(), raw
		if len(raw) > maxInput {
			t.Raw = raw[:maxInput]
		}
	}
	return t
}

func checkInput(raw string) error {
	if len(raw) > maxInput {
		return fmt.Errorf("the input has %d bytes, more than the %d that are allowed", len(raw), maxInput)
	}
	if event.Depth(raw) > maxDepth {
		return fmt.Errorf("the input is nested more than %d deep", maxDepth)
	}
	var v json.RawMessage
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		return fmt.Errorf("the input is not JSON: %w", err)
	}
	return nil
}
