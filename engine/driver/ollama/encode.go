package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

type request struct {
	Model    string          `json:"model"`
	Tools    []tool          `json:"tools,omitempty"`
	Think    any             `json:"think,omitempty"` // whether, or a level
	Format   json.RawMessage `json:"format,omitempty"`
	Options  *options        `json:"options,omitempty"`
	Truncate bool            `json:"truncate"`
	Stream   bool            `json:"stream"`
}

type options struct {
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type message struct {
	Role       string   `json:"role"`
	Content    string   `json:"content"`
	Thinking   string   `json:"thinking,omitempty"`
	Images     [][]byte `json:"images,omitempty"`
	ToolCalls  []used   `json:"tool_calls,omitempty"`
	ToolName   string   `json:"tool_name,omitempty"`
	ToolCallID string   `json:"tool_call_id,omitempty"`
}

type used struct {
	ID       string `json:"id"`
	Function struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// encode returns the body of a request to d.
func encode(req engine.Request, d Driver) ([]byte, error) {
	turns := wire.Turns(req.Messages(), func(model string) bool { return model == "" || model == req.Model })
	if len(turns) == 0 {
		return nil, wire.Empty()
	}
	if err := readable(req, d.Name()); err != nil {
		return nil, err
	}
	if len(req.Options.Schema) > 0 && !isObject(req.Options.Schema) {
		return nil, refuse("the schema of the answer is not a JSON object")
	}
	r := request{
		Model: req.Model, Tools: tools(req.Tools),
		Think: think(req), Format: req.Options.Schema, Truncate: d.Truncate, Stream: true,
	}
	o := options{NumPredict: d.MaxTokens, Temperature: req.Options.Temperature}
	if req.Options.MaxTokens > 0 {
		o.NumPredict = req.Options.MaxTokens
	}
	if o.NumPredict > 0 || o.Temperature != nil {
		r.Options = &o
	}
	l := wire.Letter{
		Around: r, List: "messages",
		Turns: turns, Become: func(t wire.Turn) []any { return wire.Items(messages(t)) }, How: "ollama",
	}
	if strings.TrimSpace(req.System) != "" {
		l.First = []any{message{Role: "system", Content: req.System}}
	}
	return d.Client.Write(l)
}

func refuse(format string, args ...any) error {
	return &engine.Fault{Code: event.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}

// readable refuses what the user shows now and no model of the server's could
// see. What was shown earlier, perhaps to another model, is only mentioned.
func readable(req engine.Request, name string) error {
	now := req.Message.Content
	if len(now) == 0 {
		now = lastSaid(req.History)
	}
	for _, p := range now {
		switch p := p.(type) {
		case event.File:
			if !isText(p) {
				return refuse("%s reads text and images only, not the file %q of type %s", name, p.Filename, p.MediaType)
			}
		case event.Image:
			if len(p.Data) == 0 {
				return refuse("%s wants an image itself, not its address: %s", name, wire.Visible(p.URL))
			}
		}
	}
	return nil
}

// lastSaid is what the user said last.
func lastSaid(history []event.Message) event.Content {
	for _, m := range slices.Backward(history) {
		if u, ok := m.(event.UserMessage); ok {
			return u.Content
		}
	}
	return nil
}

func isText(f event.File) bool {
	return f.MediaType != "application/pdf" && utf8.Valid(f.Data) && !bytes.Contains(f.Data, []byte{0})
}

// think says what a wish for effort means. Only gpt-oss knows levels, the others
// think or do not. A model that thinks without being told follows a schema only
// from where its thoughts end, and not at all where it has none: who wants a
// schema and no thoughts gets the schema.
func think(req engine.Request) any {
	switch effort := req.Options.Effort; {
	case effort == "none", effort == "" && len(req.Options.Schema) > 0:
		return false
	case effort != "low" && effort != "medium" && effort != "high":
		return nil
	case strings.Contains(strings.ToLower(req.Model), "gpt-oss"):
		return effort
	}
	return true
}

func messages(t wire.Turn) []message {
	if t.Assistant {
		return []message{assistant(t.Parts)}
	}
	return user(t.Parts)
}

// assistant is what the model said. Its thoughts are of use to it only where it
// goes on from them, behind its calls.
func assistant(parts []event.Part) message {
	m := message{Role: "assistant"}
	thought := ""
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			m.Content += p.Text
		case event.Thinking:
			thought += p.Text
		case event.ToolCall:
			u := used{ID: p.ID}
			u.Function.Index, u.Function.Name, u.Function.Arguments = len(m.ToolCalls), wire.ToolName(p.Name), wire.Object(p.Input)
			m.ToolCalls = append(m.ToolCalls, u)
		}
	}
	if len(m.ToolCalls) > 0 {
		m.Thinking = thought
	}
	return m
}

func isObject(raw json.RawMessage) bool {
	s := bytes.TrimSpace(raw)
	return len(s) > 0 && s[0] == '{' && json.Valid(s)
}

// user is what the user says, behind the results of tools. A result can only be
// text here, so the user shows its images.
func user(parts []event.Part) []message {
	var all []message
	said := sayer{message: message{Role: "user"}}
	for _, p := range parts {
		r, result := p.(event.ToolReturn)
		if !result {
			said.show(p)
			continue
		}
		all = append(all, message{Role: "tool", Content: r.Output.String(), ToolName: wire.ToolName(r.Name), ToolCallID: r.ID})
		if r.Output.Kind == event.OutputContent {
			for _, inner := range r.Output.Parts {
				if _, text := inner.(event.Text); !text {
					said.show(inner)
				}
			}
		}
	}
	if said.texts == nil && said.message.Images == nil {
		return all
	}
	said.message.Content = strings.Join(said.texts, "\n\n")
	return append(all, said.message)
}

// A sayer gathers what the user says in one message.
type sayer struct {
	message message
	texts   []string
}

func (s *sayer) show(p event.Part) {
	switch p := p.(type) {
	case event.Text:
		s.texts = append(s.texts, p.Text)
	case event.Image:
		if len(p.Data) == 0 {
			s.texts = append(s.texts, fmt.Sprintf("[The image at %s cannot be shown.]", p.URL))
			return
		}
		s.message.Images = append(s.message.Images, p.Data)
	case event.File:
		if !isText(p) {
			s.texts = append(s.texts, wire.Unreadable(p))
			return
		}
		s.texts = append(s.texts, wire.Readable(p))
	}
}
