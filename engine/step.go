package engine

import (
	"time"

	"agentx/engine/event"
	"agentx/engine/mealy"
)

// State is all the engine remembers while it answers one message.
// Its zero value is the state before anything has happened.
type State struct {
	assembly assembly
	activity activity
	phase    Phase
	turn     turn
}

// Phase returns what the agent is doing.
func (s State) Phase() Phase { return s.phase }

// Open reports whether a turn has begun and not ended.
func (s State) Open() bool { return s.turn.open() }

// A Processor is a machine over the events of a conversation.
type Processor = mealy.Processor[State, event.Event, event.Event]

// Step is the engine's transition where no price is known: one event in, what
// follows from it out. Feed its outputs back to it ([mealy.Follow]).
var Step = StepWith(nil)

// StepWith is the engine's transition with prices. Its processors see every
// input and put out one layer each, in this order: the assembler messages, the
// activity states, the tracker turns. Outputs only climb: nothing that a turn
// or a message leads to leads back to the stream.
func StepWith(price Pricer) Processor {
	track := track(price)
	return func(s State, in event.Event) (State, []event.Event) {
		var messages []event.Message
		var states []event.State
		var turns []event.Turn
		s.assembly, messages = assemble(s.assembly, in.At, in.Data)
		s.activity, states = transition(s.activity, in.At, in.Data)
		if e, ok := in.Data.(event.State); ok {
			s.phase = s.phase.Next(e)
		}
		s.turn, turns = track(s.turn, in.At, in.Data)
		if len(messages)+len(states)+len(turns) == 0 {
			return s, nil
		}
		outs := make([]event.Event, 0, len(messages)+len(states)+len(turns))
		outs = stamp(outs, in.At, messages)
		outs = stamp(outs, in.At, states)
		return s, stamp(outs, in.At, turns)
	}
}

// stamp appends data as events: what follows happened when its cause did.
func stamp[D event.Data](outs []event.Event, at time.Time, data []D) []event.Event {
	for _, d := range data {
		outs = append(outs, event.Event{At: at, Data: d})
	}
	return outs
}
