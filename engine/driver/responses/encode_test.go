package responses

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

const here = "http://localhost/v1"

func question(text string) event.Message { return event.UserMessage{ID: "u", Content: event.Say(text)} }

func says(stop event.StopReason, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Model: "gpt-5", Content: parts, StopReason: stop}
}

func calls(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

func result(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: o}}
}

// sealedHere is a signature of the server that is asked.
func sealedHere(secret string) string { return Driver{BaseURL: here}.seal() + secret }

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	cold := 0.0
	for name, req := range map[string]engine.Request{
		"first": {Model: "m", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b>")}, Options: engine.Options{Temperature: &cold, MaxTokens: 9, Effort: "low"}},
		"schema": {Model: "gpt-4.1", System: " \n", Message: event.UserMessage{Content: event.Say("Who?")},
			Options: engine.Options{Effort: "high", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}`)}},
		"tools in one message": {
			Model: "gpt-5", Tools: []engine.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"p":{"type":"integer"}}}`)}, {Name: "write"}},
			History: []event.Message{question("read it"), result("a", event.Output{Text: "the text"}),
				says(event.EndTurn, event.Thinking{Text: "hm", Signature: sealedHere("c2VjcmV0")}, event.Text{Text: "Reading."}, calls("a", "read", `{"p":1}`), event.Text{Text: "Read."})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"tools between messages": {
			Model: "gpt-5-mini",
			History: []event.Message{question("x"), says(event.ToolUse, event.Thinking{Signature: sealedHere("b25l")}, event.Thinking{Text: "two", Signature: sealedHere("dHdv")},
				calls("a", "t", `{"p":1}`), calls("a", "", `{"x`), calls("c", "t", `{}`), calls("d", "t", `{}`), calls("e", "t", `{}`)),
				result("a", event.Output{Text: "one"}), result("a", event.Output{Kind: event.OutputDenied}), result("d", event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(`{"k":[1]}`)}),
				result("c", event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, event.Image{MediaType: "image/png", Data: []byte{9}}}}),
				result("e", event.Output{Kind: event.OutputError, Text: "no such file"})},
		},
		"thoughts of others": {
			Model: "gpt-5",
			History: []event.Message{question("x"),
				event.AssistantMessage{ID: "n", Model: "claude-x", Content: event.Parts{event.Thinking{Text: "hm", Signature: "EqQB"}, event.Text{Text: "One."}}},
				event.AssistantMessage{ID: "o", Model: "gpt-5", Content: event.Parts{event.Thinking{Text: "hm", Signature: Driver{}.seal() + "elsewhere"}, event.Text{Text: "Two."}}},
				event.AssistantMessage{ID: "m", Model: "qwen", StopReason: event.ToolUse, Content: event.Parts{event.Thinking{Text: "unsigned"}, calls("call/1|é", "read file", `{}`)}}, result("call/1|é", event.Output{Text: "ok"})},
		},
		"broken off": {
			Model: "gpt-5",
			History: []event.Message{question("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, calls("a", "rm", `{}`), event.Thinking{Text: "or not", Signature: sealedHere("x")}}},
				question(" "), question("go on")},
		},
		"asides": { // are told to people, not to the model
			Model: "gpt-5",
			History: []event.Message{question("x"), says(event.ToolUse, event.Text{Text: "Look."}, calls("a", "read", `{}`), event.Aside{Kind: event.AsideSearch, Text: "clocks"}), result("a", event.Output{Text: "one"}),
				says(event.EndTurn, event.Text{Text: "Noon."}, event.Aside{Kind: event.AsideSource, Text: "A clock", URL: "https://clock.example"}),
				says(event.EndTurn, event.Aside{Kind: event.AsideTool, Text: "alone"})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"pictures and files": {
			Model: "m",
			Message: event.UserMessage{Content: event.Content{event.Text{Text: "look"}, event.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}, event.Image{URL: "https://x/y.png"},
				event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"}, event.File{MediaType: "application/pdf", Data: []byte("%PDF")},
				event.File{MediaType: "text/csv", Data: []byte("a,b"), Filename: "a.csv"}, event.File{MediaType: "application/zip", Data: []byte{0xff, 0}, Filename: "a.zip"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encode(req, Driver{BaseURL: here}, true)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.TestRequest(t, name, body)
		})
	}
}

// TestNothingToSay refuses to ask without a question.
func TestNothingToSay(t *testing.T) {
	_, err := encode(engine.Request{Message: event.UserMessage{Content: event.Say(" \n")}}, Driver{}, true)
	if f := engine.FaultOf(err); f.Code != event.CodeInvalidRequest {
		t.Errorf("%v", err)
	}
}

// TestWhatModelsAreTold says nothing of thoughts to those that have none, and
// leaves small limits to servers that take them.
func TestWhatModelsAreTold(t *testing.T) {
	for _, test := range []struct {
		base, model  string
		asked, limit int
		thinks       bool
	}{
		{"", "gpt-5.5", 9, 16, true},
		{"", "o4-mini", 0, 500, true},
		{"", "gpt-4.1-mini", 1000, 1000, false},
		{"", "ft:gpt-4o-mini:me", 0, 500, false},
		{"", "chatgpt-4o-latest", 0, 500, false},
		{"", "gpt-5-chat-latest", 0, 500, false},
		{"https://me.openai.azure.com/openai/v1", "gpt-35-turbo", 1, 16, false},
		{"https://openrouter.example/v1", "openai/gpt-5", 1, 1, true},
		{here, "agentx-tiny", -3, 500, true},
	} {
		body, err := encode(engine.Request{Model: test.model, Message: event.UserMessage{Content: event.Say("x")}, Options: engine.Options{MaxTokens: test.asked, Effort: "low"}},
			Driver{BaseURL: test.base, MaxTokens: 500, Summary: "auto"}, true)
		if err != nil {
			t.Fatal(err)
		}
		var sent request
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		thinks := sent.Reasoning != nil && *sent.Reasoning == effort{"low", "auto"} && slices.Equal(sent.Include, []string{"reasoning.encrypted_content"})
		if sent.MaxTokens != test.limit || thinks != test.thinks || !thinks && (sent.Reasoning != nil || sent.Include != nil) {
			t.Errorf("%+v: %s", test, body)
		}
	}
}

// TestThoughtsGoHome gives back what was thought to who can read it.
func TestThoughtsGoHome(t *testing.T) {
	for _, test := range []struct {
		home, had, base, asked string
		want                   bool
	}{
		{"", "gpt-5-2025-08-07", "", "gpt-5", true},
		{"", "gpt-5-2025-08-07", "https://API.openai.com/v1/", "o4-mini", true},
		{"", "gpt-5-2025-08-07", "", "gpt-4.1", false},
		{"", "gpt-5-2025-08-07", "https://me.openai.azure.com/openai/v1", "gpt-5", false},
		{"http://localhost:1/v1", "m", "http://localhost:2/v1", "m", false},
		{"https://resells.example/v1", "openai/gpt-5", "https://resells.example/v1", "openai/gpt-5-mini", true},
		{"https://resells.example/v1", "x-ai/grok-4", "https://resells.example/v1", "openai/gpt-5", false},
	} {
		req := engine.Request{Model: test.asked, History: []event.Message{
			question("x"), event.AssistantMessage{Model: test.had, Content: event.Parts{event.Thinking{Signature: Driver{BaseURL: test.home}.seal() + "secret:1"}, event.Text{Text: "y"}}}, question("z"),
		}}
		body, err := encode(req, Driver{BaseURL: test.base}, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(body), `"encrypted_content":"secret:1"`); got != test.want {
			t.Errorf("%+v: %s", test, body)
		}
	}
}

// TestPromises asks for a promise only where the API can give one.
func TestPromises(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{},"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"type":["object","null"],"properties":{"b":{"type":"array","items":{"$ref":"#/$defs/c"}}},"required":["b"],"additionalProperties":false}},"required":["a"],"additionalProperties":false,"$defs":{"c":{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]}}}`: true,
		`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`:                                                        true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                      false, // others may come
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                          false, // may be left out
		`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`:                                         false, // open within
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","format":"tea"}}},"required":["a"],"additionalProperties":false}`: false, // a word that is not known
		`{"type":"object","properties":{},"required":["b"],"additionalProperties":false}`:                                                              false, // wants what is not there
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":{"type":"string"}}`:                             false,
		`{"anyOf":[{"type":"string"}]}`: false,
		`{"type":"array"}`:              false,
		`[]`:                            false,
		`{"type":"object","properties":{"a":true}`: false,
		strings.Repeat(`{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":`, 20) + `{"type":"string"}` + strings.Repeat(`}}`, 20): false, // too deep
	} {
		if got := closed(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

// TestAnyHistory makes requests of anything: what the API demands holds always.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := engine.Request{
			Model:   rapid.SampledFrom([]string{"gpt-5", "gpt-4o", "m"}).Draw(t, "model"),
			History: wiretest.History(sealedHere("x"), sealedHere(""), Driver{}.seal()+"elsewhere").Draw(t, "history"),
			Message: event.UserMessage{Content: event.Say("now")}, Options: engine.Options{Effort: rapid.SampledFrom([]string{"", "low"}).Draw(t, "effort")},
		}
		body, err := encode(req, Driver{BaseURL: here}, true)
		if err != nil {
			t.Fatal(err)
		}
		demand(t, body)
	})
}

// fields are what each kind of item or piece has.
var fields = map[string]string{
	"message":              "type role content",
	"reasoning":            "type summary encrypted_content",
	"function_call":        "type call_id name arguments",
	"function_call_output": "type call_id output",

	"output_text": "type text", "input_text": "type text", "summary_text": "type text",
	"input_image": "type image_url", "input_file": "type filename file_data",
}

var word = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// demand checks what the API checks, on the bytes that it would be sent.
func demand(t *rapid.T, body []byte) {
	var sent struct {
		Store, Stream *bool
		Model         string
		Include       []string
		Reasoning     map[string]string
		Input         []map[string]any
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if sent.Store == nil || *sent.Store || sent.Stream == nil || !*sent.Stream {
		t.Fatalf("kept, or not streamed: %s", body)
	}
	if sent.Model == "gpt-4o" && (sent.Include != nil || sent.Reasoning != nil) {
		t.Fatalf("%s cannot think", sent.Model)
	}
	seen, open := map[string]bool{}, map[string]bool{}
	thinking := false
	for i, item := range sent.Input {
		kind := shaped(t, item)
		if thinking && kind != "reasoning" && kind != "function_call" && item["role"] != "assistant" {
			t.Fatalf("nothing came of the thought before item %d: %s", i, body)
		}
		thinking = kind == "reasoning"
		id, _ := item["call_id"].(string)
		switch kind {
		case "message":
			content(t, item["role"], item["content"])
			if len(open) > 0 && item["role"] == "user" {
				t.Fatalf("item %d leaves calls open: %s", i, body)
			}
		case "reasoning":
			if item["encrypted_content"] != "x" || sent.Model == "gpt-4o" {
				t.Fatalf("item %d is a thought of somebody else: %s", i, body)
			}
		case "function_call":
			name, _ := item["name"].(string)
			input, _ := item["arguments"].(string)
			if seen[id] || !word.MatchString(id) || !word.MatchString(name) || !json.Valid([]byte(input)) {
				t.Fatalf("call %d: %v", i, item)
			}
			seen[id], open[id] = true, true
		case "function_call_output":
			if !open[id] {
				t.Fatalf("item %d answers nobody: %s", i, body)
			}
			delete(open, id)
			if _, text := item["output"].(string); !text {
				content(t, "user", item["output"])
			}
		}
	}
	if n := len(sent.Input); n == 0 || sent.Input[n-1]["role"] != "user" {
		t.Fatalf("the last word is not the user's: %s", body)
	}
}

// shaped checks that an item or a piece has the fields of its kind, and returns
// that.
func shaped(t *rapid.T, item map[string]any) string {
	kind, _ := item["type"].(string)
	want := strings.Fields(fields[kind])
	got := slices.Sorted(maps.Keys(item))
	if slices.Sort(want); len(want) == 0 || !slices.Equal(got, want) {
		t.Fatalf("%q has %q, want %q", kind, got, want)
	}
	return kind
}

// content checks the pieces of a message or of an output.
func content(t *rapid.T, role, pieces any) {
	list, _ := pieces.([]any)
	if len(list) == 0 {
		t.Fatalf("%v says nothing: %v", role, pieces)
	}
	for _, p := range list {
		piece, _ := p.(map[string]any)
		kind := shaped(t, piece)
		if (role == "assistant") != (kind == "output_text") || strings.HasSuffix(kind, "_text") && strings.TrimSpace(piece["text"].(string)) == "" {
			t.Fatalf("%v says %v", role, piece)
		}
	}
}
