package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// conversations is the engine's machine with a place for many conversations.
func conversations() (*mealy.Machine[engine.State, event.Event], *mealy.MemoryStore[engine.State]) {
	store := &mealy.MemoryStore[engine.State]{}
	return &mealy.Machine[engine.State, event.Event]{Process: engine.Step, Store: store}, store
}

// say feeds data to one conversation and returns the texts that were kept.
func say(t *testing.T, m *mealy.Machine[engine.State, event.Event], id string, data ...event.Data) string {
	t.Helper()
	var kept []string
	for _, d := range data {
		outs, err := m.Input(context.Background(), id, event.Event{Data: d})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range outs {
			if a, ok := e.Data.(event.AssistantMessage); ok {
				kept = append(kept, a.Content.Text())
			}
		}
	}
	return strings.Join(kept, "|")
}

// Two agents in one machine, their events interleaved: neither hears the other
// (F70).
func TestTwoAgentsInterleaved(t *testing.T) {
	m, _ := conversations()
	stop := event.MessageStop{StopReason: event.EndTurn}
	for _, id := range []string{"a", "b"} {
		say(t, m, id, event.UserMessage{ID: "u" + id, Content: event.Say(id)}, event.MessageStart{MessageID: "m" + id})
	}
	say(t, m, "a", event.TextDelta{Text: "A1"})
	say(t, m, "b", event.TextDelta{Text: "B1"})
	say(t, m, "a", event.TextDelta{Text: "A2"})
	if b, a := say(t, m, "b", stop), say(t, m, "a", stop); a != "A1A2" || b != "B1" {
		t.Errorf("a said %q, b said %q", a, b)
	}
}

// A conversation that is closed in the middle of a message is forgotten: what
// comes late belongs to nothing (F69).
func TestClosedInTheMiddle(t *testing.T) {
	m, store := conversations()
	say(t, m, "a", event.UserMessage{ID: "u", Content: event.Say("Hello")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "lost"})
	if err := m.Close(t.Context(), "a"); err != nil || store.Len() != 0 {
		t.Fatalf("%d states are left, %v", store.Len(), err)
	}
	if kept := say(t, m, "a", event.TextDelta{Text: "x"}, event.MessageStop{StopReason: event.EndTurn}); kept != "" {
		t.Errorf("kept %q", kept)
	}
}

// The processors also stand alone, in a machine of somebody else's making
// (F62).
func TestAProcessorOfOnesOwn(t *testing.T) {
	type state struct {
		engine engine.State
		words  int
	}
	words := mealy.Field(func(s *state) *int { return &s.words }, func(n int, e event.Event) (int, []event.Event) {
		if d, ok := e.Data.(event.TextDelta); ok {
			n += len(strings.Fields(d.Text))
		}
		if _, ok := e.Data.(event.TurnResponse); ok {
			return 0, []event.Event{{At: e.At, Data: event.Unknown{Name: "words_counted", Raw: fmt.Appendf(nil, `{"words":%d}`, n)}}}
		}
		return n, nil
	})
	p := mealy.Combine(mealy.Field(func(s *state) *engine.State { return &s.engine }, engine.Step), words)
	var s state
	var last event.Event
	for _, d := range []event.Data{
		event.UserMessage{ID: "u", Content: event.Say("Hello")}, event.MessageStart{MessageID: "m"},
		event.TextDelta{Text: "three small "}, event.TextDelta{Text: "words"}, event.MessageStop{StopReason: event.EndTurn},
	} {
		for e := range mealy.Follow(p, &s, event.Event{Data: d}) {
			last = e
		}
	}
	if u, ok := last.Data.(event.Unknown); !ok || string(u.Raw) != `{"words":3}` {
		t.Errorf("the last event is %+v", last.Data)
	}
}
