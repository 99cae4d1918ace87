package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"pgregory.net/rapid"
)

// stream draws any sequence of what users and drivers can say, sense or none.
// Ids are few, so that they meet.
func stream() *rapid.Generator[[]event.Event] {
	return rapid.Custom(func(t *rapid.T) []event.Event {
		var all []event.Event
		for i, d := range rapid.SliceOfN(said(), 0, 40).Draw(t, "stream") {
			if u, ok := d.(event.UserMessage); ok {
				u.ID = fmt.Sprint("user_", i)
				d = u
			}
			all = append(all, event.Event{At: time.UnixMilli(int64(1000 + 10*i)).UTC(), Data: d})
		}
		return all
	})
}

func said() *rapid.Generator[event.Data] {
	id := rapid.SampledFrom([]string{"", "a", "b", "c"})
	text := rapid.SampledFrom([]string{"", " ", "\n", "Hello", "é漢字", "{}", `{"x":`, `1}`, "}"})
	return rapid.OneOf(
		of(func(t *rapid.T) event.Data { return event.UserMessage{Content: event.Say(text.Draw(t, "text"))} }),
		of(func(t *rapid.T) event.Data { return event.MessageStart{MessageID: id.Draw(t, "id"), Model: "mock"} }),
		of(func(t *rapid.T) event.Data { return event.TextDelta{Text: text.Draw(t, "text")} }),
		of(func(t *rapid.T) event.Data { return event.TextDelta{Text: text.Draw(t, "text")} }),
		of(func(t *rapid.T) event.Data {
			return event.ThinkingDelta{Text: text.Draw(t, "text"), Signature: rapid.SampledFrom([]string{"", "", "sig"}).Draw(t, "signature")}
		}),
		of(func(t *rapid.T) event.Data { return event.ToolUseStart{ToolCallID: id.Draw(t, "id"), ToolName: "tool"} }),
		of(func(t *rapid.T) event.Data {
			return event.InputJSONDelta{ToolCallID: id.Draw(t, "id"), PartialJSON: text.Draw(t, "text")}
		}),
		of(func(t *rapid.T) event.Data { return event.ToolUseStop{ToolCallID: id.Draw(t, "id")} }),
		of(func(t *rapid.T) event.Data {
			return event.ToolResult{ToolCallID: id.Draw(t, "id"), Result: event.Output{Text: text.Draw(t, "text")}, IsError: rapid.Bool().Draw(t, "failed")}
		}),
		of(func(t *rapid.T) event.Data {
			return event.MessageDelta{Usage: event.Usage{InputTokens: rapid.Int64Range(-2, 1e6).Draw(t, "tokens")}}
		}),
		of(func(t *rapid.T) event.Data {
			return event.MessageStop{StopReason: rapid.SampledFrom([]event.StopReason{event.EndTurn, event.ToolUse, event.ToolUse, event.Refusal, ""}).Draw(t, "reason")}
		}),
		rapid.Just[event.Data](event.ErrorReceived{Message: "boom", ErrorCode: event.CodeServer}),
		rapid.Just[event.Data](event.Interrupted{Reason: event.ByUser}),
		rapid.Just[event.Data](event.Retrying{Attempt: 1}),
		rapid.Just[event.Data](event.Unknown{Name: "odd", Raw: json.RawMessage(`{"a":1}`)}),
	)
}

func of(f func(*rapid.T) event.Data) *rapid.Generator[event.Data] { return rapid.Custom(f) }

// conclude is what the engine adds when a driver leaves: an end for a turn that
// is open.
func conclude(all []event.Event, s engine.State) []event.Event {
	if !s.Open() {
		return all
	}
	return append(slices.Clip(all), event.Event{At: time.UnixMilli(9000).UTC(), Data: event.ErrorReceived{Message: "incomplete", ErrorCode: event.CodeIncomplete}})
}

// run feeds every input and returns all that comes of it, and the last state.
func run(ins []event.Event) ([]event.Event, engine.State) {
	var s engine.State
	var outs []event.Event
	for _, in := range ins {
		outs = slices.AppendSeq(outs, mealy.Follow(engine.Step, &s, in))
	}
	return outs, s
}

// A state that was stepped once can be stepped again, now or after everything
// that came later, and says the same: no future of it has touched it (F2).
func TestStatesAreValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ins := stream().Draw(t, "stream")
		other := rapid.SliceOfN(said(), 1, 5).Draw(t, "another future")
		type moment struct {
			before engine.State
			in     event.Event
			outs   []byte
		}
		var past []moment
		var s engine.State
		for _, in := range ins {
			before := s
			outs := slices.Collect(mealy.Follow(engine.Step, &s, in))
			past = append(past, moment{before, in, enginetest.Lines(t, outs)})
			branch := before
			for _, d := range other { // what might have come instead
				for range mealy.Follow(engine.Step, &branch, event.Event{At: in.At, Data: d}) {
				}
			}
		}
		for i, m := range past {
			state := m.before
			again := enginetest.Lines(t, slices.Collect(mealy.Follow(engine.Step, &state, m.in)))
			if !bytes.Equal(again, m.outs) {
				t.Fatalf("input %d (%s) gives\n%s\nand gave\n%s", i, m.in.Data.Type(), again, m.outs)
			}
		}
	})
}

// Every turn that is opened is closed, once, and its conversation ends once
// (F39, F44).
func TestTurnsClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ins := stream().Draw(t, "stream")
		_, s := run(ins)
		outs, s := run(conclude(ins, s))
		if s.Open() {
			t.Fatal("the last turn is open")
		}
		var open []string
		ends := 0
		for _, e := range outs {
			switch d := e.Data.(type) {
			case event.TurnRequest:
				if len(open) > 0 {
					t.Fatalf("%s begins inside %s", d.TurnID, open)
				}
				open, ends = append(open, d.TurnID), 0
			case event.ConversationEnd:
				ends++
			case event.TurnResponse:
				if !slices.Equal(open, []string{d.TurnID}) || ends != 1 {
					t.Fatalf("%s ends while %q is open, with %d ends", d.TurnID, open, ends)
				}
				open = nil
			}
		}
		if len(open) > 0 {
			t.Fatalf("%s has no response", open)
		}
	})
}

// What was typed out is what is kept: the text of a message is its deltas, but
// for runs of blanks (F31).
func TestMessagesSayWhatWasStreamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ins := stream().Draw(t, "stream")
		outs, _ := run(append(slices.Clip(ins), event.Event{At: time.UnixMilli(9000).UTC(), Data: event.Interrupted{Reason: event.ByUser}}))
		var shown, kept strings.Builder
		inside := false
		for _, e := range outs {
			switch d := e.Data.(type) {
			case event.MessageStart:
				inside = true
			case event.TextDelta:
				if inside {
					shown.WriteString(d.Text)
				}
			case event.MessageStop, event.ErrorReceived, event.Interrupted, event.UserMessage:
				inside = false
			case event.AssistantMessage:
				kept.WriteString(d.Content.Text())
			}
		}
		if got, want := unblank(kept.String()), unblank(shown.String()); got != want {
			t.Fatalf("kept %q of %q", got, want)
		}
	})
}

func unblank(s string) string { return strings.Join(strings.Fields(s), "") }

// Outputs only climb: what follows from an event is of a higher layer than the
// stream, messages and states lead at most to turns, turns to nothing. So there
// is an end to re-injection (F29).
func TestOutputsClimb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s engine.State
		height := func(d event.Data) int {
			switch event.LayerOf(d) {
			case event.StateLayer, event.MessageLayer:
				if _, said := d.(event.UserMessage); said {
					return 0
				}
				return 1
			case event.TurnLayer:
				return 2
			}
			return 0
		}
		for _, in := range stream().Draw(t, "stream") {
			queue := []event.Event{in}
			for len(queue) > 0 {
				var outs []event.Event
				cause := queue[0]
				s, outs = engine.Step(s, cause)
				for _, out := range outs {
					if height(out.Data) <= height(cause.Data) {
						t.Fatalf("%s follows from %s", out.Data.Type(), cause.Data.Type())
					}
				}
				queue = append(outs, queue[1:]...)
			}
		}
	})
}

// Every event that the engine can show survives JSON.
func TestWhatIsShownCanBeReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outs, _ := run(stream().Draw(t, "stream"))
		for _, e := range outs {
			line, err := json.Marshal(e)
			if err != nil {
				t.Fatalf("%+v: %v", e.Data, err)
			}
			var back event.Event
			if err := json.Unmarshal(line, &back); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			again, err := json.Marshal(back)
			if err != nil || !bytes.Equal(line, again) {
				t.Fatalf("%s\nbecame\n%s, %v", line, again, err)
			}
			if reflect.TypeOf(back.Data) != reflect.TypeOf(e.Data) {
				t.Fatalf("%T became %T", e.Data, back.Data)
			}
		}
	})
}

// The phase that the seeds' table gives for each state event (F72, F125).
func TestPhases(t *testing.T) {
	end := event.ConversationEnd{Reason: event.EndCompleted}
	start, respond := event.ConversationStart{}, event.ConversationResponding{}
	plan, execute := event.ToolPlanned{}, event.ToolExecuting{}
	for name, c := range map[string]struct {
		events []event.State
		want   string
	}{
		"an answer":        {[]event.State{start, respond, end}, "thinking responding idle"},
		"a thought":        {[]event.State{start, event.ConversationThinking{}, respond, end}, "thinking thinking responding idle"},
		"a tool":           {[]event.State{start, plan, execute, event.ToolCompleted{}, end}, "thinking planning_tool awaiting_tool_result responding idle"},
		"a failed tool":    {[]event.State{start, plan, execute, event.ToolFailed{}, end}, "thinking planning_tool awaiting_tool_result responding idle"},
		"an error":         {[]event.State{start, event.ErrorOccurred{}, event.ConversationEnd{Reason: event.EndError}, start}, "thinking error error thinking"},
		"an interrupt":     {[]event.State{start, respond, event.ConversationInterrupted{}, event.ConversationEnd{Reason: event.EndInterrupted}}, "thinking responding idle idle"},
		"a queued message": {[]event.State{start, event.ConversationQueued{}, respond}, "thinking thinking responding"},
	} {
		var got []string
		p := engine.Idle
		for _, e := range c.events {
			p = p.Next(e)
			got = append(got, p.String())
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: phases = %s, want %s", name, got, c.want)
		}
	}
}

func FuzzStep(f *testing.F) {
	for _, tr := range enginetest.Traces(f, traces) {
		f.Add(tr.Golden)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		var s engine.State
		for line := range bytes.Lines(lines) {
			var e event.Event
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			for out := range mealy.Follow(engine.Step, &s, e) {
				if _, err := json.Marshal(out); err != nil {
					t.Fatalf("%s leads to %T, which cannot be written: %v", line, out.Data, err)
				}
			}
		}
	})
}
