// Package driver makes a driver of a model client and some tools: the tool loop.
//
// A model client streams one message. The loop runs the tools that it asks for,
// gives it the results, and asks again, until a message ends without a call.
package driver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// A Loop is a driver around a model client. It is configuration, and serves any
// number of conversations at once.
type Loop struct {
	Model engine.Driver
	Tools []Tool

	// Approve is asked before each call is run; what it refuses is answered
	// with the reason. Nil allows everything.
	Approve func(ctx context.Context, call event.ToolCall) (allowed bool, reason string)

	// MaxSteps bounds the messages of one answer; 0 means 50. The calls of the
	// last one are not run, and the answer ends with a fault.
	MaxSteps int
}

const defaultSteps = 50

// ErrSteps is in the chain of the fault that ends an answer of too many
// messages.
var ErrSteps = errors.New("the answer reached its step limit")

// Name and Description are those of the model client.
func (l Loop) Name() string {
	if d, ok := l.Model.(engine.Described); ok {
		return d.Name()
	}
	return "loop"
}

func (l Loop) Description() string {
	if d, ok := l.Model.(engine.Described); ok {
		return d.Description()
	}
	return ""
}

// Receive streams the messages of an answer and the results of the tools
// between them. Every call that was announced gets exactly one result, in the
// order of the calls: also one that is refused, fails, panics, is unknown,
// cannot be read, or that nobody waits for any more.
func (l Loop) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		req.Tools = l.offered()
		ids := identities{}
		for step := 1; ; step++ {
			m := message{ids: ids, yield: yield}
			m.asked(req)
			if !m.stream(l.Model.Receive(ctx, req)) {
				return
			}
			if ctx.Err() != nil {
				m.stop(context.Cause(ctx))
				return
			}
			if len(m.calls) == 0 {
				m.stop(nil)
				return
			}
			if step >= l.steps() {
				m.stop(l.limit())
				return
			}
			if !l.run(ctx, &m) {
				return
			}
			req = m.next(req)
		}
	}
}

func (l Loop) steps() int {
	if l.MaxSteps > 0 {
		return l.MaxSteps
	}
	return defaultSteps
}

func (l Loop) limit() error {
	return &engine.Fault{
		Code:    event.CodeTooLarge,
		Message: fmt.Sprintf("the answer reached the step limit of %d messages", l.steps()),
		Err:     ErrSteps,
	}
}

// A message is one message of the model as it passes through the loop.
type message struct {
	ids   identities
	at    time.Time // stamps what the machine sees; history needs no better clock
	yield func(event.Stream, error) bool

	state   engine.State
	history []event.Message  // what has been said in it
	calls   []event.ToolCall // those without a result
	pending bool             // it stopped for a tool, or began and did not stop
	over    bool             // the consumer has left
	outside bool             // control is with the consumer
}

// asked shows the machine the message that is being answered.
func (m *message) asked(req engine.Request) {
	question := req.Message
	if len(question.Content) == 0 {
		question = lastAsked(req.History, question)
	}
	m.at = question.Timestamp.Time()
	for range mealy.Follow(engine.Step, &m.state, event.Event{At: m.at, Data: question}) {
	}
}

// lastAsked is the last message of the user in a history, or the one given.
func lastAsked(history []event.Message, none event.UserMessage) event.UserMessage {
	for _, said := range slices.Backward(history) {
		if u, ok := said.(event.UserMessage); ok {
			return u
		}
	}
	return none
}

// stream passes a message on, and reports whether the answer may go on behind
// it. A client that panics has failed.
func (m *message) stream(events iter.Seq2[event.Stream, error]) (more bool) {
	defer func() {
		if m.outside {
			return // whoever listens panicked, and not the client
		}
		if v := recover(); v != nil {
			m.stop(&engine.Fault{Code: event.CodeInternal, Message: fmt.Sprintf("the model client panicked: %v", v)})
			more = false
		}
	}()
	for e, err := range events {
		if err != nil {
			m.stop(err)
			return false
		}
		switch e := m.ids.rename(e).(type) {
		case event.MessageStop:
			if !m.end(e) {
				return false
			}
		case event.ErrorReceived, event.Interrupted:
			m.abandon("the answer broke off before the call was run")
			m.pass(e)
			return false
		default:
			m.pass(e)
		}
		if m.over {
			return false
		}
	}
	return true
}

// end passes the stop of a message on. Where calls wait for a result the answer
// is not over, whatever the model client says: some stop with end_turn. A
// message that was cut or refused asks for nothing.
func (m *message) end(e event.MessageStop) bool {
	switch e.StopReason {
	case event.ToolUse, event.EndTurn, event.StopSequence, event.StopOther, "":
		if len(m.calls) > 0 {
			e.StopReason = event.ToolUse
		}
	default:
		m.abandon(fmt.Sprintf("the message stopped (%s) before the call was run", e.StopReason))
	}
	m.pass(e)
	m.pending = e.StopReason == event.ToolUse
	return m.pending && !m.over
}

// pass yields e, and lets the engine's own machine assemble what it says.
func (m *message) pass(e event.Stream) {
	if m.over = m.over || !m.tell(e, nil); m.over {
		return
	}
	switch e := e.(type) {
	case event.MessageStart:
		m.pending = true
	case event.ToolResult:
		m.settle(e.ToolCallID)
	}
	for out := range mealy.Follow(engine.Step, &m.state, event.Event{At: m.at, Data: e}) {
		said, ok := out.Data.(event.Message)
		if !ok {
			continue
		}
		m.history = append(m.history, said)
		if call, ok := said.(event.ToolCallMessage); ok {
			m.calls = append(m.calls, call.ToolCall)
		}
	}
}

// tell yields to the consumer.
func (m *message) tell(e event.Stream, err error) bool {
	m.outside = true
	more := m.yield(e, err)
	m.outside = false
	return more
}

// settle strikes a call off those that wait for a result.
func (m *message) settle(id string) {
	if i := slices.IndexFunc(m.calls, func(c event.ToolCall) bool { return c.ID == id }); i >= 0 {
		m.calls = slices.Delete(m.calls, i, i+1)
	}
}

// result yields the result of a call.
func (m *message) result(call event.ToolCall, out event.Output) bool {
	m.pass(event.ToolResult{ToolCallID: call.ID, Result: out, IsError: out.Failed()})
	return !m.over
}

// abandon answers every call that still waits.
func (m *message) abandon(why string) {
	for _, call := range slices.Clone(m.calls) {
		m.result(call, failed("not run: "+why))
	}
}

// stop ends the answer. One that ends without a final stop and without a word
// is an error.
func (m *message) stop(err error) {
	why := "the answer had ended"
	if err != nil {
		why = err.Error()
	}
	m.abandon(why)
	if err == nil && m.pending {
		err = &engine.Fault{Code: event.CodeIncomplete, Message: "the model stopped before its message was complete"}
	}
	if err != nil && !m.over {
		m.tell(nil, err)
	}
}

// next is the request that follows: all that was said is history.
func (m *message) next(req engine.Request) engine.Request {
	history := slices.Clip(req.History)
	if len(req.Message.Content) > 0 {
		history = append(history, req.Message)
	}
	req.History = append(history, m.history...)
	req.Message = event.UserMessage{}
	return req
}
