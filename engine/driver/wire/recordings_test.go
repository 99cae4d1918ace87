package wire_test

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

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// recording is an answer that a server once gave, and what an independent
// decoder made of it.
type recording struct {
	File     string
	API      string
	Status   int
	Headers  map[string]string
	Expected struct {
		Text, Thinking, Refusal string
		ToolCalls               []asked `json:"tool_calls"`
		StopReason              *string `json:"stop_reason"`
		Usage                   map[string]json.RawMessage
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
	"groq/tool-use-failed-error-streaming-with-text.sse":                         "ends with an error: see TestRecordedRefusals",
	"groq/tool-use-failed-error-streaming.sse":                                   "ends with an error: see TestRecordedRefusals",
	"anthropic-sdk-fixture/fixtures-incomplete-partial-json-response.sse":        "the input breaks off: see its fixture",
	"anthropic-sdk-fixture/fixtures-refusal-response.sse":                        "has no text; we show the provider's explanation",
	"vercel-anthropic/fixtures-anthropic-programmatic-tool-calling.1.chunks.sse": "several answers in one file",
	"vercel-anthropic/fixtures-anthropic-tool-search-bm25.1.chunks.sse":          "several answers in one file",
	"vercel-anthropic/fixtures-spliced-message-start.chunks.sse":                 "two messages, the first broken off: see its fixture",
}

func recordings(t *testing.T) []recording {
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
		if r.API != "chat" && r.API != "anthropic" {
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

// answered has the engine answer with the recording.
func (r recording) answered(body func() io.Reader) outcome {
	for _, d := range dialects {
		if d.name == r.API {
			c := &wire.Client{Transport: served{r.Status, r.Headers, body}, Attempts: 1}
			return ask(context.Background(), d.driver("http://localhost/v1", c), engine.Request{})
		}
	}
	panic("no dialect " + r.API)
}

func TestRecordings(t *testing.T) {
	decoded := 0
	for _, r := range recordings(t) {
		if r.Status != http.StatusOK {
			continue
		}
		if why, ok := exempt[r.File]; ok {
			t.Logf("exempt: %s: %s", r.File, why)
			continue
		}
		decoded++
		for name, body := range shapes(r.body) {
			t.Run(r.File+"/"+name, func(t *testing.T) { r.check(t, r.answered(body)) })
		}
	}
	t.Logf("%d recordings in %d shapes", decoded, len(shapes(nil)))
}

func (r recording) check(t *testing.T, c outcome) {
	if c.err != nil && c.stop != event.ToolUse { // nobody runs the tools: then the turn cannot go on
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
	wantStop, wantUsage := chatStop, chatUsage
	if r.API == "anthropic" {
		wantStop, wantUsage = messagesStop, messagesUsage
	}
	if stop := wantStop(r); c.stop != stop {
		t.Errorf("stop reason %q, want %q", c.stop, stop)
	}
	if usage := wantUsage(t, want.Usage); c.usage != usage {
		t.Errorf("usage: %s", cmp.Diff(usage, c.usage))
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

func chatStop(r recording) event.StopReason {
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

// chatUsage reads the provider's count as people would: what is cached is not
// fresh input, and thoughts are output, even where they were counted apart.
func chatUsage(t *testing.T, m map[string]json.RawMessage) event.Usage {
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

func messagesStop(r recording) event.StopReason {
	if r.Expected.StopReason == nil {
		return event.EndTurn
	}
	return event.StopReason(*r.Expected.StopReason)
}

func messagesUsage(t *testing.T, m map[string]json.RawMessage) event.Usage {
	number := func(raw json.RawMessage) (n int64) {
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &n); err != nil {
				t.Error(err)
			}
		}
		return n
	}
	var details map[string]json.RawMessage
	_ = json.Unmarshal(m["output_tokens_details"], &details)
	return event.Usage{
		InputTokens: number(m["input_tokens"]), OutputTokens: number(m["output_tokens"]),
		CacheReadTokens: number(m["cache_read_input_tokens"]), CacheWriteTokens: number(m["cache_creation_input_tokens"]),
		ReasoningTokens: number(details["thinking_tokens"]),
	}
}

// TestRecordedRefusals checks that each recorded refusal says what the server said, and
// that none is mistaken for an answer.
func TestRecordedRefusals(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Status == http.StatusOK && len(r.Expected.Errors) == 0 {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			c := r.answered(shapes(r.body)["whole"])
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
