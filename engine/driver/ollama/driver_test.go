package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/enginetest"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quick is a client that does not wait.
func quick(t *testing.T) *wire.Client {
	c := &wire.Client{Version: "test", Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	t.Cleanup(c.Close)
	return c
}

func line(content string) string {
	return fmt.Sprintf("{\"model\":\"m\",\"created_at\":\"2026-11-21T10:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":%q},\"done\":false}\n", content)
}

const last = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":42}`

// serve answers the requests of one path one after the other, the last answer
// for good, and hands over their bodies.
func serve(t *testing.T, path string, answers ...func(http.ResponseWriter)) (base string, asked func() []string) {
	var mu sync.Mutex
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		n := min(len(bodies), len(answers)-1)
		bodies = append(bodies, string(body))
		mu.Unlock()
		answers[n](w)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return bodies
	}
}

func lines(all ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, s := range all {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	}
}

func status(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// TestKit puts the driver through what every driver promises.
func TestKit(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		lines(line("one "), line("two "), line("three"), last)(w)
	}))
	defer s.Close()
	enginetest.TestDriver(t, func() engine.Driver { return Driver{BaseURL: s.URL} })
}

// TestFaults plays what a server says when it does not answer, and reads what
// people are told.
func TestFaults(t *testing.T) {
	half := line("so ") + line("far")
	for _, test := range []struct {
		name    string
		play    func(http.ResponseWriter)
		text    string
		code    event.ErrorCode
		message string
		tries   int
	}{
		{"no such model", status(404, `{"error":"model 'qwen9:8b' not found"}`), "", event.CodeNotFound, "Ollama has no model qwen9:8b; `ollama pull qwen9:8b` fetches it", 1},
		{"no such model, in other words", status(404, `{"error":"model \"qwen9:8b\" not found, try pulling it first"}`), "", event.CodeNotFound, "`ollama pull qwen9:8b`", 1},
		{"no such address", status(404, `404 page not found`), "", event.CodeNotFound, "does not know the model or the address (404): 404 page not found", 1},
		{"too long", status(400, `{"error":"the input length exceeds the context length"}`), "", event.CodeContextOverflow, "longer than the model's context (400): the input length exceeds the context length; OLLAMA_CONTEXT_LENGTH, where", 1},
		{"cloud without a name", status(401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect?key=abc"}`), "", event.CodeAuthentication, "unauthorized; a model in Ollama's cloud wants a key, or `ollama signin`", 1},
		{"no tools", status(400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`), "", event.CodeInvalidRequest, "does not support tools", 1},
		{"busy", status(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), "", event.CodeOverloaded, "server busy", 4},
		{"a runner that dies before a word", status(500, `{"error":"llama runner process has terminated: signal: killed"}`), "", event.CodeServer, "signal: killed", 4},
		{"a runner that dies in the stream", lines(half, `{"error":"an error was encountered while running the model: unexpected EOF"}`+"\n"), "so far", event.CodeServer, "unexpected EOF", 1},
		{"an error instead of a stream", status(200, `{"error":"model is loading"}`), "", event.CodeServer, "model is loading", 4},
		{"only loaded", lines(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"load"}`), "", event.CodeOverloaded, "has loaded the model and not answered", 4},
		{"an end before the end", lines(half), "so far", event.CodeIncomplete, "closed before the answer was complete; Ollama does so when a model goes on repeating itself", 1},
		{"half a line", lines(half, last[:40]), "so far", event.CodeIncomplete, "closed before the answer was complete", 1},
		{"a line of something else", lines(half, "<html>\n", last), "so far", event.CodeProtocol, "is not JSON", 1},
		{"events", lines("data: {}\n\n"), "", event.CodeProtocol, "expected", 1},
		{"nothing", lines(), "", event.CodeIncomplete, "closed before", 1},
		{"too many calls", lines(`{"message":{"tool_calls":[` + strings.Repeat(`{"function":{"name":"t"}},`, wire.MaxCalls) + `{}]},"done":false}` + "\n"), "", event.CodeTooLarge, "calls more than", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			base, asked := serve(t, "/api/chat", test.play)
			o := wiretest.Ask(context.Background(), Driver{BaseURL: base, Provider: "Ollama", Client: quick(t)}, engine.Request{Model: "qwen9:8b"})
			if o.Fault == nil || o.Fault.Code != test.code || !strings.Contains(o.Fault.Message, test.message) {
				t.Errorf("fault %+v, want %s: %s", o.Fault, test.code, test.message)
			}
			if o.Text != test.text || (o.Message != nil) != (test.text != "") || o.Message != nil && !o.Message.Incomplete {
				t.Errorf("text %q in %+v, want %q", o.Text, o.Message, test.text)
			}
			if n := len(asked()); n != test.tries || len(o.Retries) != test.tries-1 {
				t.Errorf("%d tries, %d announced, want %d", n, len(o.Retries), test.tries)
			}
		})
	}
}

// TestEndlessAnswer stops a model that does not stop where it was asked to.
func TestEndlessAnswer(t *testing.T) {
	base, _ := serve(t, "/api/chat", lines(strings.Repeat(line(strings.Repeat("x", 1000)), 100), last))
	o := wiretest.Ask(context.Background(), Driver{BaseURL: base, Client: quick(t)}, engine.Request{Options: engine.Options{MaxTokens: 10}})
	if o.Fault == nil || o.Fault.Code != event.CodeTooLarge || len(o.Text) > 64<<10 {
		t.Errorf("%d bytes: %v", len(o.Text), o.Err)
	}
}

// TestNobodyThere says how somebody would be.
func TestNobodyThere(t *testing.T) {
	s := httptest.NewServer(nil)
	base := s.URL
	s.Close()
	o := wiretest.Ask(context.Background(), Driver{BaseURL: base, Client: quick(t)}, engine.Request{})
	if o.Fault == nil || o.Fault.Code != event.CodeNetwork || !strings.HasSuffix(o.Fault.Message, "connection refused; `ollama serve` starts the server") {
		t.Errorf("%v", o.Err)
	}
}

// TestCutEverywhere ends an answer at every byte: it is complete exactly when
// its end has been seen.
func TestCutEverywhere(t *testing.T) {
	all := line("one") + line("two") + last
	for at := range len(all) + 1 {
		c := &wire.Client{Transport: wiretest.Served{Status: 200, Body: func() io.Reader { return strings.NewReader(all[:at]) }}, Attempts: 1}
		o := wiretest.Ask(context.Background(), Driver{Client: c}, engine.Request{})
		if (o.Err == nil) != (at == len(all)) || !strings.HasPrefix("onetwo", o.Text) {
			t.Errorf("cut at %d of %d: %q, %v", at, len(all), o.Text, o.Err)
		}
	}
}

// TestEffortIsAWish asks a model that cannot think again, without the wish.
func TestEffortIsAWish(t *testing.T) {
	for _, refusal := range []string{`{"error":"\"m\" does not support thinking"}`, `{"error":"think value \"high\" is not supported for this model"}`} {
		base, asked := serve(t, "/api/chat", status(400, refusal), lines(line("hello"), last))
		o := wiretest.Ask(context.Background(), Driver{BaseURL: base, Client: quick(t)}, engine.Request{Model: "gpt-oss-not", Options: engine.Options{Effort: "high"}})
		if o.Err != nil || o.Text != "hello" || len(o.Retries) != 0 {
			t.Errorf("%+v", o)
		}
		if b := asked(); len(b) != 2 || !strings.Contains(b[0], `"think":"high"`) || strings.Contains(b[1], "think") {
			t.Errorf("asked %q", b)
		}
	}
	base, asked := serve(t, "/api/chat", status(400, `{"error":"\"m\" does not support thinking"}`))
	o := wiretest.Ask(context.Background(), Driver{BaseURL: base, Client: quick(t)}, engine.Request{Options: engine.Options{Effort: "high"}})
	if n := len(asked()); o.Err == nil || n != 2 {
		t.Errorf("%d requests: %v", n, o.Err)
	}
	base, asked = serve(t, "/api/chat", lines(line("so far"), `{"error":"invalid_request: \"m\" does not support thinking"}`))
	o = wiretest.Ask(context.Background(), Driver{BaseURL: base, Client: quick(t)}, engine.Request{Options: engine.Options{Effort: "high"}})
	if n := len(asked()); o.Err == nil || n != 1 || o.Text != "so far" {
		t.Errorf("%d requests in the middle of an answer: %v", n, o.Err)
	}
}

// TestAddresses finds the server whichever dialect the address was meant for.
func TestAddresses(t *testing.T) {
	for base, want := range map[string][2]string{
		"":                              {"Ollama", "http://127.0.0.1:11434/api/chat"},
		"http://127.0.0.1:11434/v1":     {"Ollama", "http://127.0.0.1:11434/api/chat"},
		"http://localhost:11434/api/":   {"Ollama", "http://localhost:11434/api/chat"},
		"https://ollama.com":            {"Ollama", "https://ollama.com/api/chat"},
		"https://box.example:1/llm/v1/": {"box.example", "https://box.example:1/llm/api/chat"},
	} {
		d := Driver{BaseURL: base}
		call, err := d.question(context.Background(), engine.Request{Message: event.UserMessage{Content: event.Say("x")}})
		if got := [2]string{d.Name(), call.URL}; err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", base, got, err, want)
		}
	}
}

// TestModels lists what a server has; what it does not say of one is left out.
func TestModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Model string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		switch r.URL.Path + " " + asked.Model {
		case "/api/tags ":
			io.WriteString(w, `{"models":[{"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2026-01-01T00:00:00Z","size":5225388164,"digest":"ab","details":{"family":"qwen3","parameter_size":"8.2B","quantization_level":"Q4_K_M"}},
				{"name":"gone:1b","size":7},{"name":"odd:1b","size":8,"details":null}]}`)
		case "/api/show qwen3:8b":
			io.WriteString(w, `{"license":"…","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"tokenizer.ggml.tokens":null},"capabilities":["completion","tools","thinking"]}`)
		case "/api/show odd:1b":
			io.WriteString(w, `{"model_info":{"general.architecture":7,".context_length":-1}}`)
		default:
			status(404, `{"error":"model 'gone:1b' not found"}`)(w)
		}
	}))
	defer s.Close()
	got, err := Driver{BaseURL: s.URL, Client: quick(t)}.Models(context.Background())
	want := []Model{
		{ID: "qwen3:8b", Size: 5225388164, Parameters: "8.2B", Quantization: "Q4_K_M", Context: 40960, Capabilities: []string{"completion", "tools", "thinking"}},
		{ID: "gone:1b", Size: 7}, {ID: "odd:1b", Size: 8},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(engine.Interrupt(event.ByUser))
	if _, err := (Driver{BaseURL: s.URL, Client: quick(t)}).Models(ctx); err != engine.Interrupt(event.ByUser) {
		t.Errorf("%v", err)
	}
}

// TestKeyStaysSecret sends a key to a server that wants one, and shows it nowhere.
func TestKeyStaysSecret(t *testing.T) {
	const key = "0123456789abcdef.SECRETsecret"
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		status(401, `{"error":"bad key `+key+`"}`)(w)
	}))
	defer s.Close()
	o := wiretest.Ask(context.Background(), Driver{BaseURL: s.URL, Key: wire.Secret(key), KeySource: "$OLLAMA_API_KEY", Client: quick(t)}, engine.Request{})
	if sent != "Bearer "+key || o.Fault == nil || strings.Contains(o.Fault.Message, "SECRET") || !strings.Contains(o.Fault.Message, "$OLLAMA_API_KEY") {
		t.Errorf("sent %q: %v", sent, o.Err)
	}
}
