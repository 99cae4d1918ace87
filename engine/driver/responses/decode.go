package responses

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A decoder makes stream events of one answer. The answer is a list of items:
// messages, thoughts, calls, and what the server does by itself, which is told as
// an aside. Each comes in pieces, then in parts, then whole, and once more with the
// end of it all; servers leave out some of that, and what came first counts.
type decoder struct {
	call  wire.Call
	model string // that was asked for
	seal  string // stands before the signature of a thought

	frame  frame // the one that is being decoded
	begun  bool
	ids    wire.Names
	calls  map[string]bool // that have been begun, by the provider's id
	items  items
	asides asides

	speaker *item // that spoke last
	thinker *item // that thought last, where nothing closed the thought
	refused bool
	usage   event.Usage
	tier    string // of service
}

func newDecoder(c wire.Call, model, seal string) *decoder {
	return &decoder{call: c, model: model, seal: seal, ids: wire.Names{}, calls: map[string]bool{}, items: newItems()}
}

// A frame is an event as it is sent, as far as it is of use.
type frame struct {
	Type         string
	Index        *int   `json:"output_index"`
	ItemID       string `json:"item_id"`
	ContentIndex int    `json:"content_index"`
	SummaryIndex int    `json:"summary_index"`
	Delta        string
	Text         string
	Refusal      string
	Arguments    json.RawMessage
	Part         part
	Annotation   annotation
	Item         sent
	Response     response
	Error        json.RawMessage

	index   int // where it is indexed, that
	indexed bool
}

// A part is a piece of a message's or a thought's content.
type part struct {
	Type        string
	Text        string
	Refusal     string
	Annotations []annotation
}

// sent is an item as it is sent.
type sent struct {
	ID        string
	Type      string
	CallID    string `json:"call_id"`
	Name      string
	Arguments json.RawMessage
	Content   []part
	Summary   []part
	Encrypted string `json:"encrypted_content"`

	// Of what the server does by itself:
	Server  string `json:"server_label"`
	Action  action
	Queries []string
	Code    string
}

type response struct {
	ID      string
	Model   string
	Status  string
	Output  []sent
	Usage   *usage
	Tier    string `json:"service_tier"`
	Error   json.RawMessage
	Details struct{ Reason string } `json:"incomplete_details"`
}

func (d *decoder) Decode(out []event.Stream, f wire.Frame) ([]event.Stream, error) {
	id, plain := d.frame.scan(f.Data)
	if !plain {
		if string(f.Data) == "[DONE]" {
			return out, nil // says nothing that the end has not said
		}
		d.frame = frame{}
		if err := json.Unmarshal(f.Data, &d.frame); err != nil && !wire.Mistyped(err) {
			return out, err
		}
		id = []byte(d.frame.ItemID)
		if d.frame.Index != nil {
			d.frame.index, d.frame.indexed = *d.frame.Index, true
		}
	}
	if string(f.Name) == "error" || d.frame.Type == "" && some(d.frame.Error) {
		return out, d.failure(f.Data)
	}
	kind := d.frame.Type
	if kind == "" {
		kind = string(f.Name)
	}
	before := len(out)
	out, err := d.event(out, kind, id, f.Data)
	if much := d.excess(); much != nil {
		return out[:before], much
	}
	return out, err
}

// excess is the fault of an answer with more in it than any has.
func (d *decoder) excess() error {
	switch {
	case len(d.ids) > wire.MaxCalls:
		return wire.TooManyCalls()
	case len(d.items.all) > maxItems:
		return &engine.Fault{Code: event.CodeTooLarge, Message: fmt.Sprintf("the answer has more than %d items", maxItems)}
	}
	return nil
}

// event appends what an event of a kind means. Of one that nobody knows that is
// nothing.
func (d *decoder) event(out []event.Stream, kind string, id, data []byte) ([]event.Stream, error) {
	f := &d.frame
	switch kind {
	case "response.output_text.delta":
		return d.say(d.begin(out), d.item(message, id), f.ContentIndex, f.Delta, false), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_summary.delta":
		return d.think(d.begin(out), d.item(reasoning, id), summary, f.SummaryIndex, f.Delta, false), nil
	case "response.reasoning_text.delta", "response.reasoning.delta":
		return d.think(d.begin(out), d.item(reasoning, id), thought, f.ContentIndex, f.Delta, false), nil
	case "response.function_call_arguments.delta":
		return d.write(d.begin(out), d.item(function, id), f.Delta), nil
	case "response.refusal.delta":
		return d.refuse(d.begin(out), d.item(message, id), f.ContentIndex, f.Delta, false), nil

	case "response.output_text.done":
		return d.say(d.begin(out), d.item(message, id), f.ContentIndex, f.Text, true), nil
	case "response.reasoning_summary_text.done", "response.reasoning_summary.done":
		return d.think(d.begin(out), d.item(reasoning, id), summary, f.SummaryIndex, f.Text, true), nil
	case "response.reasoning_text.done", "response.reasoning.done":
		return d.think(d.begin(out), d.item(reasoning, id), thought, f.ContentIndex, f.Text, true), nil
	case "response.function_call_arguments.done":
		return d.complete(d.begin(out), d.item(function, id), arguments(f.Arguments)), nil
	case "response.refusal.done":
		return d.refuse(d.begin(out), d.item(message, id), f.ContentIndex, f.Refusal, true), nil
	case "response.output_text.annotation.added":
		return d.asides.cite(d.begin(out), f.Annotation), nil
	case "response.content_part.done", "response.reasoning_summary_part.done":
		return d.part(d.begin(out), id), nil

	case "response.output_item.added":
		return d.add(d.begin(out)), nil
	case "response.output_item.done":
		return d.done(d.begin(out)), nil
	case "response.created":
		return d.begin(out), nil
	case "response.in_progress", "response.queued", "keepalive", "ping":
		return out, wire.ErrPing
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return d.end(d.begin(out), strings.TrimPrefix(kind, "response."))
	case "error":
		return out, d.failure(data)
	}
	return out, nil
}

// begin begins the message with whatever comes first.
func (d *decoder) begin(out []event.Stream) []event.Stream {
	if d.begun {
		return out
	}
	d.begun = true
	r := &d.frame.Response
	return append(out, event.MessageStart{MessageID: wire.MessageID(r.ID), Model: cmp.Or(r.Model, d.model)})
}

// item is the one of a kind that the frame goes on with.
func (d *decoder) item(kind string, id []byte) *item {
	return d.items.at(kind, id, d.frame.index, d.frame.indexed)
}

// say appends what a message says at a place of its content, the whole of it
// only where no piece came. Two messages do not run into each other.
func (d *decoder) say(out []event.Stream, it *item, place int, s string, whole bool) []event.Stream {
	if s == "" || whole && it.told[place] {
		return out
	}
	it.tell(place)
	if d.speaker != nil && d.speaker != it {
		s = "\n\n" + s
	}
	d.speaker = it
	return append(out, event.TextDelta{Text: s})
}

func (d *decoder) refuse(out []event.Stream, it *item, place int, s string, whole bool) []event.Stream {
	d.refused = d.refused || s != ""
	return d.say(out, it, place, s, whole)
}

// The places where a thought can stand. One that stands in both says the same.
const (
	summary = "summary"
	thought = "content"
)

// think appends what is thought, like say.
func (d *decoder) think(out []event.Stream, it *item, where string, place int, s string, whole bool) []event.Stream {
	if s == "" || it.where != "" && it.where != where || whole && it.told[place] {
		return out
	}
	if d.thinker != nil && (d.thinker != it || it.place != place) {
		s = "\n\n" + s
	}
	it.tell(place)
	it.where, it.place, d.thinker = where, place, it
	return append(out, event.ThinkingDelta{Text: s})
}

// sign appends what only the server can read, and by which it knows the thought
// again.
func (d *decoder) sign(out []event.Stream, it *item, secret string) []event.Stream {
	if secret == "" || it.signed {
		return out
	}
	it.signed, d.thinker = true, nil
	return append(out, event.ThinkingDelta{Signature: d.seal + secret})
}

// part takes over a part that is whole.
func (d *decoder) part(out []event.Stream, id []byte) []event.Stream {
	f := &d.frame
	switch p := f.Part; p.Type {
	case "output_text":
		return d.asides.cite(d.say(out, d.item(message, id), f.ContentIndex, p.Text, true), p.Annotations...)
	case "refusal":
		return d.refuse(out, d.item(message, id), f.ContentIndex, p.Refusal, true)
	case "summary_text":
		return d.think(out, d.item(reasoning, id), summary, f.SummaryIndex, p.Text, true)
	case "reasoning_text":
		return d.think(out, d.item(reasoning, id), thought, f.ContentIndex, p.Text, true)
	}
	return out
}

// add begins an item.
func (d *decoder) add(out []event.Stream) []event.Stream {
	s := &d.frame.Item
	if !ours(s.Type) {
		return out
	}
	it := d.items.byID[s.ID]
	if it == nil || !it.matches(s) {
		it = d.items.add(s.Type, s.ID, d.frame.index, d.frame.indexed)
	}
	if it.kind == function {
		return d.open(out, it, s)
	}
	return out
}

// done ends an item.
func (d *decoder) done(out []event.Stream) []event.Stream {
	s := &d.frame.Item
	if !ours(s.Type) {
		return d.asides.deed(out, s)
	}
	it := d.item(s.Type, []byte(s.ID))
	if !it.matches(s) {
		it = d.items.add(s.Type, s.ID, d.frame.index, d.frame.indexed)
	}
	return d.settle(out, it, s)
}

// settle takes over an item that is whole.
func (d *decoder) settle(out []event.Stream, it *item, s *sent) []event.Stream {
	it.done = true
	switch it.kind {
	case message:
		told := len(it.told) > 0
		for i, p := range s.Content {
			switch {
			case told:
			case p.Type == "output_text" || p.Type == "text":
				out = d.say(out, it, i, p.Text, true)
			case p.Type == "refusal":
				out = d.refuse(out, it, i, p.Refusal, true)
			}
			out = d.asides.cite(out, p.Annotations...)
		}
	case reasoning:
		if len(it.told) == 0 {
			for i, p := range s.Summary {
				out = d.think(out, it, summary, i, p.Text, true)
			}
			for i, p := range s.Content {
				out = d.think(out, it, thought, i, p.Text, true)
			}
		}
		return d.sign(out, it, s.Encrypted)
	case function:
		return d.close(d.complete(d.open(out, it, s), it, arguments(s.Arguments)), it)
	}
	return out
}

// end is the provider's last word: what it was, where it had not come, what it
// took, and why it stopped.
func (d *decoder) end(out []event.Stream, kind string) ([]event.Stream, error) {
	r := &d.frame.Response
	d.total(r.Usage)
	d.tier = r.Tier
	switch r.Status {
	case "completed", "incomplete", "failed", "cancelled":
		kind = r.Status
	}
	switch kind {
	case "failed":
		p, _ := wire.ParseProblem(r.Error)
		return out, d.told(p)
	case "cancelled":
		return out, wire.Told(&engine.Fault{Code: event.CodeIncomplete, Message: d.call.Provider + " cancelled the answer", Retryable: true})
	}
	came := maps.Clone(d.items.last)
	for i := range r.Output {
		if out = d.fill(out, i, &r.Output[i], came); d.excess() != nil {
			break
		}
	}
	for _, it := range d.items.all {
		if it.kind == function {
			out = d.close(d.open(out, it, &sent{}), it)
		}
	}
	return append(d.Count(out), event.MessageStop{StopReason: d.reason(kind, r.Details.Reason)}), nil
}

// fill takes over the item at a place of the whole answer. One that cannot be
// told from those that came before the end is left alone.
func (d *decoder) fill(out []event.Stream, place int, s *sent, came map[string]*item) []event.Stream {
	if !ours(s.Type) {
		return d.asides.deed(out, s)
	}
	it := d.items.byID[s.ID]
	if it == nil || !it.matches(s) {
		it = d.items.byIndex[place]
	}
	if it == nil || !it.matches(s) {
		if s.Type == function && d.calls[s.CallID] || s.Type != function && came[s.Type] != nil {
			return out
		}
		it = d.items.add(s.Type, s.ID, place, true)
	}
	return d.settle(out, it, s)
}

func (d *decoder) reason(kind, why string) event.StopReason {
	switch {
	case kind == "incomplete":
		return cut(why)
	case len(d.calls) > 0:
		return event.ToolUse
	case d.refused:
		return event.Refusal
	}
	return event.EndTurn
}

// cut maps why an answer is incomplete. Who says nothing means its length.
func cut(why string) event.StopReason {
	switch why {
	case "", "max_output_tokens", "max_tokens", "length":
		return event.MaxTokens
	case "content_filter":
		return event.ContentFilter
	}
	return event.StopOther
}

// End has nothing to say: only the provider can say that the message is whole.
func (d *decoder) End(out []event.Stream) []event.Stream { return out }

// failure is what an error in the stream says.
func (d *decoder) failure(data []byte) error {
	p, _ := wire.ParseProblem(data)
	return d.told(p)
}

// told is a problem with the kind that its code implies.
func (d *decoder) told(p wire.Problem) error {
	switch code := p.Code; {
	case strings.HasSuffix(code, "content_policy_violation"):
		p.Code = "content_filter"
	case strings.HasPrefix(code, "invalid_") && code != "invalid_api_key", strings.Contains(code, "image"):
		p.Kind = "invalid_request_error"
	}
	return wire.Told(d.call.FaultFrom(0, p))
}

// some reports whether there is anything.
func some(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
