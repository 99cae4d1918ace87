package responses_test

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
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// recording is an answer that a server once gave, and what an independent
// decoder made of it.
type recording struct {
	File     string
	API      string
	Provider string
	Status   int
	Headers  map[string]string
	Expected struct {
		Text, Thinking, Refusal string
		ToolCalls               []asked                 `json:"tool_calls"`
		ServerTools             []struct{ Type string } `json:"server_tools"`
		Citations               int
		StopReason              *string `json:"stop_reason"`
		Usage                   count
		Errors                  []json.RawMessage
	}
	body []byte
}

// asked is a call. A custom one is of a tool of the server's: we offer none.
type asked struct {
	ID, Name  string
	Arguments string `json:"arguments_raw"`
	Custom    bool
}

type count struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	In     struct {
		Cached int64 `json:"cached_tokens"`
		Write  int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// exempt are recordings that cannot be compared with what is expected, and why.
var exempt = map[string]string{
	"vercel-openai/fixtures-parallel-tool-call-wrapper.1.chunks.sse":         "its first and last event are not JSON: see TestRecordedNonsense",
	"vercel-openai/fixtures-openai-error.1.chunks.sse":                       "ends with an error: see TestRecordedRefusals",
	"vercel-openai/fixtures-openai-reasoning-encrypted-content.1.chunks.sse": conversation,
	"vercel-azure/fixtures-azure-reasoning-encrypted-content.1.chunks.sse":   conversation,
	"vercel-openai/fixtures-openai-shell-tool.1.chunks.sse":                  conversation,
}

const conversation = "several answers in one file: see TestRecordedConversations"

func recordings(t *testing.T) []recording {
	dir := os.Getenv("AGENTX_RECORDINGS")
	if dir == "" {
		t.Skip("AGENTX_RECORDINGS names no directory of recordings")
	}
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ Entries []json.RawMessage }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	var all []recording
	for _, raw := range manifest.Entries {
		var r recording
		if err := json.Unmarshal(raw, &struct{ API *string }{&r.API}); err != nil || r.API != "responses" {
			continue
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
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

// An outcome is what the engine made of an answer.
type outcome struct {
	message event.AssistantMessage
	stop    event.StopReason
	usage   event.Usage
	err     error
}

// ask has the engine answer one message with d.
func ask(d engine.Driver) outcome {
	var o outcome
	req := engine.Request{Model: "m", Message: event.UserMessage{ID: "u1", Content: event.Say("go")}}
	for ev, err := range (engine.Engine{Driver: d}).Events(context.Background(), req) {
		if err != nil {
			o.err = err
			break
		}
		switch data := ev.Data.(type) {
		case event.AssistantMessage:
			o.message = data
		case event.MessageStop:
			o.stop = data.StopReason
		case event.TurnResponse:
			o.usage = data.Usage
		}
	}
	return o
}

func driver(transport http.RoundTripper) engine.Driver {
	return responses.Driver{Provider: "P", BaseURL: "http://localhost/v1", Client: &wire.Client{Transport: transport, Attempts: 1}}
}

// answered has the engine answer with the recording.
func (r recording) answered(body func() io.Reader) outcome {
	return ask(driver(served{r.Status, r.Headers, body}))
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
	got, want := c.message.Content, r.Expected
	if text := want.Text + want.Refusal; got.Text() != text && strings.TrimSpace(text) != strings.TrimSpace(got.Text()) {
		t.Errorf("text: %s", cmp.Diff(text, got.Text()))
	}
	if got.Thinking() != want.Thinking {
		t.Errorf("thinking: %s", cmp.Diff(want.Thinking, got.Thinking()))
	}
	wantCalls := slices.DeleteFunc(slices.Clone(want.ToolCalls), func(a asked) bool { return a.Custom })
	calls := got.ToolCalls()
	if len(calls) != len(wantCalls) {
		t.Fatalf("%d calls, want %d: %+v", len(calls), len(wantCalls), calls)
	}
	for i, call := range calls {
		if w := wantCalls[i]; call.Name != w.Name || call.ID != w.ID || !sameJSON(t, string(call.Input), w.Arguments) {
			t.Errorf("call %d: %s %s(%s), want %s %s(%s)", i, call.ID, call.Name, call.Input, w.ID, w.Name, w.Arguments)
		}
	}
	stop := event.EndTurn
	if len(wantCalls) > 0 {
		stop = event.ToolUse
	}
	if c.stop != stop || want.StopReason == nil || *want.StopReason != "completed" {
		t.Errorf("stop reason %q, want %q", c.stop, stop)
	}
	u := want.Usage
	usage := event.Usage{
		InputTokens: u.Input - u.In.Cached - u.In.Write, OutputTokens: u.Output,
		CacheReadTokens: u.In.Cached, CacheWriteTokens: u.In.Write, ReasoningTokens: u.Out.Reasoning,
	}
	if c.usage != usage {
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

// TestRecordedRefusals checks that each recorded refusal says what the server
// said, and that none is mistaken for an answer.
func TestRecordedRefusals(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Status == http.StatusOK && (len(r.Expected.Errors) == 0 || bytes.Contains(r.Expected.Errors[0], []byte("bad_json"))) {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			c := r.answered(shapes(r.body)["whole"])
			if c.err == nil {
				t.Fatal("no error")
			}
			f := engine.FaultOf(c.err)
			t.Logf("%d → %s: %s", r.Status, f.Code, f.Message)
			if slices.Contains([]event.ErrorCode{"", event.CodeInternal, event.CodeProtocol, event.CodeServer}, f.Code) {
				t.Errorf("code %q", f.Code)
			}
		})
	}
}

// TestRecordedConversations reads the answers of a conversation one by one, and
// together they are what is expected.
func TestRecordedConversations(t *testing.T) {
	for _, r := range recordings(t) {
		if exempt[r.File] != conversation {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			begin := []byte("event: response.created\n")
			answers := bytes.Split(r.body, begin)[1:]
			var said event.Parts
			for i, body := range answers {
				body = append(slices.Clone(begin), body...)
				c := r.answered(func() io.Reader { return bytes.NewReader(body) })
				if calls := len(c.message.Content.ToolCalls()) > 0; c.stop == "" || (c.stop == event.ToolUse) != calls || c.err != nil && !calls {
					t.Errorf("answer %d stops with %q, error %v", i, c.stop, c.err)
				}
				said = append(said, c.message.Content...)
			}
			if want := r.Expected; said.Text() != want.Text || said.Thinking() != want.Thinking || len(said.ToolCalls()) != len(want.ToolCalls) {
				t.Errorf("%+v, want %+v", said, want)
			}
		})
	}
}

// TestRecordedAsides finds in each recording what the server did by itself, and
// what the answer refers to.
func TestRecordedAsides(t *testing.T) {
	kinds := map[string]string{
		"web_search_call": event.AsideSearch, "file_search_call": event.AsideSearch, "code_interpreter_call": event.AsideCode,
		"shell_call": event.AsideCode, "local_shell_call": event.AsideCode, "program": event.AsideCode, "mcp_call": event.AsideTool,
		"image_generation_call": event.AsideTool, "apply_patch_call": event.AsideTool, "tool_search_call": event.AsideTool,
	}
	seen := map[string]int{}
	for _, r := range recordings(t) {
		if r.Status != http.StatusOK || exempt[r.File] != "" {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			told := map[string]int{}
			d := driver(served{r.Status, r.Headers, shapes(r.body)["whole"]})
			for e, err := range d.Receive(context.Background(), engine.Request{Model: "m", Message: event.UserMessage{Content: event.Say("go")}}) {
				if err != nil {
					t.Fatal(err)
				}
				if a, ok := e.(event.Aside); ok {
					told[a.Kind]++
					seen[a.Kind]++
				}
			}
			want := map[string]bool{event.AsideSource: r.Expected.Citations > 0}
			for _, tool := range r.Expected.ServerTools {
				if tool.Type == "web_search_call" && r.Provider == "vercel-xai" {
					tool.Type = "mcp_call" // it does not say for what it searched
				}
				want[kinds[tool.Type]] = true
			}
			for kind, wanted := range want {
				if wanted && kind != "" && told[kind] == 0 {
					t.Errorf("no aside of the kind %q: %v", kind, told)
				}
			}
		})
	}
	if len(seen) < 4 {
		t.Errorf("recordings with %v", seen)
	}
	t.Log(seen)
}

// TestRecordedNonsense takes no event that is not JSON for an answer.
func TestRecordedNonsense(t *testing.T) {
	seen := 0
	for _, r := range recordings(t) {
		if len(r.Expected.Errors) > 0 && bytes.Contains(r.Expected.Errors[0], []byte("bad_json")) {
			seen++
			if f := engine.FaultOf(r.answered(shapes(r.body)["whole"]).err); f.Code != event.CodeProtocol {
				t.Errorf("%s: %+v", r.File, f)
			}
		}
	}
	if seen == 0 {
		t.Error("no recording is nonsense")
	}
}
