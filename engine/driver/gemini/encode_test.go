package gemini

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

func says(model string, parts ...event.Part) event.Message {
	return event.AssistantMessage{ID: "m", Model: model, Content: parts, StopReason: event.ToolUse}
}

func call(id, name, input string) event.Part {
	return event.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}
}

func result(id string, o event.Output) event.Message {
	return event.ToolResultMessage{ParentID: "m", ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Output: o}}
}

// aside is for people: no request has anything of it.
var aside event.Part = event.Aside{Kind: event.AsideSource, Text: "A clock", URL: "https://clock.example"}

func texts(s string) event.Output { return event.Output{Text: s} }

// TestRequests compares what is sent with testdata/NAME.json.
func TestRequests(t *testing.T) {
	warm := 0.5
	picture := event.Image{MediaType: "image/png", Data: []byte{9}}
	tool := []engine.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "write"}}
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	seen := event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "seen"}, picture, event.File{MediaType: "application/zip", Data: []byte{0xff}, Filename: "a.zip"}, event.Text{Text: "twice"}}}
	for name, req := range map[string]engine.Request{
		"first": {Model: "gemini-3.5-flash", System: "Be brief.", Message: event.UserMessage{Content: event.Say("hi <b> & more")}, Options: engine.Options{Temperature: &warm, MaxTokens: 100}},
		"signatures": {
			Model: "gemini-3.5-flash", Tools: tool, Options: engine.Options{Effort: "low"},
			History: []event.Message{user("two"),
				says("gemini-3.1-pro-preview", event.Thinking{Text: "hm", Signature: ofCall + "c2ln"}, call("a", "read", `{"p":1}`), call("a", "", `[1]`)),
				result("a", texts("one")), result("a", texts("")),
				says("gemini-3.1-pro-preview", event.Thinking{Text: "unproved"}, event.Thinking{Text: "own", Signature: "b3du"}, event.Text{Text: "Both."}, event.Thinking{Signature: ofText + "dGV4dA=="}, event.Text{Text: "More."}, call("b", "write", ``), event.Thinking{Signature: ofText + "ZW5k"}, aside),
				result("b", texts("ok"))},
			Message: event.UserMessage{Content: event.Say("thanks")},
		},
		"thoughts of another": {
			Model: "gemini-4-argon",
			History: []event.Message{user("x"), says("claude-sonnet-5", event.Thinking{Text: "hm", Signature: "claude"}, event.Text{Text: "I look."}, call("call/1|é", "read file", `{}`), call("two", "read", `{}`)), result("call/1|é", texts("ok")), result("two", texts("ok")),
				says("gemini-3.5-flash", event.Thinking{Signature: ofCall + "b2xk"}, call("c", "read", `{}`)), result("c", texts("ok"))},
		},
		"an older model": {
			Model: "gemini-2.5-flash", Tools: tool, System: "Be brief.", Options: engine.Options{Effort: "medium", MaxTokens: 1000, Schema: schema},
			History: []event.Message{user("x"), says("gemini-2.5-pro", call("a", "read", `{}`)), result("a", seen)},
		},
		"a schema":      {Model: "gemini-2.5-pro", Options: engine.Options{Effort: "none", Schema: schema}, Message: event.UserMessage{Content: event.Say("n?")}},
		"a newer model": {Model: "gemini-3.8-flash", Tools: tool, Options: engine.Options{Effort: "none", Schema: schema}, History: []event.Message{user("x"), says("gemini-3.8-flash", call("a", "read", `{}`)), result("a", seen)}},
		"broken off": {
			Model: "gemma-4-31b-it", Options: engine.Options{Effort: "high"},
			History: []event.Message{user("x"), event.ErrorMessage{Content: "secret failure"},
				event.AssistantMessage{ID: "m", Incomplete: true, StopReason: event.StopError, Content: event.Parts{event.Text{Text: "I will"}, call("a", "rm", `{}`)}},
				user("  "), user("go on")},
		},
		"starts and ends with the model": {Model: "gemini-2.0-flash", History: []event.Message{says("", event.Text{Text: "Hello. "}, aside), says("", event.Thinking{Text: "only", Signature: "s"}), says("", event.Text{Text: "Well?"}), says("", aside)}},
		"pictures and files": {
			Model: "gemini-3.5-flash",
			Message: event.UserMessage{Content: event.Content{event.Text{Text: "look"}, picture, event.Image{URL: "https://x/y.png"}, event.Image{URL: "https://x/z", MediaType: "image/webp"},
				event.File{MediaType: "application/pdf", Data: []byte("%PDF"), Filename: "a.pdf"}, event.File{MediaType: "audio/mpeg", Data: []byte{0xff, 1}, Filename: "a.mp3"}, event.File{MediaType: "text/csv", Data: []byte("a,b"), Filename: "a.csv"},
				event.File{MediaType: "application/zip", Data: []byte{0xff, 0}, Filename: "a.zip"}}},
		},
		"outputs": {
			Model: "gemini-3.5-flash",
			History: []event.Message{user("x"), says("gemini-3.5-flash", call("a", "t", `{}`), call("b", "t", `{}`), call("c", "t", `{}`), call("d", "t", `{}`), call("e", "t", `{}`)),
				result("a", event.Output{Kind: event.OutputError, Text: "no"}), result("b", event.Output{Kind: event.OutputDenied, Text: "never"}),
				result("c", event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(`{"error":[1]}`)}), result("d", event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(`{"cut`)})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body, err := encode(req, nil, 4096, true)
			if err != nil {
				t.Fatal(err)
			}
			wiretest.TestRequest(t, name, body)
		})
	}
}

// TestNothingToSay refuses to ask without a question.
func TestNothingToSay(t *testing.T) {
	_, err := encode(engine.Request{Message: event.UserMessage{Content: event.Say(" \n")}}, nil, 0, true)
	if f := engine.FaultOf(err); f.Code != event.CodeInvalidRequest {
		t.Errorf("%v", err)
	}
}

// TestAnyHistory makes requests of anything: what the API demands holds always.
func TestAnyHistory(t *testing.T) {
	models := rapid.SampledFrom([]string{"gemini-3.5-flash", "gemini-2.5-pro", "gemini-flash-latest", "gemma-4", ""})
	rapid.Check(t, func(t *rapid.T) {
		req := engine.Request{
			Model: models.Draw(t, "asked"), System: rapid.SampledFrom([]string{"", " ", "a"}).Draw(t, "system"), History: wiretest.History("s", ofCall+"c", ofText+"t").Draw(t, "history"),
			Options: engine.Options{Effort: rapid.SampledFrom([]string{"", "none", "low", "high"}).Draw(t, "effort"), MaxTokens: rapid.IntRange(0, 9).Draw(t, "tokens")},
		}
		if rapid.Bool().Draw(t, "asks") {
			req.Message = event.UserMessage{Content: event.Say("now")}
		}
		body, err := encode(req, nil, 0, true)
		if err != nil {
			if engine.FaultOf(err).Code != event.CodeInvalidRequest || len(req.Message.Content) > 0 {
				t.Fatal(err)
			}
			return
		}
		demand(t, body, generationOf(req.Model))
	})
}

// sent is a request as the server reads it: every field one that it knows.
type sent struct {
	System   *sentContent `json:"systemInstruction"`
	Contents []sentContent
	Config   struct {
		MaxTokens int `json:"maxOutputTokens"`
		Thinking  struct {
			Include bool   `json:"includeThoughts"`
			Budget  *int   `json:"thinkingBudget"`
			Level   string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type sentContent struct {
	Role  string
	Parts []map[string]json.RawMessage
}

// demand checks what the API checks.
func demand(t *rapid.T, body []byte, g generation) {
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	var r sent
	if err := d.Decode(&r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var open []string // calls of the step before, in their order
	seen := map[string]bool{}
	for i, c := range r.Contents {
		if want := [2]string{"user", "model"}[i%2]; c.Role != want || len(c.Parts) == 0 {
			t.Fatalf("content %d is of the %s: %s", i, c.Role, body)
		}
		var calls, answers []string
		signed := ""
		for j, p := range c.Parts {
			signed = oneThing(t, p)
			var f struct{ ID, Name string }
			if raw := p["functionCall"]; raw != nil {
				_ = json.Unmarshal(raw, &f) // oneThing has
				if c.Role != "model" || f.ID == "" || f.Name == "" || seen[f.ID] {
					t.Fatalf("content %d: call %s", i, raw)
				}
				if len(calls) == 0 && g.atLeast(3, 0) && signed == "" {
					t.Fatalf("content %d: the first call has no signature: %s", i, body)
				}
				seen[f.ID] = true
				calls = append(calls, f.ID)
			}
			if raw := p["functionResponse"]; raw != nil {
				_ = json.Unmarshal(raw, &f)
				if c.Role != "user" || f.Name == "" || j != len(answers) {
					t.Fatalf("content %d: answer %s", i, raw)
				}
				answers = append(answers, f.ID)
			}
			if signed == "" && string(p["text"]) != "" && c.Role == "model" && strings.TrimSpace(string(p["text"])) == `""` {
				t.Fatalf("content %d has an empty text: %s", i, body)
			}
		}
		if strings.Join(answers, " ") != strings.Join(open, " ") {
			t.Fatalf("content %d answers %q, asked was %q: %s", i, answers, open, body)
		}
		open = calls
	}
	if last := r.Contents[len(r.Contents)-1]; last.Role != "user" || len(open) > 0 {
		t.Fatalf("the last content is of the %s, and leaves %q open", last.Role, open)
	}
	if th := r.Config.Thinking; th.Budget != nil && th.Level != "" {
		t.Fatalf("a budget and a level: %s", body)
	}
}

// oneThing checks that a part is one thing and that its objects are such, and
// returns its signature.
func oneThing(t *rapid.T, p map[string]json.RawMessage) string {
	things, signature := 0, ""
	for key, raw := range p {
		switch key {
		case "text", "inlineData", "fileData", "functionCall", "functionResponse":
			things++
		case "thoughtSignature":
			if err := json.Unmarshal(raw, &signature); err != nil || signature == "" || strings.Contains(signature, ":") {
				t.Fatalf("signature %s", raw)
			}
		case "thought":
		default:
			t.Fatalf("a part with %s", key)
		}
	}
	if things != 1 {
		t.Fatalf("a part of %d things: %s", things, p)
	}
	for key, object := range map[string]string{"functionCall": "args", "functionResponse": "response"} {
		if raw := p[key]; raw != nil {
			var f map[string]json.RawMessage
			if err := json.Unmarshal(raw, &f); err != nil || len(f[object]) == 0 || f[object][0] != '{' {
				t.Fatalf("%s %s: %v", key, raw, err)
			}
		}
	}
	return signature
}

func TestGenerations(t *testing.T) {
	for model, want := range map[string]struct {
		generation
		thinks      bool
		none, heavy string // what it is told where it is to think little, and much
	}{
		"gemini-1.5-pro-002":           {generation{1, 5}, false, "", ""},
		"gemini-2.0-flash":             {generation{2, 0}, false, "", ""},
		"gemini-2.5-flash":             {generation{2, 5}, true, "0", "24576"},
		"gemini-2.5-pro":               {generation{2, 5}, true, "128", "24576"},
		"gemini-2.5-flash-image":       {generation{2, 5}, false, "", ""},
		"gemini-3-flash-preview":       {generation{3, 0}, true, "minimal", "high"},
		"gemini-3.1-pro-preview":       {generation{3, 1}, true, "low", "high"},
		"gemini-3.8-flash":             {generation{3, 8}, true, "low", "high"},
		"google/gemini-4-argon":        {generation{4, 0}, true, "low", "high"},
		"gemini-flash-latest":          {generation{3, 0}, true, "low", "high"},
		"gemini-robotics-er-2-preview": {generation{}, false, "", ""},
		"gemma-4-31b-it":               {generation{}, false, "", ""},
		"gemini-":                      {generation{}, false, "", ""},
	} {
		none, heavy := told(think(model, "none")), told(think(model, "high"))
		if g := generationOf(model); g != want.generation || thinks(model) != want.thinks || none != want.none || heavy != want.heavy {
			t.Errorf("%s: %v, thinks %v, none %q, high %q, want %+v", model, g, thinks(model), none, heavy, want)
		}
	}
}

func told(th *thinking) string {
	switch {
	case th == nil:
		return ""
	case th.Budget != nil:
		b, _ := json.Marshal(*th.Budget) // a number
		return string(b)
	}
	return th.Level
}

// TestSameMaker keeps signatures within a generation.
func TestSameMaker(t *testing.T) {
	for _, test := range []struct {
		had, asked string
		want       bool
	}{
		{"gemini-3.5-flash", "gemini-3.1-pro-preview", true},
		{"gemini-3.6-flash", "gemini-flash-latest", true},
		{"gemini-4-argon", "gemini-pro-latest", true},
		{"gemini-4-argon", "gemini-4-argon", true},
		{"gemini-2.5-pro", "gemini-3.5-flash", false},
		{"gemini-2.5-pro", "gemini-pro-latest", false},
		{"claude-sonnet-5", "gemini-3.5-flash", false},
		{"", "gemma-4-31b-it", false},
		{"gpt-5.5", "gemma-4-31b-it", false},
	} {
		if got := sameMaker(test.had, test.asked); got != test.want {
			t.Errorf("sameMaker(%q, %q) = %v", test.had, test.asked, got)
		}
	}
}
