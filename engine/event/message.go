package event

// Messages are complete; they are what is kept.
type (
	// UserMessage is what the user said.
	UserMessage struct {
		ID        string  `json:"id"`
		Content   Content `json:"content"`
		Timestamp Millis  `json:"timestamp"`
		ParentID  string  `json:"parentId,omitempty"`
	}
	// AssistantMessage is one message of the model, its parts in the order in
	// which they came. Incomplete marks one that broke off.
	AssistantMessage struct {
		ID         string     `json:"id"`
		Content    Parts      `json:"content"`
		Timestamp  Millis     `json:"timestamp"` // when the message began
		Model      string     `json:"model,omitempty"`
		StopReason StopReason `json:"stopReason,omitempty"`
		Incomplete bool       `json:"incomplete,omitempty"`
		Usage      *Usage     `json:"usage,omitempty"`
		ParentID   string     `json:"parentId,omitempty"`
	}
	// ToolCallMessage is a call of a tool with its whole input. The call is also
	// a part of the assistant's message, which is its parent.
	ToolCallMessage struct {
		ID        string   `json:"id"`
		ToolCall  ToolCall `json:"toolCall"`
		Timestamp Millis   `json:"timestamp"`
		ParentID  string   `json:"parentId,omitempty"`
	}
	// ToolResultMessage is what a tool answered.
	ToolResultMessage struct {
		ID         string     `json:"id"`
		ToolCallID string     `json:"toolCallId"`
		ToolResult ToolReturn `json:"toolResult"`
		Timestamp  Millis     `json:"timestamp"`
		ParentID   string     `json:"parentId,omitempty"`
	}
	// ErrorMessage is a failure as part of the conversation. A model is never
	// shown it.
	ErrorMessage struct {
		ID        string    `json:"id"`
		Content   string    `json:"content"`
		ErrorCode ErrorCode `json:"errorCode,omitempty"`
		Timestamp Millis    `json:"timestamp"`
		ParentID  string    `json:"parentId,omitempty"`
	}
)

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleError     = "error"
)

func (UserMessage) message()       {}
func (AssistantMessage) message()  {}
func (ToolCallMessage) message()   {}
func (ToolResultMessage) message() {}
func (ErrorMessage) message()      {}

func (UserMessage) Type() string       { return "user_message" }
func (AssistantMessage) Type() string  { return "assistant_message" }
func (ToolCallMessage) Type() string   { return "tool_call_message" }
func (ToolResultMessage) Type() string { return "tool_result_message" }
func (ErrorMessage) Type() string      { return "error_message" }
