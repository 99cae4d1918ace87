package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A decoder makes stream events of one answer. Some servers say in every chunk
// why they stop, so the stop is held back until the stream ends.
type decoder struct {
	call  wire.Call
	model string // that was asked for

	id     string // of the answer; it names calls that have no name
	begun  bool
	spoke  bool   // something has been said or called
	seal   string // signature of the text that is being said
	calls  int
	writes *writing // the call that is being written, piece by piece
	ids    wire.Names
	notes  notes
	usage  counts
	told   [5]int64 // what usage points to in a plain chunk
	finish string
	excuse string // the provider's words about the end
}

func newDecoder(c wire.Call, model string) *decoder {
	return &decoder{call: c, model: model, ids: wire.Names{}}
}

// A chunk is an event as it is sent, as far as it is of use.
type chunk struct {
	ID         string `json:"responseId"`
	Model      string `json:"modelVersion"`
	Candidates []candidate
	Feedback   struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
	Error json.RawMessage
}

type candidate struct {
	Index         int
	Content       struct{ Parts []part }
	FinishReason  string
	FinishMessage string

	Grounds   json.RawMessage `json:"groundingMetadata"`
	Pages     json.RawMessage `json:"urlContextMetadata"`
	Citations json.RawMessage `json:"citationMetadata"`
}

// A part has a text, a call or a picture, or tells of the server's own tools.
// What else there is, is for the server alone.
type part struct {
	Text      *string
	Thought   bool
	Signature string        `json:"thoughtSignature"`
	Call      *functionCall `json:"functionCall"`
	Inline    *struct {
		MediaType string `json:"mimeType"`
		Data      json.RawMessage
	} `json:"inlineData"`
	Code   *struct{ Code string }   `json:"executableCode"`
	Result *struct{ Output string } `json:"codeExecutionResult"`
	Tool   *struct {
		Type string `json:"toolType"`
	} `json:"toolCall"`
}

func (d *decoder) Decode(out []event.Stream, f wire.Frame) ([]event.Stream, error) {
	if string(f.Data) == "[DONE]" {
		return d.End(out), nil
	}
	if d.begun {
		if p, ok := d.scan(f.Data); ok {
			return d.plain(out, p)
		}
	}
	var c chunk
	err := json.Unmarshal(f.Data, &c)
	if err != nil && !wire.Mistyped(err) {
		return out, err
	}
	if err != nil || len(c.Error) > 0 || string(f.Name) == "error" {
		if p, ok := wire.ParseProblem(f.Data); ok || string(f.Name) == "error" {
			return out, wire.Told(d.call.FaultFrom(0, numbered(p, f.Data)))
		}
	}
	if c.Feedback.Reason != "" && len(c.Candidates) == 0 {
		return out, d.blocked(c.Feedback.Reason, c.Feedback.Message)
	}
	return d.chunk(out, &c)
}

func (d *decoder) chunk(out []event.Stream, c *chunk) ([]event.Stream, error) {
	before, writes := len(out), d.writes
	if len(c.Candidates) > 0 {
		out = d.begin(out, c)
	}
	d.usage.tally(c.Usage)
	for i := range c.Candidates {
		one := &c.Candidates[i]
		if one.Index != 0 {
			continue // another answer to the same question
		}
		for j := range one.Content.Parts {
			out = d.part(out, &one.Content.Parts[j])
			if d.calls > wire.MaxCalls {
				return out, wire.TooManyCalls()
			}
		}
		out = d.notes.candidate(out, one)
		if one.FinishReason != "" {
			d.finish, d.excuse = one.FinishReason, one.FinishMessage
		}
	}
	if err := d.failed(); err != nil {
		return out, err
	}
	if len(out) == before && d.finish == "" && writes == nil {
		return out, wire.ErrPing
	}
	return out, nil
}

func (d *decoder) begin(out []event.Stream, c *chunk) []event.Stream {
	if d.begun {
		return out
	}
	d.begun = true
	m := event.MessageStart{MessageID: wire.MessageID(c.ID), Model: c.Model}
	if m.Model == "" {
		m.Model = d.model
	}
	if d.id = c.ID; d.id == "" {
		d.id = m.MessageID
	}
	return append(out, m)
}

func (d *decoder) part(out []event.Stream, p *part) []event.Stream {
	switch {
	case p.Call != nil:
		return d.called(out, p.Call, p.Signature)
	case p.Thought:
		if p.Text != nil && *p.Text+p.Signature != "" {
			return append(d.rest(out), event.ThinkingDelta{Text: *p.Text, Signature: p.Signature})
		}
	case p.Text != nil:
		out = d.text(out, *p.Text)
		if p.Signature != "" {
			d.seal = p.Signature
		}
	case p.Inline != nil:
		return d.text(out, fmt.Sprintf("[%s of %d bytes, which cannot be shown here]", wire.Visible(p.Inline.MediaType), len(p.Inline.Data)*3/4))
	}
	return d.notes.part(out, p)
}

func (d *decoder) text(out []event.Stream, s string) []event.Stream {
	if s == "" {
		return out
	}
	d.spoke = true
	return append(d.close(out), event.TextDelta{Text: s})
}

// rest ends what is being said and what is being called. The seal of a text
// stands behind the whole of it: in its middle it would cut it in two.
func (d *decoder) rest(out []event.Stream) []event.Stream {
	out = d.close(out)
	if d.seal != "" {
		out = append(out, event.ThinkingDelta{Signature: ofText + d.seal})
		d.seal = ""
	}
	return out
}

// Concluded reports whether the server has said why the message stopped.
func (d *decoder) Concluded() bool { return d.finish != "" }

// End ends the message, if the server has said why.
func (d *decoder) End(out []event.Stream) []event.Stream {
	if d.finish == "" {
		return out
	}
	out = d.Count(d.rest(out))
	return append(out, event.MessageStop{StopReason: d.reason()})
}

// Count yields the total, once.
func (d *decoder) Count(out []event.Stream) []event.Stream {
	u := d.usage.event()
	d.usage = counts{}
	if u == (event.Usage{}) {
		return out
	}
	return append(out, event.MessageDelta{Usage: u})
}

// reason maps what the server says. It says stop where it means a tool.
func (d *decoder) reason() event.StopReason {
	switch d.finish {
	case "STOP", "FUNCTION_CALL":
		if d.calls > 0 {
			return event.ToolUse
		}
		return event.EndTurn
	case "MAX_TOKENS":
		return event.MaxTokens
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return event.ContentFilter
	}
	return event.StopOther
}

// failed is the fault of an answer that ended because the model wrote what
// nobody can use: mostly it writes something else when it is asked again. It is
// also that of an answer of which the filter has left nothing.
func (d *decoder) failed() error {
	again := true
	switch d.finish {
	case "":
		return nil
	case "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL":
	case "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		again = false
	default:
		if d.spoke || d.reason() != event.ContentFilter {
			return nil
		}
		return d.blocked(d.finish, d.excuse)
	}
	f := &engine.Fault{Code: event.CodeServer, Message: d.sentence("broke off its answer", d.finish, d.excuse), Retryable: again}
	return wire.Told(f)
}

// blocked is the fault of a question that gets no answer.
func (d *decoder) blocked(reason, message string) error {
	return wire.Told(&engine.Fault{Code: event.CodeContentFilter, Message: d.sentence("refused the content", reason, message)})
}

func (d *decoder) sentence(what, reason, message string) string {
	s := fmt.Sprintf("%s %s (%s)", d.call.Provider, what, wire.Visible(reason))
	if message = wire.Visible(wire.Redact(message, d.call.Secrets...)); message != "" {
		s += ": " + strings.TrimRight(message, ". ")
	}
	return s
}

// numbered gives a problem the HTTP status that its name stands for, where it
// came without one.
func numbered(p wire.Problem, data []byte) wire.Problem {
	var named struct{ Error struct{ Status string } }
	if p.Status != 0 || json.Unmarshal(data, &named) != nil {
		return p
	}
	p.Status = map[string]int{
		"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403, "NOT_FOUND": 404,
		"RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
	}[named.Error.Status]
	return p
}
