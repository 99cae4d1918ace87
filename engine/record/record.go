// Package record writes down what went through the engine's machine, and lets
// it happen again: every input, what followed from it, and where the machine
// stood. The machine is pure, so a recording is the whole story of a bug, and
// an engine of another day can be asked whether it answers the same.
//
// A recording is lines of JSON. The first is a [Header]; each of the others is
// one step, and can be read without the rest:
//
//	{"type":"trace","version":1,"agentx":"1.2.0","model":"…","provider":"…","timestamp":1700000000000}
//	{"type":"step","agent":"…","first":true,"in":{event},"out":[event,…],"priced":[…],"state":{…}}
//
// What is no input of the machine is not in it: the history that was sent, the
// system prompt, the options of a request.
//
// The package reads and writes streams of bytes and knows no file and no clock.
package record

import (
	"encoding/json"
	"fmt"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Version is the format that is written, and the newest that can be read.
const Version = 1

// A Header says where a recording comes from.
type Header struct {
	Agentx    string       // version of the program
	Model     string       // that was asked for when the recording began
	Provider  string       // of that model
	Timestamp event.Millis // when it began
}

// A Step is one input of the machine and what was seen to follow from it.
type Step struct {
	Line    int // of the input in the file, counted from 1
	Agent   event.AgentID
	Session event.SessionID
	Model   string // that was asked for; only of a first step
	First   bool   // the machine began anew

	In     event.Event
	Outs   []Out
	Priced []engine.Priced // what the pricer answered on the way
	State  json.RawMessage // a summary, as it was written; nil where the file has none
}

// An Out is an output as it stands in the file.
type Out struct {
	Line int
	Raw  json.RawMessage
}

// Event reads the output.
func (o Out) Event() (event.Event, error) {
	var e event.Event
	err := json.Unmarshal(o.Raw, &e)
	return e, err
}

// A Machine plays steps with the engine of today. Its zero value is ready.
// Each agent has a state of its own.
type Machine struct {
	states map[event.AgentID]engine.State
}

// Play takes the input of a step to the machine: what follows from it today.
// Prices are those of the recording; what was not asked then is unknown.
func (m *Machine) Play(s Step) engine.Transition {
	if m.states == nil {
		m.states = map[event.AgentID]engine.State{}
	}
	state := m.states[s.Agent]
	if s.First {
		state = engine.State{}
	}
	t := engine.Transition{Agent: s.Agent, Session: s.Session, Model: s.Model, First: s.First, In: s.In, Priced: s.Priced}
	for e := range mealy.Follow(engine.StepWith(s.price), &state, s.In) {
		t.Outs = append(t.Outs, e)
	}
	t.Outs = t.Outs[1:] // the first is the input
	m.states[s.Agent] = state
	t.State = state
	return t
}

func (s Step) price(model string, u event.Usage) (event.USD, bool) {
	for _, p := range s.Priced {
		if p.Model == model && p.Usage == u {
			return p.Cost, p.Known
		}
	}
	return 0, false
}

// Limits of what is read.
const (
	maxLine  = 64 << 20 // bytes; a message may carry some large files
	maxDepth = 128      // of nested values
)

// A FormatError says what is wrong with a recording, and where.
type FormatError struct {
	Line    int // 0 where it is the whole
	Problem string
}

func (e *FormatError) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// header and line are the lines of a recording as JSON.
type header struct {
	Type      string       `json:"type"`
	Version   int          `json:"version"`
	Agentx    string       `json:"agentx"`
	Model     string       `json:"model"`
	Provider  string       `json:"provider"`
	Timestamp event.Millis `json:"timestamp"`
}

type line struct {
	Type    string            `json:"type"`
	Agent   event.AgentID     `json:"agent,omitempty"`
	Session event.SessionID   `json:"session,omitempty"`
	Model   string            `json:"model,omitempty"`
	First   bool              `json:"first,omitempty"`
	In      json.RawMessage   `json:"in"`
	Out     []json.RawMessage `json:"out,omitempty"`
	Priced  []engine.Priced   `json:"priced,omitempty"`
	State   json.RawMessage   `json:"state,omitempty"`
}

// flushAfter is how much of a recording a crash may cost, by the clock of the
// events.
const flushAfter = 250 * time.Millisecond
