package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A decoder makes stream events of one answer. The count of tokens comes behind
// the reason to stop, so the stop is held back until the stream ends.
type decoder struct {
	call  wire.Call
	model string // that was asked for

	chunk   chunk // the one that is being decoded
	id      string
	begun   bool
	calls   []*call
	ids     wire.Names
	usage   event.Usage // the newest total
	finish  string
	refused bool
}

// A call is a tool call that is being written.
type call struct {
	index *int
	id    string // the provider's
	name  string

	given   string // id of ours, once the call is open
	pending []byte // input that came before the name
	written int    // bytes of input
}

func newDecoder(c wire.Call, model string) *decoder {
	return &decoder{call: c, model: model, ids: wire.Names{}}
}

// A chunk is an event as it is sent, as far as it is of use.
type chunk struct {
	ID      text
	Model   text
	Choices []choice
	Usage   *usage
	Groq    *struct{ Usage *usage } `json:"x_groq"`
	Error   json.RawMessage
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
}

type detail struct {
	Text    string
	Summary string
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

type usage struct {
	Prompt     *int64 `json:"prompt_tokens"`
	Completion *int64 `json:"completion_tokens"`
	Total      *int64 `json:"total_tokens"`
	Cached     *int64 `json:"cached_tokens"`
	CacheHit   *int64 `json:"prompt_cache_hit_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	In         struct {
		Cached *int64 `json:"cached_tokens"`
		Write  *int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Out struct {
		Reasoning *int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

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
	if len(d.calls) > wire.MaxCalls {
		return out, wire.TooManyCalls()
	}
	if len(out) == before && c.Usage == nil && d.finish == "" {
		return out, wire.Ping
	}
	return out, nil
}

// A plain chunk is of the kind that nearly all are: it says or thinks something,
// or goes on with the input of a call, and no more.
type plain struct {
	text, thought string

	index   int // of the call
	input   string
	writing bool
}

func (d *decoder) plain(out []event.Stream, p plain) ([]event.Stream, error) {
	before := len(out)
	if p.thought != "" {
		out = append(out, event.ThinkingDelta{Text: p.thought})
	}
	if p.text != "" {
		out = append(out, event.TextDelta{Text: p.text})
	}
	if p.writing {
		out = d.piece(out, &toolCall{Index: &p.index}, p.input)
	}
	if len(d.calls) > wire.MaxCalls {
		return out, wire.TooManyCalls()
	}
	if len(out) == before && d.finish == "" && !p.writing {
		return out, wire.Ping
	}
	return out, nil
}

// scan reads a plain chunk. Of any other it reports false.
func scan(data []byte) (p plain, ok bool) {
	s := wire.Scan(data)
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "choices":
			p.choices(&s)
		case "usage", "error", "x_groq":
			notNull(&s)
		case "id", "object", "created", "model", "service_tier", "system_fingerprint", "provider", "obfuscation", "p":
			s.Skip()
		default:
			return p, false
		}
	}
	return p, s.Done()
}

// notNull gives up where there is something.
func notNull(s *wire.Scanner) {
	if !s.Null() {
		s.Fail()
	}
}

func (p *plain) choices(s *wire.Scanner) {
	n := 0
	for ok := s.EnterList(); ok; ok = s.Item() {
		if n++; n > 1 {
			s.Fail()
		}
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			switch string(key) {
			case "delta":
				p.delta(s)
			case "finish_reason":
				notNull(s)
			case "index", "logprobs", "native_finish_reason", "seed", "token_ids", "content_filter_results":
				s.Skip()
			default:
				s.Fail()
			}
		}
	}
	if n == 0 {
		s.Fail()
	}
}

func (p *plain) delta(s *wire.Scanner) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		switch string(key) {
		case "content":
			if !s.Null() {
				p.text = s.String()
			}
		case "reasoning_content", "reasoning":
			if p.thought != "" {
				s.Skip() // the same again
			} else if !s.Null() {
				p.thought = s.String()
			}
		case "role", "token_id", "channel":
			s.Skip()
		case "tool_calls":
			if !s.Null() {
				p.calls(s)
			}
		case "refusal", "function_call":
			notNull(s)
		default:
			s.Fail()
		}
	}
}

// calls reads a list of one call that goes on: it has an index, no id and no
// name.
func (p *plain) calls(s *wire.Scanner) {
	indexed := false
	for ok := s.EnterList(); ok; ok = s.Item() {
		if p.writing {
			s.Fail()
		}
		p.writing = true
		for key, ok := s.Enter(); ok; key, ok = s.Field() {
			switch string(key) {
			case "index":
				p.index, indexed = s.Int(), true
			case "type":
				s.Skip()
			case "function":
				p.function(s)
			default:
				s.Fail()
			}
		}
	}
	if !indexed {
		s.Fail()
	}
}

func (p *plain) function(s *wire.Scanner) {
	for key, ok := s.Enter(); ok; key, ok = s.Field() {
		if string(key) != "arguments" {
			s.Fail()
			return
		}
		p.input = s.String()
	}
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
	return out
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

// total takes over a count of tokens. Of several the last is the sum.
func (d *decoder) total(u *usage) {
	if u == nil || u.Prompt == nil && u.Completion == nil {
		return
	}
	prompt, ok1 := tokens(u.Prompt)
	completion, ok2 := tokens(u.Completion)
	if !ok1 || !ok2 {
		d.usage = event.Usage{} // then nobody knows
		return
	}
	read := first(u.In.Cached, u.Cached, u.CacheHit)
	write := first(u.In.Write, u.CacheWrite)
	reasoning := first(u.Out.Reasoning)
	total, _ := tokens(u.Total)
	if reasoning > completion || total == prompt+completion+reasoning {
		completion += reasoning // counted apart
	}
	d.usage = event.Usage{
		InputTokens: max(0, prompt-read-write), OutputTokens: completion,
		CacheReadTokens: read, CacheWriteTokens: write, ReasoningTokens: reasoning,
	}
}

func first(all ...*int64) int64 {
	for _, n := range all {
		if v, ok := tokens(n); ok && v > 0 {
			return v
		}
	}
	return 0
}

// tokens is n if it can be a number of tokens.
func tokens(n *int64) (int64, bool) {
	if n == nil {
		return 0, true
	}
	return *n, *n >= 0 && *n <= 1_000_000_000
}

// Count yields the total, once: there are servers that count downwards.
func (d *decoder) Count(out []event.Stream) []event.Stream {
	u := d.usage
	d.usage = event.Usage{}
	if u == (event.Usage{}) {
		return out
	}
	return append(out, event.MessageDelta{Usage: u})
}

// stop closes the calls, counts, and ends the message.
func (d *decoder) stop(out []event.Stream) []event.Stream {
	if !d.begun {
		out = d.begin(out)
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
