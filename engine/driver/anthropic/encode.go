package anthropic

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

type request struct {
	Model        string    `json:"model"`
	MaxTokens    int       `json:"max_tokens"`
	System       []content `json:"system,omitempty"`
	Tools        []tool    `json:"tools,omitempty"`
	Thinking     *thinking `json:"thinking,omitempty"`
	OutputConfig *output   `json:"output_config,omitempty"`
	Temperature  *float64  `json:"temperature,omitempty"`
	Stream       bool      `json:"stream"`

	recent []message // the last two: they depend on each other
}

type thinking struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type output struct {
	Effort string  `json:"effort,omitempty"`
	Format *format `json:"format,omitempty"`
}

type format struct {
	Type   string          `json:"type"` // json_schema
	Schema json.RawMessage `json:"schema"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *cache          `json:"cache_control,omitempty"`
}

type message struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is one block. Which fields it has depends on its type.
type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Source    *source         `json:"source,omitempty"`
	Title     string          `json:"title,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   []content       `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	Cache     *cache          `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      any    `json:"data,omitempty"` // bytes, which become base64, or a text
	URL       string `json:"url,omitempty"`
}

type cache struct {
	Type string `json:"type"`
}

// encode returns the body of a request, with or without what was thought before.
func encode(req engine.Request, c *wire.Client, maxTokens int, thoughts bool) ([]byte, error) {
	turns := wire.Turns(req.Messages(), func(model string) bool { return thoughts && sameMaker(model, req.Model) })
	if len(turns) == 0 {
		return nil, wire.Empty()
	}
	before, recent := split(turns)
	r := request{
		Model: req.Model, Stream: true, Temperature: req.Options.Temperature,
		Tools: tools(req.Tools), recent: recent,
	}
	if strings.TrimSpace(req.System) != "" {
		r.System = []content{{Type: "text", Text: req.System}}
	}
	r.think(req, maxTokens)
	r.follow(req.Options.Schema)
	r.cache()
	l := wire.Letter{Around: r, List: "messages", Turns: before, Become: become, How: "anthropic", Last: wire.Items(r.recent)}
	if turns[0].Assistant && len(before) > 0 {
		l.First = []any{opening()}
	}
	return c.Write(l)
}

// follow asks for an answer that follows a schema.
func (r *request) follow(schema json.RawMessage) {
	if len(schema) == 0 {
		return
	}
	if r.OutputConfig == nil {
		r.OutputConfig = &output{}
	}
	r.OutputConfig.Format = &format{"json_schema", schema}
}

// sameMaker reports whether the thoughts of model had mean anything to model
// asked: their signatures are their maker's.
func sameMaker(had, asked string) bool {
	return had == "" || had == asked || strings.Contains(had, "claude") && strings.Contains(asked, "claude")
}

// split are the turns before the last two messages, and these. What the messages
// begin with is one where there is no other.
func split(turns []wire.Turn) (before []wire.Turn, recent []message) {
	before = turns
	for len(recent) < 2 && len(before) > 0 {
		recent = append(messages(before[len(before)-1]), recent...)
		before = before[:len(before)-1]
	}
	if turns[0].Assistant && len(before) == 0 {
		recent = append([]message{opening()}, recent...)
	}
	last := recent[len(recent)-1]
	if end := &last.Content[len(last.Content)-1]; last.Role == "assistant" && end.Type == "text" {
		end.Text = strings.TrimRight(end.Text, " \t\r\n") // what goes on must not begin behind a space
	}
	return before, recent
}

// opening stands before an answer whose question is gone.
func opening() message {
	return message{"user", []content{{Type: "text", Text: "(What was said before is not part of this conversation any more.)"}}}
}

func become(t wire.Turn) []any { return wire.Items(messages(t)) }

// messages are the message that a turn is, or none.
func messages(t wire.Turn) []message {
	m := message{Role: "user"}
	if t.Assistant {
		m.Role = "assistant"
	}
	for _, p := range t.Parts {
		if b, ok := part(p); ok {
			m.Content = append(m.Content, b)
		}
	}
	if len(m.Content) == 0 {
		return nil
	}
	return []message{m}
}

func part(p event.Part) (content, bool) {
	switch p := p.(type) {
	case event.Text:
		return content{Type: "text", Text: p.Text}, true
	case event.Thinking:
		if data, ok := strings.CutPrefix(p.Signature, redacted); ok {
			return content{Type: "redacted_thinking", Data: data}, data != ""
		}
		foreign := strings.Contains(p.Signature, ":") // the mark of somebody else, through whom Claude was once asked
		return content{Type: "thinking", Thinking: &p.Text, Signature: p.Signature}, p.Signature != "" && !foreign
	case event.ToolCall:
		return content{Type: "tool_use", ID: p.ID, Name: wire.ToolName(p.Name), Input: wire.Object(p.Input)}, true
	case event.ToolReturn:
		return content{Type: "tool_result", ToolUseID: p.ID, Content: returned(p.Output), IsError: p.Output.Failed()}, true
	case event.Image:
		return image(p), true
	case event.File:
		return file(p), true
	}
	return content{}, false
}

func returned(o event.Output) []content {
	if o.Kind != event.OutputContent {
		if s := o.String(); strings.TrimSpace(s) != "" {
			return []content{{Type: "text", Text: s}}
		}
		return nil
	}
	var all []content
	for _, p := range o.Parts {
		switch p := p.(type) {
		case event.Text:
			if strings.TrimSpace(p.Text) != "" {
				all = append(all, content{Type: "text", Text: p.Text})
			}
		case event.Image:
			all = append(all, image(p))
		case event.File:
			all = append(all, file(p))
		}
	}
	return all
}

func image(i event.Image) content {
	if len(i.Data) == 0 {
		return content{Type: "image", Source: &source{Type: "url", URL: i.URL}}
	}
	return content{Type: "image", Source: &source{Type: "base64", MediaType: i.MediaType, Data: i.Data}}
}

// file is a document where the API knows its type, else its text, else only
// that there is one.
func file(f event.File) content {
	switch {
	case f.MediaType == "application/pdf":
		return content{Type: "document", Title: f.Filename, Source: &source{Type: "base64", MediaType: f.MediaType, Data: f.Data}}
	case utf8.Valid(f.Data) && strings.TrimSpace(string(f.Data)) != "":
		return content{Type: "document", Title: f.Filename, Source: &source{Type: "text", MediaType: "text/plain", Data: string(f.Data)}}
	}
	return content{Type: "text", Text: wire.Unreadable(f)}
}

func tools(all []engine.Tool) []tool {
	var out []tool
	for _, t := range all {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out = append(out, tool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	return out
}

// think sets how long an answer may be and how much may be thought before it.
// Longest is what the model can write, or 0 where nobody knows.
func (r *request) think(req engine.Request, longest int) {
	asked := req.Options.MaxTokens
	r.MaxTokens = cmp.Or(max(asked, 0), longest, usualLength(req.Model))
	switch {
	case req.Options.Effort == "" || !thinks(req.Model):
		return
	case req.Options.Effort == "none":
		r.Thinking = &thinking{Type: "disabled"}
		return
	case r.mustGoOn():
		return
	case adaptive(req.Model):
		r.Thinking, r.OutputConfig = &thinking{Type: "adaptive"}, &output{Effort: req.Options.Effort}
	default:
		budget := map[string]int{"low": 2048, "medium": 8192, "high": 16384}[req.Options.Effort]
		if asked > 0 {
			r.MaxTokens += budget // the limit is for thoughts too
		}
		if longest > 0 {
			r.MaxTokens = min(r.MaxTokens, longest)
		}
		room := r.MaxTokens - asked
		if asked <= 0 {
			room = r.MaxTokens * 2 / 3
		}
		if budget = min(budget, room); budget < leastThought {
			return
		}
		r.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
	r.Temperature = nil // thinking does not allow one
}

// ThinksColdly reports whether a model that is to think so hard is asked without a
// temperature, because the API takes none beside thoughts.
func ThinksColdly(model, effort string) bool {
	return effort != "" && effort != "none" && thinks(model)
}

const leastThought = 1024 // tokens; the API wants no fewer

// mustGoOn reports whether the request continues a message that called tools
// without a thought in front. The API does not let thinking begin there.
func (r *request) mustGoOn() bool {
	if len(r.recent) < 2 {
		return false
	}
	last, before := r.recent[len(r.recent)-1], r.recent[len(r.recent)-2]
	answers := false
	for _, c := range last.Content {
		answers = answers || c.Type == "tool_result"
	}
	first := before.Content[0].Type
	return answers && before.Role == "assistant" && first != "thinking" && first != "redacted_thinking"
}

// usualLength is how long an answer may be where nobody says: the API wants to
// know.
func usualLength(model string) int {
	major, minor := generation(model)
	switch {
	case major == 3 && minor < 5:
		return 4096
	case major == 0, major == 3 && minor < 7:
		return 8192
	}
	return 32000
}

func thinks(model string) bool {
	major, minor := generation(model)
	return major == 0 || major > 3 || major == 3 && minor >= 7
}

func adaptive(model string) bool {
	major, minor := generation(model)
	return major > 4 || major == 4 && minor >= 6
}

// generation reads claude-opus-4-6 as 4, 6, claude-3-7-sonnet-20250219 as 3, 7
// and what is no Claude as 0.
func generation(model string) (major, minor int) {
	_, name, ok := strings.Cut(model, "claude-")
	if !ok {
		return 0, 0
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-.@:/", r) })
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || n > 99 {
			continue
		}
		if i+1 < len(words) {
			if m, err := strconv.Atoi(words[i+1]); err == nil && m <= 99 {
				minor = m
			}
		}
		return n, minor
	}
	return 4, 0
}

// cache marks what the next request will repeat: tools and system prompt, and
// in a conversation its end. What is too short is not kept, and costs nothing.
func (r *request) cache() {
	ephemeral := &cache{Type: "ephemeral"}
	switch {
	case len(r.System) > 0:
		r.System[0].Cache = ephemeral
	case len(r.Tools) > 0:
		r.Tools[len(r.Tools)-1].Cache = ephemeral
	}
	if len(r.recent) == 1 && len(r.Tools) == 0 {
		return // nobody knows whether it goes on
	}
	last := r.recent[len(r.recent)-1]
	if end := &last.Content[len(last.Content)-1]; end.Type != "thinking" && end.Type != "redacted_thinking" {
		end.Cache = ephemeral
	}
}
