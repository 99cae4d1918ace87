package runtime

import (
	"agentx/engine/bus"
	"agentx/engine/event"
)

// What happens to containers, agents, sessions and connections.
type (
	ContainerCreated struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerDestroyed struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	AgentRegistered struct {
		ContainerID event.ContainerID `json:"containerId"`
		AgentID     event.AgentID     `json:"agentId"`
	}
	AgentUnregistered struct {
		ContainerID event.ContainerID `json:"containerId"`
		AgentID     event.AgentID     `json:"agentId"`
	}

	SessionCreated struct {
		SessionID event.SessionID `json:"sessionId"`
		ImageID   event.ImageID   `json:"imageId,omitempty"` // from which it was begun
	}
	// SessionDestroyed says that a session was deleted for good.
	SessionDestroyed struct {
		SessionID event.SessionID `json:"sessionId"`
	}
	// MessagePersisted says that a message is kept.
	MessagePersisted struct {
		SessionID event.SessionID `json:"sessionId"`
		MessageID string          `json:"messageId"`
		SavedAt   event.Millis    `json:"savedAt"`
	}
	SessionResumed struct {
		SessionID event.SessionID `json:"sessionId"`
	}
	SessionForked struct {
		Original event.SessionID `json:"originalSessionId"`
		New      event.SessionID `json:"newSessionId"`
	}
	SessionTitleUpdated struct {
		SessionID event.SessionID `json:"sessionId"`
		Title     string          `json:"title"`
	}

	// Connected says that the environment has begun to answer.
	Connected struct {
		Model string `json:"model,omitempty"`
	}
	// Disconnected says that it has ended, and why where it was not at its end.
	Disconnected struct {
		Error string `json:"error,omitempty"`
	}
	Reconnecting struct {
		Attempt     int   `json:"attempt"`
		MaxAttempts int   `json:"maxAttempts"`
		DelayMs     int64 `json:"delayMs"`
	}
)

func (ContainerCreated) Type() string    { return "container_created" }
func (ContainerDestroyed) Type() string  { return "container_destroyed" }
func (AgentRegistered) Type() string     { return "agent_registered" }
func (AgentUnregistered) Type() string   { return "agent_unregistered" }
func (SessionCreated) Type() string      { return "session_created" }
func (SessionDestroyed) Type() string    { return "session_destroyed" }
func (MessagePersisted) Type() string    { return "message_persisted" }
func (SessionResumed) Type() string      { return "session_resumed" }
func (SessionForked) Type() string       { return "session_forked" }
func (SessionTitleUpdated) Type() string { return "session_title_updated" }
func (Connected) Type() string           { return "connected" }
func (Disconnected) Type() string        { return "disconnected" }
func (Reconnecting) Type() string        { return "reconnecting" }

// tell publishes a piece of news.
func (r *Runtime) tell(from bus.Source, category bus.Category, s bus.Scope, d event.Data) {
	r.Bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: r.Now(), Data: d},
		Source: from, Category: category, Intent: bus.Notifies, Scope: s,
	})
}
