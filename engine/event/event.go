// Package event holds the vocabulary of a conversation.
//
// Everything that happens is an [Event]: a moment and a piece of [Data].
// The data come in four layers, each a closed sum of the types in this package:
//
//	1  Stream   what the model sends, piece by piece   → typewriter
//	2  State    what the agent is doing                → spinner
//	3  Message  what was said, whole                   → history
//	4  Turn     what it took                           → cost
//
// An event is {"type", "timestamp", "data"} on the wire, and everybody sees the
// same names: a consumer of --output-format stream-json, a trace file, a remote
// client and the database.
//
// The package knows no engine, no terminal and no database.
package event

import (
	"reflect"
	"time"
)

// AgentID names an agent for as long as it runs.
type AgentID string

// SessionID names a conversation for as long as it is kept.
type SessionID string

// ContainerID names an isolation boundary of agents.
type ContainerID string

// ImageID names a frozen copy of a conversation.
type ImageID string

// An Event is something that happened, and when.
type Event struct {
	At   time.Time
	Data Data
}

// Data is what an event carries. The concrete type says what happened.
type Data interface {
	Type() string // name on the wire, such as "text_delta"
}

// The four layers. Each is closed: only types of this package belong to one.
type (
	Stream interface {
		Data
		stream()
	}
	State interface {
		Data
		state()
	}
	Message interface {
		Data
		message()
	}
	Turn interface {
		Data
		turn()
	}
)

// A Layer numbers the four sums, from what the model sends upwards.
type Layer int

const (
	NoLayer Layer = iota // a runtime's own event
	StreamLayer
	StateLayer
	MessageLayer
	TurnLayer
)

// LayerOf returns the layer of d, a property of its type and not of where it
// was found.
func LayerOf(d Data) Layer {
	switch d.(type) {
	case Stream:
		return StreamLayer
	case State:
		return StateLayer
	case Message:
		return MessageLayer
	case Turn:
		return TurnLayer
	}
	return NoLayer
}

// NameOf returns the name on the wire of a type of data. A layer has none, nor
// has a type that takes its name off the wire.
func NameOf[D Data]() (name string, ok bool) {
	var d D
	if reflect.TypeFor[D]().Kind() == reflect.Interface {
		return "", false
	}
	return d.Type(), d.Type() != ""
}

// Millis is a moment on the wire: Unix milliseconds.
type Millis int64

// MillisOf returns t as Unix milliseconds, and 0 for the zero time, which says
// that nobody looked at a clock.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time returns m as a time in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// SystemError is told when a part of the system fails beside the conversation:
// a session that is not being saved, a command that went wrong. It belongs to no
// layer.
type SystemError struct {
	Message  string `json:"message"`
	Severity string `json:"severity"` // info, warning or error
	Details  string `json:"details,omitempty"`
}

func (SystemError) Type() string { return "system_error" }
