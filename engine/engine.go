// Package engine turns a model's stream of events into a conversation.
//
// A [Driver] yields what a model sends. [Step], a pure Mealy machine, turns
// that into messages, states and turns. A [Presenter] receives everything, one
// event at a time. The engine between them is a value: it holds no conversation,
// reads no clock but the one it is given, and does no I/O.
package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"agentx/engine/event"
	"agentx/engine/mealy"
)

// A Driver answers requests with stream events. It keeps nothing between two
// requests, so one driver serves any number of agents at once.
//
// The sequence ends with the message's stop, or with the first error, which is
// a [*Fault] where the driver knows what kind it is. When ctx is done it ends
// at once.
type Driver interface {
	Receive(ctx context.Context, req Request) iter.Seq2[event.Stream, error]
}

// DriverFunc is a function that is a [Driver].
type DriverFunc func(context.Context, Request) iter.Seq2[event.Stream, error]

func (f DriverFunc) Receive(ctx context.Context, req Request) iter.Seq2[event.Stream, error] {
	return f(ctx, req)
}

// Described is a driver that says to people what it is.
type Described interface {
	Name() string
	Description() string
}

// A Presenter is shown every event of every layer, one at a time, in order.
type Presenter interface {
	Present(ctx context.Context, agent event.AgentID, e event.Event) error
}

// PresenterFunc is a function that is a [Presenter].
type PresenterFunc func(context.Context, event.AgentID, event.Event) error

func (f PresenterFunc) Present(ctx context.Context, id event.AgentID, e event.Event) error {
	return f(ctx, id, e)
}

// On presents the events that carry D, a layer or a single type, and no others.
func On[D event.Data](f func(ctx context.Context, agent event.AgentID, at time.Time, d D) error) Presenter {
	return PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		if d, ok := e.Data.(D); ok {
			return f(ctx, id, e.At, d)
		}
		return nil
	})
}

// An Engine answers messages. It is configuration and nothing else: a value
// that any number of goroutines may use at once, for any number of agents.
type Engine struct {
	Driver     Driver
	Presenters []Presenter
	Now        func() time.Time // stamps what the driver yields; nil stamps the zero time
	Price      Pricer           // nil where no price is known
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

// show presents one event to everybody.
func (e Engine) show(ctx context.Context, id event.AgentID, ev event.Event) []*PresenterError {
	var failed []*PresenterError
	for i, p := range e.Presenters {
		if err := present(ctx, p, id, ev); err != nil {
			failed = append(failed, &PresenterError{Index: i, Event: ev.Data.Type(), Err: err})
		}
	}
	return failed
}

// failures keeps the first failure of each presenter: one that fails at every
// piece of a long answer fails once.
type failures []*PresenterError

func (f *failures) add(errs ...*PresenterError) {
	for _, err := range errs {
		if !slices.ContainsFunc(*f, func(known *PresenterError) bool { return known.Index == err.Index }) {
			*f = append(*f, err)
		}
	}
}

// with joins the failures and the error that ended the answer.
func (f failures) with(err error) error {
	errs := []error{err}
	for _, p := range f {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// A PresenterError is the failure of one presenter over one event.
type PresenterError struct {
	Index int    // among the engine's presenters; -1 for a handler of an agent's
	Event string // type of the event
	Err   error
}

func (e *PresenterError) Error() string {
	return fmt.Sprintf("presenter %d: %s: %v", e.Index, e.Event, e.Err)
}
func (e *PresenterError) Unwrap() error { return e.Err }

func present(ctx context.Context, p Presenter, id event.AgentID, e event.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return p.Present(ctx, id, e)
}

// Events is the conversation that follows from one message: every input, and
// behind each what the machine derives from it. The last pair carries the
// error that ended the answer, if one did.
func (e Engine) Events(ctx context.Context, req Request) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var s State
		step := StepWith(e.Price)
		for in, err := range e.inputs(ctx, req, &s) {
			if err != nil {
				yield(event.Event{}, err)
				return
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
		return event.Interrupted{Reason: reasonOf(ctx)}, context.Cause(ctx)
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
