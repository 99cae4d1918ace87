package engine_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"pgregory.net/rapid"
)

// A fataler is a test, a fuzzer or a property.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// recoded is a state that has been bytes.
func recoded(t fataler, s engine.State) engine.State {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back engine.State
	if err := back.UnmarshalBinary(b); err != nil {
		t.Fatalf("%v: %q", err, b)
	}
	return back
}

// same steps a state and one that was bytes before every step, between an input
// and what follows from it too, and finds no difference.
func same(t fataler, s engine.State, ins []event.Event) engine.State {
	t.Helper()
	coded := recoded(t, s)
	for _, in := range ins {
		queue := []event.Event{in}
		for len(queue) > 0 {
			var outs, again []event.Event
			e := queue[0]
			s, outs = engine.Step(s, e)
			coded, again = engine.Step(coded, e)
			coded = recoded(t, coded)
			if !reflect.DeepEqual(outs, again) {
				t.Fatalf("from %+v follows\n%+v\nand by a state that was bytes\n%+v", e.Data, outs, again)
			}
			if s.Phase() != coded.Phase() || s.Open() != coded.Open() {
				t.Fatalf("behind %+v the phases are %s and %s", e.Data, s.Phase(), coded.Phase())
			}
			queue = append(outs, queue[1:]...)
		}
	}
	return s
}

// A state that has been bytes steps like itself, whatever comes, to the half letter
// (F67).
func TestAStateThatWasBytesStepsLikeItself(t *testing.T) {
	all := []event.Part{
		event.Text{Text: "\xff"}, event.Thinking{Text: "hm", Signature: "sig"}, event.ToolCall{ID: "c", Name: "n", Input: json.RawMessage(`{}`), Raw: "{"},
		event.ToolReturn{ID: "c", Output: event.Output{Kind: event.OutputContent, Parts: event.Parts{event.Text{Text: "in"}, event.File{Data: []byte{0}}}}},
		event.Image{MediaType: "image/png", Data: []byte{0xff, 0}, Name: "x"}, event.Image{URL: "https://example.org"}, event.File{MediaType: "a/b", Data: []byte{}},
	}
	odd := rapid.SampledFrom([]event.Data{
		event.TextDelta{Text: "\xc3"}, event.TextDelta{Text: "\xa9"}, event.TextDelta{Text: strings.Repeat("long ", 1000)},
		event.UserMessage{ID: "u", Content: all, ParentID: "p", Timestamp: -5}, event.UserMessage{ID: "none"},
		event.MessageDelta{Usage: event.Usage{InputTokens: -1, OutputTokens: 1 << 60, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}},
	})
	rapid.Check(t, func(t *rapid.T) {
		ins := stream().Draw(t, "stream")
		for range rapid.IntRange(0, 6).Draw(t, "odd ones") {
			i := rapid.IntRange(0, len(ins)).Draw(t, "at")
			e := event.Event{At: time.UnixMilli(int64(i) * 10).UTC(), Data: odd.Draw(t, "odd")}
			ins = append(ins[:i:i], append([]event.Event{e}, ins[i:]...)...)
		}
		same(t, engine.State{}, ins)
	})
}

// Whatever bytes come, they are a state that steps, or an error.
func FuzzState(f *testing.F) {
	for _, tr := range enginetest.Traces(f, traces) {
		var s engine.State
		for in := range inputs(tr.Run(f)) {
			for range mealy.Follow(engine.Step, &s, in) {
			}
			b, _ := s.MarshalBinary()
			f.Add(b)
		}
	}
	f.Add([]byte{})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		was := engine.State{}
		s := was
		if err := s.UnmarshalBinary(b); err != nil {
			if !reflect.DeepEqual(s, was) {
				t.Fatal("an error has changed the state")
			}
			return
		}
		ins := []event.Event{}
		for _, d := range []event.Data{
			event.TextDelta{Text: "x"}, event.ToolUseStop{}, event.ToolResult{ToolCallID: "c"}, event.MessageStop{StopReason: event.EndTurn},
			event.UserMessage{ID: "u"}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "y"}, event.Interrupted{Reason: event.ByUser},
		} {
			ins = append(ins, event.Event{At: time.UnixMilli(5).UTC(), Data: d})
		}
		same(t, s, ins)
		for _, in := range ins {
			for out := range mealy.Follow(engine.Step, &s, in) {
				if _, err := json.Marshal(out); err != nil {
					t.Fatalf("%T cannot be written: %v", out.Data, err)
				}
			}
		}
	})
}
