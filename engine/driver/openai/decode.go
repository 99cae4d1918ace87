package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A decoder makes stream events of one answer. The count of tokens comes behind
// the reason to stop, so the stop is held back until the stream ends.
type decoder struct {
	call  wire.Call
	model string // that was asked for
	seal  string // of the server
	proof proof  // of what has been thought
	notes notes

	chunk   chunk // the one that is being decoded
	id      string
	begun   bool
	calls   []*call
	ids     wire.Names
	usage   event.Usage // the newest total
	tier    string      // of service
	finish  string
	refused bool
}

func newDecoder(c wire.Call, model, seal string) *decoder {
	return &decoder{call: c, model: model, seal: seal, ids: wire.Names{}}
}

// A chunk is an event as it is sent, as far as it is of use.
type chunk struct {
	ID      text
	Model   text
	Choices []choice
	Usage   *usage
	Groq    *struct{ Usage *usage } `json:"x_groq"`
	Tier    text                    `json:"service_tier"`
	Error   json.RawMessage

	Citations json.RawMessage
	Results   json.RawMessage `json:"search_results"`
}

type choice struct {
	Delta        delta
	Message      *delta // of servers that answer in one piece
	FinishReason text   `json:"finish_reason"`
}

// A delta has reasoning under the name that its server likes.
type delta struct {
	Content          json.RawMessage
	Reasoning        json.RawMessage
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	ReasoningDetails []detail        `json:"reasoning_details"`
	Refusal          text
	ToolCalls        []toolCall `json:"tool_calls"`
	Annotations      json.RawMessage
	Executed         json.RawMessage `json:"executed_tools"` // by the server
}

type toolCall struct {
	Index    *int
	ID       text
	Function struct {
		Name      text
		Arguments json.RawMessage
	}
}

// A text is a string whose bytes are valid until the next chunk.
type text = string

func (d *decoder) Decode(out []event.Stream, f wire.Frame) ([]event.Stream, error) {
	if string(f.Data) == "[DONE]" {
		return d.done(out), nil
	}
	if plain, ok := scan(f.Data); ok && d.begun {
		return d.plain(out, plain)
	}
	clear(d.chunk.Choices)
	d.chunk = chunk{Choices: d.chunk.Choices[:0]}
	if err := json.Unmarshal(f.Data, &d.chunk); err != nil && !wire.Mistyped(err) {
		return out, err
	}
	c := &d.chunk
	if len(c.Error) > 0 && string(c.Error) != "null" || string(f.Name) == "error" {
		p, _ := wire.ParseProblem(f.Data)
		return out, wire.Told(d.call.FaultFrom(0, p))
	}
	d.tier = cmp.Or(string(c.Tier), d.tier)
	d.total(c.Usage)
	if c.Groq != nil {
		d.total(c.Groq.Usage)
	}
	before := len(out)
	if !d.begun && len(c.Choices) > 0 {
		out = d.begin(out)
	}
	for i := range c.Choices {
		out = d.choice(out, &c.Choices[i])
	}
	if d.begun {
		out = d.notes.chunk(out, c)
	}
	if len(d.calls) > wire.MaxCalls {
		return out, wire.TooManyCalls()
	}
	if len(out) == before && c.Usage == nil && d.finish == "" {
		return out, wire.ErrPing
	}
	return out, nil
}

// done ends the message, also where the server never said why.
func (d *decoder) done(out []event.Stream) []event.Stream {
	if !d.begun {
		return out
	}
	if d.finish == "" {
		d.finish = "stop"
	}
	return d.stop(out)
}

// Concluded reports whether the server has said why the message stopped.
func (d *decoder) Concluded() bool { return d.finish != "" }

// End accepts a stream without its last line where the server had said why the
// message stopped.
func (d *decoder) End(out []event.Stream) []event.Stream {
	if d.finish == "" {
		return out
	}
	return d.stop(out)
}

func (d *decoder) begin(out []event.Stream) []event.Stream {
	d.begun = true
	d.id = wire.MessageID(d.chunk.ID)
	model := d.chunk.Model
	if model == "" {
		model = d.model
	}
	return append(out, event.MessageStart{MessageID: d.id, Model: model})
}

func (d *decoder) choice(out []event.Stream, c *choice) []event.Stream {
	out = d.delta(out, &c.Delta)
	if c.Message != nil {
		out = d.delta(out, c.Message)
	}
	if c.FinishReason != "" {
		d.finish = c.FinishReason
	}
	return out
}

func (d *decoder) delta(out []event.Stream, delta *delta) []event.Stream {
	for _, piece := range delta.ReasoningDetails {
		d.proof.take(piece)
	}
	if s := delta.reasoning(); s != "" {
		out = append(out, event.ThinkingDelta{Text: s})
	}
	out = content(out, delta.Content)
	if delta.Refusal != "" {
		d.refused = true
		out = append(out, event.TextDelta{Text: delta.Refusal})
	}
	for i := range delta.ToolCalls {
		out = d.write(out, &delta.ToolCalls[i])
	}
	return d.notes.delta(out, delta)
}

// reasoning is a thought in whatever spelling. A server that uses two says the
// same in both.
func (delta *delta) reasoning() string {
	if s := str(delta.ReasoningContent); s != "" {
		return s
	}
	if s := str(delta.Reasoning); s != "" {
		return s
	}
	s := ""
	for _, d := range delta.ReasoningDetails {
		s += d.Text + d.Summary
	}
	return s
}

// content appends what a delta says: a string, or a list of pieces, some of
// which are thoughts.
func content(out []event.Stream, raw json.RawMessage) []event.Stream {
	if len(raw) == 0 || raw[0] != '[' {
		if s := str(raw); s != "" {
			out = append(out, event.TextDelta{Text: s})
		}
		return out
	}
	var pieces []struct {
		Type     string
		Text     string
		Thinking json.RawMessage
	}
	if err := json.Unmarshal(raw, &pieces); err != nil && !wire.Mistyped(err) {
		return out
	}
	for _, p := range pieces {
		if p.Type == "thinking" {
			if s := thought(p.Thinking); s != "" {
				out = append(out, event.ThinkingDelta{Text: s})
			}
		} else if p.Text != "" {
			out = append(out, event.TextDelta{Text: p.Text})
		}
	}
	return out
}

func thought(raw json.RawMessage) string {
	if s := str(raw); s != "" {
		return s
	}
	var pieces []struct{ Text string }
	if err := json.Unmarshal(raw, &pieces); err != nil && !wire.Mistyped(err) {
		return ""
	}
	s := ""
	for _, p := range pieces {
		s += p.Text
	}
	return s
}

// str is raw if it is a JSON string, else nothing.
func str(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// stop proves the thoughts, closes the calls, counts, and ends the message.
func (d *decoder) stop(out []event.Stream) []event.Stream {
	if !d.begun {
		out = d.begin(out)
	}
	if s := d.proof.signature(d.seal); s != "" {
		out = append(out, event.ThinkingDelta{Signature: s})
	}
	for _, c := range d.calls {
		if c.given == "" {
			out = d.open(out, c)
		}
		out = append(out, event.ToolUseStop{ToolCallID: c.given})
	}
	return append(d.Count(out), event.MessageStop{StopReason: d.reason()})
}

// reason maps what the server says. Some say stop where they mean a tool.
func (d *decoder) reason() event.StopReason {
	switch strings.ToLower(d.finish) {
	case "stop", "end_turn", "eos":
		switch {
		case len(d.calls) > 0:
			return event.ToolUse
		case d.refused:
			return event.Refusal
		}
		return event.EndTurn
	case "tool_calls", "function_call", "tool_use":
		if len(d.calls) == 0 {
			return event.EndTurn
		}
		return event.ToolUse
	case "length", "max_tokens", "model_length":
		return event.MaxTokens
	case "content_filter":
		return event.ContentFilter
	case "refusal":
		return event.Refusal
	case "error":
		return event.StopError
	}
	if len(d.calls) > 0 {
		return event.ToolUse
	}
	return event.StopOther
}
