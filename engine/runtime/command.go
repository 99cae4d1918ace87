package runtime

import (
	"encoding/json"

	"agentx/engine"
	"agentx/engine/event"
)

// Commands: every request has a response, and an [Outcome] in it that says what
// became of the request. A [Client] makes them method calls.
type (
	ContainerCreateRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerCreateResponse struct {
		Outcome
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerGetRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerGetResponse struct {
		Outcome
		ContainerID event.ContainerID `json:"containerId"`
		Agents      []event.AgentID   `json:"agentIds"`
	}
	ContainerListRequest  struct{}
	ContainerListResponse struct {
		Outcome
		Containers []event.ContainerID `json:"containerIds"`
	}
	// ContainerDestroyRequest ends all agents of a container; their sessions stay.
	ContainerDestroyRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
	}
	ContainerDestroyResponse struct {
		Outcome
		ContainerID event.ContainerID `json:"containerId"`
	}

	// AgentRunRequest starts an agent, in a session that is kept already or, where
	// there is none of that id, in a new one.
	AgentRunRequest struct {
		ContainerID event.ContainerID `json:"containerId"`
		Config      AgentConfig       `json:"config"`
		SessionID   event.SessionID   `json:"sessionId,omitempty"` // empty has one minted
		Title       string            `json:"title,omitempty"`     // of the session; empty leaves it
		Dir         string            `json:"dir,omitempty"`       // folder of a new session

		// Recall is a session that is known until the first answer: a new session
		// that begins with a summary of another is asked for it so.
		Recall event.SessionID `json:"recallSessionId,omitempty"`
	}
	AgentRunResponse struct {
		Outcome
		ContainerID event.ContainerID `json:"containerId"`
		AgentID     event.AgentID     `json:"agentId"`
		SessionID   event.SessionID   `json:"sessionId"`
	}
	AgentGetRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentGetResponse struct {
		Outcome
		Agent AgentInfo `json:"agent"`
	}
	AgentListRequest struct {
		ContainerID event.ContainerID `json:"containerId,omitempty"` // empty lists all
	}
	AgentListResponse struct {
		Outcome
		Agents []AgentInfo `json:"agents"`
	}
	// AgentConfigureRequest changes an agent from its next message on. Empty
	// fields stay as they are.
	AgentConfigureRequest struct {
		AgentID event.AgentID `json:"agentId"`
		Model   string        `json:"model,omitempty"`
		System  *string       `json:"systemPrompt,omitempty"`
	}
	AgentConfigureResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
	}
	AgentReceiveRequest struct {
		AgentID   event.AgentID `json:"agentId"`
		Content   event.Content `json:"content"`
		MessageID string        `json:"messageId,omitempty"` // empty has one minted
	}
	// AgentReceiveResponse is sent when the turn has ended.
	AgentReceiveResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
		TurnID  string        `json:"turnId"`
	}
	// AgentInterruptRequest stops the running answer; with the id of a message the
	// answer to that one, which may still wait.
	AgentInterruptRequest struct {
		AgentID   event.AgentID         `json:"agentId"`
		MessageID string                `json:"messageId,omitempty"`
		Reason    event.InterruptReason `json:"reason,omitempty"` // empty is the user
	}
	AgentInterruptResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
	}
	AgentStopRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentStopResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
	}
	AgentResumeRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentResumeResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
	}
	AgentDestroyRequest struct {
		AgentID event.AgentID `json:"agentId"`
	}
	AgentDestroyResponse struct {
		Outcome
		AgentID event.AgentID `json:"agentId"`
		Success bool          `json:"success"`
	}

	// ImageSnapshotRequest freezes the conversation of an agent, or of a session
	// that no agent needs to be in.
	ImageSnapshotRequest struct {
		AgentID     event.AgentID   `json:"agentId,omitempty"`
		SessionID   event.SessionID `json:"sessionId,omitempty"`
		Name        string          `json:"name,omitempty"`
		Description string          `json:"description,omitempty"`
		System      string          `json:"systemPrompt,omitempty"` // where there is no agent to say
	}
	ImageSnapshotResponse struct {
		Outcome
		Record engine.Image `json:"record"`
	}
	// ImageResumeRequest begins a session from an image, and runs an agent in it.
	ImageResumeRequest struct {
		ImageID     event.ImageID     `json:"imageId"`               // or the beginning of one, or a name
		ContainerID event.ContainerID `json:"containerId,omitempty"` // empty is that in which it was taken
		Title       string            `json:"title,omitempty"`
		Dir         string            `json:"dir,omitempty"`
		Config      AgentConfig       `json:"config,omitzero"` // what shall be other than the image says
	}
	ImageResumeResponse struct {
		Outcome
		ImageID     event.ImageID     `json:"imageId"`
		ContainerID event.ContainerID `json:"containerId"`
		AgentID     event.AgentID     `json:"agentId"`
		SessionID   event.SessionID   `json:"sessionId"`
	}
	ImageListRequest  struct{}
	ImageListResponse struct {
		Outcome
		Images []engine.Image `json:"images"`
	}
	ImageGetRequest struct {
		ImageID event.ImageID `json:"imageId"` // or the beginning of one, or a name
	}
	ImageGetResponse struct {
		Outcome
		Record engine.Image `json:"record"`
	}
	ImageDeleteRequest struct {
		ImageID event.ImageID `json:"imageId"`
	}
	ImageDeleteResponse struct {
		Outcome
		ImageID event.ImageID `json:"imageId"`
	}

	SessionListRequest struct {
		Query string `json:"query,omitempty"`
		Dir   string `json:"dir,omitempty"`
		Limit int    `json:"limit,omitempty"`
	}
	SessionListResponse struct {
		Outcome
		Sessions []engine.Session `json:"sessions"`
	}
	SessionGetRequest struct {
		SessionID event.SessionID `json:"sessionId"`
	}
	SessionGetResponse struct {
		Outcome
		Session engine.Session `json:"session"`
	}
	// SessionMessagesRequest asks for a page of a session's log: messages and turns.
	SessionMessagesRequest struct {
		SessionID event.SessionID `json:"sessionId"`
		Before    int64           `json:"before,omitempty"` // number of the event behind the page; 0 is the end
		Limit     int             `json:"limit,omitempty"`  // at most 1,000, which 0 means
	}
	SessionMessagesResponse struct {
		Outcome
		SessionID event.SessionID `json:"sessionId"`
		Events    []event.Event   `json:"events"`
		First     int64           `json:"first"` // number of the first event; 1 where nothing comes before
	}
	// SessionForkRequest makes a session of what was said in another.
	SessionForkRequest struct {
		SessionID event.SessionID `json:"sessionId"`
		Before    string          `json:"beforeMessageId,omitempty"` // and all behind it is left out
		To        event.SessionID `json:"newSessionId,omitempty"`    // empty has one minted
		Branch    bool            `json:"branch,omitempty"`          // it is another way of the same session
	}
	SessionForkResponse struct {
		Outcome
		SessionID event.SessionID `json:"sessionId"` // the new one's
	}
	// SessionTreeRequest asks for the ways that a session went.
	SessionTreeRequest struct {
		SessionID event.SessionID `json:"sessionId"`
	}
	SessionTreeResponse struct {
		Outcome
		SessionID event.SessionID `json:"sessionId"`
		Branches  []engine.Branch `json:"branches"` // the last used first
	}
	SessionRenameRequest struct {
		SessionID event.SessionID `json:"sessionId"`
		Title     string          `json:"title"`
	}
	SessionRenameResponse struct {
		Outcome
		SessionID event.SessionID `json:"sessionId"`
	}
	SessionDeleteRequest struct {
		SessionID event.SessionID `json:"sessionId"`
	}
	SessionDeleteResponse struct {
		Outcome
		SessionID event.SessionID `json:"sessionId"`
	}
)

// AgentConfig is what a command says of an agent. What is left out is the
// runtime's to choose.
type AgentConfig struct {
	Name         string   `json:"name"`
	Description  string   `json:"description,omitempty"`
	SystemPrompt string   `json:"systemPrompt,omitempty"`
	Model        string   `json:"model,omitempty"`
	MaxTokens    int      `json:"maxTokens,omitempty"`
	Temperature  *float64 `json:"temperature,omitempty"`
	Effort       string   `json:"effort,omitempty"`

	Fallback string          `json:"fallbackModel,omitempty"` // answers where Model cannot
	Schema   json.RawMessage `json:"schema,omitempty"`        // that answers follow; JSON schema, an object
}

// AgentInfo is what there is to know about an agent.
type AgentInfo struct {
	ContainerID event.ContainerID `json:"containerId"`
	AgentID     event.AgentID     `json:"agentId"`
	SessionID   event.SessionID   `json:"sessionId"`
	Config      AgentConfig       `json:"config"`
	Life        string            `json:"life"`  // running, stopped or destroyed
	Phase       string            `json:"state"` // what it is doing
	Queued      int               `json:"queued,omitempty"`
	Created     event.Millis      `json:"createdAt"`
}

func (ContainerCreateRequest) Type() string   { return "container_create_request" }
func (ContainerCreateResponse) Type() string  { return "container_create_response" }
func (ContainerGetRequest) Type() string      { return "container_get_request" }
func (ContainerGetResponse) Type() string     { return "container_get_response" }
func (ContainerListRequest) Type() string     { return "container_list_request" }
func (ContainerListResponse) Type() string    { return "container_list_response" }
func (ContainerDestroyRequest) Type() string  { return "container_destroy_request" }
func (ContainerDestroyResponse) Type() string { return "container_destroy_response" }
func (AgentRunRequest) Type() string          { return "agent_run_request" }
func (AgentRunResponse) Type() string         { return "agent_run_response" }
func (AgentGetRequest) Type() string          { return "agent_get_request" }
func (AgentGetResponse) Type() string         { return "agent_get_response" }
func (AgentListRequest) Type() string         { return "agent_list_request" }
func (AgentListResponse) Type() string        { return "agent_list_response" }
func (AgentConfigureRequest) Type() string    { return "agent_configure_request" }
func (AgentConfigureResponse) Type() string   { return "agent_configure_response" }
func (AgentReceiveRequest) Type() string      { return "agent_receive_request" }
func (AgentReceiveResponse) Type() string     { return "agent_receive_response" }
func (AgentInterruptRequest) Type() string    { return "agent_interrupt_request" }
func (AgentInterruptResponse) Type() string   { return "agent_interrupt_response" }
func (AgentStopRequest) Type() string         { return "agent_stop_request" }
func (AgentStopResponse) Type() string        { return "agent_stop_response" }
func (AgentResumeRequest) Type() string       { return "agent_resume_request" }
func (AgentResumeResponse) Type() string      { return "agent_resume_response" }
func (AgentDestroyRequest) Type() string      { return "agent_destroy_request" }
func (AgentDestroyResponse) Type() string     { return "agent_destroy_response" }
func (ImageSnapshotRequest) Type() string     { return "image_snapshot_request" }
func (ImageSnapshotResponse) Type() string    { return "image_snapshot_response" }
func (ImageResumeRequest) Type() string       { return "image_resume_request" }
func (ImageResumeResponse) Type() string      { return "image_resume_response" }
func (ImageListRequest) Type() string         { return "image_list_request" }
func (ImageListResponse) Type() string        { return "image_list_response" }
func (ImageGetRequest) Type() string          { return "image_get_request" }
func (ImageGetResponse) Type() string         { return "image_get_response" }
func (ImageDeleteRequest) Type() string       { return "image_delete_request" }
func (ImageDeleteResponse) Type() string      { return "image_delete_response" }
func (SessionListRequest) Type() string       { return "session_list_request" }
func (SessionListResponse) Type() string      { return "session_list_response" }
func (SessionGetRequest) Type() string        { return "session_get_request" }
func (SessionGetResponse) Type() string       { return "session_get_response" }
func (SessionMessagesRequest) Type() string   { return "session_messages_request" }
func (SessionMessagesResponse) Type() string  { return "session_messages_response" }
func (SessionForkRequest) Type() string       { return "session_fork_request" }
func (SessionForkResponse) Type() string      { return "session_fork_response" }
func (SessionTreeRequest) Type() string       { return "session_tree_request" }
func (SessionTreeResponse) Type() string      { return "session_tree_response" }
func (SessionRenameRequest) Type() string     { return "session_rename_request" }
func (SessionRenameResponse) Type() string    { return "session_rename_response" }
func (SessionDeleteRequest) Type() string     { return "session_delete_request" }
func (SessionDeleteResponse) Type() string    { return "session_delete_response" }
