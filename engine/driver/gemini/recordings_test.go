package gemini_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"agentx/engine"
	"agentx/engine/driver/gemini"
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
		Text, Thinking string
		ToolCalls      []struct {
			ID, Name  *string
			Arguments json.RawMessage
			Signed    bool `json:"thoughtSignature"`
		} `json:"tool_calls"`
		StopReason *string `json:"stop_reason"`
		Model, ID  string
		Usage      map[string]any
		Errors     []json.RawMessage
	}
	body []byte
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
	var manifest struct{ Entries []json.RawMessage }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	var all []recording
	for _, entry := range manifest.Entries {
		var of struct{ API string }
		if err := json.Unmarshal(entry, &of); err != nil || of.API != "gemini" {
			continue
		}
		var r recording
		if err := json.Unmarshal(entry, &r); err != nil {
			t.Fatal(err)
		}
		if r.body, err = os.ReadFile(filepath.Join(dir, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// stream is the body as server-sent events. Three were asked for without them,
// and came as a list of the same chunks.
func (r recording) stream(t *testing.T) []byte {
	if r.body[0] != '[' {
		return r.body
	}
	var chunks []json.RawMessage
	if err := json.Unmarshal(r.body, &chunks); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, c := range chunks {
		b.WriteString("data: ")
		if err := json.Compact(&b, c); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\r\n\r\n")
	}
	return b.Bytes()
}

// shapes are ways in which the same stream may arrive.
func shapes(body []byte) map[string]func() io.Reader {
	unix := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	crlf := bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))
	comments := bytes.ReplaceAll(crlf, []byte("\r\n\r\n"), []byte("\r\n\r\n: still here\r\n\r\n:\r\nretry: 1\r\nid: 7\r\n\r\n"))
	return map[string]func() io.Reader{
		"whole":     func() io.Reader { return bytes.NewReader(body) },
		"one byte":  func() io.Reader { return iotest.OneByteReader(bytes.NewReader(body)) },
		"unix":      func() io.Reader { return bytes.NewReader(unix) },
		"crlf":      func() io.Reader { return bytes.NewReader(crlf) },
		"crlf cut":  func() io.Reader { return iotest.OneByteReader(bytes.NewReader(crlf)) },
		"cr":        func() io.Reader { return bytes.NewReader(bytes.ReplaceAll(unix, []byte("\n"), []byte("\r"))) },
		"bom":       func() io.Reader { return bytes.NewReader(append([]byte("\xEF\xBB\xBF"), body...)) },
		"comments":  func() io.Reader { return bytes.NewReader(comments) },
		"data+EOF":  func() io.Reader { return iotest.DataErrReader(bytes.NewReader(body)) },
		"no spaces": func() io.Reader { return bytes.NewReader(bytes.ReplaceAll(unix, []byte("data: "), []byte("data:"))) },
	}
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

// said is what the engine makes of an answer.
type said struct {
	message event.AssistantMessage
	stop    event.StopReason
	usage   event.Usage
	err     error
}

func (r recording) answered(body func() io.Reader) said {
	var s said
	d := gemini.Driver{Key: wire.Secret("k"), Client: &wire.Client{Transport: served{r.Status, r.Headers, body}, Attempts: 1}}
	req := engine.Request{Model: "asked", Message: event.UserMessage{ID: "u1", Content: event.Say("go")}}
	for e, err := range (engine.Engine{Driver: d}).Events(context.Background(), req) {
		if err != nil {
			s.err = err
			break
		}
		switch data := e.Data.(type) {
		case event.AssistantMessage:
			s.message = data
		case event.MessageStop:
			s.stop = data.StopReason
		case event.MessageDelta:
			s.usage = s.usage.Add(data.Usage)
		}
	}
	return s
}

func TestRecordings(t *testing.T) {
	decoded := 0
	for _, r := range recordings(t) {
		if r.Status != http.StatusOK {
			continue
		}
		decoded++
		if r.body[0] == '[' {
			r.Headers["content-type"] = "text/event-stream"
		}
		for name, body := range shapes(r.stream(t)) {
			t.Run(r.File+"/"+name, func(t *testing.T) { r.check(t, r.answered(body)) })
		}
	}
	t.Logf("%d recordings in %d shapes", decoded, len(shapes(nil)))
}

func (r recording) check(t *testing.T, got said) {
	if got.err != nil && got.stop != event.ToolUse { // nobody runs the tools: then the turn cannot go on
		t.Fatal(got.err)
	}
	want := r.Expected
	if text := got.message.Content.Text(); text != want.Text {
		t.Errorf("text: %s", cmp.Diff(want.Text, text))
	}
	if thinking := got.message.Content.Thinking(); thinking != want.Thinking {
		t.Errorf("thinking: %s", cmp.Diff(want.Thinking, thinking))
	}
	if got.message.Model != want.Model {
		t.Errorf("model %q, want %q", got.message.Model, want.Model)
	}
	if !strings.HasPrefix(got.message.ID, want.ID) {
		t.Errorf("id %q, want %q", got.message.ID, want.ID)
	}
	r.checkCalls(t, got.message.Content)
	stop := event.EndTurn
	if len(want.ToolCalls) > 0 {
		stop = event.ToolUse
	}
	if want.StopReason == nil || *want.StopReason != "STOP" {
		t.Errorf("the recording stops for %v", want.StopReason)
	}
	if got.stop != stop {
		t.Errorf("stop reason %q, want %q", got.stop, stop)
	}
	if usage := r.usage(); got.usage != usage {
		t.Errorf("usage: %s", cmp.Diff(usage, got.usage))
	}
}

// checkCalls compares calls and their signatures. Where an input came in pieces
// the other decoder has taken each for a call without a name: then our input is
// taken apart again, and compared with what stands in the recording.
func (r recording) checkCalls(t *testing.T, got event.Parts) {
	calls := got.ToolCalls()
	n := 0
	for _, w := range r.Expected.ToolCalls {
		if w.Name == nil {
			continue
		}
		if n == len(calls) {
			t.Fatalf("%d calls, want more: %+v", n, calls)
		}
		c := calls[n]
		n++
		if c.Name != *w.Name || w.ID != nil && c.ID != *w.ID || c.InputError != "" {
			t.Errorf("call %d: %s (%s), want %s", n, c.Name, c.ID, *w.Name)
		}
		if !bytes.Contains(r.body, []byte(`"partialArgs"`)) && !sameJSON(t, c.Input, w.Arguments) {
			t.Errorf("call %d: %s, want %s", n, c.Input, w.Arguments)
		}
		if signed := signatureOf(got, c.ID) != ""; signed != w.Signed {
			t.Errorf("call %d: signed %v, want %v", n, signed, w.Signed)
		}
	}
	if n != len(calls) {
		t.Errorf("%d calls, want %d", len(calls), n)
	}
	if pieces := r.pieces(t); len(pieces) > 0 {
		var ours []map[string]string
		for _, c := range calls {
			leaves := map[string]string{}
			apart(t, leaves, "$", c.Input)
			ours = append(ours, leaves)
		}
		if diff := cmp.Diff(pieces, ours); diff != "" {
			t.Error(diff)
		}
	}
}

// signatureOf is the signature of a thought that stands before the call.
func signatureOf(parts event.Parts, id string) string {
	for i, p := range parts {
		if c, ok := p.(event.ToolCall); ok && c.ID == id && i > 0 {
			if thought, ok := parts[i-1].(event.Thinking); ok {
				return thought.Signature
			}
		}
	}
	return ""
}

// pieces are the scalars of each input that came in pieces, by their paths.
func (r recording) pieces(t *testing.T) []map[string]string {
	var all []map[string]string
	for line := range strings.Lines(string(r.body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || !strings.Contains(data, `"functionCall"`) {
			continue
		}
		var chunk struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Call struct {
							Name string
							Args []map[string]any `json:"partialArgs"`
							More bool             `json:"willContinue"`
						} `json:"functionCall"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatal(err)
		}
		call := chunk.Candidates[0].Content.Parts[0].Call
		if call.Name != "" && call.More {
			all = append(all, map[string]string{})
		}
		for _, a := range call.Args {
			path := a["jsonPath"].(string)
			for _, kind := range []string{"stringValue", "numberValue", "boolValue"} {
				if v, ok := a[kind]; ok {
					all[len(all)-1][path] += fmt.Sprint(v)
				}
			}
		}
	}
	return all
}

// apart takes a value apart into scalars by their paths.
func apart(t *testing.T, leaves map[string]string, path string, raw json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil {
		for name, v := range object {
			apart(t, leaves, path+"."+name, v)
		}
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for i, v := range list {
			apart(t, leaves, fmt.Sprintf("%s[%d]", path, i), v)
		}
		return
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	leaves[path] = fmt.Sprint(v)
}

func sameJSON(t *testing.T, a, b json.RawMessage) bool {
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Errorf("%q: %v", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Errorf("%q: %v", b, err)
	}
	return cmp.Equal(x, y)
}

// usage reads the provider's count as people would: what is cached is not fresh
// input, thoughts are output, and what tools of the server read was read too.
func (r recording) usage() event.Usage {
	number := func(name string) int64 {
		n, _ := r.Expected.Usage[name].(float64) // 0 where it is not told
		return int64(n)
	}
	cached, thoughts := number("cachedContentTokenCount"), number("thoughtsTokenCount")
	return event.Usage{
		InputTokens: number("promptTokenCount") - cached + number("toolUsePromptTokenCount"), OutputTokens: number("candidatesTokenCount") + thoughts,
		CacheReadTokens: cached, ReasoningTokens: thoughts,
		Tier: map[any]string{"ON_DEMAND_FLEX": "flex", "ON_DEMAND_PRIORITY": "priority", "PROVISIONED_THROUGHPUT": "provisioned_throughput"}[r.Expected.Usage["trafficType"]],
	}
}

// TestRecordedAsides reads beside the answers what Google did and refers to.
func TestRecordedAsides(t *testing.T) {
	want := map[string]event.Parts{
		"gemini/google-model-web-fetch-tool-stream.sse": {
			event.Aside{Kind: event.AsideRead, URL: "https://ai.pydantic.dev"},
			event.Aside{Kind: event.AsideSource, Text: "Pydantic AI", URL: "https://ai.pydantic.dev"},
		},
		"gemini/google-model-file-search-tool-stream-3.sse": {
			event.Aside{Kind: event.AsideCode, Text: `print(file_search.query(query="Capital of France"))`},
			event.Aside{Kind: event.AsideSource, Text: "Paris is the capital of France. The Eiffel Tower is a famous landmark in Paris."},
		},
	}
	for _, r := range recordings(t) {
		if want[r.File] == nil {
			continue
		}
		var got event.Parts
		for _, p := range r.answered(func() io.Reader { return bytes.NewReader(r.body) }).message.Content {
			if a, ok := p.(event.Aside); ok {
				got = append(got, a)
			}
		}
		if diff := cmp.Diff(want[r.File], got); diff != "" {
			t.Errorf("%s: %s", r.File, diff)
		}
		delete(want, r.File)
	}
	for file := range want {
		t.Errorf("no recording %s", file)
	}
}

// TestRecordedRefusals checks that no recorded refusal is mistaken for an answer,
// and that each says what the server said.
func TestRecordedRefusals(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Status == http.StatusOK && len(r.Expected.Errors) == 0 {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			got := r.answered(func() io.Reader { return bytes.NewReader(r.body) })
			if got.err == nil {
				t.Fatal("no error")
			}
			var told struct{ Error struct{ Message string } }
			if err := json.Unmarshal(r.body, &told); err != nil || told.Error.Message == "" {
				t.Fatalf("the recording tells %q, %v", told.Error.Message, err)
			}
			f := engine.FaultOf(got.err)
			t.Logf("%d → %s: %s", r.Status, f.Code, f.Message)
			if words := strings.Fields(told.Error.Message)[:4]; f.Code == event.CodeInternal || f.Code == event.CodeProtocol || !strings.Contains(f.Message, strings.Join(words, " ")) {
				t.Errorf("code %q: %s", f.Code, f.Message)
			}
		})
	}
}

// TestRecordingsBroken cuts every recording before its last event: none of what
// is left is a success.
func TestRecordingsBroken(t *testing.T) {
	for _, r := range recordings(t) {
		stream := bytes.TrimSpace(r.stream(t))
		at := bytes.LastIndex(stream, []byte("data: "))
		if r.Status != http.StatusOK || at <= 0 {
			continue
		}
		r.Headers["content-type"] = "text/event-stream"
		for _, end := range []int{at, len(stream) - 1} {
			got := r.answered(func() io.Reader { return bytes.NewReader(stream[:end]) })
			if got.err == nil || engine.FaultOf(got.err).Code != event.CodeIncomplete {
				t.Errorf("%s: cut at %d of %d: stop %q, error %v", r.File, end, len(stream), got.stop, got.err)
			}
		}
	}
}
