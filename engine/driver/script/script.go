// Package script is a driver that says what it is told, when it is told: a
// recorded trace, or a list written by hand.
//
// It needs no network and no model, and it knows nothing of what it says.
package script

import (
	"context"
	"fmt"
	"iter"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Step is one thing that a driver does: it waits, and then yields an event,
// or fails.
type Step struct {
	After time.Duration // since the step before
	Event event.Stream
	Err   error // instead of Event; the driver ends with it
}

// A Driver gives the same answer to every request: its steps.
type Driver struct {
	Steps []Step

	// Speed divides the waits: 1 plays them as they are, 2 in half the time.
	// At 0 nothing is waited for.
	Speed float64
}

// Say is a driver that yields events, one after the other, without waiting.
func Say(events ...event.Stream) Driver {
	steps := make([]Step, len(events))
	for i, e := range events {
		steps[i].Event = e
	}
	return Driver{Steps: steps}
}

// Name and Description say to people what the driver is.
func (Driver) Name() string        { return "script" }
func (Driver) Description() string { return "Plays back what was written down before." }

// Receive plays the steps. It ends with the cause of ctx as soon as ctx is done.
func (d Driver) Receive(ctx context.Context, _ engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		for _, s := range d.Steps {
			if !d.wait(ctx, s.After) {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(s.Event, s.Err) || s.Err != nil {
				return
			}
		}
	}
}

// wait reports whether the time passed before ctx was done.
func (d Driver) wait(ctx context.Context, after time.Duration) bool {
	if after <= 0 || d.Speed <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(time.Duration(float64(after) / d.Speed))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// Split returns the driver with every text cut up: cut returns the pieces of a
// text, which joined must give the text. The first comes when the whole would
// have come, each of the others pause behind the one before.
func (d Driver) Split(cut func(string) []string, pause time.Duration) Driver {
	var steps []Step
	for _, s := range d.Steps {
		text, ok := s.Event.(event.TextDelta)
		if !ok {
			steps = append(steps, s)
			continue
		}
		after := s.After
		for _, piece := range cut(text.Text) {
			steps = append(steps, Step{After: after, Event: event.TextDelta{Text: piece}})
			after = pause
		}
	}
	return Driver{Steps: steps, Speed: d.Speed}
}

// Runes cuts a text into pieces of n characters, for [Driver.Split].
func Runes(n int) func(string) []string {
	n = max(n, 1)
	return func(s string) []string {
		var pieces []string
		start, count := 0, 0
		for i := range s {
			if count == n {
				pieces = append(pieces, s[start:i])
				start, count = i, 0
			}
			count++
		}
		return append(pieces, s[start:])
	}
}

// Turns is a driver that gives each message of the user its own answer: the
// first to the first of a conversation, the second to the second.
type Turns []Driver

// Receive plays the answer to the message that stands last in the request.
func (t Turns) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return pick(t, count[event.UserMessage](req)-1).Receive(ctx, req)
}

// Messages is a model client that says one message at each request: the first
// where the assistant has not spoken yet. It is what a tool loop asks.
type Messages []Driver

// Receive plays the message that follows those of the assistant in the request.
func (m Messages) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return pick(m, count[event.AssistantMessage](req)).Receive(ctx, req)
}

func count[M event.Message](req engine.Request) int {
	n := 0
	for m := range req.Messages() {
		if _, ok := m.(M); ok {
			n++
		}
	}
	return n
}

// pick returns the driver at i. Beyond the end of the script there is only a
// failure.
func pick(all []Driver, i int) Driver {
	if i >= 0 && i < len(all) {
		return all[i]
	}
	return Driver{Steps: []Step{{Err: &engine.Fault{
		Code:    event.CodeInvalidRequest,
		Message: fmt.Sprintf("the script has %d answers and was asked for number %d", len(all), i+1),
	}}}}
}
