package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A decoder makes stream events of one answer.
type decoder struct {
	call  wire.Call
	model string // that was asked for

	chunk chunk // the one that is being decoded
	id    string
	said  bool // something
	calls int
	ids   wire.Names
}

func newDecoder(c wire.Call, model string) *decoder {
	return &decoder{call: c, model: model, ids: wire.Names{}}
}

// A chunk is a line as it is sent, as far as it is of use. The last one is done,
// says why and counts.
type chunk struct {
	Model      string
	Message    said
	Done       bool
	DoneReason string `json:"done_reason"`
	Prompt     *int64 `json:"prompt_eval_count"`
	Answer     *int64 `json:"eval_count"`
	Error      json.RawMessage
}

type said struct {
	Content   string
	Thinking  string
	ToolCalls []toolCall `json:"tool_calls"`
}

// A toolCall is a whole one.
type toolCall struct {
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage
	}
}

func (d *decoder) Decode(out []event.Stream, f wire.Frame) ([]event.Stream, error) {
	d.chunk = chunk{}
	if !d.chunk.scan(f.Data, d.id != "") {
		d.chunk = chunk{}
		if err := json.Unmarshal(f.Data, &d.chunk); err != nil && !wire.Mistyped(err) {
			return out, err
		}
	}
	c := &d.chunk
	if len(c.Error) > 0 && string(c.Error) != "null" {
		p, _ := wire.ParseProblem(f.Data)
		return out, wire.Told(d.call.FaultFrom(0, p))
	}
	if d.calls += len(c.Message.ToolCalls); d.calls > wire.MaxCalls {
		return out, wire.TooManyCalls()
	}
	before := len(out)
	out = d.say(out, &c.Message)
	switch {
	case c.Done && d.onlyLoaded():
		return out, wire.Told(&engine.Fault{Code: event.CodeOverloaded, Message: d.call.Provider + " has loaded the model and not answered", Retryable: true})
	case c.Done:
		return d.stop(out), nil
	case len(out) == before:
		return out, wire.ErrPing
	}
	return out, nil
}

// End has nothing to say: only the server can say that the message is whole.
func (d *decoder) End(out []event.Stream) []event.Stream { return out }

// Count has nothing to say: what an answer took is counted with its stop.
func (d *decoder) Count(out []event.Stream) []event.Stream { return out }

func (d *decoder) say(out []event.Stream, s *said) []event.Stream {
	if s.Thinking == "" && s.Content == "" && len(s.ToolCalls) == 0 {
		return out
	}
	out = d.begin(out)
	d.said = true
	if s.Thinking != "" {
		out = append(out, event.ThinkingDelta{Text: s.Thinking})
	}
	if s.Content != "" {
		out = append(out, event.TextDelta{Text: s.Content})
	}
	for i := range s.ToolCalls {
		out = d.use(out, &s.ToolCalls[i])
	}
	return out
}

func (d *decoder) begin(out []event.Stream) []event.Stream {
	if d.id != "" {
		return out
	}
	d.id = wire.MessageID("") // the server has none
	model := d.chunk.Model
	if model == "" {
		model = d.model
	}
	return append(out, event.MessageStart{MessageID: d.id, Model: model})
}

// use is a call. Servers before 0.12 give it no id: then it is called by its
// place in the message.
func (d *decoder) use(out []event.Stream, t *toolCall) []event.Stream {
	id := t.ID
	if id == "" {
		id = fmt.Sprintf("call_%s_%d", d.id, len(d.ids)+1)
	}
	id = d.ids.Unique(id)
	out = append(out, event.ToolUseStart{ToolCallID: id, ToolName: t.Function.Name})
	if input := arguments(t.Function.Arguments); input != "" {
		out = append(out, event.InputJSONDelta{PartialJSON: input, ToolCallID: id})
	}
	return append(out, event.ToolUseStop{ToolCallID: id})
}

// arguments are JSON. Some servers send it in a string.
func arguments(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case raw[0] != '"':
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it was JSON
	return s
}

// onlyLoaded reports whether the answer is that there will be one: the model is
// in memory now, or has just left it.
func (d *decoder) onlyLoaded() bool {
	return !d.said && (d.chunk.DoneReason == "load" || d.chunk.DoneReason == "unload")
}

// stop counts and ends the message.
func (d *decoder) stop(out []event.Stream) []event.Stream {
	out = d.begin(out)
	prompt, ok1 := wire.Tokens(d.chunk.Prompt)
	answer, ok2 := wire.Tokens(d.chunk.Answer)
	if ok1 && ok2 && prompt+answer > 0 {
		out = append(out, event.MessageDelta{Usage: event.Usage{InputTokens: prompt, OutputTokens: answer}})
	}
	return append(out, event.MessageStop{StopReason: d.reason()})
}

// reason maps what the server says, which old ones do not, and which is stop
// also where it means a tool.
func (d *decoder) reason() event.StopReason {
	switch reason := d.chunk.DoneReason; {
	case reason == "length":
		return event.MaxTokens
	case d.calls > 0:
		return event.ToolUse
	case reason == "stop", reason == "":
		return event.EndTurn
	}
	return event.StopOther
}
