package openai

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

func question(text string) event.Message { return event.UserMessage{ID: "u", Content: event.Say(text)} }

func says(stop event.StopReason, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Content: parts, StopReason: stop}
}

func calls(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

// aside is for people: no request has anything of it.
var aside event.Part = event.Aside{Kind: event.AsideSource, Text: "A clock", URL: "https://clock.example"}

func result(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: o}}
}

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	cold := 0.0
	for name, req := range map[string]engine.Request{
		"first":    {Model: "m", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b>")}, Options: engine.Options{Temperature: &cold, MaxTokens: 9, Effort: "low"}},
		"a schema": {Model: "claude-opus-4-6", Message: event.UserMessage{Content: event.Say("Which city?")}, Options: engine.Options{Effort: "low", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}},
		"tools in one message": {
			Model: "m", Tools: []engine.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "write"}},
			History: []event.Message{question("read it"), result("a", event.Output{Text: "the text"}),
				says(event.EndTurn, event.Thinking{Text: "hm"}, event.Text{Text: "Reading."}, calls("a", "read", `{"p":1}`), event.Text{Text: "Read."}, aside)},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"tools between messages": {
			Model: "m",
			History: []event.Message{question("x"), says(event.ToolUse, event.Text{Text: "Both."}, calls("a", "t", `{"p":1}`), calls("a", "", `{"x`), calls("c", "t", `{}`), aside),
				result("a", event.Output{Text: "one"}), result("a", event.Output{Kind: event.OutputDenied}),
				result("c", event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, event.Image{MediaType: "image/png", Data: []byte{9}}}})},
		},
		"broken off": {
			Model: "m",
			History: []event.Message{question("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, calls("a", "rm", `{}`), aside}}, says(event.EndTurn, aside), question(" "), question("go on")},
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

// TestProofsGoHome gives back what was thought, whole, to who can read it.
func TestProofsGoHome(t *testing.T) {
	stream, err := os.ReadFile("testdata/streams/proofs of thought.sse")
	if err != nil {
		t.Fatal(err)
	}
	home := Driver{BaseURL: "https://resells.example/v1"}
	events, err := wiretest.Decode(newDecoder(wire.Call{}, "", home.seal()), stream)
	if err != nil {
		t.Fatal(err)
	}
	parts := event.Parts{}
	for _, e := range events {
		switch e := e.(type) {
		case event.ThinkingDelta:
			parts = append(parts, event.Thinking{Text: e.Text, Signature: e.Signature})
		case event.TextDelta:
			parts = append(parts, event.Text{Text: e.Text})
		case event.ToolUseStart:
			parts = append(parts, calls(e.ToolCallID, e.ToolName, "{}"))
		}
	}
	whole := `[{"type":"reasoning.text","text":"The user asks.","signature":"c2ln","format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"cmVk","id":"rs_1","format":"anthropic-claude-v1","index":1}]`
	for _, test := range []struct {
		base, model string
		want        bool
	}{
		{"https://Resells.example/v1/", "anthropic/claude-opus-4-6", true},
		{"https://resells.example/v1", "openai/gpt-5", false},
		{"https://other.example/v1", "anthropic/claude-opus-4-6", false},
		{"https://api.deepseek.com", "anthropic/claude-opus-4-6", false},
	} {
		req := engine.Request{Model: test.model, History: []event.Message{question("x"), event.AssistantMessage{ID: "m", Model: "anthropic/claude-sonnet-5", Content: parts, StopReason: event.ToolUse}, question("y")}}
		body, err := encode(req, Driver{BaseURL: test.base}, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(body), `"reasoning_details":`+whole); got != test.want || !got && strings.Contains(string(body), "c2ln") {
			t.Errorf("%+v: %s", test, body)
		}
	}
}

// TestAnyHistory makes requests of anything: what the API demands holds always.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := engine.Request{
			Model: rapid.SampledFrom([]string{"m", "openai/gpt-5", "mistral-large-latest"}).Draw(t, "model"), System: rapid.SampledFrom([]string{"", " ", "a"}).Draw(t, "system"),
			History: wiretest.History(`reasoning_details@resells.example:[{"type":"reasoning.text","signature":"s"}]`, "reasoning_details@resells.example:no").Draw(t, "history"), Message: event.UserMessage{Content: event.Say("now")},
		}
		d := Driver{BaseURL: rapid.SampledFrom([]string{"", "https://api.deepseek.com", "https://resells.example/v1", "https://api.mistral.ai/v1"}).Draw(t, "base")}
		body, err := encode(req, d, true)
		if err != nil {
			t.Fatal(err)
		}
		demand(t, body, d)
	})
}

// demand checks what the API checks, on the bytes that it would be sent.
func demand(t *rapid.T, body []byte, d Driver) {
	var sent struct {
		Messages []struct {
			Role, Name string
			Content    json.RawMessage
			Thoughts   string            `json:"reasoning_content"`
			Details    []json.RawMessage `json:"reasoning_details"`
			ToolCallID string            `json:"tool_call_id"`
			ToolCalls  []used            `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	seen, before := map[string]bool{}, ""
	var open []string
	for i, m := range sent.Messages {
		if len(open) > 0 && m.Role != "tool" {
			t.Fatalf("message %d leaves %q open: %s", i, open, body)
		}
		switch m.Role {
		case "system":
			if i != 0 || blank(m.Content) {
				t.Fatalf("message %d: %s", i, body)
			}
		case "user":
			if before == "user" || before == "tool" && d.strict() || blank(m.Content) {
				t.Fatalf("message %d: %s", i, body)
			}
		case "assistant":
			if before == "assistant" || len(m.ToolCalls) == 0 && blank(m.Content) || m.Thoughts != "" && !d.remembers() {
				t.Fatalf("message %d: %s", i, body)
			}
			if len(m.Details) > 0 && d.host() != "resells.example" {
				t.Fatalf("message %d has the proofs of somebody else: %s", i, body)
			}
			for _, c := range m.ToolCalls {
				if seen[c.ID] || !named.MatchString(c.ID) || d.strict() && len(c.ID) != 9 || c.Type != "function" || !named.MatchString(c.Function.Name) || !json.Valid([]byte(c.Function.Arguments)) {
					t.Fatalf("message %d: call %+v", i, c)
				}
				seen[c.ID], open = true, append(open, c.ID)
			}
		case "tool":
			if len(open) == 0 || m.ToolCallID != open[0] {
				t.Fatalf("message %d answers %q, open are %q: %s", i, m.ToolCallID, open, body)
			}
			open = open[1:]
		default:
			t.Fatalf("message %d is of the %q", i, m.Role)
		}
		before = m.Role
	}
	if before != "user" {
		t.Fatalf("the last message is of the %s", before)
	}
}

var named = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// blank reports whether a content says nothing.
func blank(content json.RawMessage) bool {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return strings.TrimSpace(s) == ""
	}
	var pieces []piece
	if json.Unmarshal(content, &pieces) != nil || len(pieces) == 0 {
		return true
	}
	for _, p := range pieces {
		if p.Type == "text" && strings.TrimSpace(p.Text) == "" || p.Type == "image_url" && p.Image.URL == "" || p.Type == "file" && p.File.Data == "" {
			return true
		}
	}
	return false
}
