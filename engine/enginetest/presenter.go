package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// TestPresenter puts a presenter through what every presenter promises: it
// takes all events of all layers, leaves them as they are, and is quick.
func TestPresenter(t *testing.T, open func() engine.Presenter) {
	t.Run("takes every event", func(t *testing.T) {
		p := open()
		for _, e := range Conversation() {
			before := mustJSON(t, e)
			if err := p.Present(t.Context(), "agent_1", e); err != nil {
				t.Errorf("%s: %v", e.Data.Type(), err)
			}
			if after := mustJSON(t, e); !bytes.Equal(before, after) {
				t.Errorf("%s was changed:\n%s\n%s", e.Data.Type(), before, after)
			}
		}
	})
	t.Run("serves many agents at once", func(t *testing.T) {
		p := open()
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() { // ends with the conversation
				for _, e := range Conversation() {
					if err := p.Present(context.Background(), event.AgentID(fmt.Sprint("agent_", i)), e); err != nil {
						t.Errorf("agent %d: %s: %v", i, e.Data.Type(), err)
					}
				}
			})
		}
		all.Wait()
	})
	t.Run("does not wait for ever", func(t *testing.T) {
		p := open()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		done := make(chan struct{})
		go func() { // ends with the conversation
			defer close(done)
			for _, e := range Conversation() {
				_ = p.Present(ctx, "agent_1", e)
			}
		}()
		select {
		case <-done:
		case <-time.After(2 * patience):
			t.Error("a conversation of a few events has not been presented in time")
		}
	})
}

// Conversation is a conversation in which every type of event of the four
// layers comes at least once, and one that nobody knows.
func Conversation() []event.Event {
	text := event.Output{Text: "12:00"}
	call := event.ToolCall{ID: "call_1", Name: "clock", Input: json.RawMessage(`{"zone":"UTC"}`)}
	usage := event.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}
	first, cost := int64(30), event.Dollar/100
	data := []event.Data{
		event.UserMessage{ID: "u1", Content: event.Say("What time is it?"), Timestamp: 1000},
		event.TurnRequest{TurnID: "turn_u1", MessageID: "u1", Content: event.Say("What time is it?"), Timestamp: 1000},
		event.ConversationQueued{MessageID: "u2"},
		event.Retrying{Attempt: 1, MaxAttempts: 4, DelayMs: 500, Reason: "overloaded"},
		event.MessageStart{MessageID: "m1", Model: "mock"},
		event.ConversationStart{MessageID: "m1"},
		event.ThinkingDelta{Text: "A clock.", Signature: "sig"},
		event.ConversationThinking{},
		event.TextDelta{Text: "Let me look."},
		event.ConversationResponding{},
		event.Aside{Kind: event.AsideSource, Text: "A clock", URL: "https://clock.example"},
		event.ToolUseStart{ToolCallID: "call_1", ToolName: "clock"},
		event.ToolPlanned{ToolID: "call_1", ToolName: "clock"},
		event.InputJSONDelta{PartialJSON: `{"zone":"UTC"}`, ToolCallID: "call_1"},
		event.ToolUseStop{ToolCallID: "call_1", Input: json.RawMessage(`{"zone":"UTC"}`)},
		event.ToolCallMessage{ID: "m1/call_1", ToolCall: call, Timestamp: 1050, ParentID: "m1"},
		event.ToolExecuting{ToolID: "call_1", ToolName: "clock", Input: call.Input},
		event.MessageDelta{Usage: usage},
		event.MessageStop{StopReason: event.ToolUse, StopSequence: "stop"},
		event.AssistantMessage{
			ID: "m1", Content: event.Parts{event.Thinking{Text: "A clock.", Signature: "sig"}, event.Text{Text: "Let me look."}, call},
			Timestamp: 1010, Model: "mock", StopReason: event.ToolUse, Usage: &usage, ParentID: "u1",
		},
		event.ToolResult{ToolCallID: "call_1", Result: text},
		event.ToolResultMessage{ID: "m1/call_1/result", ToolCallID: "call_1", ToolResult: event.ToolReturn{ID: "call_1", Name: "clock", Output: text}, Timestamp: 1060, ParentID: "m1"},
		event.ToolCompleted{ToolID: "call_1", ToolName: "clock", Result: text},
		event.ToolFailed{ToolID: "call_2", ToolName: "clock", Error: "stopped"},
		event.Unknown{Name: "of_tomorrow", Raw: json.RawMessage(`{"a":[1,2]}`)},
		event.ErrorReceived{Message: "The connection was closed.", ErrorCode: event.CodeNetwork, Retryable: true},
		event.ErrorMessage{ID: "error_u1", Content: "The connection was closed.", ErrorCode: event.CodeNetwork, Timestamp: 1070, ParentID: "u1"},
		event.ErrorOccurred{Code: event.CodeNetwork, Message: "The connection was closed.", Recoverable: true},
		event.Interrupted{Reason: event.ByUser},
		event.ConversationInterrupted{Reason: event.ByUser},
		event.ConversationEnd{Reason: event.EndError},
		event.TurnResponse{
			TurnID: "turn_u1", MessageID: "u1", DurationMs: 80, TimeToFirstTokenMs: &first, Usage: usage, CostUSD: &cost,
			Model: "mock", StopReason: event.StopError, ToolCalls: 1, Messages: 1, Timestamp: 1080,
		},
	}
	now := Clock()
	all := make([]event.Event, len(data))
	for i, d := range data {
		all[i] = event.Event{At: now(), Data: d}
	}
	return all
}

func mustJSON(t T, e event.Event) []byte {
	t.Helper()
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatalf("%s: %v", e.Data.Type(), err)
	}
	return line
}
