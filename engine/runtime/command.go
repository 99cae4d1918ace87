package runtime

import "agentx/engine/event"

// Commands: every request has a response, which carries an error where the
// request failed.
type (
	ContainerCreateRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerCreateResponse struct {
		RequestID   string            `json:"requestId"`
		ContainerID event.ContainerID `json:"containerId"`
		Error       string            `json:"error,omitempty"`
	}
	AgentRunRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
		Config      AgentConfig       `json:"config"`
	}
	AgentRunResponse struct {
		RequestID   string            `json:"requestId"`
		ContainerID event.ContainerID `json:"containerId"`
		AgentID     event.AgentID     `json:"agentId"`
		SessionID   event.SessionID   `json:"sessionId"`
		Error       string            `json:"error,omitempty"`
	}
	AgentReceiveRequest struct {
		AgentID event.AgentID `json:"agentId"`
		Content event.Content `json:"content"`
	}
	// AgentReceiveResponse is sent when the turn has ended.
	AgentReceiveResponse struct {
		RequestID string        `json:"requestId"`
		AgentID   event.AgentID `json:"agentId"`
		TurnID    string        `json:"turnId"`
		Error     string        `json:"error,omitempty"`
	}
	AgentInterruptRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentInterruptResponse struct {
		RequestID string        `json:"requestId"`
		AgentID   event.AgentID `json:"agentId"`
		Error     string        `json:"error,omitempty"`
	}
	AgentDestroyRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentDestroyResponse struct {
		RequestID string        `json:"requestId"`
		AgentID   event.AgentID `json:"agentId"`
		Success   bool          `json:"success"`
		Error     string        `json:"error,omitempty"`
	}
)

// AgentConfig is what a command says of an agent.
type AgentConfig struct {
	Name         string `json:"name"`
	SystemPrompt string `json:"systemPrompt,omitempty"`
	Model        string `json:"model,omitempty"`
}

// What happens to containers, agents and sessions.
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
	// MessagePersisted says that a message is kept.
	MessagePersisted struct {
		SessionID event.SessionID `json:"sessionId"`
		MessageID string          `json:"messageId"`
		SavedAt   event.Millis    `json:"savedAt"`
	}
)

func (ContainerCreateRequest) Type() string  { return "container_create_request" }
func (ContainerCreateResponse) Type() string { return "container_create_response" }
func (AgentRunRequest) Type() string         { return "agent_run_request" }
func (AgentRunResponse) Type() string        { return "agent_run_response" }
func (AgentReceiveRequest) Type() string     { return "agent_receive_request" }
func (AgentReceiveResponse) Type() string    { return "agent_receive_response" }
func (AgentInterruptRequest) Type() string   { return "agent_interrupt_request" }
func (AgentInterruptResponse) Type() string  { return "agent_interrupt_response" }
func (AgentDestroyRequest) Type() string     { return "agent_destroy_request" }
func (AgentDestroyResponse) Type() string    { return "agent_destroy_response" }
func (ContainerCreated) Type() string        { return "container_created" }
func (ContainerDestroyed) Type() string      { return "container_destroyed" }
func (AgentRegistered) Type() string         { return "agent_registered" }
func (AgentUnregistered) Type() string       { return "agent_unregistered" }
func (MessagePersisted) Type() string        { return "message_persisted" }
