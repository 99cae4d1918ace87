package openai

import (
	"encoding/json"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

func question(text string) event.Message { return event.UserMessage{ID: "u", Content: event.Say(text)} }

func says(stop event.StopReason, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Content: parts, StopReason: stop}
}

func calls(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

func result(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: o}}
}

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	cold := 0.0
	for name, req := range map[string]engine.Request{
		"first": {Model: "m", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b>")}, Options: engine.Options{Temperature: &cold, MaxTokens: 9, Effort: "low"}},
		"tools in one message": {
			Model: "m", Tools: []engine.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "write"}},
			History: []event.Message{question("read it"), result("a", event.Output{Text: "the text"}),
				says(event.EndTurn, event.Thinking{Text: "hm"}, event.Text{Text: "Reading."}, calls("a", "read", `{"p":1}`), event.Text{Text: "Read."})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"tools between messages": {
			Model: "m",
			History: []event.Message{question("x"), says(event.ToolUse, event.Text{Text: "Both."}, calls("a", "t", `{"p":1}`), calls("a", "", `{"x`), calls("c", "t", `{}`)),
				result("a", event.Output{Text: "one"}), result("a", event.Output{Kind: event.OutputDenied}),
				result("c", event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, event.Image{MediaType: "image/png", Data: []byte{9}}}})},
		},
		"broken off": {
			Model: "m",
			History: []event.Message{question("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, calls("a", "rm", `{}`)}}, question(" "), question("go on")},
		},
		"pictures and files": {
			Model: "m",
			Message: event.UserMessage{Content: event.Content{event.Text{Text: "look"}, event.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}, event.Image{URL: "https://x/y.png"},
				event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"}, event.File{MediaType: "text/csv", Data: []byte("a,b"), Filename: "a.csv"},
				event.File{MediaType: "application/zip", Data: []byte{0xff, 0}, Filename: "a.zip"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encode(req, Driver{BaseURL: "http://localhost/v1"}, true)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.TestRequest(t, name, body)
		})
	}
}

// TestLimitHasTwoNames sends the limit of an answer under the name that the
// server knows.
func TestLimitHasTwoNames(t *testing.T) {
	for base, want := range map[string]string{
		"":                                      "max_completion_tokens",
		"https://api.openai.com/v1":             "max_completion_tokens",
		"https://me.openai.azure.com/openai/v1": "max_completion_tokens",
		"http://127.0.0.1:11434/v1":             "max_tokens",
		"https://api.openai.com.evil.example":   "max_tokens",
	} {
		body, err := encode(engine.Request{Message: event.UserMessage{Content: event.Say("x")}, Options: engine.Options{MaxTokens: 7}}, Driver{BaseURL: base}, true)
		var sent map[string]any
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if err != nil || sent[want] != 7.0 || len(sent) != 5 {
			t.Errorf("%q: %s, want %s", base, body, want)
		}
	}
}

// TestNothingToSay refuses to ask without a question.
func TestNothingToSay(t *testing.T) {
	_, err := encode(engine.Request{Message: event.UserMessage{Content: event.Say(" \n")}}, Driver{}, true)
	if f := engine.FaultOf(err); f.Code != event.CodeInvalidRequest {
		t.Errorf("%v", err)
	}
}

// TestThoughtsGoBack only to those who want them, and only with calls.
func TestThoughtsGoBack(t *testing.T) {
	req := engine.Request{History: []event.Message{
		question("x"), event.AssistantMessage{ID: "n", Content: event.Parts{event.Thinking{Text: "first"}, event.Text{Text: "a"}}},
		question("y"), says(event.ToolUse, event.Thinking{Text: "hm"}, calls("a", "t", `{}`)), result("a", event.Output{Text: "1"}),
	}}
	for base, want := range map[string]string{"https://api.deepseek.com": "hm", "https://api.groq.com/openai/v1": "", "https://notdeepseek.com": ""} {
		body, err := encode(req, Driver{BaseURL: base}, true)
		if err != nil {
			t.Fatal(err)
		}
		var sent struct{ Messages []message }
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if got := sent.Messages; len(got) != 5 || got[1].Thoughts != "" || got[3].Thoughts != want {
			t.Errorf("%s: %s", base, body)
		}
	}
}
