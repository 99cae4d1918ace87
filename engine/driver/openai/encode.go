package openai

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

type request struct {
	Model         string         `json:"model"`
	Tools         []tool         `json:"tools,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	MaxCompletion int            `json:"max_completion_tokens,omitempty"`
	Temperature   *float64       `json:"temperature,omitempty"`
	Effort        string         `json:"reasoning_effort,omitempty"`
	Format        *format        `json:"response_format,omitempty"`
}

type format struct {
	Type   string     `json:"type"` // json_schema
	Schema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// A message has content that is a string, a list of pieces, or nothing.
type message struct {
	Role       string   `json:"role"`
	Content    any      `json:"content"`
	Thoughts   string   `json:"reasoning_content,omitempty"`
	Details    []detail `json:"reasoning_details,omitempty"`
	ToolCalls  []used   `json:"tool_calls,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

type used struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type piece struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
	File  *document `json:"file,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type document struct {
	Name string `json:"filename,omitempty"`
	Data string `json:"file_data"`
}

// encode returns the body of a request to d, whose answer says how many tokens
// it was where they are counted.
func encode(req engine.Request, d Driver, counted bool) ([]byte, error) {
	turns := wire.Turns(req.Messages(), func(model string) bool { return d.remembers() || wire.SameMaker(model, req.Model) })
	if len(turns) == 0 {
		return nil, wire.Empty()
	}
	r := request{
		Model: req.Model, Tools: tools(req.Tools),
		Stream: true, Temperature: req.Options.Temperature, Effort: req.Options.Effort,
	}
	if len(req.Options.Schema) > 0 {
		r.Format = &format{"json_schema", jsonSchema{"answer", req.Options.Schema}}
	}
	if counted {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	limit := d.MaxTokens
	if req.Options.MaxTokens > 0 {
		limit = req.Options.MaxTokens
	}
	if d.official() {
		r.MaxCompletion = limit
	} else {
		r.MaxTokens = limit
	}
	l := wire.Letter{Around: r, List: "messages", How: fmt.Sprint("openai ", d.remembers(), d.seal())}
	if strings.TrimSpace(req.System) != "" {
		l.First = []any{message{Role: "system", Content: req.System}}
	}
	if d.strict() {
		l.Last = wire.Items(strictly(d.messages(turns))) // what one becomes depends on the others
	} else {
		l.Turns, l.Become = turns, func(t wire.Turn) []any { return wire.Items(d.turn(t)) }
	}
	return d.Client.Write(l)
}

func (d Driver) messages(turns []wire.Turn) []message {
	var all []message
	for _, t := range turns {
		all = append(all, d.turn(t)...)
	}
	return all
}

func (d Driver) turn(t wire.Turn) []message {
	if t.Assistant {
		return []message{d.assistant(t.Parts)}
	}
	return user(t.Parts)
}

func (d Driver) assistant(parts []event.Part) message {
	m := message{Role: "assistant"}
	var said []string
	thought, unproven := "", ""
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			said = append(said, p.Text)
		case event.Thinking:
			thought, unproven = thought+p.Text, unproven+p.Text
			if details := proven(p.Signature, d.seal(), unproven); details != nil {
				m.Details, unproven = append(m.Details, details...), ""
			}
		case event.ToolCall:
			u := used{ID: p.ID, Type: "function"}
			u.Function.Name, u.Function.Arguments = wire.ToolName(p.Name), wire.Arguments(p)
			m.ToolCalls = append(m.ToolCalls, u)
		}
	}
	if len(m.ToolCalls) > 0 && d.remembers() {
		m.Thoughts = thought
	}
	if len(said) > 0 {
		m.Content = strings.Join(said, "")
	}
	return m
}

// user is what the user says, behind the results of tools. A result can only be
// text here, so the user shows its pictures.
func user(parts []event.Part) []message {
	var results []message
	var pieces []piece
	for _, p := range parts {
		switch p := p.(type) {
		case event.ToolReturn:
			results = append(results, message{Role: "tool", ToolCallID: p.ID, Content: p.Output.String()})
			if p.Output.Kind == event.OutputContent {
				for _, inner := range p.Output.Parts {
					if _, text := inner.(event.Text); !text {
						pieces = show(pieces, inner)
					}
				}
			}
		default:
			pieces = show(pieces, p)
		}
	}
	switch {
	case len(pieces) == 0:
		return results
	case len(pieces) == 1 && pieces[0].Type == "text":
		return append(results, message{Role: "user", Content: pieces[0].Text})
	}
	return append(results, message{Role: "user", Content: pieces})
}

func show(pieces []piece, p event.Part) []piece {
	switch p := p.(type) {
	case event.Text:
		return append(pieces, piece{Type: "text", Text: p.Text})
	case event.Image:
		url := p.URL
		if len(p.Data) > 0 {
			url = wire.DataURL(p.MediaType, p.Data)
		}
		return append(pieces, piece{Type: "image_url", Image: &imageURL{url}})
	case event.File:
		return append(pieces, file(p))
	}
	return pieces
}

// file is a document where the API knows its type, else its text, else only
// that there is one.
func file(f event.File) piece {
	switch {
	case f.MediaType == "application/pdf":
		return piece{Type: "file", File: &document{Name: f.Filename, Data: wire.DataURL(f.MediaType, f.Data)}}
	case utf8.Valid(f.Data):
		return piece{Type: "text", Text: wire.Readable(f)}
	}
	return piece{Type: "text", Text: wire.Unreadable(f)}
}

func tools(all []engine.Tool) []tool {
	var out []tool
	for _, t := range all {
		out = append(out, tool{"function", function{t.Name, t.Description, t.Schema}})
	}
	return out
}
