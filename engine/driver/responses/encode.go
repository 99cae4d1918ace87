package responses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

type request struct {
	Model        string   `json:"model"`
	Instructions string   `json:"instructions,omitempty"`
	Tools        []tool   `json:"tools,omitempty"`
	Reasoning    *effort  `json:"reasoning,omitempty"`
	Include      []string `json:"include,omitempty"`
	Text         *text    `json:"text,omitempty"`
	MaxTokens    int      `json:"max_output_tokens,omitempty"`
	Temperature  *float64 `json:"temperature,omitempty"`
	Stream       bool     `json:"stream"`
	Store        bool     `json:"store"`
}

type effort struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type text struct {
	Format format `json:"format"`
}

type format struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// input is one item of what has been said. Which fields it has depends on its
// type.
type input struct {
	Type      string   `json:"type"`
	Role      string   `json:"role,omitempty"`
	Content   []piece  `json:"content,omitempty"`
	Summary   *[]piece `json:"summary,omitempty"`
	Encrypted string   `json:"encrypted_content,omitempty"`
	CallID    string   `json:"call_id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Arguments string   `json:"arguments,omitempty"`
	Output    any      `json:"output,omitempty"` // a text, or pieces
}

type piece struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Filename string `json:"filename,omitempty"`
	FileData string `json:"file_data,omitempty"`
}

// encode returns the body of a request to d, with or without what was thought.
func encode(req engine.Request, d Driver, thoughts bool) ([]byte, error) {
	thinks := thinks(req.Model)
	thoughts = thoughts && thinks
	turns := wire.Turns(req.Messages(), func(model string) bool { return thoughts && wire.SameMaker(model, req.Model) })
	r := request{
		Model: req.Model, Tools: tools(req.Tools), Text: follow(req.Options.Schema),
		Stream: true, Temperature: req.Options.Temperature, MaxTokens: d.limit(req.Options.MaxTokens),
	}
	seal := d.seal()
	if !slices.ContainsFunc(turns, func(t wire.Turn) bool { return len(said(t, seal)) > 0 }) {
		return nil, wire.Empty()
	}
	if strings.TrimSpace(req.System) != "" {
		r.Instructions = req.System
	}
	if thoughts {
		r.Include = []string{"reasoning.encrypted_content"}
	}
	if e := (effort{req.Options.Effort, d.Summary}); thinks && e != (effort{}) {
		r.Reasoning = &e
	}
	return d.Client.Write(wire.Letter{
		Around: r, List: "input",
		Turns: turns, Become: func(t wire.Turn) []any { return wire.Items(said(t, seal)) }, How: "responses " + seal,
	})
}

// limit is how long an answer may be. OpenAI does not take a limit that is very
// small.
func (d Driver) limit(asked int) int {
	limit := d.MaxTokens
	if asked > 0 {
		limit = asked
	}
	if limit > 0 && d.official() {
		limit = max(limit, leastLength)
	}
	return max(limit, 0)
}

const leastLength = 16 // tokens

// thinks reports whether a model may think. Those of OpenAI's that do not refuse
// every word about it.
func thinks(model string) bool {
	model = strings.ToLower(model)
	for _, name := range []string{"gpt-3", "gpt-4", "chatgpt"} {
		if strings.Contains(model, name) {
			return false
		}
	}
	return !strings.Contains(model, "gpt-") || !strings.Contains(model, "-chat")
}

// said is a turn, item by item. Of the thoughts only those are told that bear
// the seal, and only in front of what came of them.
func said(t wire.Turn, seal string) []input {
	if t.Assistant {
		return assistant(t.Parts, seal)
	}
	return user(t.Parts)
}

func assistant(parts []event.Part, seal string) []input {
	var all, thoughts []input
	for _, p := range parts {
		switch p := p.(type) {
		case event.Thinking:
			if secret, ok := strings.CutPrefix(p.Signature, seal); ok && secret != "" {
				thoughts = append(thoughts, pondered(p.Text, secret))
			}
			continue
		case event.Text:
			all = append(append(all, thoughts...), input{Type: message, Role: "assistant", Content: []piece{{Type: "output_text", Text: p.Text}}})
		case event.ToolCall:
			all = append(append(all, thoughts...), input{Type: function, CallID: p.ID, Name: wire.ToolName(p.Name), Arguments: wire.Arguments(p)})
		}
		thoughts = nil
	}
	return all
}

// pondered is a thought without its id: whoever keeps nothing would look for it
// in vain.
func pondered(text, secret string) input {
	said := []piece{}
	if text != "" {
		said = append(said, piece{Type: "summary_text", Text: text})
	}
	return input{Type: reasoning, Summary: &said, Encrypted: secret}
}

// user is what the user says, behind the results of tools.
func user(parts []event.Part) []input {
	var all []input
	var pieces []piece
	for _, p := range parts {
		if r, ok := p.(event.ToolReturn); ok {
			all = append(all, input{Type: "function_call_output", CallID: r.ID, Output: returned(r.Output)})
		} else {
			pieces = show(pieces, p)
		}
	}
	if len(pieces) > 0 {
		all = append(all, input{Type: message, Role: "user", Content: pieces})
	}
	return all
}

// returned is an output: a text where it is nothing else.
func returned(o event.Output) any {
	if o.Kind != event.OutputContent {
		return o.String()
	}
	var pieces []piece
	texts := true
	for _, p := range o.Parts {
		_, text := p.(event.Text)
		texts = texts && text
		pieces = show(pieces, p)
	}
	if texts {
		return o.String()
	}
	return pieces
}

func show(pieces []piece, p event.Part) []piece {
	switch p := p.(type) {
	case event.Text:
		if strings.TrimSpace(p.Text) == "" {
			return pieces
		}
		return append(pieces, piece{Type: "input_text", Text: p.Text})
	case event.Image:
		address := p.URL
		if len(p.Data) > 0 {
			address = wire.DataURL(p.MediaType, p.Data)
		}
		return append(pieces, piece{Type: "input_image", ImageURL: address})
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
		return piece{Type: "input_file", Filename: cmp.Or(f.Filename, "document.pdf"), FileData: wire.DataURL(f.MediaType, f.Data)}
	case utf8.Valid(f.Data):
		return piece{Type: "input_text", Text: wire.Readable(f)}
	}
	return piece{Type: "input_text", Text: wire.Unreadable(f)}
}

// tools says of none that it is strict: then what a schema leaves open would be
// refused, or become a must.
func tools(all []engine.Tool) []tool {
	var out []tool
	for _, t := range all {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: schema})
	}
	return out
}
