package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// redacted marks a signature as the data of a thought that nobody may read. It
// goes back as it came.
const redacted = "redacted_thinking:"

// A decoder makes stream events of one answer.
type decoder struct {
	call  wire.Call
	model string // that was asked for

	frame  frame // the one that is being decoded
	id     string
	begun  bool
	spoke  bool // text has come
	called bool // a tool has been called
	blocks map[int]*block
	ids    wire.Names
	asides wire.Asides
	usage  event.Usage // so far
	lost   bool        // count of tokens, for it made no sense
	tier   string      // of service
	stop   string
	reason event.MessageStop
	excuse string // the provider's words about a refusal
}

// A block is a piece of content between its start and its stop.
type block struct {
	tool    string // id of the call; empty for what nobody here does
	deed    *deed  // what the provider does
	input   json.RawMessage
	written bool // pieces of the input have come
}

func newDecoder(call wire.Call, model string) *decoder {
	return &decoder{call: call, model: model, blocks: map[int]*block{}, ids: wire.Names{}}
}

// A frame is an event as it is sent, as far as it is of use.
type frame struct {
	Type    string
	Index   int
	Message struct {
		ID    string
		Model string
		Usage *usage
	}
	Block struct {
		Type      string
		Text      string
		Thinking  string
		Signature string
		Data      string
		ID        string
		Name      string
		Server    string `json:"server_name"`
		Input     json.RawMessage
	} `json:"content_block"`
	Delta struct {
		Type         string
		Text         string
		Thinking     string
		Signature    string
		Citation     citation
		PartialJSON  string  `json:"partial_json"`
		StopReason   string  `json:"stop_reason"`
		StopSequence string  `json:"stop_sequence"`
		StopDetails  *excuse `json:"stop_details"`
	}
	Usage *usage
}

type excuse struct{ Explanation string }

type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Written    struct {
		Hour *int64 `json:"ephemeral_1h_input_tokens"` // of the written, what stays for an hour and not for five minutes
	} `json:"cache_creation"`
	Tier    string `json:"service_tier"`
	Details struct {
		Thinking *int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (d *decoder) Decode(out []event.Stream, f wire.Frame) ([]event.Stream, error) {
	if !d.frame.scan(f.Data) {
		d.frame = frame{}
		if err := json.Unmarshal(f.Data, &d.frame); err != nil && !wire.Mistyped(err) {
			return out, err
		}
	}
	kind := d.frame.Type
	if kind == "" {
		kind = string(f.Name)
	}
	switch kind {
	case "content_block_delta":
		return d.delta(d.begin(out)), nil
	case "content_block_start":
		if len(d.ids) >= wire.MaxCalls || len(d.blocks) >= wire.MaxCalls {
			return out, wire.TooManyCalls()
		}
		return d.open(d.begin(out)), nil
	case "content_block_stop":
		return d.close(out, d.frame.Index), nil
	case "message_start":
		return d.start(out), nil
	case "message_delta":
		out = d.begin(out)
		d.change()
		return out, nil
	case "message_stop":
		return d.finish(d.begin(out)), nil
	case "ping":
		return out, wire.ErrPing
	case "error":
		p, _ := wire.ParseProblem(f.Data)
		return out, wire.Told(d.call.FaultFrom(0, p))
	}
	return out, nil
}

// End has nothing to say: only the provider can say that the message is whole.
func (d *decoder) End(out []event.Stream) []event.Stream { return out }

// start begins the message. Gateways have been seen to send it twice, and to
// splice another answer behind a broken one: that is a message of its own.
func (d *decoder) start(out []event.Stream) []event.Stream {
	m := d.frame.Message
	if d.begun && (m.ID == d.id || !d.spoke && !d.called) {
		return out
	}
	out = d.Count(out)
	d.begun, d.id = true, m.ID
	d.spoke, d.called = false, false
	d.usage, d.lost, d.tier = event.Usage{}, false, ""
	clear(d.blocks)
	d.asides = wire.Asides{}
	if m.Model == "" {
		m.Model = d.model
	}
	d.tally(m.Usage)
	return append(out, event.MessageStart{MessageID: wire.MessageID(m.ID), Model: m.Model})
}

// begin stands in for a start that did not come.
func (d *decoder) begin(out []event.Stream) []event.Stream {
	if d.begun {
		return out
	}
	d.begun = true
	return append(out, event.MessageStart{MessageID: wire.MessageID(""), Model: d.model})
}

func (d *decoder) open(out []event.Stream) []event.Stream {
	out = d.close(out, d.frame.Index)
	b := d.frame.Block
	switch b.Type {
	case "text":
		return d.text(out, b.Text)
	case "thinking":
		return think(out, b.Thinking, b.Signature)
	case "redacted_thinking":
		return think(out, "", redacted+b.Data)
	case "tool_use":
		id := d.ids.Unique(b.ID)
		d.called = true
		d.blocks[d.frame.Index] = &block{tool: id, input: given(b.Input)}
		return append(out, event.ToolUseStart{ToolCallID: id, ToolName: b.Name})
	case "server_tool_use", "mcp_tool_use":
		d.blocks[d.frame.Index] = &block{deed: &deed{name: b.Name, server: b.Server}, input: given(b.Input)}
		return out
	}
	d.blocks[d.frame.Index] = &block{} // what a tool of the server's found, or from the future
	return out
}

// given is the input that came with the start of a call, if that has any.
func given(input json.RawMessage) json.RawMessage {
	if s := string(input); s == "" || s == "{}" || s == "null" {
		return nil
	}
	return bytes.Clone(input)
}

func (d *decoder) delta(out []event.Stream) []event.Stream {
	b := d.blocks[d.frame.Index]
	switch delta := &d.frame.Delta; delta.Type {
	case "text_delta":
		if b == nil {
			return d.text(out, delta.Text)
		}
	case "thinking_delta":
		return think(out, delta.Thinking, "")
	case "signature_delta":
		return think(out, "", delta.Signature)
	case "input_json_delta":
		return b.write(out, delta.PartialJSON)
	case "citations_delta":
		return delta.Citation.told(out, &d.asides)
	}
	return out
}

// write takes over a piece of an input.
func (b *block) write(out []event.Stream, piece string) []event.Stream {
	if b == nil || piece == "" {
		return out
	}
	b.written = true
	switch {
	case b.tool != "":
		return append(out, event.InputJSONDelta{PartialJSON: piece, ToolCallID: b.tool})
	case b.deed != nil:
		b.deed.write(piece)
	}
	return out
}

func (d *decoder) text(out []event.Stream, s string) []event.Stream {
	if s == "" {
		return out
	}
	d.spoke = true
	return append(out, event.TextDelta{Text: s})
}

func think(out []event.Stream, s, signature string) []event.Stream {
	if s == "" && signature == "" {
		return out
	}
	return append(out, event.ThinkingDelta{Text: s, Signature: signature})
}

// close ends a block. A call that wrote no input has what it was opened with.
func (d *decoder) close(out []event.Stream, index int) []event.Stream {
	b := d.blocks[index]
	if b == nil {
		return out
	}
	delete(d.blocks, index)
	if b.written {
		b.input = nil
	}
	switch {
	case b.deed != nil:
		b.deed.write(string(b.input))
		return b.deed.done(out, &d.asides)
	case b.tool == "":
		return out
	}
	return append(out, event.ToolUseStop{ToolCallID: b.tool, Input: b.input})
}

// change notes why the message will stop, and what it took.
func (d *decoder) change() {
	delta := &d.frame.Delta
	if delta.StopReason != "" {
		d.stop = delta.StopReason
		d.reason = event.MessageStop{StopReason: stopReason(delta.StopReason), StopSequence: delta.StopSequence}
	}
	if delta.StopDetails != nil {
		d.excuse = delta.StopDetails.Explanation
	}
	d.tally(d.frame.Usage)
}

// tally takes over a count: the provider repeats totals, and leaves out what
// has not changed. Where it counts what cannot be, nobody knows what it took.
func (d *decoder) tally(u *usage) {
	if u == nil || d.lost {
		return
	}
	d.tier = cmp.Or(u.Tier, d.tier)
	now := &d.usage
	d.lost = !(take(&now.InputTokens, u.Input) && take(&now.OutputTokens, u.Output) && take(&now.ReasoningTokens, u.Details.Thinking) &&
		take(&now.CacheReadTokens, u.CacheRead) && take(&now.CacheWriteTokens, u.CacheWrite) && take(&now.CacheWrite1hTokens, u.Written.Hour))
	now.CacheWrite1hTokens = min(now.CacheWrite1hTokens, now.CacheWriteTokens)
}

// Count yields the total, once: it has been seen to become less.
func (d *decoder) Count(out []event.Stream) []event.Stream {
	u := d.usage
	d.usage = event.Usage{}
	if d.lost || u == (event.Usage{}) {
		return out
	}
	return append(out, event.MessageDelta{Usage: wire.Served(u, d.tier)})
}

// take sets count to n, if there is one, and reports whether n can be a number
// of tokens.
func take(count, n *int64) (ok bool) {
	if n == nil {
		return true
	}
	*count, ok = wire.Tokens(n)
	return ok
}

func (d *decoder) finish(out []event.Stream) []event.Stream {
	for _, index := range slices.Sorted(maps.Keys(d.blocks)) {
		out = d.close(out, index)
	}
	stop := d.reason
	switch {
	case d.called && (d.stop == "" || stop.StopReason == event.EndTurn):
		stop.StopReason = event.ToolUse
	case d.stop == "":
		stop.StopReason = event.EndTurn
	case stop.StopReason == event.Refusal && !d.spoke:
		out = d.text(out, d.excuse)
	}
	return append(d.Count(out), stop)
}

func stopReason(s string) event.StopReason {
	switch s {
	case "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal":
		return event.StopReason(s)
	case "model_context_window_exceeded":
		return event.MaxTokens
	}
	return event.StopOther
}
