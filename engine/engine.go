// Package engine turns a model's stream of events into a conversation.
//
// A [Driver] yields what a model sends. [Step], a pure Mealy machine, turns
// that into messages, states and turns. A [Presenter] receives everything, one
// event at a time. The engine between them is a value: it holds no conversation,
// reads no clock but the one it is given, and does no I/O.
package engine

import (
	"context"
	"fmt"
	"iter"
	"time"

	"agentx/engine/event"
	"agentx/engine/mealy"
)

// An Engine answers messages. It is configuration and nothing else: a value
// that any number of goroutines may use at once, for any number of agents.
type Engine struct {
	Driver     Driver
	Presenters []Presenter
	Now        func() time.Time // stamps what the driver yields; nil stamps the zero time
	Price      Pricer           // nil where no price is known

	// Record is told every transition of the machine before its events are
	// shown. Nil, and nothing is kept for it.
	Record func(Transition)
}

// Receive answers one message and shows every event to the presenters, one at
// a time, in order. A presenter that fails or panics stops neither the others
// nor the engine; its error is part of the result. So is the driver's.
//
// Cancelling ctx interrupts the answer, never its presentation: what had
// arrived is closed, shown and kept, and the result says why it was stopped
// (see [Interrupt]).
func (e Engine) Receive(ctx context.Context, req Request) error {
	var failed failures
	shown := context.WithoutCancel(ctx)
	for ev, err := range e.Events(ctx, req) {
		if err != nil {
			return failed.with(err)
		}
		failed.add(e.show(shown, req.Agent, ev)...)
	}
	return failed.with(nil)
}

// Events is the conversation that follows from one message: every input, and
// behind each what the machine derives from it. The last pair carries the
// error that ended the answer, if one did.
func (e Engine) Events(ctx context.Context, req Request) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var s State
		step, told := e.machine(req)
		for in, err := range e.inputs(ctx, req, &s) {
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if told != nil {
				if !told.follow(&s, in, yield) {
					return
				}
				continue
			}
			for ev := range mealy.Follow(step, &s, in) {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// inputs are the user's message, the driver's answer, stamped as it comes, and
// whatever closes a turn that the driver left open in s.
func (e Engine) inputs(ctx context.Context, req Request, s *State) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		at := func(d event.Data) bool { return yield(event.Event{At: e.now(), Data: d}, nil) }
		if !at(req.Message) {
			return
		}
		broken := error(nil)
		for data, err := range e.answer(ctx, req) {
			if err != nil {
				broken = err
				break
			}
			if !at(data) {
				return
			}
			if closes(data) {
				break
			}
		}
		end, err := ending(ctx, broken, s.Open())
		if end != nil && !at(end) {
			return
		}
		if err != nil {
			yield(event.Event{}, err)
		}
	}
}

// closes reports whether d ends the turn whatever the driver says behind it.
func closes(d event.Stream) bool {
	switch d := d.(type) {
	case event.MessageStop:
		return d.StopReason.Final()
	case event.ErrorReceived, event.Interrupted:
		return true
	}
	return false
}

// ending says how a turn ends that its driver has left: open tells whether the
// driver ended it itself, broken is the error it left with.
func ending(ctx context.Context, broken error, open bool) (event.Stream, error) {
	switch {
	case ctx.Err() != nil && open:
		return event.Interrupted{Reason: ReasonOf(ctx)}, context.Cause(ctx)
	case broken != nil:
		f := FaultOf(broken)
		if !open {
			return nil, f
		}
		return event.ErrorReceived{Message: f.Message, ErrorCode: f.Code, Retryable: f.Retryable}, f
	case open:
		f := &Fault{Code: event.CodeIncomplete, Message: "the answer ended before it was complete"}
		return event.ErrorReceived{Message: f.Message, ErrorCode: f.Code}, f
	}
	return nil, nil
}

// answer is the driver's sequence; a driver that panics ends it with an error.
func (e Engine) answer(ctx context.Context, req Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		inside := true // of the driver, and not of who listens to it
		defer func() {
			if !inside {
				return
			}
			if v := recover(); v != nil {
				inside = false
				yield(nil, &Fault{Code: event.CodeInternal, Message: fmt.Sprintf("the driver panicked: %v", v)})
			}
		}()
		for data, err := range e.Driver.Receive(ctx, req) {
			inside = false
			if !yield(data, err) || err != nil {
				return
			}
			inside = true
		}
	}
}

func (e Engine) now() time.Time {
	if e.Now == nil {
		return time.Time{}
	}
	return e.Now()
}
