package engine_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// part is one of the engine's processors, by its name.
func part(t *testing.T, name string, price engine.Pricer) engine.Definition {
	t.Helper()
	for _, d := range engine.Processors(price) {
		if d.Name == name {
			if d.Description == "" {
				t.Errorf("%s has no description", name)
			}
			return d
		}
	}
	t.Fatalf("there is no processor %q", name)
	return engine.Definition{}
}

// alone steps a processor as the function it is, nothing fed back, ten
// milliseconds an input, and tells what each input led to.
func alone(t *testing.T, d engine.Definition, brief func(event.Data) string, ins ...event.Data) string {
	t.Helper()
	var lines []string
	s := d.Initial
	for i, in := range ins {
		at := time.UnixMilli(int64(1000 + 10*i)).UTC()
		before := s
		next, outs := d.Process(s, event.Event{At: at, Data: in})
		if _, again := d.Process(before, event.Event{At: at, Data: in}); !bytes.Equal(enginetest.Lines(t, outs), enginetest.Lines(t, again)) {
			t.Errorf("%s led to %v, and the second time to %v", in.Type(), outs, again)
		}
		words := []string{in.Type()}
		for _, out := range outs {
			if !out.At.Equal(at) {
				t.Errorf("%s happened at %v, and its cause at %v", out.Data.Type(), out.At, at)
			}
			words = append(words, brief(out.Data))
		}
		lines = append(lines, strings.Join(words, " → "))
		s = next
	}
	return strings.Join(lines, "\n")
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The assembler alone: pieces gather and lead to nothing, until what they are
// pieces of is whole (F48, F54, F124, F125).
func TestTheAssembler(t *testing.T) {
	got := alone(t, part(t, "assembler", nil), func(d event.Data) string {
		switch d := d.(type) {
		case event.AssistantMessage:
			return fmt.Sprintf("%s %s %q in %d parts, began at %d", d.ID, d.StopReason, d.Content.Text(), len(d.Content), d.Timestamp)
		case event.ToolCallMessage:
			return fmt.Sprintf("%s %s%s", d.ID, d.ToolCall.Name, d.ToolCall.Input)
		case event.ToolResultMessage:
			return fmt.Sprintf("%s %s: %s", d.ID, d.ToolResult.Name, d.ToolResult.Output)
		case event.ErrorMessage:
			return fmt.Sprintf("%s %s", d.ID, d.Content)
		}
		return d.Type()
	},
		event.UserMessage{ID: "u", Content: event.Say("2+2?")},
		event.MessageStart{MessageID: "m"},
		event.TextDelta{Text: "Let me "},
		event.TextDelta{Text: "see."},
		event.ToolUseStart{ToolCallID: "c", ToolName: "sum"},
		event.InputJSONDelta{PartialJSON: `{"of":`},
		event.InputJSONDelta{PartialJSON: `[2,2]}`},
		event.ToolUseStop{},
		event.ToolResult{ToolCallID: "c", Result: event.Output{Text: "4"}},
		event.TextDelta{Text: "It is 4."},
		event.MessageStop{StopReason: event.EndTurn},
		event.TextDelta{Text: "of no message"},
		event.MessageStop{StopReason: event.EndTurn},
		event.ErrorReceived{Message: "gone"},
	)
	want(t, got, `
user_message
message_start
text_delta
text_delta
tool_use_start
input_json_delta
input_json_delta
tool_use_stop → m/c sum{"of":[2,2]}
tool_result → m/c/result sum: 4
text_delta
message_stop → m end_turn "Let me see.It is 4." in 3 parts, began at 1010
text_delta
message_stop
error_received → error_u gone`)
}

// The processor of states alone tells beginnings and ends, and nothing of what
// goes on in between (F51, F124, F125).
func TestTheActivity(t *testing.T) {
	got := alone(t, part(t, "activity", nil), func(d event.Data) string {
		switch d := d.(type) {
		case event.ToolExecuting:
			return fmt.Sprintf("tool_executing %s%s", d.ToolName, d.Input)
		case event.ToolFailed:
			return "tool_failed " + d.Error
		case event.ConversationEnd:
			return "conversation_end " + string(d.Reason)
		}
		return d.Type()
	},
		event.UserMessage{ID: "u", Content: event.Say("2+2?")},
		event.MessageStart{MessageID: "m"},
		event.ThinkingDelta{Text: "h"},
		event.ThinkingDelta{Text: "m"},
		event.TextDelta{Text: "Let me "},
		event.TextDelta{Text: "see."},
		event.ToolUseStart{ToolCallID: "c", ToolName: "sum"},
		event.InputJSONDelta{PartialJSON: `[2,2]`},
		event.ToolUseStop{},
		event.MessageStop{StopReason: event.ToolUse},
		event.ToolResult{ToolCallID: "c", Result: event.Output{Text: "too many"}, IsError: true},
		event.MessageStart{MessageID: "n"},
		event.Interrupted{Reason: event.ByUser},
		event.ErrorReceived{Message: "late"},
	)
	want(t, got, `
user_message
message_start → conversation_start
thinking_delta → conversation_thinking
thinking_delta
text_delta → conversation_responding
text_delta
tool_use_start → tool_planned
input_json_delta
tool_use_stop → tool_executing sum[2,2]
message_stop
tool_result → tool_failed too many
message_start → conversation_start
interrupted → conversation_interrupted → conversation_end interrupted
error_received → error_occurred`)
}

// The tracker alone: it counts messages and calls when it is told of them, not
// by guessing from the stream. Without what is fed back a turn has none, and no
// end (F28, F44, F52, F124, F125).
func TestTheTracker(t *testing.T) {
	brief := func(d event.Data) string {
		if r, ok := d.(event.TurnResponse); ok {
			cost := "?"
			if r.CostUSD != nil {
				cost = r.CostUSD.String()
			}
			return fmt.Sprintf("%s %s after %d ms, first token after %d; %d+%d tokens for %s; %d calls, %d messages",
				r.TurnID, r.StopReason, r.DurationMs, *r.TimeToFirstTokenMs, r.Usage.InputTokens, r.Usage.OutputTokens, cost, r.ToolCalls, r.Messages)
		}
		return d.Type()
	}
	price := engine.Price{Input: 3_000_000, Output: 15_000_000} // 3 and 15 dollars a million
	tracker := part(t, "tracker", func(_ string, u event.Usage) (event.USD, bool) { return price.Cost(u) })
	stream := []event.Data{
		event.UserMessage{ID: "u", Content: event.Say("2+2?")},
		event.MessageStart{MessageID: "m", Model: "mock"},
		event.TextDelta{Text: "It is 4."},
		event.MessageDelta{Usage: event.Usage{InputTokens: 100_000, OutputTokens: 10_000}},
		event.MessageStop{StopReason: event.EndTurn},
	}
	want(t, alone(t, tracker, brief, stream...), `
user_message → turn_request
message_start
text_delta
message_delta
message_stop`)
	fed := append(slices.Clip(stream), event.ToolCallMessage{}, event.AssistantMessage{}, event.AssistantMessage{}, event.ConversationEnd{}, event.ConversationEnd{})
	want(t, alone(t, tracker, brief, fed...), `
user_message → turn_request
message_start
text_delta
message_delta
message_stop
tool_call_message
assistant_message
assistant_message
conversation_end → turn_u end_turn after 80 ms, first token after 20; 100000+10000 tokens for 0.45; 1 calls, 2 messages
conversation_end`)
}

// The engine's step is its processors combined: whatever comes, both put out the
// same and are then in the same state (F53, F54).
func TestStepIsItsProcessors(t *testing.T) {
	var ps []engine.Processor
	set := map[string]bool{}
	for _, d := range engine.Processors(nil) {
		ps = append(ps, d.Process)
		set[d.Name] = true
	}
	if len(set) != len(ps) || len(ps) < 3 {
		t.Fatalf("%d processors are called %v", len(ps), set)
	}
	combined := mealy.Combine(ps...)
	rapid.Check(t, func(t *rapid.T) {
		var a, b engine.State
		for _, in := range stream().Draw(t, "stream") {
			one := enginetest.Lines(t, slices.Collect(mealy.Follow(engine.Step, &a, in)))
			other := enginetest.Lines(t, slices.Collect(mealy.Follow(combined, &b, in)))
			if !bytes.Equal(one, other) {
				t.Fatalf("the step puts out\n%s\nand its parts\n%s", one, other)
			}
		}
		if one, other := encoded(t, a), encoded(t, b); !bytes.Equal(one, other) {
			t.Fatalf("the step is in %+v, its parts in %+v", a.Summary(), b.Summary())
		}
	})
}

func encoded(t rapid.TB, s engine.State) []byte {
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What was gathered is let go when it has been put out: behind an answer of a
// million letters the state is as small as behind one of five (F3).
func TestWhatWasSaidIsLetGo(t *testing.T) {
	var s engine.State
	say := func(data ...event.Data) {
		for _, d := range data {
			for range mealy.Follow(engine.Step, &s, event.Event{Data: d}) {
			}
		}
	}
	answer := func(text string) int {
		say(event.UserMessage{ID: "u", Content: event.Say("Hello")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: text},
			event.ToolUseStart{ToolCallID: "c", ToolName: "tool"}, event.InputJSONDelta{PartialJSON: `{"text":"` + text + `"}`})
		if sum := s.Summary(); sum.Bytes < 2*len(text) || sum.Open != 1 || sum.TurnID != "turn_u" {
			t.Errorf("in the middle the state holds %+v", sum)
		}
		say(event.ToolUseStop{}, event.ToolResult{ToolCallID: "c"}, event.MessageStop{StopReason: event.EndTurn})
		if sum := s.Summary(); sum != (engine.State{}).Summary() {
			t.Errorf("behind the answer the state holds %+v", sum)
		}
		return len(encoded(t, s))
	}
	short, long := answer("Hello"), answer(strings.Repeat("x", 1_000_000))
	if short != long {
		t.Errorf("the state has %d bytes behind a short answer and %d behind a long one", short, long)
	}
}
