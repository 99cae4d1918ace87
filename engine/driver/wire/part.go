package wire

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// Readable shows a file to a model as the text that it is.
func Readable(f event.File) string { return fmt.Sprintf("File %s:\n\n%s", f.Filename, f.Data) }

// Unreadable says to a model that there is a file which it cannot be shown.
func Unreadable(f event.File) string {
	return fmt.Sprintf("[The file %q of type %s and %d bytes cannot be shown.]", f.Filename, f.MediaType, len(f.Data))
}

// DataURL is an address that has in it what it leads to.
func DataURL(mediaType string, data []byte) string {
	return "data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// Arguments are the input of a call as a text. What was not JSON when the model
// wrote it would be refused now.
func Arguments(c event.ToolCall) string {
	if len(c.Input) == 0 || !json.Valid(c.Input) {
		return "{}"
	}
	return string(c.Input)
}

// Object is the input of a call for those who accept nothing but an object.
func Object(input json.RawMessage) json.RawMessage {
	s := strings.TrimSpace(string(input))
	switch {
	case s == "" || !json.Valid(input):
		return json.RawMessage("{}")
	case s[0] == '{':
		return input
	}
	return json.RawMessage(`{"value":` + s + `}`)
}

// SameMaker reports whether the proofs of model had mean anything to model
// asked, where both are at the same server: those that resell put the maker's
// name in front.
func SameMaker(had, asked string) bool {
	m, _, ok1 := strings.Cut(had, "/")
	n, _, ok2 := strings.Cut(asked, "/")
	return !ok1 || !ok2 || m == n
}

// Empty is the fault of a request without a question.
func Empty() error {
	return &engine.Fault{Code: event.CodeInvalidRequest, Message: "there is nothing to answer: the message is empty"}
}
