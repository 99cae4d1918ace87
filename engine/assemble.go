package engine

import (
	"strings"
	"time"

	"agentx/engine/event"
)

// An assembly is a reply being put together: the processing state that the
// seeds call pendingContents, currentMessageId and messageStartTime.
type assembly struct {
	user string // id of the message that is being answered

	open  bool // between a message's start and its stop
	id    string
	model string
	began event.Millis
	usage *event.Usage // nil where nothing was counted yet

	bytes int              // of what came of it
	parts list[event.Part] // finished parts
	notes list[event.Part] // asides, which stand behind the rest
	run   run              // the part that is growing
	calls calls            // tool calls that are open

	waiting waiting // calls that have no result yet; they outlive their message
}

// A run is text or thinking that grows.
type run struct {
	thinking  bool
	text      text
	signature string
}

// assemble turns the pieces of a reply into whole messages.
//
//	message_start    remember the id; a message that was open ends incomplete
//	text_delta, …    gather, in the order of the stream
//	tool_use_stop    tool_call_message
//	tool_result      tool_result_message
//	message_stop     assistant_message
//	error_received   what there is as an incomplete assistant_message, error_message
//	interrupted      what there is as an incomplete assistant_message
//
// Seeds: messageAssemblerProcessor.
func assemble(a assembly, at time.Time, in event.Data) (assembly, []event.Message) {
	switch in := in.(type) {
	case event.UserMessage:
		a, out := a.flush(event.StopOther)
		return assembly{user: in.ID}, a.messages(out)
	case event.MessageStart:
		a, out := a.flush(event.StopOther)
		a.open, a.id, a.model, a.began = true, in.MessageID, in.Model, event.MillisOf(at)
		return a, a.messages(out)
	case event.ErrorReceived:
		a, out := a.flush(event.StopError)
		return a, append(a.messages(out), event.ErrorMessage{
			ID: "error_" + a.user, Content: in.Message, ErrorCode: in.ErrorCode, Timestamp: event.MillisOf(at), ParentID: a.user,
		})
	case event.Interrupted:
		a, out := a.flush(event.StopInterrupted)
		return a, a.messages(out)
	case event.ToolResult:
		return a.answer(at, in)
	}
	if !a.open {
		return a, nil // pieces of no message
	}
	switch in := in.(type) {
	case event.TextDelta:
		return a.grow(false, in.Text, ""), nil
	case event.ThinkingDelta:
		return a.grow(true, in.Text, in.Signature), nil
	case event.ToolUseStart:
		a = a.settle()
		a.calls = a.calls.open(in)
	case event.InputJSONDelta:
		a.calls, a.bytes = a.calls.write(in), a.bytes+len(in.PartialJSON)
	case event.ToolUseStop:
		return a.call(at, in)
	case event.Aside:
		return a.note(in), nil
	case event.MessageDelta:
		a.usage = counted(a.usage, in.Usage)
	case event.MessageStop:
		a, out := a.close(in.StopReason, false)
		return a, a.messages(out)
	}
	return a, nil
}

// grow adds to the text or the thinking that is being written, or begins it.
// A signature ends the thought that it proves.
func (a assembly) grow(thinking bool, s, signature string) assembly {
	if a.run.thinking != thinking || a.run.signature != "" {
		a = a.settle()
	}
	a.run.thinking = thinking
	a.run.text, a.bytes = a.run.text.add(s), a.bytes+len(s)
	a.run.signature = signature
	return a
}

// maxNotes is more asides than anybody reads.
const maxNotes = 200

// note keeps an aside, once.
func (a assembly) note(in event.Aside) assembly {
	known := func(p event.Part) bool { return p == in }
	if _, twice := a.notes.find(known); twice || a.notes.len() == maxNotes {
		return a
	}
	a.notes, a.bytes = a.notes.push(in), a.bytes+len(in.Text)+len(in.URL)
	return a
}

// settle ends the run that is growing. Blank text is no part.
func (a assembly) settle() assembly {
	r := a.run
	a.run = run{}
	s := r.text.String()
	switch {
	case r.thinking && (s != "" || r.signature != ""):
		a.parts = a.parts.push(event.Thinking{Text: s, Signature: r.signature})
	case !r.thinking && strings.TrimSpace(s) != "":
		a.parts = a.parts.push(event.Text{Text: s})
	}
	return a
}

// call closes a tool call: it is a part of its message, a message of its own,
// and waits for a result.
func (a assembly) call(at time.Time, in event.ToolUseStop) (assembly, []event.Message) {
	c, rest, ok := a.calls.close(in)
	if !ok {
		return a, nil
	}
	a = a.settle()
	a.calls = rest
	whole := c.whole(in.Input)
	a.parts = a.parts.push(whole)
	a.waiting = a.waiting.add(made{a.id, c.id, c.name})
	return a, []event.Message{event.ToolCallMessage{
		ID: a.id + "/" + c.id, ToolCall: whole, Timestamp: event.MillisOf(at), ParentID: a.id,
	}}
}

// answer makes a message of a tool's result. It knows the tool's name from the
// call that waits.
func (a assembly) answer(at time.Time, in event.ToolResult) (assembly, []event.Message) {
	c, rest := a.waiting.take(in.ToolCallID, a.id)
	a.waiting = rest
	return a, []event.Message{event.ToolResultMessage{
		ID:         c.message + "/" + c.id + "/result",
		ToolCallID: c.id,
		ToolResult: event.ToolReturn{ID: c.id, Name: c.tool, Output: outputOf(in)},
		Timestamp:  event.MillisOf(at),
		ParentID:   c.message,
	}}
}

// outputOf is the output of a result. An error that came as text or JSON is one;
// what has parts is kept as it came, for an error has no room for a picture.
func outputOf(in event.ToolResult) event.Output {
	if k := in.Result.Kind; in.IsError && (k == event.OutputText || k == event.OutputJSON) {
		return event.Output{Kind: event.OutputError, Text: in.Result.String()}
	}
	return in.Result
}

// flush ends a message that breaks off. Half a tool call is dropped from it.
func (a assembly) flush(why event.StopReason) (assembly, *event.AssistantMessage) {
	if !a.open {
		return a, nil
	}
	return a.close(why, true)
}

// close ends the message. An empty one is none.
func (a assembly) close(why event.StopReason, incomplete bool) (assembly, *event.AssistantMessage) {
	a = a.settle()
	rest := assembly{user: a.user, waiting: a.waiting}
	if a.parts.head == nil {
		return rest, nil
	}
	m := &event.AssistantMessage{
		ID: a.id, Content: append(a.parts.oldestFirst(), a.notes.oldestFirst()...), Timestamp: a.began, Model: a.model,
		StopReason: why, Incomplete: incomplete, ParentID: a.user,
	}
	m.Usage = a.usage
	return rest, m
}

// counted is the sum of what was counted, nil where that is nothing.
func counted(sum *event.Usage, more event.Usage) *event.Usage {
	if sum != nil {
		more = sum.Add(more)
	}
	if more == (event.Usage{}) {
		return nil
	}
	return &more
}

// messages is out, if there is one.
func (assembly) messages(out *event.AssistantMessage) []event.Message {
	if out == nil {
		return nil
	}
	return []event.Message{*out}
}
