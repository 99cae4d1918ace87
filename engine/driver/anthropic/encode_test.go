package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

func user(text string) event.Message { return event.UserMessage{ID: "u", Content: event.Say(text)} }

func says(stop event.StopReason, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Model: "claude-x", Content: parts, StopReason: stop}
}

func call(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

func result(id, text string) event.Message {
	return event.ToolResultMessage{ID: "m/" + id, ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: event.Output{Text: text}}}
}

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	warm := 0.5
	for name, req := range map[string]engine.Request{
		"first":    {Model: "claude-sonnet-4-5", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b> & more")}, Options: engine.Options{Temperature: &warm}},
		"a schema": {Model: "claude-opus-4-6", Message: event.UserMessage{Content: event.Say("Which city?")}, Options: engine.Options{Effort: "low", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}},
		"tools in one message": { // the result comes in the middle of it
			Model: "claude-opus-4-6", Options: engine.Options{Effort: "low", MaxTokens: 1000},
			Tools: []engine.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "write"}},
			History: []event.Message{user("read it"), event.ToolCallMessage{ID: "x", ToolCall: event.ToolCall{ID: "a"}}, result("a", "the text"),
				says(event.EndTurn, event.Text{Text: "Reading."}, call("a", "read", `{"p":1}`), event.Text{Text: "Read."})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"tools between messages": {
			Model: "claude-sonnet-4-5", Options: engine.Options{Effort: "high"},
			History: []event.Message{user("two"), says(event.ToolUse, event.Thinking{Text: "hm", Signature: "sig"}, event.Thinking{Signature: redacted + "b64"},
				event.Text{Text: "Both."}, call("a", "read", `{"p":1}`), call("a", "", `[1]`), event.Text{Text: " \n"}),
				result("a", "one"), result("a", "")},
		},
		"thoughts of another": {
			Model: "claude-sonnet-4-5", Options: engine.Options{Effort: "medium"},
			History: []event.Message{user("x"), event.AssistantMessage{ID: "m", Model: "gpt-5", StopReason: event.ToolUse,
				Content: event.Parts{event.Thinking{Text: "hm", Signature: "gpt"}, call("call/1|é", "read file", `{}`)}}, result("call/1|é", "ok")},
		},
		"broken off": {
			Model: "claude-sonnet-4-5",
			History: []event.Message{user("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, call("a", "rm", `{}`)}},
				user("  "), user("go on")},
		},
		"asides": { // are told to people, not to the model
			Model: "claude-sonnet-4-5",
			History: []event.Message{user("x"), says(event.ToolUse, event.Text{Text: "Look."}, call("a", "read", `{}`), event.Aside{Kind: event.AsideSearch, Text: "clocks"}), result("a", "one"),
				says(event.EndTurn, event.Text{Text: "Noon."}, event.Aside{Kind: event.AsideSource, Text: "A clock", URL: "https://clock.example"}),
				says(event.EndTurn, event.Aside{Kind: event.AsideTool, Text: "alone"})},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"starts with the model": {
			Model:   "claude-3-haiku-20240307",
			History: []event.Message{says(event.EndTurn, event.Text{Text: "Hello. "}), says(event.EndTurn, event.Thinking{Text: "only", Signature: "s"}), says(event.EndTurn, event.Text{Text: "Well? \n"})},
		},
		"pictures and files": {
			Model: "claude-sonnet-4-5",
			Message: event.UserMessage{Content: event.Content{event.Text{Text: "look"}, event.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}, event.Image{URL: "https://x/y.png"},
				event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"}, event.File{MediaType: "text/csv", Data: []byte("a,b"), Filename: "a.csv"},
				event.File{MediaType: "application/zip", Data: []byte{0xff, 0}, Filename: "a.zip"}}},
		},
		"outputs": {
			Model: "claude-sonnet-4-5",
			History: []event.Message{user("x"), says(event.ToolUse, call("a", "t", `{}`), call("b", "t", `{}`), call("c", "t", `{}`), call("d", "t", `{}`)),
				out("a", event.Output{Kind: event.OutputError, Text: "no"}), out("b", event.Output{Kind: event.OutputDenied, Text: "never"}),
				out("c", event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(`{"k":[1]}`)}),
				out("d", event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, event.Image{MediaType: "image/png", Data: []byte{9}}}})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encode(req, nil, 0, true)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.TestRequest(t, name, body)
		})
	}
}

func out(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: o}}
}

// TestAnyHistory makes requests of anything: what the API demands holds always.
func TestAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := engine.Request{
			Model: rapid.SampledFrom([]string{"claude-sonnet-4-5", "claude-3-5-haiku-latest", "agentx-tiny"}).Draw(t, "model"), History: wiretest.History("s", redacted+"x").Draw(t, "history"),
			Message: event.UserMessage{Content: event.Say("now")}, Options: engine.Options{Effort: rapid.SampledFrom([]string{"", "low", "none"}).Draw(t, "effort")},
		}
		body, err := encode(req, nil, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		var sent said
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		demand(t, sent)
	})
}

// said is a request: what is asked for, and what was said.
type said struct {
	request
	Messages []message `json:"messages"`
}

// demand checks what the API checks.
func demand(t *rapid.T, r said) {
	seen := map[string]bool{}
	open := map[string]bool{}
	for i, m := range r.Messages {
		if want := [2]string{"user", "assistant"}[i%2]; m.Role != want {
			t.Fatalf("message %d is of the %s", i, m.Role)
		}
		if len(m.Content) == 0 {
			t.Fatalf("message %d is empty", i)
		}
		texts := false
		for _, c := range m.Content {
			switch c.Type {
			case "text":
				texts = true
				if strings.TrimSpace(c.Text) == "" {
					t.Fatalf("message %d has a blank text", i)
				}
			case "tool_use":
				if m.Role != "assistant" || seen[c.ID] || c.ID == "" || c.Name == "" || c.Input[0] != '{' {
					t.Fatalf("message %d: call %+v", i, c)
				}
				seen[c.ID], open[c.ID] = true, true
			case "tool_result":
				if m.Role != "user" || !open[c.ToolUseID] || texts {
					t.Fatalf("message %d: result %+v", i, c)
				}
				delete(open, c.ToolUseID)
			case "thinking":
				if c.Signature == "" || strings.Contains(c.Signature, ":") {
					t.Fatalf("message %d: a thought with the signature %q", i, c.Signature)
				}
			case "redacted_thinking":
				if c.Data == "" {
					t.Fatalf("message %d: a hidden thought without data", i)
				}
			case "image", "document":
				if m.Role != "user" || c.Source == nil {
					t.Fatalf("message %d: %s without a source", i, c.Type)
				}
			}
		}
		if m.Role == "user" && len(open) > 0 {
			t.Fatalf("message %d leaves calls open: %v", i, open)
		}
	}
	if last := r.Messages[len(r.Messages)-1]; last.Role != "user" {
		t.Fatalf("the last message is of the %s", last.Role)
	}
	if r.Thinking != nil && (r.Thinking.Budget >= r.MaxTokens || r.Temperature != nil) {
		t.Fatalf("thinking %+v of %d", r.Thinking, r.MaxTokens)
	}
}

func TestGenerations(t *testing.T) {
	for model, want := range map[string]struct {
		length           int
		thinks, adaptive bool
	}{
		"claude-3-haiku-20240307":                      {4096, false, false},
		"claude-3-5-sonnet-20241022":                   {8192, false, false},
		"claude-3-7-sonnet-latest":                     {32000, true, false},
		"claude-sonnet-4-20250514":                     {32000, true, false},
		"claude-opus-4-1-20250805":                     {32000, true, false},
		"claude-opus-4-6":                              {32000, true, true},
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": {32000, true, false},
		"claude-next-5":                                {32000, true, true},
		"agentx-tiny":                                  {8192, true, false},
	} {
		if n := usualLength(model); n != want.length || thinks(model) != want.thinks || adaptive(model) != want.adaptive {
			t.Errorf("%s: %d, thinks %v, adaptive %v, want %+v", model, n, thinks(model), adaptive(model), want)
		}
	}
}

// TestLengths gives thoughts room within what the model can write.
func TestLengths(t *testing.T) {
	for _, test := range []struct {
		model, effort         string
		asked, longest        int
		wantLength, wantThink int
	}{
		{"claude-sonnet-4-5", "", 0, 0, 32000, 0},
		{"claude-sonnet-4-5", "", 0, 64000, 64000, 0},
		{"claude-sonnet-4-5", "", 500, 64000, 500, 0},
		{"claude-sonnet-4-5", "high", 0, 0, 32000, 16384},
		{"claude-sonnet-4-5", "high", 0, 64000, 64000, 16384},
		{"claude-sonnet-4-5", "high", 1000, 64000, 17384, 16384},
		{"claude-sonnet-4-5", "low", 4000, 6000, 6000, 2000},
		{"claude-sonnet-4-5", "low", 10, 1000, 1000, 0},
		{"claude-sonnet-4-5", "tiny", 0, 0, 32000, 0},
		{"claude-3-haiku-20240307", "high", 0, 0, 4096, 0},
	} {
		r := request{}
		r.think(engine.Request{Model: test.model, Options: engine.Options{MaxTokens: test.asked, Effort: test.effort}}, test.longest)
		budget := 0
		if r.Thinking != nil {
			budget = r.Thinking.Budget
		}
		if r.MaxTokens != test.wantLength || budget != test.wantThink {
			t.Errorf("%+v: length %d, budget %d", test, r.MaxTokens, budget)
		}
	}
}
