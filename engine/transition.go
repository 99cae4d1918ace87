package engine

import (
	"iter"
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

// follower takes inputs to the machine in s, and yields all that comes of each.
// Whoever records is told before it is shown: what a screen broke on is in the
// recording.
func (e Engine) follower(req Request, s *State) func(event.Event) iter.Seq[event.Event] {
	if e.Record == nil {
		step := StepWith(e.Price)
		return func(in event.Event) iter.Seq[event.Event] { return mealy.Follow(step, s, in) }
	}
	next := Transition{Agent: req.Agent, Session: req.Session, Model: req.Model, First: true}
	step := StepWith(e.Price.told(&next.Priced))
	return func(in event.Event) iter.Seq[event.Event] {
		all := slices.Collect(mealy.Follow(step, s, in))
		next.In, next.Outs, next.State = in, all[1:len(all):len(all)], *s
		e.Record(next)
		next.First, next.Priced = false, nil
		return slices.Values(all)
	}
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
