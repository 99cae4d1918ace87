package event

import "encoding/json"

// Stream events, in the order a reply sends them. A driver yields these, and
// the engine passes them through.
type (
	// MessageStart begins one message of the model.
	MessageStart struct {
		MessageID string `json:"messageId"`
		Model     string `json:"model"`
	}
	// ThinkingDelta is a piece of reasoning, where the provider streams it. The
	// signature proves to the provider that the text is its own.
	ThinkingDelta struct {
		Text      string `json:"text"`
		Signature string `json:"signature,omitempty"`
	}
	// TextDelta is a piece of the answer.
	TextDelta struct {
		Text string `json:"text"`
	}
	// ToolUseStart opens a call of a tool.
	ToolUseStart struct {
		ToolCallID string `json:"toolCallId"`
		ToolName   string `json:"toolName"`
	}
	// InputJSONDelta is a piece of a tool's input. Without an id it belongs to
	// the call that was opened last.
	InputJSONDelta struct {
		PartialJSON string `json:"partialJson"`
		ToolCallID  string `json:"toolCallId,omitempty"`
	}
	// ToolUseStop closes a call. Input serves where no piece of it was streamed.
	ToolUseStop struct {
		ToolCallID string          `json:"toolCallId,omitempty"`
		Input      json.RawMessage `json:"input,omitempty"`
	}
	// ToolResult is what a tool answered.
	ToolResult struct {
		ToolCallID string
		Result     Output
		IsError    bool
	}
	// MessageDelta counts tokens. It may come several times in a turn, between
	// its messages too; each carries what is new since the last.
	MessageDelta struct {
		Usage Usage `json:"usage"`
	}
	// MessageStop ends the message.
	MessageStop struct {
		StopReason   StopReason `json:"stopReason"`
		StopSequence string     `json:"stopSequence,omitempty"`
	}
	// ErrorReceived says that the environment failed.
	ErrorReceived struct {
		Message   string    `json:"message"`
		ErrorCode ErrorCode `json:"errorCode,omitempty"`
		Retryable bool      `json:"retryable,omitempty"`
	}
	// Interrupted says that somebody stopped the answer.
	Interrupted struct {
		Reason InterruptReason `json:"reason"`
	}
	// Retrying says that a request failed before any output and will be made
	// again after a delay.
	Retrying struct {
		Attempt     int    `json:"attempt"`
		MaxAttempts int    `json:"maxAttempts"`
		DelayMs     int64  `json:"delayMs"`
		Reason      string `json:"reason"`
	}
	// Unknown is an event of a type that this version does not know. It is kept
	// whole and passed on, and nothing follows from it.
	Unknown struct {
		Name string
		Raw  json.RawMessage
	}
)

// StopReason says why a message ended.
type StopReason string

const (
	EndTurn       StopReason = "end_turn"
	ToolUse       StopReason = "tool_use" // the reply goes on after the tools
	MaxTokens     StopReason = "max_tokens"
	StopSequence  StopReason = "stop_sequence"
	Refusal       StopReason = "refusal"
	ContentFilter StopReason = "content_filter"
	PauseTurn     StopReason = "pause_turn"
	StopError     StopReason = "error"
	StopOther     StopReason = "other"

	// StopInterrupted is derived, never sent by a driver: what an [Interrupted]
	// makes of a message and of its turn.
	StopInterrupted StopReason = "interrupted"
)

// Final reports whether a message that stops for r ends the turn.
func (r StopReason) Final() bool { return r != ToolUse }

// InterruptReason says who stopped an answer.
type InterruptReason string

const (
	ByUser    InterruptReason = "user"
	ByTimeout InterruptReason = "timeout"
	ByBudget  InterruptReason = "budget"
	BySystem  InterruptReason = "system"
)

// ErrorCode names a kind of failure, the same for every provider.
type ErrorCode string

const (
	CodeAuthentication  ErrorCode = "authentication"   // no key, or one that is refused
	CodePermission      ErrorCode = "permission"       // a valid key that may not do this
	CodeRateLimit       ErrorCode = "rate_limit"       // too many requests; waiting helps
	CodeQuota           ErrorCode = "quota"            // no credit left; waiting does not help
	CodeInvalidRequest  ErrorCode = "invalid_request"  // the provider does not accept what was sent
	CodeNotFound        ErrorCode = "not_found"        // no such model, address, agent, session or image
	CodeContextOverflow ErrorCode = "context_overflow" // longer than the model can read
	CodeOverloaded      ErrorCode = "overloaded"       // the provider is busy
	CodeServer          ErrorCode = "server"           // the provider failed
	CodeNetwork         ErrorCode = "network"          // no connection, or it was refused
	CodeTimeout         ErrorCode = "timeout"          // nothing came for too long
	CodeIncomplete      ErrorCode = "incomplete"       // the stream broke off before its end
	CodeProtocol        ErrorCode = "protocol"         // what came is not what the protocol promises
	CodeTooLarge        ErrorCode = "too_large"        // more than the limits allow
	CodeContentFilter   ErrorCode = "content_filter"   // refused for its content
	CodeBudget          ErrorCode = "budget"           // the user has set a limit to what may be spent
	CodeConfiguration   ErrorCode = "configuration"    // settings that cannot work
	CodeStore           ErrorCode = "store"            // the session could not be kept
	CodeInternal        ErrorCode = "internal"         // a fault of this program

	// What commands fail with, beside these.
	CodeExists      ErrorCode = "exists"      // there is one of that name already
	CodeInUse       ErrorCode = "in_use"      // somebody else has it
	CodeStopped     ErrorCode = "stopped"     // the agent is stopped, and can be resumed
	CodeDestroyed   ErrorCode = "destroyed"   // the agent or its container is destroyed
	CodeInterrupted ErrorCode = "interrupted" // somebody stopped it
)

func (MessageStart) stream()   {}
func (ThinkingDelta) stream()  {}
func (TextDelta) stream()      {}
func (ToolUseStart) stream()   {}
func (InputJSONDelta) stream() {}
func (ToolUseStop) stream()    {}
func (ToolResult) stream()     {}
func (MessageDelta) stream()   {}
func (MessageStop) stream()    {}
func (ErrorReceived) stream()  {}
func (Interrupted) stream()    {}
func (Retrying) stream()       {}
func (Aside) stream()          {}
func (Unknown) stream()        {}

func (MessageStart) Type() string   { return "message_start" }
func (ThinkingDelta) Type() string  { return "thinking_delta" }
func (TextDelta) Type() string      { return "text_delta" }
func (ToolUseStart) Type() string   { return "tool_use_start" }
func (InputJSONDelta) Type() string { return "input_json_delta" }
func (ToolUseStop) Type() string    { return "tool_use_stop" }
func (ToolResult) Type() string     { return "tool_result" }
func (MessageDelta) Type() string   { return "message_delta" }
func (MessageStop) Type() string    { return "message_stop" }
func (ErrorReceived) Type() string  { return "error_received" }
func (Interrupted) Type() string    { return "interrupted" }
func (Retrying) Type() string       { return "retrying" }
func (Aside) Type() string          { return "aside" }
func (u Unknown) Type() string      { return u.Name }
