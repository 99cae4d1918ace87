package engine

import (
	"slices"

	"agentx/engine/event"
	"agentx/engine/mealy"
)

// A Transition is one step of the machine: what went in, all that came of it,
// and the state behind it. A recording of them can be played again, and shows
// what happened inside.
type Transition struct {
	Agent   event.AgentID
	Session event.SessionID
	Model   string // that was asked for
	First   bool   // the machine began anew with this input

	In     event.Event
	Outs   []event.Event // in the order in which they are shown; they belong to the receiver
	Priced []Priced      // what the pricer was asked on the way: an input too
	State  State
}

// Priced is a question to a [Pricer] and its answer.
type Priced struct {
	Model string      `json:"model"`
	Usage event.Usage `json:"usage"`
	Cost  event.USD   `json:"costUsd"`
	Known bool        `json:"known"`
}

// machine is the transition function, or somebody who tells what it does, where
// somebody records.
func (e Engine) machine(req Request) (Processor, *teller) {
	if e.Record == nil {
		return StepWith(e.Price), nil
	}
	t := &teller{tell: e.Record, next: Transition{Agent: req.Agent, Session: req.Session, Model: req.Model, First: true}}
	t.step = StepWith(e.Price.told(&t.next.Priced))
	return nil, t
}

// A teller tells every transition before it is shown: what a screen broke on is
// in the recording.
type teller struct {
	tell func(Transition)
	step Processor
	next Transition
}

// follow yields in and all that comes of it, and reports whether that was wanted.
func (t *teller) follow(s *State, in event.Event, yield func(event.Event, error) bool) bool {
	all := slices.Collect(mealy.Follow(t.step, s, in))
	t.next.In, t.next.Outs, t.next.State = in, all[1:len(all):len(all)], *s
	t.tell(t.next)
	t.next.First, t.next.Priced = false, nil
	for _, ev := range all {
		if !yield(ev, nil) {
			return false
		}
	}
	return true
}

// told is p with every answer noted down.
func (p Pricer) told(to *[]Priced) Pricer {
	if p == nil {
		return nil
	}
	return func(model string, u event.Usage) (event.USD, bool) {
		cost, known := p(model, u)
		*to = append(*to, Priced{model, u, cost, known})
		return cost, known
	}
}
