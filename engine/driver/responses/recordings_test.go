package responses_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

var reading = wiretest.Reading{
	Driver: func(_ string, c *wire.Client) engine.Driver { return driver(c.Transport) },
	Shapes: wiretest.Events,
	Exempt: exempt,
	Stop:   stopOf,
	Usage:  usageOf,
}

// exempt are recordings that cannot be compared with what is expected, and why.
var exempt = map[string]string{
	"vercel-openai/fixtures-parallel-tool-call-wrapper.1.chunks.sse":         "its first and last event are not JSON: see TestRecordedRefusals",
	"vercel-openai/fixtures-openai-error.1.chunks.sse":                       "ends with an error: see TestRecordedRefusals",
	"vercel-openai/fixtures-openai-reasoning-encrypted-content.1.chunks.sse": conversation,
	"vercel-azure/fixtures-azure-reasoning-encrypted-content.1.chunks.sse":   conversation,
	"vercel-openai/fixtures-openai-shell-tool.1.chunks.sse":                  conversation,
}

const conversation = "several answers in one file: see TestRecordedConversations"

func recordings(t *testing.T) []wiretest.Recording { return wiretest.Recordings(t, "responses") }

func driver(transport http.RoundTripper) engine.Driver {
	return responses.Driver{Provider: "P", BaseURL: "http://localhost/v1", Client: &wire.Client{Transport: transport, Attempts: 1}}
}

func TestRecordings(t *testing.T) { reading.Test(t, recordings(t)) }

func stopOf(r wiretest.Recording) event.StopReason {
	switch {
	case r.Expected.StopReason != "completed":
		return "completed" // nothing of ours is called so
	case len(r.ToolCalls()) > 0:
		return event.ToolUse
	}
	return event.EndTurn
}

func usageOf(t *testing.T, r wiretest.Recording) event.Usage {
	var u struct {
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
	if err := json.Unmarshal(r.Expected.Usage, &u); err != nil {
		t.Fatal(err)
	}
	return event.Usage{
		InputTokens: u.Input - u.In.Cached - u.In.Write, OutputTokens: u.Output,
		CacheReadTokens: u.In.Cached, CacheWriteTokens: u.In.Write, ReasoningTokens: u.Out.Reasoning,
	}
}

// TestRecordedRefusals checks that each recorded refusal says what the server
// said, that none is mistaken for an answer, and nothing that is not JSON either.
func TestRecordedRefusals(t *testing.T) {
	nonsense := 0
	reading.TestRefusals(t, recordings(t), func(t *testing.T, r wiretest.Recording, f *engine.Fault) {
		if len(r.Expected.Errors) > 0 && bytes.Contains(r.Expected.Errors[0], []byte("bad_json")) {
			nonsense++
			if f.Code != event.CodeProtocol {
				t.Errorf("code %q, want %q", f.Code, event.CodeProtocol)
			}
			return
		}
		if slices.Contains([]event.ErrorCode{"", event.CodeInternal, event.CodeProtocol, event.CodeServer}, f.Code) {
			t.Errorf("code %q", f.Code)
		}
	})
	if nonsense == 0 {
		t.Error("no recording is nonsense")
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
			answers := bytes.Split(r.Body, begin)[1:]
			var said event.Parts
			for i, body := range answers {
				body = append(slices.Clone(begin), body...)
				c := reading.Answered(r, wiretest.Whole(body))
				if calls := len(c.Content().ToolCalls()) > 0; c.Stop == "" || (c.Stop == event.ToolUse) != calls || c.Err != nil && !calls {
					t.Errorf("answer %d stops with %q, error %v", i, c.Stop, c.Err)
				}
				said = append(said, c.Content()...)
			}
			if want := r.Expected; said.Text() != want.Text || said.Thinking() != want.Thinking || len(said.ToolCalls()) != len(r.ToolCalls()) {
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
			d := driver(wiretest.Served{Status: r.Status, Header: r.Headers, Body: wiretest.Whole(r.Body)})
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
