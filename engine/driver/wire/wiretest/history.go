package wiretest

import (
	"encoding/json"
	"strings"

	"agentx/engine/event"

	"pgregory.net/rapid"
)

// History makes pasts that a conversation may have had with any providers, one
// after the other, as they may lie in a database: thoughts with the proofs of
// all of them and with those given, calls without results and results without
// calls, ids that repeat, answers that broke off, failures, several questions in
// a row, and nothing where something should be.
func History(signatures ...string) *rapid.Generator[[]event.Message] {
	p := past{proofs: rapid.SampledFrom(append([]string{
		"", "c2ln", "redacted_thinking:cmVk", "function_call:Y2FsbA==", "text:dGV4dA==", "function_call:", "text:",
		"encrypted_content@resells.example:ZW5j", `reasoning_details@resells.example:[{"type":"reasoning.encrypted","data":"b3I="}]`,
	}, signatures...))}
	return rapid.SliceOfN(rapid.Custom(p.message), 0, 10)
}

// A past draws the pieces of a history.
type past struct{ proofs *rapid.Generator[string] }

var (
	words  = rapid.SampledFrom([]string{"", " ", "a", "b\n", "\xff", "\x00", "\u2028 <é>"})
	ids    = rapid.SampledFrom([]string{"", "a", "b", "ü/1", "a_2", "toolu_01A", strings.Repeat("long", 30)})
	parent = rapid.SampledFrom([]string{"m", "n", ""})
	models = rapid.SampledFrom([]string{
		"", "m", "claude-sonnet-4-5", "anthropic/claude-opus-4-6", "gpt-5", "gpt-4o", "openai/gpt-5",
		"gemini-3.5-flash", "gemini-2.5-pro", "google/gemini-3.1-pro-preview", "qwen3:8b", "mistral-large-latest",
	})
	inputs = rapid.SampledFrom([]string{"", "{}", " {\"a\":1}\n", "[1]", `{"a"`, "null", `"\ud800"`})
	codes  = rapid.SampledFrom([]event.ErrorCode{event.CodeNetwork, event.CodeInvalidRequest, event.CodeIncomplete, ""})
	stops  = rapid.SampledFrom([]event.StopReason{event.ToolUse, event.EndTurn, event.StopError, event.StopInterrupted, ""})
)

func (p past) message(t *rapid.T) event.Message {
	switch rapid.IntRange(0, 8).Draw(t, "message") {
	case 0, 1, 2:
		return event.UserMessage{ID: "u", Content: rapid.SliceOfN(rapid.Custom(shown), 0, 3).Draw(t, "said")}
	case 3, 4:
		id := ids.Draw(t, "result")
		return event.ToolResultMessage{ParentID: parent.Draw(t, "parent"), ToolCallID: id, ToolResult: event.ToolReturn{ID: id, Name: "t", Output: output(t)}}
	case 5:
		return event.ErrorMessage{Content: "it failed", ErrorCode: codes.Draw(t, "code")}
	}
	stop := stops.Draw(t, "stop")
	return event.AssistantMessage{
		ID: parent.Draw(t, "id"), Model: models.Draw(t, "model"), StopReason: stop, Incomplete: stop == event.StopError,
		Content: rapid.SliceOfN(rapid.Custom(p.part), 0, 5).Draw(t, "parts"),
	}
}

// part is one of an assistant's message.
func (p past) part(t *rapid.T) event.Part {
	switch rapid.IntRange(0, 3).Draw(t, "part") {
	case 0:
		return event.Text{Text: words.Draw(t, "text")}
	case 1:
		return event.Thinking{Text: words.Draw(t, "thought"), Signature: p.proofs.Draw(t, "signature")}
	}
	return event.ToolCall{ID: ids.Draw(t, "id"), Name: ids.Draw(t, "name"), Input: json.RawMessage(inputs.Draw(t, "input"))}
}

// shown is a part of what the user says.
func shown(t *rapid.T) event.Part {
	switch rapid.IntRange(0, 5).Draw(t, "shown") {
	case 0:
		return event.Image{MediaType: "image/png", Data: []byte{1, 2}}
	case 1:
		return event.Image{URL: "https://x.example/y.png"}
	case 2:
		return event.File{
			MediaType: rapid.SampledFrom([]string{"application/pdf", "text/csv", "application/zip"}).Draw(t, "type"),
			Data:      []byte(words.Draw(t, "bytes")), Filename: words.Draw(t, "filename"),
		}
	}
	return event.Text{Text: words.Draw(t, "text")}
}

func output(t *rapid.T) event.Output {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return event.Output{Kind: event.OutputError, Text: words.Draw(t, "error")}
	case 1:
		return event.Output{Kind: event.OutputDenied}
	case 2:
		return event.Output{Kind: event.OutputJSON, JSON: json.RawMessage(rapid.SampledFrom([]string{`{"k":[1]}`, "", `{"cut`, "7"}).Draw(t, "json"))}
	case 3:
		return event.Output{Kind: event.OutputContent, Parts: rapid.SliceOfN(rapid.Custom(shown), 0, 3).Draw(t, "output")}
	}
	return event.Output{Text: words.Draw(t, "output")}
}
