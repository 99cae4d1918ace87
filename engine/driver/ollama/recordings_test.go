package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
		Text, Thinking string
		ToolCalls      []struct {
			ID, Name  string
			Arguments any
		} `json:"tool_calls"`
		StopReason string `json:"stop_reason"`
		Usage      struct {
			Input  int64 `json:"prompt_eval_count"`
			Output int64 `json:"eval_count"`
		}
		Errors []any
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
		var kind struct{ API string }
		if json.Unmarshal(entry, &kind); kind.API != "ollama" {
			continue
		}
		var r recording
		if err := json.Unmarshal(entry, &r); err != nil {
			t.Fatalf("%v: %s", err, entry)
		}
		if r.body, err = os.ReadFile(filepath.Join(dir, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		t.Fatal("no recording is of this API")
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
		h.Set(k, v)
	}
	return &http.Response{StatusCode: s.status, Header: h, Body: io.NopCloser(s.body()), Request: req}, nil
}

// shapes are ways in which the same stream may arrive.
func shapes(body []byte) map[string]func() io.Reader {
	crlf := bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n"))
	return map[string]func() io.Reader{
		"whole":       func() io.Reader { return bytes.NewReader(body) },
		"one byte":    func() io.Reader { return iotest.OneByteReader(bytes.NewReader(body)) },
		"halves":      func() io.Reader { return iotest.HalfReader(bytes.NewReader(body)) },
		"data+EOF":    func() io.Reader { return iotest.DataErrReader(bytes.NewReader(body)) },
		"crlf":        func() io.Reader { return bytes.NewReader(crlf) },
		"crlf cut":    func() io.Reader { return iotest.OneByteReader(bytes.NewReader(crlf)) },
		"bom":         func() io.Reader { return bytes.NewReader(append([]byte("\xEF\xBB\xBF"), body...)) },
		"blank lines": func() io.Reader { return bytes.NewReader(bytes.ReplaceAll(body, []byte("\n"), []byte("\n\n \n"))) },
		"no last end": func() io.Reader { return bytes.NewReader(bytes.TrimSpace(body)) },
		"unknown fields": func() io.Reader {
			return bytes.NewReader(bytes.ReplaceAll(body, []byte(`"done":`), []byte(`"future":{"x":[1,"\n"]},"done":`)))
		},
	}
}

func (r recording) answered(body func() io.Reader) outcome {
	c := &wire.Client{Transport: served{r.Status, r.Headers, body}, Attempts: 1}
	return ask(context.Background(), Driver{Client: c}, engine.Request{})
}

func TestRecordings(t *testing.T) {
	decoded := 0
	for _, r := range recordings(t) {
		if r.Status != http.StatusOK {
			continue
		}
		decoded++
		for name, body := range shapes(r.body) {
			t.Run(r.File+"/"+name, func(t *testing.T) { r.check(t, r.answered(body)) })
		}
	}
	t.Logf("%d recordings in %d shapes", decoded, len(shapes(nil)))
}

func (r recording) check(t *testing.T, o outcome) {
	if o.err != nil && o.stop != event.ToolUse { // nobody runs the tools: then the turn cannot go on
		t.Fatal(o.err)
	}
	var got event.Parts
	if o.message != nil {
		got = o.message.Content
	}
	want := r.Expected
	if diff := cmp.Diff([2]string{want.Text, want.Thinking}, [2]string{got.Text(), got.Thinking()}); diff != "" {
		t.Error(diff)
	}
	calls := got.ToolCalls()
	if len(calls) != len(want.ToolCalls) {
		t.Fatalf("%d calls, want %d: %+v", len(calls), len(want.ToolCalls), calls)
	}
	for i, call := range calls {
		var input any
		if err := json.Unmarshal(call.Input, &input); err != nil {
			t.Errorf("call %d: %v", i, err)
		}
		if w := want.ToolCalls[i]; call.ID != w.ID || call.Name != w.Name || !cmp.Equal(input, w.Arguments) {
			t.Errorf("call %d: %+v, want %+v", i, call, w)
		}
	}
	stop := map[string]event.StopReason{"stop": event.EndTurn, "length": event.MaxTokens}[want.StopReason]
	if stop == event.EndTurn && len(want.ToolCalls) > 0 {
		stop = event.ToolUse
	}
	if o.stop != stop {
		t.Errorf("stop reason %q, want %q", o.stop, stop)
	}
	if usage := (event.Usage{InputTokens: want.Usage.Input, OutputTokens: want.Usage.Output}); o.usage != usage {
		t.Errorf("usage: %s", cmp.Diff(usage, o.usage))
	}
}

// TestRecordedRefusals checks that none is mistaken for an answer or for a fault of ours.
func TestRecordedRefusals(t *testing.T) {
	for _, r := range recordings(t) {
		if r.Status == http.StatusOK && len(r.Expected.Errors) == 0 {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			o := r.answered(shapes(r.body)["whole"])
			if o.err == nil {
				t.Fatal("no error")
			}
			t.Logf("%d → %s: %s", r.Status, o.fault.Code, o.fault.Message)
			if want := map[int]event.ErrorCode{400: event.CodeInvalidRequest, 404: event.CodeNotFound}[r.Status]; o.fault.Code != want {
				t.Errorf("code %q, want %q", o.fault.Code, want)
			}
		})
	}
}
