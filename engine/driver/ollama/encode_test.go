package ollama

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

func asks(text string) event.Message { return event.UserMessage{ID: "u", Content: event.Say(text)} }

func says(stop event.StopReason, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Model: "qwen3:8b", Content: parts, StopReason: stop}
}

func calls(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

func result(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Name: "t", Output: o}}
}

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	cold := 0.0
	for name, req := range map[string]engine.Request{
		"first": {Model: "llama3.2", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b> & more")},
			Options: engine.Options{Temperature: &cold, MaxTokens: 9}},
		"bare": {Model: "llama3.2", Message: event.UserMessage{Content: event.Say("hi")}},
		"tools in one message": {
			Model: "qwen3:8b", Options: engine.Options{Effort: "low"},
			Tools: []engine.Tool{
				{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
				{Name: "write"},
				{Name: "any", Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":true,"b":{"type":"object","properties":{"c":false}},"d":{"anyOf":[true,{"type":"null"}]},"e":{"default":true}}}`)},
			},
			History: []event.Message{asks("read it"), result("a", event.Output{Text: "the text"}),
				says(event.EndTurn, event.Thinking{Text: "hm"}, event.Text{Text: "Reading."}, calls("a", "read", `{"p":1}`), event.Thinking{Text: "aha"}, event.Text{Text: "Read."})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"tools between messages": {
			Model: "qwen3:8b", Options: engine.Options{Effort: "none"},
			History: []event.Message{asks("x"), says(event.ToolUse, event.Text{Text: "Both."}, calls("a", "t", `{"p":1}`), calls("a", "", `{"x`), calls("c", "t", `[1]`), calls("d", "t", `{}`)),
				result("a", event.Output{Text: "one"}), result("a", event.Output{Kind: event.OutputDenied}),
				result("c", event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, event.Image{MediaType: "image/png", Data: []byte{9}}}}),
				result("d", event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(`{"k":[1]}`)})},
		},
		"thoughts of another": { // its signature means nothing here, its ids and names are refused by none
			Model: "gpt-oss:20b", Options: engine.Options{Effort: "high"},
			History: []event.Message{asks("x"), event.AssistantMessage{ID: "m", Model: "claude-sonnet-4-5", StopReason: event.ToolUse,
				Content: event.Parts{event.Thinking{Text: "hm", Signature: "sig"}, event.Thinking{Signature: "redacted_thinking:b64"}, calls("call/1|é", "read file", `{}`)}},
				result("call/1|é", event.Output{Text: "ok"})},
		},
		"thoughts of nobody": {
			Model: "gpt-oss:20b",
			History: []event.Message{asks("x"), event.AssistantMessage{ID: "m", StopReason: event.ToolUse, Content: event.Parts{event.Thinking{Text: "hm"}, calls("a", "t", `{}`)}},
				result("a", event.Output{Text: "ok"})},
		},
		"broken off": {
			Model: "qwen3:8b",
			History: []event.Message{asks("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, calls("a", "rm", `{}`)}}, asks(" "), asks("go on")},
		},
		"images and files": {
			Model: "llava",
			History: []event.Message{event.UserMessage{Content: event.Content{event.Text{Text: "shown to another"}, event.Image{URL: "https://x/y.png"}, event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"},
				event.File{MediaType: "application/zip", Data: []byte{0xff, 0}, Filename: "a.zip"}}}, says(event.EndTurn, event.Text{Text: "I saw."})},
			Message: event.UserMessage{Content: event.Content{event.Text{Text: "look"}, event.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}, event.Image{MediaType: "image/jpeg", Data: []byte{4}},
				event.File{MediaType: "text/csv", Data: []byte("a,b"), Filename: "a.csv"}}},
		},
		"only an image": {Model: "llava", Message: event.UserMessage{Content: event.Content{event.Image{MediaType: "image/png", Data: []byte{1}}}}},
		"a schema":      {Model: "qwen3:8b", Message: event.UserMessage{Content: event.Say("x")}, Options: engine.Options{Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encode(req, Driver{})
			if err != nil {
				t.Fatal(err)
			}
			wiretest.TestRequest(t, name, body)
		})
	}
}

// TestRefused says before anything is sent what cannot be.
func TestRefused(t *testing.T) {
	ask := func(parts ...event.Part) engine.Request {
		return engine.Request{Message: event.UserMessage{Content: parts}}
	}
	for want, req := range map[string]engine.Request{
		"there is nothing to answer":                         ask(event.Text{Text: " \n"}),
		`only, not the file "a.pdf" of type application/pdf`: ask(event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"}),
		`only, not the file "a.zip"`:                         ask(event.Text{Text: "see"}, event.File{MediaType: "application/zip", Data: []byte{0xff}, Filename: "a.zip"}),
		`only, not the file "nul.txt"`:                       {History: []event.Message{event.UserMessage{Content: event.Content{event.File{MediaType: "text/plain", Data: []byte("a\x00"), Filename: "nul.txt"}}}}},
		"not its address: https://x/y.png":                   ask(event.Image{URL: "https://x/y.png"}),
		"schema of the answer":                               {Message: event.UserMessage{Content: event.Say("x")}, Options: engine.Options{Schema: json.RawMessage(`{"a"`)}},
	} {
		_, err := encode(req, Driver{})
		if err == nil || !strings.Contains(err.Error(), want) || engine.FaultOf(err).Code != event.CodeInvalidRequest {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestThink follows the wishes that a server understands, and no others.
func TestThink(t *testing.T) {
	schema := json.RawMessage(`{}`)
	for _, test := range []struct {
		model, effort string
		schema        json.RawMessage
		want          any
	}{
		{"qwen3", "", nil, nil}, {"qwen3", "none", nil, false}, {"qwen3", "low", nil, true}, {"qwen3", "high", schema, true}, {"qwen3", "", schema, false},
		{"gpt-oss:20b", "", nil, nil}, {"gpt-oss:20b", "medium", nil, "medium"}, {"hf.co/x/GPT-OSS", "high", nil, "high"}, {"gpt-oss", "none", nil, false},
		{"qwen3", "utmost", nil, nil}, {"gpt-oss", "utmost", nil, nil},
	} {
		if got := think(engine.Request{Model: test.model, Options: engine.Options{Effort: test.effort, Schema: test.schema}}); got != test.want {
			t.Errorf("%s %q: %v, want %v", test.model, test.effort, got, test.want)
		}
	}
}

// TestAnyHistory makes requests of anything: what the server demands holds always.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := engine.Request{
			Model: "qwen3:8b", System: rapid.SampledFrom([]string{"", " ", "a"}).Draw(t, "system"), History: wiretest.History().Draw(t, "history"),
			Message: event.UserMessage{Content: event.Say("now")}, Options: engine.Options{Effort: rapid.SampledFrom([]string{"", "low", "none"}).Draw(t, "effort")},
		}
		body, err := encode(req, Driver{})
		if err != nil {
			t.Fatal(err)
		}
		demand(t, body)
	})
}

// demand reads a body with the types of the server and checks what models rely on.
func demand(t *rapid.T, body []byte) {
	var sent struct {
		Model    string
		Messages []struct {
			Role, Content, Thinking string
			Images                  [][]byte
			ToolName                string `json:"tool_name"`
			ToolCallID              string `json:"tool_call_id"`
			ToolCalls               []struct {
				ID       string
				Function struct {
					Index     int
					Name      string
					Arguments map[string]any
				}
			} `json:"tool_calls"`
		}
		Options          map[string]any
		Think            any
		Truncate, Stream *bool
	}
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&sent); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if sent.Stream == nil || !*sent.Stream || sent.Truncate == nil || *sent.Truncate {
		t.Fatalf("stream or truncate: %s", body)
	}
	seen, before := map[string]bool{}, ""
	var open []string
	for i, m := range sent.Messages {
		if len(open) > 0 && m.Role != "tool" {
			t.Fatalf("message %d leaves calls open: %v", i, open)
		}
		switch m.Role {
		case "system":
			if i != 0 || strings.TrimSpace(m.Content) == "" {
				t.Fatalf("message %d: %+v", i, m)
			}
		case "user":
			if before == "user" || strings.TrimSpace(m.Content) == "" && len(m.Images) == 0 || slices.ContainsFunc(m.Images, func(b []byte) bool { return len(b) == 0 }) {
				t.Fatalf("message %d: %+v", i, m)
			}
		case "assistant":
			if before == "assistant" || strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0 || m.Thinking != "" && len(m.ToolCalls) == 0 {
				t.Fatalf("message %d: %+v", i, m)
			}
			for n, c := range m.ToolCalls {
				if c.ID == "" || seen[c.ID] || c.Function.Name == "" || c.Function.Arguments == nil || c.Function.Index != n {
					t.Fatalf("message %d: call %+v", i, c)
				}
				seen[c.ID] = true
				open = append(open, c.ID)
			}
		case "tool":
			if len(open) == 0 || m.ToolCallID != open[0] || m.ToolName == "" {
				t.Fatalf("message %d: result %+v, open %v", i, m, open)
			}
			open = open[1:]
		default:
			t.Fatalf("message %d is of the %s", i, m.Role)
		}
		before = m.Role
	}
	if before != "user" {
		t.Fatalf("the last message is of the %s", before)
	}
}

// TestParameters spells schemas out only where the server could not read them.
func TestParameters(t *testing.T) {
	for schema, want := range map[string]string{
		"": `{"type":"object","properties":{}}`, "true": `{"type":"object","properties":{}}`, `{"a"`: `{"type":"object","properties":{}}`,
		`{"properties":{"z":{"type":"string"},"a":{}},"additionalProperties":false}`: `{"properties":{"z":{"type":"string"},"a":{}},"additionalProperties":false}`,
		`{"properties":{"a":true}}`:              `{"properties":{"a":{}}}`,
		`{"properties":{"a":{"anyOf":[false]}}}`: `{"properties":{"a":{"anyOf":[{}]}}}`,
	} {
		if got := string(parameters(json.RawMessage(schema))); got != want {
			t.Errorf("%s: %s, want %s", schema, got, want)
		}
	}
}
