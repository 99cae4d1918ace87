package bus

import (
	"encoding/json"

	"agentx/engine/event"
)

// A SystemEvent is an event and where it belongs.
type SystemEvent struct {
	event.Event
	Source    Source
	Category  Category
	Intent    Intent
	Scope     Scope
	RequestID string // joins a response to its request; empty for the rest
}

// Scope says whose event it is. Empty fields do not apply. The seeds call it
// the event's context.
type Scope struct {
	Container event.ContainerID `json:"containerId,omitempty"`
	Agent     event.AgentID     `json:"agentId,omitempty"`
	Session   event.SessionID   `json:"sessionId,omitempty"`
	Image     event.ImageID     `json:"imageId,omitempty"`
	Turn      string            `json:"turnId,omitempty"`
}

// Source says which part of the system an event comes from.
type Source string

const (
	Environment Source = "environment"
	Agent       Source = "agent"
	Command     Source = "command"
	Session     Source = "session"
	Container   Source = "container"
	Sandbox     Source = "sandbox"
)

// Category says what kind of event of its source it is.
type Category string

const (
	Stream     Category = "stream"
	Connection Category = "connection"
	State      Category = "state"
	Message    Category = "message"
	Turn       Category = "turn"
	Request    Category = "request"
	Response   Category = "response"
	Lifecycle  Category = "lifecycle"
	Persist    Category = "persist"
	Action     Category = "action"
	Workdir    Category = "workdir"
	MCP        Category = "mcp"
	Error      Category = "error"
)

// Intent says what an event wants.
type Intent string

const (
	Asks     Intent = "request"
	Answers  Intent = "result"
	Notifies Intent = "notification"
)

// categoryOf is the category of an agent's event: its layer.
func categoryOf(d event.Data) Category {
	switch event.LayerOf(d) {
	case event.StateLayer:
		return State
	case event.MessageLayer:
		return Message
	case event.TurnLayer:
		return Turn
	}
	return Stream
}

// OfAgent puts an engine's event into the envelope.
func OfAgent(e event.Event, s Scope) SystemEvent {
	return SystemEvent{Event: e, Source: Agent, Category: categoryOf(e.Data), Intent: Notifies, Scope: s}
}

// wire is a system event as JSON.
type wire struct {
	Type      string          `json:"type"`
	Timestamp int64           `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
	Source    Source          `json:"source"`
	Category  Category        `json:"category"`
	Intent    Intent          `json:"intent"`
	Context   Scope           `json:"context"`
	RequestID string          `json:"requestId,omitempty"`
}

// MarshalJSON writes the event with its envelope, all on one level.
func (e SystemEvent) MarshalJSON() ([]byte, error) {
	data, err := event.MarshalData(e.Data)
	if err != nil {
		return nil, err
	}
	return event.Marshal(wire{e.Data.Type(), int64(event.MillisOf(e.At)), data, e.Source, e.Category, e.Intent, e.Scope, e.RequestID})
}

// UnmarshalJSON reads what MarshalJSON writes. A type that is not in the four
// layers becomes an [event.Unknown].
func (e *SystemEvent) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	data, err := event.UnmarshalData(w.Type, w.Data)
	if err != nil {
		return err
	}
	*e = SystemEvent{
		Event:  event.Event{At: event.Millis(w.Timestamp).Time(), Data: data},
		Source: w.Source, Category: w.Category, Intent: w.Intent, Scope: w.Context, RequestID: w.RequestID,
	}
	return nil
}
