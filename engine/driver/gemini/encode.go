package gemini

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
	System *content `json:"systemInstruction,omitempty"`
	Tools  []tools  `json:"tools,omitempty"`
	Config config   `json:"generationConfig"`
}

type config struct {
	MaxTokens   int             `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Thinking    *thinking       `json:"thinkingConfig,omitempty"`
	MediaType   string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type content struct {
	Role  string  `json:"role,omitempty"`
	Parts []piece `json:"parts"`
}

// A piece is a part as it is sent. It is one of several things, and may carry a
// signature.
type piece struct {
	Text      *string   `json:"text,omitempty"`
	Thought   bool      `json:"thought,omitempty"`
	Inline    *blob     `json:"inlineData,omitempty"`
	File      *address  `json:"fileData,omitempty"`
	Call      *asked    `json:"functionCall,omitempty"`
	Response  *response `json:"functionResponse,omitempty"`
	Signature string    `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

type address struct {
	MediaType string `json:"mimeType,omitempty"`
	URI       string `json:"fileUri"`
}

type asked struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type response struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
	Parts    []piece        `json:"parts,omitempty"`
}

// Where a signature belongs. One without a mark is a thought's own; the others
// travel as thoughts without a text, for only those can carry one, and go back
// to what they sealed.
const (
	ofCall = "function_call:" // the call behind it
	ofText = "text:"          // the text before it
)

// unsigned stands where a model demands a signature and there is none, for
// another model has made the call.
const unsigned = "skip_thought_signature_validator"

// encode returns the body of a request, with or without what was thought before.
func encode(req engine.Request, c *wire.Client, longest int, thoughts bool) ([]byte, error) {
	turns := wire.Turns(req.Messages(), func(model string) bool { return thoughts && sameMaker(model, req.Model) })
	if len(turns) == 0 {
		return nil, wire.Empty()
	}
	var r request
	if strings.TrimSpace(req.System) != "" {
		r.System = &content{Parts: []piece{text(req.System)}}
	}
	for _, t := range req.Tools {
		if len(r.Tools) == 0 {
			r.Tools = []tools{{}}
		}
		r.Tools[0].Functions = append(r.Tools[0].Functions, function{t.Name, t.Description, t.Schema})
	}
	r.tune(req, longest)
	strict := generationOf(req.Model).atLeast(3, 0)
	l := wire.Letter{
		Around: r, List: "contents",
		Turns: turns, Become: func(t wire.Turn) []any { return []any{contentOf(t, strict)} }, How: fmt.Sprint("gemini ", strict),
	}
	if turns[0].Assistant {
		l.First = []any{content{"user", []piece{text("(What was said before is not part of this conversation any more.)")}}}
	}
	if turns[len(turns)-1].Assistant {
		l.Last = []any{content{"user", []piece{text("Go on.")}}}
	}
	return c.Write(l)
}

// tune sets how the answer is to be. Its limit is for thoughts too, so these get
// room of their own. Longest is what the model can write, or 0 where nobody
// knows.
func (r *request) tune(req engine.Request, longest int) {
	r.Config = config{MaxTokens: max(0, req.Options.MaxTokens), Temperature: req.Options.Temperature, Thinking: think(req.Model, req.Options.Effort)}
	if t := r.Config.Thinking; t != nil && t.Budget != nil && r.Config.MaxTokens > 0 {
		r.Config.MaxTokens += *t.Budget
	}
	if longest > 0 {
		r.Config.MaxTokens = min(r.Config.MaxTokens, longest)
	}
	switch {
	case len(req.Options.Schema) == 0:
	case len(r.Tools) > 0 && !generationOf(req.Model).atLeast(3, 0):
		r.insist(req.Options.Schema) // these follow a schema or call tools, not both
	default:
		r.Config.MediaType, r.Config.Schema = "application/json", req.Options.Schema
	}
}

// insist asks in words for an answer that follows a schema.
func (r *request) insist(schema json.RawMessage) {
	if r.System == nil {
		r.System = &content{}
	}
	r.System.Parts = append(r.System.Parts, text("Your final answer is JSON and nothing else, without a code fence, and follows this JSON schema:\n"+string(schema)))
}

func contentOf(t wire.Turn, strict bool) content {
	if t.Assistant {
		return content{"model", said(t.Parts, strict)}
	}
	return content{"user", shown(t.Parts, strict)}
}

func text(s string) piece { return piece{Text: &s} }

// said is what the model said, its signatures where they belong. A strict model
// demands one of the first call of each step.
func said(parts []event.Part, strict bool) []piece {
	var all []piece
	seal, called := "", false
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			all = append(all, text(p.Text))
		case event.Thinking:
			if signature, ok := strings.CutPrefix(p.Signature, ofCall); ok {
				seal = signature
			} else {
				all = remember(all, p)
			}
		case event.ToolCall:
			if seal == "" && strict && !called {
				seal = unsigned
			}
			all = append(all, piece{Call: &asked{p.ID, wire.ToolName(p.Name), wire.Object(p.Input)}, Signature: seal})
			seal, called = "", true
		}
	}
	return all
}

// remember adds a thought, or the seal of the text before it. A thought without
// a signature is worth nothing to the model, and one with the mark of somebody
// else, through whom it was once asked, would be refused.
func remember(all []piece, t event.Thinking) []piece {
	signature, ofText := strings.CutPrefix(t.Signature, ofText)
	switch last := len(all) - 1; {
	case signature == "", strings.Contains(signature, ":"):
		return all
	case !ofText:
		return append(all, piece{Thought: true, Text: &t.Text, Signature: signature})
	case last >= 0 && all[last].Text != nil && all[last].Signature == "":
		all[last].Signature = signature
		return all
	}
	empty := text("")
	empty.Signature = signature
	return append(all, empty)
}

// shown is what the user says, behind the results of tools. Pictures in these
// are part of them where the model knows that, else they stand behind them.
func shown(parts []event.Part, inside bool) []piece {
	var results, rest []piece
	for _, p := range parts {
		r, ok := p.(event.ToolReturn)
		if !ok {
			rest = append(rest, show(p))
			continue
		}
		response, media := returned(r)
		if inside {
			response.Parts = media
		} else {
			rest = append(rest, media...)
		}
		results = append(results, piece{Response: response})
	}
	return append(results, rest...)
}

// returned is what a tool answered, and what of it is no text.
func returned(r event.ToolReturn) (*response, []piece) {
	out := &response{ID: r.ID, Name: wire.ToolName(r.Name)}
	o := r.Output
	var media []piece
	switch {
	case o.Failed():
		out.Response = map[string]any{"error": o.String()}
		return out, nil
	case o.Kind == event.OutputJSON && json.Valid(o.JSON):
		out.Response = map[string]any{"output": o.JSON}
		return out, nil
	case o.Kind != event.OutputContent:
		out.Response = map[string]any{"output": o.String()}
		return out, nil
	}
	var texts []string
	for _, p := range o.Parts {
		switch p := p.(type) {
		case event.Text:
			texts = append(texts, p.Text)
		case event.Image, event.File:
			if m := show(p); m.Text != nil {
				texts = append(texts, *m.Text)
			} else {
				media = append(media, m)
			}
		}
	}
	out.Response = map[string]any{"output": strings.Join(texts, "\n\n")}
	return out, media
}

func show(p event.Part) piece {
	switch p := p.(type) {
	case event.Image:
		if len(p.Data) == 0 {
			return piece{File: &address{p.MediaType, p.URL}}
		}
		return piece{Inline: &blob{p.MediaType, p.Data}}
	case event.File:
		return file(p)
	case event.Text:
		return text(p.Text)
	}
	return text("")
}

// file is a document where the API knows its type, else its text, else only
// that there is one.
func file(f event.File) piece {
	kind, _, _ := strings.Cut(f.MediaType, "/")
	switch {
	case len(f.Data) > 0 && (f.MediaType == "application/pdf" || kind == "image" || kind == "audio" || kind == "video"):
		return piece{Inline: &blob{f.MediaType, f.Data}}
	case utf8.Valid(f.Data):
		return text(wire.Readable(f))
	}
	return text(wire.Unreadable(f))
}
