package bus_test

import (
	"encoding/json"
	"testing"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// These are the names that a client in any language reads (F91).
func TestEnvelope(t *testing.T) {
	at := time.UnixMilli(1700000000123).UTC()
	for _, c := range []struct {
		about string
		e     bus.SystemEvent
		want  string
	}{
		{
			"an agent's event, everything known",
			bus.OfAgent(event.Event{At: at, Data: event.TextDelta{Text: "1 < 2 & \u2028"}},
				bus.Scope{Container: "c", Agent: "a", Session: "s", Image: "i", Turn: "t"}),
			`{"type":"text_delta","timestamp":1700000000123,"data":{"text":"1 < 2 & \u2028"},` +
				`"source":"agent","category":"stream","intent":"notification",` +
				`"context":{"containerId":"c","agentId":"a","sessionId":"s","imageId":"i","turnId":"t"}}`,
		},
		{
			"a state, without image and turn",
			bus.OfAgent(event.Event{At: at, Data: event.ConversationThinking{}}, bus.Scope{Container: "c", Agent: "a", Session: "s"}),
			`{"type":"conversation_thinking","timestamp":1700000000123,"data":{},` +
				`"source":"agent","category":"state","intent":"notification",` +
				`"context":{"containerId":"c","agentId":"a","sessionId":"s"}}`,
		},
		{
			"a response",
			bus.SystemEvent{
				Event:  event.Event{At: at, Data: event.SystemError{Message: "no", Severity: "error"}},
				Source: bus.Command, Category: bus.Response, Intent: bus.Answers, RequestID: "req_1",
			},
			`{"type":"system_error","timestamp":1700000000123,"data":{"message":"no","severity":"error"},` +
				`"source":"command","category":"response","intent":"result","context":{},"requestId":"req_1"}`,
		},
	} {
		got, err := json.Marshal(c.e)
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		// json.Marshal compacts what MarshalJSON wrote, and escapes HTML again
		var want, back any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.about, diff)
		}
		if plain, err := c.e.MarshalJSON(); err != nil || string(plain) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s (%v)", c.about, plain, c.want, err)
		}
	}
}

// An agent's event is put where its layer says (F91).
func TestOfAgent(t *testing.T) {
	for category, data := range map[bus.Category]event.Data{
		bus.Stream:  event.MessageStop{},
		bus.State:   event.ConversationEnd{},
		bus.Message: event.UserMessage{},
		bus.Turn:    event.TurnResponse{},
	} {
		e := bus.OfAgent(event.Event{Data: data}, bus.Scope{Agent: "a"})
		if e.Category != category || e.Source != bus.Agent || e.Intent != bus.Notifies || e.Scope.Agent != "a" {
			t.Errorf("%s is put into %+v", data.Type(), e)
		}
	}
}

// What is written can be read, and is then what was written.
func TestEnvelopeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anEvent(t)
		line, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got bus.SystemEvent
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: -want +got\n%s", line, diff)
		}
	})
}

func anEvent(t *rapid.T) bus.SystemEvent {
	text := rapid.String()
	data := rapid.SampledFrom([]event.Data{
		event.TextDelta{Text: text.Draw(t, "text")},
		event.ToolUseStart{ToolCallID: text.Draw(t, "call"), ToolName: text.Draw(t, "tool")},
		event.ConversationQueued{MessageID: text.Draw(t, "message")},
		event.ConversationResponding{},
		event.UserMessage{ID: text.Draw(t, "id"), Content: event.Say("hello"), Timestamp: event.Millis(rapid.Int64Range(0, 1<<41).Draw(t, "said"))},
		event.TurnRequest{TurnID: text.Draw(t, "turn"), Content: event.Say("hello")},
		event.TurnResponse{TurnID: "t", Usage: event.Usage{InputTokens: rapid.Int64().Draw(t, "tokens")}},
		event.Unknown{Name: "x_" + rapid.StringMatching(`[a-z_]*`).Draw(t, "name"), Raw: []byte(`{"n":[1,null,"ü"]}`)},
	}).Draw(t, "data")
	return bus.SystemEvent{
		Event:    event.Event{At: time.UnixMilli(rapid.Int64Range(-1<<41, 1<<41).Draw(t, "at")).UTC(), Data: data},
		Source:   bus.Source(text.Draw(t, "source")),
		Category: bus.Category(text.Draw(t, "category")),
		Intent:   bus.Intent(text.Draw(t, "intent")),
		Scope: bus.Scope{
			Container: event.ContainerID(text.Draw(t, "container")), Agent: event.AgentID(text.Draw(t, "agent")),
			Session: event.SessionID(text.Draw(t, "session")), Image: event.ImageID(text.Draw(t, "image")), Turn: text.Draw(t, "turn id"),
		},
		RequestID: text.Draw(t, "request"),
	}
}

// A client sends anything at all; what is taken from it can be passed on.
func FuzzEnvelope(f *testing.F) {
	f.Add([]byte(`{"type":"text_delta","timestamp":1,"data":{"text":"hi"},"source":"agent","category":"stream","intent":"notification","context":{"agentId":"a"}}`))
	f.Add([]byte(`{"type":"agent_receive_request","data":{"agentId":"a"},"requestId":"r"}`))
	f.Add([]byte(`{"type":"","data":null}`))
	f.Add([]byte(`{"type":"x"}`))
	f.Add([]byte(`{"timestamp":9e99}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var e bus.SystemEvent
		if json.Unmarshal(line, &e) != nil {
			return
		}
		again, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", line, err)
		}
		var b bus.SystemEvent
		if err := json.Unmarshal(again, &b); err != nil {
			t.Fatalf("%s was written as %s, which cannot be read: %v", line, again, err)
		}
	})
}
