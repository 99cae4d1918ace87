package gemini_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/gemini"
	"agentx/engine/driver/wire"
	"agentx/engine/enginetest"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

const answer = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi \"}],\"role\":\"model\"},\"index\":0}],\"responseId\":\"r\"}\r\n\r\n" +
	"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"there.\"}],\"role\":\"model\"},\"finishReason\":\"STOP\",\"index\":0}]}\r\n\r\n"

// serve answers every request with a stream, and notes what was asked.
func serve(t *testing.T, stream string) (address string, asked func() string) {
	var mu sync.Mutex
	last := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		last = fmt.Sprintf("%s %s key=%s", r.Method, r.URL, r.Header.Get("X-Goog-Api-Key"))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, stream)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() string {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// TestKit puts the driver through what every driver promises.
func TestKit(t *testing.T) {
	base, _ := serve(t, answer)
	enginetest.TestDriver(t, func() engine.Driver { return gemini.Driver{BaseURL: base} })
}

// TestAddresses asks where the model is, with the key in a header and not in the
// address.
func TestAddresses(t *testing.T) {
	base, asked := serve(t, answer)
	for _, test := range []struct{ base, model, want string }{
		{"", "gemini-4-argon", "/v1beta/models/gemini-4-argon"},
		{"/", "models/gemini-4-argon", "/v1beta/models/gemini-4-argon"},
		{"/v1beta", "tunedModels/mine", "/v1beta/tunedModels/mine"},
		{"/v1/", "a b?c#d", "/v1/models/a%20b%3Fc%23d"},
		{"/v1beta1/projects/p/locations/l/publishers/google", "m", "/v1beta1/projects/p/locations/l/publishers/google/models/m"},
		{"/proxy", "m", "/proxy/v1beta/models/m"},
	} {
		d := gemini.Driver{BaseURL: base + test.base, Key: wire.Secret("secret")}
		for _, err := range d.Receive(context.Background(), engine.Request{Model: test.model, Message: event.UserMessage{Content: event.Say("x")}}) {
			if err != nil {
				t.Errorf("%s, %s: %v", test.base, test.model, err)
			}
		}
		if want := "POST " + test.want + ":streamGenerateContent?alt=sse key=secret"; asked() != want {
			t.Errorf("%s, %s: %s, want %s", test.base, test.model, asked(), want)
		}
	}
}

// TestModels reads the list page by page, without what cannot talk.
func TestModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("pageToken") {
		case "":
			io.WriteString(w, `{"models":[{"name":"models/gemini-4-argon","displayName":"Argon","supportedGenerationMethods":["generateContent","countTokens"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"p/2"}`)
		case "p/2":
			io.WriteString(w, `{"models":[{"name":"models/gemma-4"}]}`)
		}
	}))
	defer s.Close()
	got, err := gemini.Driver{BaseURL: s.URL}.Models(context.Background())
	if diff := cmp.Diff([]wire.Model{{ID: "gemini-4-argon", Name: "Argon"}, {ID: "gemma-4"}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestThereAndBack has a model call tools, answers it, and looks at what the
// model is told of its own message: every signature where it was.
func TestThereAndBack(t *testing.T) {
	parts := `{"text":"I look.","thought":true},{"text":"Two at once."},{"functionCall":{"id":"c1","name":"look","args":{"at":1}},"thoughtSignature":"Zmlyc3Q="},{"functionCall":{"name":"look","args":{}}},{"functionCall":{"name":"ring","args":{}},"thoughtSignature":"dGhpcmQ="}`
	stream := `data: {"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},"finishReason":"STOP"}],"modelVersion":"gemini-3.5-flash","responseId":"r"}` + "\r\n\r\n"
	var second string
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if asked++; asked == 1 {
			io.WriteString(w, stream)
			return
		}
		b, _ := io.ReadAll(r.Body) // what is missing shows below
		second = string(b)
		io.WriteString(w, answer)
	}))
	defer s.Close()
	d := gemini.Driver{BaseURL: s.URL}
	req := engine.Request{Model: "gemini-flash-latest", Message: event.UserMessage{ID: "u1", Content: event.Say("go")}}
	var history []event.Message
	history = append(history, req.Message)
	for e, err := range (engine.Engine{Driver: d}).Events(context.Background(), req) {
		if m, ok := e.Data.(event.AssistantMessage); ok && err == nil {
			history = append(history, m)
			for _, c := range m.Content.ToolCalls() {
				history = append(history, event.ToolResultMessage{ParentID: m.ID, ToolCallID: c.ID, ToolResult: event.ToolReturn{ID: c.ID, Name: c.Name, Output: event.Output{Text: "done"}}})
			}
		}
	}
	for _, err := range d.Receive(context.Background(), engine.Request{Model: "gemini-flash-latest", History: history}) {
		if err != nil {
			t.Error(err)
		}
	}
	want := `{"role":"model","parts":[{"text":"Two at once."},{"functionCall":{"id":"c1","name":"look","args":{"at":1}},"thoughtSignature":"Zmlyc3Q="},{"functionCall":{"id":"call_r_2","name":"look","args":{}}},{"functionCall":{"id":"call_r_3","name":"ring","args":{}},"thoughtSignature":"dGhpcmQ="}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"look","response":{"output":"done"}}},{"functionResponse":{"id":"call_r_2","name":"look","response":{"output":"done"}}},{"functionResponse":{"id":"call_r_3","name":"ring","response":{"output":"done"}}}]}`
	if !strings.Contains(second, want) {
		t.Errorf("sent  %s\nwant  …%s…", second, want)
	}
}
