package event

import "encoding/json"

// State events are transitions: each says that something about what the agent
// is doing has changed.
type (
	// ConversationQueued says that a message waits for the running turn.
	ConversationQueued struct {
		MessageID string `json:"messageId"`
	}
	// ConversationStart says that the model begins a message.
	ConversationStart struct {
		MessageID string `json:"messageId"`
	}
	// ConversationThinking says that reasoning begins to come.
	ConversationThinking struct{}
	// ConversationResponding says that text of the answer begins to come.
	ConversationResponding struct{}
	// ToolPlanned says that the model is writing the input of a tool.
	ToolPlanned struct {
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
	}
	// ToolExecuting says that the input is complete and the tool is at work.
	ToolExecuting struct {
		ToolID   string          `json:"toolId"`
		ToolName string          `json:"toolName"`
		Input    json.RawMessage `json:"input"`
	}
	// ToolCompleted says that the tool has answered.
	ToolCompleted struct {
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
		Result   Output `json:"result"`
	}
	// ToolFailed says that the tool has answered with an error.
	ToolFailed struct {
		ToolID   string `json:"toolId"`
		ToolName string `json:"toolName"`
		Error    string `json:"error"`
	}
	// ConversationInterrupted says that somebody stopped the answer.
	ConversationInterrupted struct {
		Reason InterruptReason `json:"reason"`
	}
	// ErrorOccurred says that the environment failed. After a recoverable error
	// the same message may be sent again.
	ErrorOccurred struct {
		Code        ErrorCode `json:"code"`
		Message     string    `json:"message"`
		Recoverable bool      `json:"recoverable"`
	}
	// ConversationEnd is the end of a turn. There is exactly one in each.
	ConversationEnd struct {
		Reason EndReason `json:"reason"`
	}
)

// EndReason says how a turn ended.
type EndReason string

const (
	EndCompleted   EndReason = "completed"
	EndInterrupted EndReason = "interrupted"
	EndError       EndReason = "error"
)

func (ConversationQueued) state()      {}
func (ConversationStart) state()       {}
func (ConversationThinking) state()    {}
func (ConversationResponding) state()  {}
func (ToolPlanned) state()             {}
func (ToolExecuting) state()           {}
func (ToolCompleted) state()           {}
func (ToolFailed) state()              {}
func (ConversationInterrupted) state() {}
func (ErrorOccurred) state()           {}
func (ConversationEnd) state()         {}

func (ConversationQueued) Type() string      { return "conversation_queued" }
func (ConversationStart) Type() string       { return "conversation_start" }
func (ConversationThinking) Type() string    { return "conversation_thinking" }
func (ConversationResponding) Type() string  { return "conversation_responding" }
func (ToolPlanned) Type() string             { return "tool_planned" }
func (ToolExecuting) Type() string           { return "tool_executing" }
func (ToolCompleted) Type() string           { return "tool_completed" }
func (ToolFailed) Type() string              { return "tool_failed" }
func (ConversationInterrupted) Type() string { return "conversation_interrupted" }
func (ErrorOccurred) Type() string           { return "error_occurred" }
func (ConversationEnd) Type() string         { return "conversation_end" }
