package event

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Output is what a tool gave back. Kind says which field counts; the zero
// value is an empty text.
type Output struct {
	Kind  OutputKind
	Text  string          // of text and error-text; the reason of execution-denied
	JSON  json.RawMessage // of json
	Parts Parts           // of content
}

// OutputKind is a kind of [Output]. The zero kind is text.
type OutputKind string

const (
	OutputText    OutputKind = ""
	OutputJSON    OutputKind = "json"
	OutputError   OutputKind = "error-text"
	OutputDenied  OutputKind = "execution-denied"
	OutputContent OutputKind = "content"
)

// String returns the output as text, as a model that reads only text sees it.
func (o Output) String() string {
	switch o.Kind {
	case OutputJSON:
		return string(o.JSON)
	case OutputContent:
		return o.Parts.Text()
	case OutputDenied:
		if o.Text == "" {
			return "The user did not allow this call."
		}
		return "The user did not allow this call: " + o.Text
	}
	return o.Text
}

// Failed reports whether the output says that the call did not succeed.
func (o Output) Failed() bool { return o.Kind == OutputError || o.Kind == OutputDenied }

type taggedOutput struct {
	Type   string          `json:"type"`
	Value  json.RawMessage `json:"value,omitempty"`
	Reason string          `json:"reason,omitempty"`
}

// MarshalJSON writes {"type", "value"}; an execution-denied has a reason instead.
func (o Output) MarshalJSON() ([]byte, error) {
	var err error
	t := taggedOutput{Type: string(o.Kind)}
	switch o.Kind {
	case OutputText:
		t.Type = "text"
		t.Value, err = Marshal(o.Text)
	case OutputError:
		t.Value, err = Marshal(o.Text)
	case OutputJSON:
		t.Value = o.JSON
	case OutputDenied:
		t.Reason = o.Text
	case OutputContent:
		t.Value, err = marshalParts(o.Parts)
	default:
		err = fmt.Errorf("event: unknown output %q", o.Kind)
	}
	if err != nil {
		return nil, err
	}
	return Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Output) UnmarshalJSON(b []byte) error {
	var t taggedOutput
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	switch t.Type {
	case "text", "error-text":
		*o = Output{}
		if t.Type == "error-text" {
			o.Kind = OutputError
		}
		return json.Unmarshal(t.Value, &o.Text)
	case "json":
		*o = Output{Kind: OutputJSON, JSON: t.Value}
		return nil
	case "execution-denied":
		*o = Output{Kind: OutputDenied, Text: t.Reason}
		return nil
	case "content":
		*o = Output{Kind: OutputContent}
		return json.Unmarshal(t.Value, &o.Parts)
	}
	return fmt.Errorf("event: unknown output %q", t.Type)
}

// toolResult is a ToolResult on the wire. The result is a string or any JSON;
// one that is denied, or that has parts, is tagged as in a message.
type toolResult struct {
	ToolCallID string          `json:"toolCallId"`
	Result     json.RawMessage `json:"result"`
	IsError    bool            `json:"isError,omitempty"`
}

// MarshalJSON writes {"toolCallId", "result", "isError"}.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	var err error
	w := toolResult{ToolCallID: r.ToolCallID, IsError: r.IsError}
	switch r.Result.Kind {
	case OutputText, OutputError:
		w.Result, err = Marshal(r.Result.Text)
	case OutputJSON:
		w.Result = r.Result.JSON
	default:
		w.Result, err = Marshal(r.Result)
	}
	if err != nil {
		return nil, err
	}
	return Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *ToolResult) UnmarshalJSON(b []byte) error {
	var w toolResult
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*r = ToolResult{ToolCallID: w.ToolCallID, IsError: w.IsError}
	return r.Result.fromWire(w.Result, w.IsError)
}

func (o *Output) fromWire(raw json.RawMessage, failed bool) error {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return nil
	}
	if raw[0] == '"' {
		if failed {
			o.Kind = OutputError
		}
		return json.Unmarshal(raw, &o.Text)
	}
	var tagged Output
	if err := json.Unmarshal(raw, &tagged); err == nil && (tagged.Kind == OutputDenied || tagged.Kind == OutputContent) {
		*o = tagged
		return nil
	}
	*o = Output{Kind: OutputJSON, JSON: raw}
	return nil
}
