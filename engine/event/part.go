package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Part is a piece of a message. The sum is closed.
type Part interface {
	part() string // name on the wire
}

// The parts of messages.
type (
	// Text is something said.
	Text struct {
		Text string `json:"text"`
	}
	// Thinking is something thought. The signature proves to the provider that
	// the text is its own.
	Thinking struct {
		Text      string `json:"text"`
		Signature string `json:"signature,omitempty"`
	}
	// ToolCall asks for a tool. Input is a JSON value; where the model wrote
	// something else, InputError says what is wrong and Raw is what it wrote.
	ToolCall struct {
		ID         string          `json:"id"`
		Name       string          `json:"name"`
		Input      json.RawMessage `json:"input"`
		InputError string          `json:"inputError,omitempty"`
		Raw        string          `json:"raw,omitempty"`
	}
	// ToolReturn is what a tool answered to a call.
	ToolReturn struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Output Output `json:"output"`
	}
	// Image is a picture: its bytes or where it lies.
	Image struct {
		MediaType string `json:"mediaType"`
		Data      []byte `json:"data,omitempty"`
		URL       string `json:"url,omitempty"`
		Name      string `json:"name,omitempty"`
	}
	// Aside is what a provider did of its own accord, or what it refers to: a
	// search, a page that it read, a source. It is no part of what was said. A
	// driver yields it when it comes; a message holds its own behind its text.
	Aside struct {
		Kind string `json:"kind"` // AsideSearch, …
		Text string `json:"text"` // what was looked for, or the title of a source
		URL  string `json:"url,omitempty"`
	}
	// File is a document.
	File struct {
		MediaType string `json:"mediaType"`
		Data      []byte `json:"data"`
		Filename  string `json:"filename,omitempty"`
	}
)

func (Text) part() string       { return "text" }
func (Thinking) part() string   { return "thinking" }
func (ToolCall) part() string   { return "tool-call" }
func (ToolReturn) part() string { return "tool-result" }
func (Image) part() string      { return "image" }
func (File) part() string       { return "file" }
func (Aside) part() string      { return "aside" }

// The kinds of asides.
const (
	AsideSearch = "search" // looked for something
	AsideRead   = "read"   // read a page or a file
	AsideCode   = "code"   // ran something
	AsideTool   = "tool"   // used another tool of its own
	AsideSource = "source" // refers to this
)

// Parts are the content of an assistant's message, in the order they came.
type Parts []Part

// Content is what a user says: on the wire a string where it is one text.
type Content []Part

// Say returns s as content.
func Say(s string) Content { return Content{Text{s}} }

// Text returns the texts of the content, joined by blank lines.
func (c Content) Text() string { return join[Text](c, "\n\n", func(t Text) string { return t.Text }) }

// Text returns the texts among the parts, one after the other.
func (p Parts) Text() string { return join[Text](p, "", func(t Text) string { return t.Text }) }

// Thinking returns the thoughts among the parts, one after the other.
func (p Parts) Thinking() string {
	return join[Thinking](p, "", func(t Thinking) string { return t.Text })
}

// ToolCalls returns the calls among the parts.
func (p Parts) ToolCalls() []ToolCall {
	var calls []ToolCall
	for _, part := range p {
		if call, ok := part.(ToolCall); ok {
			calls = append(calls, call)
		}
	}
	return calls
}

func join[P Part](parts []Part, sep string, text func(P) string) string {
	var pieces []string
	for _, part := range parts {
		if p, ok := part.(P); ok {
			pieces = append(pieces, text(p))
		}
	}
	return strings.Join(pieces, sep)
}

// MarshalJSON writes a list of parts, each with its type.
func (p Parts) MarshalJSON() ([]byte, error) { return marshalParts(p) }

// UnmarshalJSON reads a list of parts, or a string as one text.
func (p *Parts) UnmarshalJSON(b []byte) (err error) {
	*p, err = unmarshalParts(b)
	return err
}

// MarshalJSON writes a string where the content is one text, else its parts.
func (c Content) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		if t, ok := c[0].(Text); ok {
			return Marshal(t.Text)
		}
	}
	return marshalParts(c)
}

// UnmarshalJSON reads a string or a list of parts.
func (c *Content) UnmarshalJSON(b []byte) error {
	parts, err := unmarshalParts(b)
	*c = Content(parts)
	return err
}

func marshalParts(parts []Part) ([]byte, error) {
	b := []byte{'['}
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		data, err := Marshal(p)
		if err != nil {
			return nil, err
		}
		b = append(b, `{"type":"`+p.part()+`",`...)
		b = append(b, data[1:]...) // every part has at least one field
	}
	return append(b, ']'), nil
}

func unmarshalParts(b []byte) (Parts, error) {
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		return Parts{Text{s}}, err
	}
	var all []anyPart
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	var parts Parts
	for _, a := range all {
		p, err := a.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// anyPart has the fields of all parts: they are read once, whatever they are.
type anyPart struct {
	Type       string          `json:"type"`
	Text       string          `json:"text"`
	Signature  string          `json:"signature"`
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	Input      json.RawMessage `json:"input"`
	InputError string          `json:"inputError"`
	Raw        string          `json:"raw"`
	Output     Output          `json:"output"`
	MediaType  string          `json:"mediaType"`
	Data       []byte          `json:"data"`
	URL        string          `json:"url"`
	Filename   string          `json:"filename"`
	Kind       string          `json:"kind"`
}

func (a anyPart) part() (Part, error) {
	switch a.Type {
	case "text":
		return Text{a.Text}, nil
	case "thinking":
		return Thinking{a.Text, a.Signature}, nil
	case "tool-call":
		return ToolCall{a.ID, a.Name, a.Input, a.InputError, a.Raw}, nil
	case "tool-result":
		return ToolReturn{a.ID, a.Name, a.Output}, nil
	case "image":
		return Image{a.MediaType, a.Data, a.URL, a.Name}, nil
	case "file":
		return File{a.MediaType, a.Data, a.Filename}, nil
	case "aside":
		return Aside{a.Kind, a.Text, a.URL}, nil
	}
	return nil, fmt.Errorf("event: unknown part %q", a.Type)
}
