package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// recording is an answer that a server once gave, and what an independent
// decoder made of it.
type recording struct {
	File     string
	API      string
	Status   int
	Headers  map[string]string
	SDK      string `json:"sdk_check"`
	Expected struct {
		Text, Thinking, Refusal string
		ToolCalls               []asked `json:"tool_calls"`
		StopReason              *string `json:"stop_reason"`
		Usage                   map[string]json.RawMessage
		Terminated              bool
		Errors                  []struct{ Message string }
	}
	body []byte
}

type asked struct {
	ID, Name  string
	Arguments string `json:"arguments_raw"`
}

// exempt are recordings that cannot be compared with what is expected, and why.
var exempt = map[string]string{
	"groq/tool-use-failed-error-streaming-with-text.sse": "ends with an error: see TestRefusals",
	"groq/tool-use-failed-error-streaming.sse":           "ends with an error: see TestRefusals",
}

func recordings(t *testing.T, api string) []recording {
	dir := os.Getenv("AGENTX_RECORDINGS")
	if dir == "" {
		t.Skip("AGENTX_RECORDINGS names no directory of recordings")
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Entries []recording }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	var all []recording
	for _, r := range manifest.Entries {
		if r.API != api {
			continue
		}
		if r.body, err = os.ReadFile(filepath.Join(dir, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// served answers every request with the same bytes.
type served struct {
	status int
	header map[string]string
	body   func() io.Reader
}

func (s served) RoundTrip(req *http.Request) (*http.Response, error) {
	h := http.Header{}
	for k, v := range s.header {
		if k != "content-encoding" { // the bodies were kept as they read
			h.Set(k, v)
		}
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(s.body()), Request: req}, nil
}

// shapes are ways in which the same stream may arrive.
func shapes(body []byte) map[string]func() io.Reader {
	unix := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))
	comments := bytes.ReplaceAll(unix, []byte("\n\n"), []byte("\n\n: still here\n\n:\nretry: 1\nid: 7\n\n"))
	return map[string]func() io.Reader{
		"whole":     func() io.Reader { return bytes.NewReader(body) },
		"one byte":  func() io.Reader { return iotest.OneByteReader(bytes.NewReader(body)) },
		"crlf":      func() io.Reader { return bytes.NewReader(crlf) },
		"crlf cut":  func() io.Reader { return iotest.OneByteReader(bytes.NewReader(crlf)) },
		"cr":        func() io.Reader { return bytes.NewReader(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r"))) },
		"bom":       func() io.Reader { return bytes.NewReader(append([]byte("\xEF\xBB\xBF"), body...)) },
		"comments":  func() io.Reader { return bytes.NewReader(comments) },
		"data+EOF":  func() io.Reader { return iotest.DataErrReader(bytes.NewReader(body)) },
		"no spaces": func() io.Reader { return bytes.NewReader(bytes.ReplaceAll(unix, []byte("data: "), []byte("data:"))) },
	}
}

// conversation is what the engine makes of an answer.
type conversation struct {
	message *event.AssistantMessage
	stop    event.StopReason
	turn    event.TurnResponse
	retries int
	err     error
}

func converse(t *testing.T, d engine.Driver, model string) conversation {
	t.Helper()
	var c conversation
	e := engine.Engine{Driver: d}
	req := engine.Request{Model: model, Message: event.UserMessage{ID: "u1", Content: event.Say("go")}}
	for ev, err := range e.Events(context.Background(), req) {
		if err != nil {
			if c.stop != event.ToolUse { // nobody is there to run the tools: then the turn cannot go on
				c.err = err
			}
			break
		}
		switch data := ev.Data.(type) {
		case event.MessageStop:
			c.stop = data.StopReason
		case event.AssistantMessage:
			if c.message != nil {
				t.Errorf("a second message: %v", data)
			}
			c.message = &data
		case event.TurnResponse:
			c.turn = data
		case event.Retrying:
			c.retries++
		}
	}
	return c
}

func (r recording) driver(body func() io.Reader) Driver {
	return Driver{BaseURL: "http://127.0.0.1:9/v1", Client: &wire.Client{
		Transport: served{r.Status, r.Headers, body}, Attempts: 1,
	}}
}

func TestRecordings(t *testing.T) {
	decoded := 0
	for _, r := range recordings(t, "chat") {
		if r.Status != http.StatusOK {
			continue
		}
		if why, ok := exempt[r.File]; ok {
			t.Logf("exempt: %s: %s", r.File, why)
			continue
		}
		decoded++
		for name, body := range shapes(r.body) {
			t.Run(r.File+"/"+name, func(t *testing.T) { r.check(t, converse(t, r.driver(body), "asked")) })
		}
	}
	t.Logf("%d recordings in %d shapes", decoded, len(shapes(nil)))
}

func (r recording) check(t *testing.T, c conversation) {
	if c.err != nil {
		t.Fatal(c.err)
	}
	var got event.Parts
	if c.message != nil {
		got = c.message.Content
	}
	want := r.Expected
	if text := want.Text + want.Refusal; got.Text() != text && strings.TrimSpace(text) != strings.TrimSpace(got.Text()) {
		t.Errorf("text: %s", cmp.Diff(text, got.Text()))
	}
	if got.Thinking() != want.Thinking {
		t.Errorf("thinking: %s", cmp.Diff(want.Thinking, got.Thinking()))
	}
	calls := got.ToolCalls()
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d: %+v", len(calls), len(want.ToolCalls), calls)
	}
	for i, call := range calls {
		if w := want.ToolCalls[i]; call.Name != w.Name || !sameJSON(t, string(call.Input), w.Arguments) {
			t.Errorf("call %d: %s(%s), want %s(%s)", i, call.Name, call.Input, w.Name, w.Arguments)
		}
	}
	if stop := wantStop(r); c.stop != stop {
		t.Errorf("stop reason %q, want %q", c.stop, stop)
	}
	if usage := wantUsage(t, want.Usage); c.turn.Usage != usage {
		t.Errorf("usage: %s", cmp.Diff(usage, c.turn.Usage))
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	var x, y any
	if b == "" {
		b = "{}"
	}
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%q: %v", a, err)
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Errorf("%q: %v", b, err)
	}
	return cmp.Equal(x, y)
}

func wantStop(r recording) event.StopReason {
	switch {
	case len(r.Expected.ToolCalls) > 0:
		return event.ToolUse
	case r.Expected.Refusal != "":
		return event.Refusal
	case r.Expected.StopReason != nil && *r.Expected.StopReason == "length":
		return event.MaxTokens
	case r.Expected.StopReason != nil && *r.Expected.StopReason == "content_filter":
		return event.ContentFilter
	}
	return event.EndTurn
}

// wantUsage reads the provider's count as people would: what is cached is not
// fresh input, and thoughts are output, even where they were counted apart.
func wantUsage(t *testing.T, m map[string]json.RawMessage) event.Usage {
	number := func(path ...string) int64 {
		at := m
		for _, p := range path[:len(path)-1] {
			var inner map[string]json.RawMessage
			if json.Unmarshal(at[p], &inner) != nil {
				return 0
			}
			at = inner
		}
		var n int64
		if raw, ok := at[path[len(path)-1]]; ok {
			_ = json.Unmarshal(raw, &n)
		}
		return n
	}
	read := max(number("prompt_tokens_details", "cached_tokens"), number("cached_tokens"), number("prompt_cache_hit_tokens"))
	write := max(number("prompt_tokens_details", "cache_write_tokens"), number("cache_creation_input_tokens"))
	u := event.Usage{
		InputTokens: number("prompt_tokens") - read - write, OutputTokens: number("completion_tokens"),
		CacheReadTokens: read, CacheWriteTokens: write, ReasoningTokens: number("completion_tokens_details", "reasoning_tokens"),
	}
	u.InputTokens = max(0, u.InputTokens)
	if apart := number("total_tokens") - number("prompt_tokens") - number("completion_tokens"); apart == u.ReasoningTokens || u.ReasoningTokens > u.OutputTokens {
		u.OutputTokens += u.ReasoningTokens
	}
	return u
}

// TestRefusals checks that each recorded refusal says what the server said, and
// that none is mistaken for an answer.
func TestRefusals(t *testing.T) {
	for _, r := range recordings(t, "chat") {
		if r.Status == http.StatusOK && len(r.Expected.Errors) == 0 {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			c := converse(t, r.driver(shapes(r.body)["whole"]), "asked")
			if c.err == nil {
				t.Fatal("no error")
			}
			f := engine.FaultOf(c.err)
			t.Logf("%d → %s: %s", r.Status, f.Code, f.Message)
			if slices.Contains([]event.ErrorCode{"", event.CodeInternal, event.CodeProtocol}, f.Code) {
				t.Errorf("code %q", f.Code)
			}
		})
	}
}
