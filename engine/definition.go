package engine

import (
	"time"

	"agentx/engine/event"
	"agentx/engine/mealy"
)

// A Definition is a part of the engine's machine as a machine of its own, for
// who wants to look at it alone or make another whole of it.
type Definition = mealy.Definition[State, event.Event, event.Event]

// Processors are the parts of [StepWith], in the order in which they see an
// input: combined they are that step. Each works on a part of the state that is
// its own.
func Processors(price Pricer) []Definition {
	return []Definition{
		{
			Name: "assembler", Description: "puts the pieces of a stream together to whole messages",
			Process: processor(func(s *State) *assembly { return &s.assembly }, assemble),
		},
		{
			Name: "activity", Description: "tells when the agent begins to do something else",
			Process: processor(func(s *State) *activity { return &s.activity }, transition),
		},
		{
			Name: "phase", Description: "remembers what the agent is doing, and puts out nothing",
			Process: processor(func(s *State) *Phase { return &s.phase }, remember),
		},
		{
			Name: "tracker", Description: "measures a turn: how long it took, how many tokens, what they cost",
			Process: processor(func(s *State) *turn { return &s.turn }, track(price)),
		},
	}
}

// processor lets a part of the state be stepped in the whole.
func processor[T any, D event.Data](part func(*State) *T, step func(T, time.Time, event.Data) (T, []D)) Processor {
	return mealy.Field(part, func(t T, in event.Event) (T, []event.Event) {
		t, outs := step(t, in.At, in.Data)
		return t, stamp(nil, in.At, outs)
	})
}

// remember follows the phase.
func remember(p Phase, _ time.Time, in event.Data) (Phase, []event.State) {
	if e, ok := in.(event.State); ok {
		return p.Next(e), nil
	}
	return p, nil
}
