package gemini_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/gemini"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

var reading = wiretest.Reading{
	Driver: func(_ string, c *wire.Client) engine.Driver { return gemini.Driver{Key: wire.Secret("k"), Client: c} },
	Shapes: shapes,
	Stop:   stopOf,
	Usage:  usageOf,
	Rest: func(t *testing.T, r wiretest.Recording, o wiretest.Outcome) {
		checkNames(t, r, o.Message)
		checkCalls(t, r, o.Content())
	},
}

// recordings are streams of events. Three were asked for without them, and came
// as a list of the same chunks.
func recordings(t *testing.T) []wiretest.Recording {
	all := wiretest.Recordings(t, "gemini")
	for i, r := range all {
		if r.Body[0] == '[' {
			all[i].Body, r.Headers["content-type"] = stream(t, r.Body), "text/event-stream"
		}
	}
	return all
}

// stream is a list of chunks as server-sent events.
func stream(t *testing.T, body []byte) []byte {
	var chunks []json.RawMessage
	if err := json.Unmarshal(body, &chunks); err != nil {
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

// shapes are ways in which the same stream, whose lines end as on Windows, may
// arrive.
func shapes(body []byte) wiretest.Shapes {
	all := wiretest.Events(body)
	all["unix"] = wiretest.Whole(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	return all
}

func TestRecordings(t *testing.T) { reading.Test(t, recordings(t)) }

func stopOf(r wiretest.Recording) event.StopReason {
	switch {
	case r.Expected.StopReason != "STOP":
		return "STOP" // nothing of ours is called so
	case len(r.ToolCalls()) > 0:
		return event.ToolUse
	}
	return event.EndTurn
}

func checkNames(t *testing.T, r wiretest.Recording, got *event.AssistantMessage) {
	if want := r.Expected; got.Model != want.Model || !strings.HasPrefix(got.ID, want.ID) {
		t.Errorf("model %q, id %q, want %q, %q", got.Model, got.ID, want.Model, want.ID)
	}
}

// checkCalls compares calls and their signatures. Where an input came in pieces
// the other decoder has taken each for a call without a name: then our input is
// taken apart again, and compared with what stands in the recording.
func checkCalls(t *testing.T, r wiretest.Recording, got event.Parts) {
	calls, want := got.ToolCalls(), r.ToolCalls()
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d: %+v", len(calls), len(want), calls)
	}
	cut := bytes.Contains(r.Body, []byte(`"partialArgs"`))
	for i, c := range calls {
		w := want[i]
		if c.Name != w.Name || w.ID != "" && c.ID != w.ID || c.InputError != "" {
			t.Errorf("call %d: %s (%s), want %s", i, c.Name, c.ID, w.Name)
		}
		if !cut && !wiretest.SameJSON(t, string(c.Input), w.Input()) {
			t.Errorf("call %d: %s, want %s", i, c.Input, w.Input())
		}
		if signed := signatureOf(got, c.ID) != ""; signed != w.Signed {
			t.Errorf("call %d: signed %v, want %v", i, signed, w.Signed)
		}
	}
	if leaves := pieces(t, r.Body); len(leaves) > 0 {
		var ours []map[string]string
		for _, c := range calls {
			input := map[string]string{}
			apart(t, input, "$", c.Input)
			ours = append(ours, input)
		}
		if diff := cmp.Diff(leaves, ours); diff != "" {
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
func pieces(t *testing.T, body []byte) []map[string]string {
	var all []map[string]string
	for line := range strings.Lines(string(body)) {
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

// usageOf reads the provider's count as people would: what is cached is not fresh
// input, thoughts are output, and what tools of the server read was read too.
func usageOf(t *testing.T, r wiretest.Recording) event.Usage {
	var told map[string]any
	if err := json.Unmarshal(r.Expected.Usage, &told); err != nil {
		t.Fatal(err)
	}
	number := func(name string) int64 {
		n, _ := told[name].(float64) // 0 where it is not told
		return int64(n)
	}
	cached, thoughts := number("cachedContentTokenCount"), number("thoughtsTokenCount")
	return event.Usage{
		InputTokens: number("promptTokenCount") - cached + number("toolUsePromptTokenCount"), OutputTokens: number("candidatesTokenCount") + thoughts,
		CacheReadTokens: cached, ReasoningTokens: thoughts,
		Tier: map[any]string{"ON_DEMAND_FLEX": "flex", "ON_DEMAND_PRIORITY": "priority", "PROVISIONED_THROUGHPUT": "provisioned_throughput"}[told["trafficType"]],
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
		for _, p := range reading.Answered(r, wiretest.Whole(r.Body)).Content() {
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
	reading.TestRefusals(t, recordings(t), func(t *testing.T, r wiretest.Recording, f *engine.Fault) {
		var told struct{ Error struct{ Message string } }
		if err := json.Unmarshal(r.Body, &told); err != nil || told.Error.Message == "" {
			t.Fatalf("the recording tells %q, %v", told.Error.Message, err)
		}
		if words := strings.Fields(told.Error.Message)[:4]; f.Code == event.CodeInternal || f.Code == event.CodeProtocol || !strings.Contains(f.Message, strings.Join(words, " ")) {
			t.Errorf("code %q: %s", f.Code, f.Message)
		}
	})
}

// TestRecordingsBroken cuts every recording before its last event: none of what
// is left is a success.
func TestRecordingsBroken(t *testing.T) {
	for _, r := range recordings(t) {
		stream := bytes.TrimSpace(r.Body)
		at := bytes.LastIndex(stream, []byte("data: "))
		if r.Status != http.StatusOK || at <= 0 {
			continue
		}
		for _, end := range []int{at, len(stream) - 1} {
			got := reading.Answered(r, wiretest.Whole(stream[:end]))
			if got.Err == nil || got.Fault.Code != event.CodeIncomplete {
				t.Errorf("%s: cut at %d of %d: stop %q, error %v", r.File, end, len(stream), got.Stop, got.Err)
			}
		}
	}
}
