package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// wire is an event as JSON.
type wire struct {
	Type      string          `json:"type"`
	Timestamp int64           `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// MarshalJSON writes {"type", "timestamp", "data"}.
func (e Event) MarshalJSON() ([]byte, error) {
	data, err := MarshalData(e.Data)
	if err != nil {
		return nil, err
	}
	return Marshal(wire{e.Data.Type(), int64(MillisOf(e.At)), data})
}

// UnmarshalJSON reads what MarshalJSON writes. A type that it does not know
// becomes an [Unknown].
func (e *Event) UnmarshalJSON(b []byte) error {
	var w wire
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	data, err := UnmarshalData(w.Type, w.Data)
	if err != nil {
		return err
	}
	*e = Event{At: time.UnixMilli(w.Timestamp).UTC(), Data: data}
	return nil
}

// MarshalData returns the data field of an event, which does not name its type.
func MarshalData(d Data) ([]byte, error) {
	if u, ok := d.(Unknown); ok {
		if len(u.Raw) == 0 {
			return []byte("{}"), nil
		}
		return u.Raw, nil
	}
	return Marshal(d)
}

// UnmarshalData reads the data of an event of the type that name says. Of a
// name that is not in the four layers it makes an [Unknown].
func UnmarshalData(name string, b []byte) (Data, error) {
	decode := decoder(name)
	if decode == nil {
		return Unknown{Name: name, Raw: bytes.Clone(b)}, nil
	}
	data, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("event: %s: %w", name, err)
	}
	return data, nil
}

// decoder knows every type of the four layers.
func decoder(name string) func([]byte) (Data, error) {
	switch name {
	case "message_start":
		return decode[MessageStart]
	case "thinking_delta":
		return decode[ThinkingDelta]
	case "text_delta":
		return decode[TextDelta]
	case "tool_use_start":
		return decode[ToolUseStart]
	case "input_json_delta":
		return decode[InputJSONDelta]
	case "tool_use_stop":
		return decode[ToolUseStop]
	case "tool_result":
		return decode[ToolResult]
	case "message_delta":
		return decode[MessageDelta]
	case "message_stop":
		return decode[MessageStop]
	case "error_received":
		return decode[ErrorReceived]
	case "interrupted":
		return decode[Interrupted]
	case "retrying":
		return decode[Retrying]
	case "aside":
		return decode[Aside]

	case "conversation_queued":
		return decode[ConversationQueued]
	case "conversation_start":
		return decode[ConversationStart]
	case "conversation_thinking":
		return decode[ConversationThinking]
	case "conversation_responding":
		return decode[ConversationResponding]
	case "tool_planned":
		return decode[ToolPlanned]
	case "tool_executing":
		return decode[ToolExecuting]
	case "tool_completed":
		return decode[ToolCompleted]
	case "tool_failed":
		return decode[ToolFailed]
	case "conversation_interrupted":
		return decode[ConversationInterrupted]
	case "error_occurred":
		return decode[ErrorOccurred]
	case "conversation_end":
		return decode[ConversationEnd]

	case "user_message":
		return decode[UserMessage]
	case "assistant_message":
		return decode[AssistantMessage]
	case "tool_call_message":
		return decode[ToolCallMessage]
	case "tool_result_message":
		return decode[ToolResultMessage]
	case "error_message":
		return decode[ErrorMessage]

	case "turn_request":
		return decode[TurnRequest]
	case "turn_response":
		return decode[TurnResponse]
	}
	return nil
}

func decode[D Data](b []byte) (Data, error) {
	var d D
	if len(b) == 0 {
		return d, nil
	}
	err := json.Unmarshal(b, &d)
	return d, err
}

// Marshal is json.Marshal without escapes for HTML: what was said reads as it
// was said.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Every message names its role on the wire; in Go its type does.

func (m UserMessage) MarshalJSON() ([]byte, error) {
	type plain UserMessage
	return Marshal(struct {
		Role string `json:"role"`
		plain
	}{RoleUser, plain(m)})
}

func (m AssistantMessage) MarshalJSON() ([]byte, error) {
	type plain AssistantMessage
	return Marshal(struct {
		Role string `json:"role"`
		plain
	}{RoleAssistant, plain(m)})
}

func (m ToolCallMessage) MarshalJSON() ([]byte, error) {
	type plain ToolCallMessage
	return Marshal(struct {
		Role string `json:"role"`
		plain
	}{RoleAssistant, plain(m)})
}

func (m ToolResultMessage) MarshalJSON() ([]byte, error) {
	type plain ToolResultMessage
	return Marshal(struct {
		Role string `json:"role"`
		plain
	}{RoleTool, plain(m)})
}

func (m ErrorMessage) MarshalJSON() ([]byte, error) {
	type plain ErrorMessage
	return Marshal(struct {
		Role string `json:"role"`
		plain
	}{RoleError, plain(m)})
}

// Depth returns how deep the brackets of a JSON text nest.
func Depth[T string | []byte](s T) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}
