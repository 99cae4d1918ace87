package wire_test

import (
	"encoding/json"
	"slices"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

var reading = wiretest.Reading{
	Driver: driverOf,
	Shapes: wiretest.Events,
	Stop: func(r wiretest.Recording) event.StopReason {
		if r.API == "anthropic" {
			return messagesStop(r)
		}
		return chatStop(r)
	},
	Usage: func(t *testing.T, r wiretest.Recording) event.Usage {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(r.Expected.Usage, &m); err != nil {
			t.Fatal(err)
		}
		if r.API == "anthropic" {
			return messagesUsage(t, m)
		}
		return chatUsage(m)
	},
	Exempt: map[string]string{
		"groq/tool-use-failed-error-streaming-with-text.sse":                         "ends with an error: see TestRecordedRefusals",
		"groq/tool-use-failed-error-streaming.sse":                                   "ends with an error: see TestRecordedRefusals",
		"anthropic-sdk-fixture/fixtures-incomplete-partial-json-response.sse":        "the input breaks off: see its fixture",
		"anthropic-sdk-fixture/fixtures-refusal-response.sse":                        "has no text; we show the provider's explanation",
		"vercel-anthropic/fixtures-anthropic-programmatic-tool-calling.1.chunks.sse": "several answers in one file",
		"vercel-anthropic/fixtures-anthropic-tool-search-bm25.1.chunks.sse":          "several answers in one file",
		"vercel-anthropic/fixtures-spliced-message-start.chunks.sse":                 "two messages, the first broken off: see its fixture",
	},
}

func driverOf(api string, c *wire.Client) engine.Driver {
	for _, d := range dialects {
		if d.name == api {
			return d.driver("http://localhost/v1", c)
		}
	}
	panic("no dialect " + api)
}

func TestRecordings(t *testing.T) { reading.Test(t, wiretest.Recordings(t, "chat", "anthropic")) }

func chatStop(r wiretest.Recording) event.StopReason {
	switch {
	case len(r.ToolCalls()) > 0:
		return event.ToolUse
	case r.Expected.Refusal != "":
		return event.Refusal
	case r.Expected.StopReason == "length":
		return event.MaxTokens
	case r.Expected.StopReason == "content_filter":
		return event.ContentFilter
	}
	return event.EndTurn
}

// chatUsage reads the provider's count as people would: what is cached is not
// fresh input, and thoughts are output, even where they were counted apart.
func chatUsage(m map[string]json.RawMessage) event.Usage {
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

func messagesStop(r wiretest.Recording) event.StopReason {
	if r.Expected.StopReason == "" {
		return event.EndTurn
	}
	return event.StopReason(r.Expected.StopReason)
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
	reading.TestRefusals(t, wiretest.Recordings(t, "chat", "anthropic"), func(t *testing.T, _ wiretest.Recording, f *engine.Fault) {
		if slices.Contains([]event.ErrorCode{"", event.CodeInternal, event.CodeProtocol}, f.Code) {
			t.Errorf("code %q", f.Code)
		}
	})
}
