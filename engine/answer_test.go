package engine_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/enginetest"
	"agentx/engine/event"
)

// An answer that was torn apart in the middle of a call leaves nothing to the
// next one: the same engine answers it as one would that has never answered
// (F4, F5, F7).
func TestEachAnswerBeginsAnew(t *testing.T) {
	asked := 0
	moody := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		asked++
		if asked > 1 {
			return answers("Hi").Receive(ctx, req)
		}
		return func(yield func(event.Stream, error) bool) {
			_ = yield(event.MessageStart{MessageID: "m"}, nil) && yield(event.TextDelta{Text: "half a "}, nil) &&
				yield(event.ToolUseStart{ToolCallID: "c", ToolName: "tool"}, nil) && yield(event.InputJSONDelta{PartialJSON: `{"a":`}, nil)
			panic("oh")
		}
	})
	heard := func(e engine.Engine) []byte {
		var all []event.Event
		e.Now = enginetest.Clock()
		for ev, err := range e.Events(t.Context(), hello("u")) {
			if err == nil {
				all = append(all, ev)
			}
		}
		return enginetest.Lines(t, all)
	}
	e := engine.Engine{Driver: moody}
	if torn := heard(e); !bytes.Contains(torn, []byte(`"incomplete":true`)) {
		t.Errorf("the first answer was\n%s", torn)
	}
	if again, fresh := heard(e), heard(engine.Engine{Driver: answers("Hi")}); !bytes.Equal(again, fresh) {
		t.Errorf("the second answer is\n%s\nwant\n%s", again, fresh)
	}
}

// Each layer has its presenter, and the four of them are shown everything: no
// event twice, none not at all, each where it belongs (F19–F22).
func TestPresentersOfALayer(t *testing.T) {
	var all notebook
	seen := map[string][]string{}
	note := func(layer string, d event.Data) error {
		seen[layer] = append(seen[layer], d.Type())
		return nil
	}
	e := engine.Engine{
		Driver: script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"}, event.ToolUseStart{ToolCallID: "c", ToolName: "tool"},
			event.ToolUseStop{ToolCallID: "c"}, event.ToolResult{ToolCallID: "c"}, event.MessageStop{StopReason: event.EndTurn}),
		Presenters: []engine.Presenter{
			engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Stream) error { return note("stream", d) }),
			engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Message) error {
				return note("message", d)
			}),
			engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.State) error { return note("state", d) }),
			engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Turn) error { return note("turn", d) }),
			&all,
		},
	}
	if err := e.Receive(t.Context(), hello("u")); err != nil {
		t.Fatal(err)
	}
	count := 0
	for layer, want := range map[string]string{
		"stream":  "message_start text_delta tool_use_start tool_use_stop tool_result message_stop",
		"message": "user_message tool_call_message tool_result_message assistant_message",
		"state":   "conversation_start conversation_responding tool_planned tool_executing tool_completed conversation_end",
		"turn":    "turn_request turn_response",
	} {
		count += len(seen[layer])
		if got := strings.Join(seen[layer], " "); got != want {
			t.Errorf("the presenter of the layer %s was shown\n%s\nwant\n%s", layer, got, want)
		}
	}
	if count != len(all.lines) {
		t.Errorf("the four were shown %d events of %d", count, len(all.lines))
	}
}

// A ledger is a presenter with a name.
type ledger struct{ engine.Presenter }

func (ledger) Name() string { return "ledger" }

// Who fails is named, by its own name or else by its place, and so is what it
// failed over (F17).
func TestPresentersHaveNames(t *testing.T) {
	full := errors.New("no pages left")
	fails := engine.On(func(context.Context, event.AgentID, time.Time, event.Turn) error { return full })
	e := engine.Engine{Driver: answers("Hi"), Presenters: []engine.Presenter{&notebook{}, fails, ledger{fails}}}
	err := e.Receive(t.Context(), hello("u"))
	if want := "presenter 1: turn_request: no pages left\npresenter ledger: turn_request: no pages left"; err == nil || err.Error() != want {
		t.Errorf("Receive() = %v, want\n%s", err, want)
	}
}

// An agent is made of a driver and presenters; it says who it is, what it does
// now and what waits for it (F73, F74, F80).
func TestWhoAnAgentIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		born := time.Now()
		a := engine.NewAgent(engine.AgentConfig{ID: "polly", Created: born, Engine: engine.Engine{Driver: echo("one"), Now: time.Now}})
		ready := 0
		a.OnReady(func() { ready++ })
		time.Sleep(time.Hour)
		if a.ID() != "polly" || !a.Created().Equal(born) || a.Phase() != engine.Idle || len(a.Queue()) != 0 || ready != 1 {
			t.Errorf("it is %s of %v, %s with %v waiting, and was ready %d times", a.ID(), a.Created(), a.Phase(), a.Queue(), ready)
		}
		ends := make(chan error, 3)
		for _, text := range []string{"one", "two", "three"} {
			go func() { ends <- a.Receive(t.Context(), message(text)) }() // ends with its answer
			synctest.Wait()
		}
		time.Sleep(1500 * time.Millisecond)
		var waits []string
		for _, m := range a.Queue() {
			waits = append(waits, m.ID)
		}
		if got := strings.Join(waits, " "); got != "two three" || a.Phase() != engine.Responding {
			t.Errorf("while it answers it is %s, and %q waits", a.Phase(), got)
		}
		for range 3 {
			if err := <-ends; err != nil {
				t.Error(err)
			}
		}
		if len(a.Queue()) != 0 || a.Phase() != engine.Idle || !a.Created().Equal(born) {
			t.Errorf("at rest it is %s with %v waiting", a.Phase(), a.Queue())
		}
	})
}
