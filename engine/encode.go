package engine

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"agentx/engine/event"
)

// encoding is the first byte of an encoded state: which encoding it is.
const encoding = 3

// MarshalBinary returns the state as bytes from which UnmarshalBinary makes one
// that steps like it, whatever comes. It never fails. The bytes are as long as
// what has come of the message that is being assembled: who stores a state at
// every input keeps the inputs in between instead.
//
// It is no JSON because that mends text: half a letter that waits for its other
// half would be lost.
func (s State) MarshalBinary() ([]byte, error) {
	e := encoder{encoding}
	a, v, t := s.assembly, s.activity, s.turn
	e.text(a.user)
	e.bool(a.open)
	e.text(a.id)
	e.text(a.model)
	e.int(int64(a.began))
	e.bool(a.usage != nil)
	if a.usage != nil {
		e.usage(*a.usage)
	}
	e.parts(a.parts.oldestFirst())
	e.parts(a.notes.oldestFirst())
	e.bool(a.run.thinking)
	e.text(a.run.text.String())
	e.text(a.run.signature)
	e.calls(a.calls)
	e.waiting(a.waiting)

	e.int(int64(v.kind))
	e.bool(v.asked)
	e.bool(v.ended)
	e.calls(v.calls)
	e.waiting(v.waiting)

	e.int(int64(s.phase))

	e.bool(t.asked)
	e.text(t.message)
	e.bool(t.next != nil)
	if t.next != nil {
		e.text(t.next.ID)
		e.parts(t.next.Content)
		e.int(int64(t.next.Timestamp))
		e.text(t.next.ParentID)
	}
	e.int(int64(t.began))
	e.bool(t.spoken)
	e.int(int64(t.first))
	e.text(t.model)
	e.usage(t.usage)
	e.request(t.request)
	e.expenses(t.spent.oldestFirst())
	e.int(int64(t.cost))
	e.bool(t.unpriced)
	e.text(string(t.stop))
	e.int(int64(t.calls))
	e.int(int64(t.messages))
	return e, nil
}

// UnmarshalBinary reads what MarshalBinary has written. Of anything else it
// says so, and leaves the state alone.
func (s *State) UnmarshalBinary(b []byte) error {
	d := &decoder{rest: b}
	if d.byte() != encoding {
		return errors.New("engine: no state of this encoding")
	}
	var n State
	a, v, t := &n.assembly, &n.activity, &n.turn
	a.user = d.text()
	a.open = d.bool()
	a.id = d.text()
	a.model = d.text()
	a.began = event.Millis(d.int())
	if d.bool() {
		a.usage = counted(nil, d.usage())
	}
	for _, p := range d.parts(0) {
		a.parts = a.parts.push(d.assembled(p))
	}
	for _, p := range d.parts(0) {
		a.notes = a.notes.push(d.noted(p))
	}
	a.run.thinking = d.bool()
	a.run.text = text{}.add(d.text())
	a.run.signature = d.text()
	a.calls = d.calls()
	a.waiting = d.waiting()

	v.kind = kind(d.upTo(int64(responding)))
	v.asked = d.bool()
	v.ended = d.bool()
	v.calls = d.calls()
	v.waiting = d.waiting()

	n.phase = Phase(d.upTo(int64(Failed)))

	t.asked = d.bool()
	t.message = d.text()
	if d.bool() {
		t.next = &event.UserMessage{ID: d.text(), Content: event.Content(d.parts(0)), Timestamp: event.Millis(d.int()), ParentID: d.text()}
	}
	t.began = event.Millis(d.int())
	t.spoken = d.bool()
	t.first = event.Millis(d.int())
	t.model = d.text()
	t.usage = d.usage()
	t.request = d.request()
	t.spent = d.expenses()
	t.cost = event.USD(d.int())
	t.unpriced = d.bool()
	t.stop = event.StopReason(d.text())
	t.calls = int(d.int())
	t.messages = int(d.int())
	if len(d.rest) > 0 {
		d.fail("more than a state")
	}
	if d.err != nil {
		return fmt.Errorf("engine: no state: %w", d.err)
	}
	*s = n
	return nil
}

// The kinds of parts, in encoded states.
const (
	partText = iota
	partThinking
	partToolCall
	partToolReturn
	partImage
	partFile
	partAside
)

// maxNested is how deep parts may lie in the results of tools.
const maxNested = 16

// An encoder is what has been written.
type encoder []byte

func (e *encoder) int(n int64) { *e = binary.AppendVarint(*e, n) }

func (e *encoder) bool(b bool) {
	n := byte(0)
	if b {
		n = 1
	}
	*e = append(*e, n)
}

func (e *encoder) text(s string) {
	e.int(int64(len(s)))
	*e = append(*e, s...)
}

// bytes tells none from empty ones, as JSON does.
func (e *encoder) bytes(b []byte) {
	e.bool(b != nil)
	if b != nil {
		e.text(string(b))
	}
}

func (e *encoder) usage(u event.Usage) {
	for _, n := range []int64{u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CacheWrite1hTokens, u.ReasoningTokens} {
		e.int(n)
	}
	e.text(u.Tier)
}

func (e *encoder) request(r *request) {
	e.bool(r != nil)
	if r == nil {
		return
	}
	e.text(r.id)
	e.text(r.model)
	e.int(int64(r.began))
	e.usage(r.usage)
	e.int(int64(r.cost))
	e.bool(r.known)
}

func (e *encoder) expenses(all []event.Expense) {
	e.int(int64(len(all)))
	for _, x := range all {
		e.text(x.MessageID)
		e.text(x.Model)
		e.usage(x.Usage)
		e.bool(x.CostUSD != nil)
		if x.CostUSD != nil {
			e.int(int64(*x.CostUSD))
		}
		e.int(int64(x.Timestamp))
	}
}

func (e *encoder) calls(c calls) {
	all := c.oldestFirst()
	e.int(int64(len(all)))
	for _, c := range all {
		e.text(c.id)
		e.text(c.name)
		e.text(c.input.String())
	}
}

func (e *encoder) waiting(w waiting) {
	all := w.oldestFirst()
	e.int(int64(len(all)))
	for _, c := range all {
		e.text(c.message)
		e.text(c.id)
		e.text(c.tool)
	}
}

func (e *encoder) parts(parts []event.Part) {
	e.bool(parts != nil)
	if parts == nil {
		return
	}
	e.int(int64(len(parts)))
	for _, p := range parts {
		e.part(p)
	}
}

func (e *encoder) part(p event.Part) {
	switch p := p.(type) {
	case event.Text:
		e.int(partText)
		e.text(p.Text)
	case event.Thinking:
		e.int(partThinking)
		e.text(p.Text)
		e.text(p.Signature)
	case event.ToolCall:
		e.int(partToolCall)
		e.text(p.ID)
		e.text(p.Name)
		e.bytes(p.Input)
		e.text(p.InputError)
		e.text(p.Raw)
	case event.ToolReturn:
		e.int(partToolReturn)
		e.text(p.ID)
		e.text(p.Name)
		e.text(string(p.Output.Kind))
		e.text(p.Output.Text)
		e.bytes(p.Output.JSON)
		e.parts(p.Output.Parts)
	case event.Image:
		e.int(partImage)
		e.text(p.MediaType)
		e.bytes(p.Data)
		e.text(p.URL)
		e.text(p.Name)
	case event.File:
		e.int(partFile)
		e.text(p.MediaType)
		e.bytes(p.Data)
		e.text(p.Filename)
	case event.Aside:
		e.int(partAside)
		e.text(p.Kind)
		e.text(p.Text)
		e.text(p.URL)
	}
}

// A decoder is what has not been read. After an error it reads nothing but
// zeros.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(why string) {
	if d.err == nil {
		d.err = errors.New(why)
	}
	d.rest = nil
}

func (d *decoder) byte() byte {
	if len(d.rest) == 0 {
		d.fail("it breaks off")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) bool() bool {
	b := d.byte()
	if b > 1 {
		d.fail("neither yes nor no")
	}
	return b == 1
}

func (d *decoder) int() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.fail("no number")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) upTo(most int64) int64 {
	n := d.int()
	if n < 0 || n > most {
		d.fail("a number that means nothing")
		return 0
	}
	return n
}

// length is of something that takes at least as many bytes as it is long.
func (d *decoder) length() int { return int(d.upTo(int64(len(d.rest)))) }

// each reads the elements of a list.
func (d *decoder) each(read func()) {
	for n := d.length(); n > 0 && d.err == nil; n-- {
		read()
	}
}

func (d *decoder) text() string {
	n := d.length()
	if n > len(d.rest) {
		d.fail("it breaks off")
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) bytes() []byte {
	if !d.bool() {
		return nil
	}
	return []byte(d.text())
}

func (d *decoder) usage() event.Usage {
	return event.Usage{InputTokens: d.int(), OutputTokens: d.int(), CacheReadTokens: d.int(), CacheWriteTokens: d.int(), CacheWrite1hTokens: d.int(), ReasoningTokens: d.int(), Tier: d.text()}
}

func (d *decoder) request() *request {
	if !d.bool() {
		return nil
	}
	return &request{id: d.text(), model: d.text(), began: event.Millis(d.int()), usage: d.usage(), cost: event.USD(d.int()), known: d.bool()}
}

func (d *decoder) expenses() (all list[event.Expense]) {
	d.each(func() {
		x := event.Expense{MessageID: d.text(), Model: d.text(), Usage: d.usage()}
		if d.bool() {
			x.CostUSD = new(event.USD(d.int()))
		}
		x.Timestamp = event.Millis(d.int())
		all = all.push(x)
	})
	return all
}

func (d *decoder) calls() (c calls) {
	d.each(func() { c = calls{c.push(call{id: d.text(), name: d.text(), input: text{}.add(d.text())})} })
	return c
}

func (d *decoder) waiting() (w waiting) {
	d.each(func() { w = w.add(made{message: d.text(), id: d.text(), tool: d.text()}) })
	return w
}

func (d *decoder) parts(nested int) event.Parts {
	if !d.bool() {
		return nil
	}
	if nested > maxNested {
		d.fail("parts in parts without end")
		return nil
	}
	parts := event.Parts{}
	d.each(func() { parts = append(parts, d.part(nested)) })
	return parts
}

func (d *decoder) part(nested int) event.Part {
	switch d.upTo(partAside) {
	case partThinking:
		return event.Thinking{Text: d.text(), Signature: d.text()}
	case partToolCall:
		return event.ToolCall{ID: d.text(), Name: d.text(), Input: d.json(), InputError: d.text(), Raw: d.text()}
	case partToolReturn:
		return event.ToolReturn{ID: d.text(), Name: d.text(), Output: event.Output{
			Kind: d.outputKind(), Text: d.text(), JSON: d.json(), Parts: d.parts(nested + 1),
		}}
	case partImage:
		return event.Image{MediaType: d.text(), Data: d.bytes(), URL: d.text(), Name: d.text()}
	case partFile:
		return event.File{MediaType: d.text(), Data: d.bytes(), Filename: d.text()}
	case partAside:
		return event.Aside{Kind: d.text(), Text: d.text(), URL: d.text()}
	}
	return event.Text{Text: d.text()}
}

// json reads what an event writes as it is.
func (d *decoder) json() json.RawMessage {
	b := d.bytes()
	if b != nil && !json.Valid(b) {
		d.fail("what should be JSON is not")
	}
	return b
}

func (d *decoder) outputKind() event.OutputKind {
	switch k := event.OutputKind(d.text()); k {
	case event.OutputText, event.OutputJSON, event.OutputError, event.OutputDenied, event.OutputContent:
		return k
	}
	d.fail("an output of no kind")
	return ""
}

// noted is an aside.
func (d *decoder) noted(p event.Part) event.Part {
	if _, ok := p.(event.Aside); !ok {
		d.fail("a part that is no aside")
	}
	return p
}

// assembled is a part as an assembler makes it: a call has an input.
func (d *decoder) assembled(p event.Part) event.Part {
	switch p := p.(type) {
	case event.Text, event.Thinking:
	case event.ToolCall:
		if p.Input == nil {
			d.fail("a call without input")
		}
	default:
		d.fail("a part that no model makes")
	}
	return p
}
