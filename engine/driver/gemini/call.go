package gemini

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"agentx/engine/event"
)

// A functionCall is a call as it is sent: nearly always whole. Where the server
// writes its input in pieces, the first has the name, and each says whether
// another follows.
type functionCall struct {
	ID           string
	Name         string
	Args         json.RawMessage
	PartialArgs  []argument
	WillContinue bool
}

// An argument is a piece of an input, and where in it that belongs.
type argument struct {
	Path   string          `json:"jsonPath"`
	String *string         `json:"stringValue"`
	Number json.RawMessage `json:"numberValue"`
	Bool   *bool           `json:"boolValue"`
}

// called opens a call, or goes on with the one that is being written.
func (d *decoder) called(out []event.Stream, c *functionCall, signature string) []event.Stream {
	if c.Name == "" && d.writes == nil && len(c.Args) == 0 && len(c.PartialArgs) == 0 {
		return out // the end of a call that has ended
	}
	if c.Name != "" || d.writes == nil {
		out = d.open(d.rest(out), c, signature)
	}
	w := d.writes
	if args := string(c.Args); args != "" && args != "null" {
		w.given = c.Args
	}
	for i := range c.PartialArgs {
		w.write(&c.PartialArgs[i])
	}
	if c.WillContinue {
		return out
	}
	return d.close(out)
}

// open begins a call. Its signature goes before it. One without an id is known
// by the answer's and its place there.
func (d *decoder) open(out []event.Stream, c *functionCall, signature string) []event.Stream {
	if signature != "" {
		out = append(out, event.ThinkingDelta{Signature: ofCall + signature})
	}
	d.calls++
	d.spoke = true
	id := c.ID
	if id == "" {
		id = fmt.Sprintf("call_%s_%d", d.id, d.calls)
	}
	d.writes = &writing{id: d.ids.Unique(id)}
	return append(out, event.ToolUseStart{ToolCallID: d.writes.id, ToolName: c.Name})
}

// close ends the call that is being written, if there is one. An input that
// could not be put together is told as it came, so that nobody takes it for one.
func (d *decoder) close(out []event.Stream) []event.Stream {
	w := d.writes
	if w == nil {
		return out
	}
	d.writes = nil
	if w.broken != "" {
		out = append(out, event.InputJSONDelta{PartialJSON: w.broken, ToolCallID: w.id})
	}
	return append(out, event.ToolUseStop{ToolCallID: w.id, Input: w.input()})
}

// A writing is a call whose input comes in pieces.
type writing struct {
	id     string
	given  json.RawMessage // the whole of it
	root   any             // what was put together
	size   int             // bytes of the pieces
	broken string          // the piece that has no place
}

const maxInput = 1 << 20 // bytes, of the pieces of an input

func (w *writing) input() json.RawMessage {
	switch {
	case w.broken != "":
		return nil
	case w.root == nil:
		return w.given
	}
	b, err := event.Marshal(w.root)
	if err != nil {
		return nil // of maps, lists and values that came as JSON there is none
	}
	return b
}

func (w *writing) write(a *argument) {
	if w.broken != "" {
		return
	}
	w.size += len(a.Path) + len(a.Number)
	if a.String != nil {
		w.size += len(*a.String)
	}
	steps, ok := steps(a.Path)
	if ok && w.size <= maxInput {
		w.root, ok = put(w.root, steps, a)
	}
	if !ok || w.size > maxInput {
		w.broken = "a piece at " + a.Path[:min(len(a.Path), 200)] + " has no place"
	}
}

// A step leads into an object by name, or into a list by index.
type step struct {
	name  string
	index int
	list  bool
}

const maxSteps = 64

// steps reads a path such as $.recipe.steps[0] or $['a b'].c.
func steps(path string) ([]step, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil, false
	}
	var all []step
	for rest != "" && len(all) <= maxSteps {
		s := step{}
		switch {
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			s.name, rest = rest[1:end], rest[end:]
		case strings.HasPrefix(rest, "['"), strings.HasPrefix(rest, `["`):
			name, behind, ok := strings.Cut(rest[2:], rest[1:2]+"]")
			if !ok {
				return nil, false
			}
			s.name, rest = name, behind
		default:
			number, behind, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]")
			n, err := strconv.Atoi(number)
			if !ok || err != nil || n < 0 || rest[0] != '[' {
				return nil, false
			}
			s.list, s.index, rest = true, n, behind
		}
		all = append(all, s)
	}
	return all, len(all) <= maxSteps
}

// put returns at with a piece in the place to which steps lead. A list grows by
// one at a time.
func put(at any, steps []step, a *argument) (any, bool) {
	if len(steps) == 0 {
		return a.value(at)
	}
	s, ok := steps[0], false
	if s.list {
		list, isList := at.([]any)
		if at != nil && !isList || s.index > len(list) {
			return at, false
		}
		if s.index == len(list) {
			list = append(list, nil)
		}
		list[s.index], ok = put(list[s.index], steps[1:], a)
		return list, ok
	}
	object, isObject := at.(map[string]any)
	if at != nil && !isObject {
		return at, false
	}
	if object == nil {
		object = map[string]any{}
	}
	object[s.name], ok = put(object[s.name], steps[1:], a)
	return object, ok
}

// value is what a piece says. A string goes on where one has begun.
func (a *argument) value(at any) (any, bool) {
	switch {
	case a.String != nil:
		growing, ok := at.(*grown)
		if !ok && at != nil {
			return at, false
		}
		if growing == nil {
			growing = &grown{}
		}
		growing.WriteString(*a.String)
		return growing, true
	case len(a.Number) > 0:
		return a.Number, true
	case a.Bool != nil:
		return *a.Bool, true
	}
	return at, at == nil // null
}

// A grown is a string that came in pieces.
type grown struct{ strings.Builder }

func (g *grown) MarshalJSON() ([]byte, error) { return event.Marshal(g.String()) }
