package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

var hi = script.Say(
	event.MessageStart{MessageID: "m1", Model: "mock"},
	event.TextDelta{Text: "Hi"},
	event.TextDelta{Text: " there"},
	event.MessageStop{StopReason: event.EndTurn},
)

// Each way to listen hears what it asked for: everything, a type, several, a
// map of them, a type of Go, a layer (F77, F79).
func TestOn(t *testing.T) {
	s := play(t, hi)
	heard := map[string][]string{}
	by := func(name string) func(event.Event) {
		return func(e event.Event) { heard[name] = append(heard[name], e.Data.Type()) }
	}
	stops := []func(){
		s.On(by("all")),
		s.On(by("one"), "text_delta"),
		s.On(by("several"), "message_stop", "text_delta", "message_stop"),
		s.OnEach(map[string]func(event.Event){"message_start": by("map"), "turn_response": by("map")}),
		s.React(
			engine.To(func(d event.TextDelta) { heard["type"] = append(heard["type"], d.Text) }),
			engine.To(func(d event.Turn) { heard["layer"] = append(heard["layer"], d.Type()) }),
			engine.To(func(d event.Data) { heard["data"] = append(heard["data"], d.Type()) }),
		),
	}
	if err := s.Say(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	all := strings.Join(typesOf(s.shown), " ")
	for name, want := range map[string]string{
		"all":     all,
		"one":     "text_delta text_delta",
		"several": "text_delta text_delta message_stop",
		"map":     "message_start turn_response",
		"type":    "Hi  there",
		"layer":   "turn_request turn_response",
		"data":    all,
	} {
		if got := strings.Join(heard[name], " "); got != want {
			t.Errorf("%s heard\n%s\nwant\n%s", name, got, want)
		}
	}
	clear(heard)
	for _, stop := range stops {
		stop()
		stop()
	}
	if err := s.Say(t.Context(), "hello"); err != nil || len(heard) > 0 {
		t.Errorf("those who left heard %v (%v)", heard, err)
	}
}

func typesOf(events []event.Event) []string {
	var names []string
	for _, e := range events {
		names = append(names, e.Data.Type())
	}
	return names
}

// An event whose type has no name, as a driver may make one, is heard once.
func TestOnNoName(t *testing.T) {
	s := play(t, script.Say(event.MessageStart{MessageID: "m"}, event.Unknown{}, event.MessageStop{StopReason: event.EndTurn}))
	all, unknown := 0, 0
	s.On(func(e event.Event) {
		if e.Data.Type() == "" {
			all++
		}
	})
	s.React(engine.To(func(event.Unknown) { unknown++ }))
	if err := s.Say(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	if all != 1 || unknown != 1 {
		t.Errorf("heard %d and %d times, want once each", all, unknown)
	}
}

// The screen comes first, then those who asked for the type, in the order in
// which they did, then those who want everything, and then the phase (F78).
func TestOrderOfHandlers(t *testing.T) {
	s := play(t, hi)
	var order []string
	note := func(name string) func(event.Event) {
		return func(event.Event) {
			if len(order) == 0 && s.tale("conversation_responding") == "" {
				t.Error("a handler came before the presenter")
			}
			order = append(order, name)
		}
	}
	s.Intercept(func(e event.Event) (event.Event, bool) { return e, e.Data.Type() == "conversation_responding" })
	s.OnPhase(func(c engine.PhaseChange) {
		if c.Current == engine.Responding {
			order = append(order, "phase")
		}
	})
	s.On(note("all"))
	s.On(note("typed"), "conversation_responding")
	s.React(engine.To(func(event.ConversationResponding) { note("react")(event.Event{}) }))
	s.On(note("all again"))
	if err := s.Say(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	if got := strings.Join(order, ", "); got != "typed, react, all, all again, phase" {
		t.Errorf("order: %s", got)
	}
}

// The phase is told when it changes, and only then. An error lasts until
// something else begins (F71).
func TestOnPhase(t *testing.T) {
	s := play(t, script.Turns{
		hi,
		script.Say(event.MessageStart{MessageID: "m"}, event.ErrorReceived{Message: "overloaded", ErrorCode: event.CodeInternal}),
	})
	var changes []string
	stop := s.OnPhase(func(c engine.PhaseChange) {
		changes = append(changes, c.Prev.String()+">"+c.Current.String())
		if s.Phase() != c.Current {
			t.Errorf("told %v while the agent says %v", c.Current, s.Phase())
		}
	})
	want := func(words string) {
		t.Helper()
		if got := strings.Join(changes, " "); got != words {
			t.Errorf("changes\n%s\nwant\n%s", got, words)
		}
		changes = nil
	}
	_ = s.Say(t.Context(), "one")
	want("idle>thinking thinking>responding responding>idle")

	failing := play(t, script.Say(event.MessageStart{MessageID: "m"}, event.ErrorReceived{Message: "overloaded", ErrorCode: event.CodeInternal}))
	failing.OnPhase(func(c engine.PhaseChange) { changes = append(changes, c.Prev.String()+">"+c.Current.String()) })
	_ = failing.Say(t.Context(), "one")
	want("idle>thinking thinking>error")
	if failing.Phase() != engine.Failed {
		t.Errorf("the phase is %v behind the error", failing.Phase())
	}
	_ = failing.Say(t.Context(), "two")
	want("error>thinking thinking>error")

	stop()
	_ = s.Say(t.Context(), "two")
	want("")
}

// Handlers come and go while events are told, also from inside a handler (F77).
func TestHandlersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		var late []string
		var once func()
		once = s.On(func(event.Event) {
			once()
			s.On(func(e event.Event) { late = append(late, e.Data.Type()) }, "text_delta")
		}, "message_start")
		var guests sync.WaitGroup
		for range 20 {
			guests.Go(func() {
				for range 20 {
					stop := s.On(func(event.Event) {}, "text_delta", "message_stop")
					s.OnPhase(func(engine.PhaseChange) {})()
					stop()
				}
			})
		}
		err := errors.Join(s.say(t.Context(), "one").wait(), s.say(t.Context(), "two").wait())
		guests.Wait()
		if got := strings.Join(late, " "); err != nil || got != "text_delta text_delta text_delta text_delta" {
			t.Errorf("heard %q (%v)", got, err)
		}
	})
}

// Handlers are found by type: ten thousand who want something else cost an
// event nothing. Beside it what it costs to ask each of them (F78).
func BenchmarkHandlers(b *testing.B) {
	for _, others := range []int{0, 10_000} {
		for _, asked := range []bool{false, true} {
			b.Run(fmt.Sprintf("others=%d/asked=%v", others, asked), func(b *testing.B) {
				a := engine.NewAgent(engine.AgentConfig{ID: "a", Engine: engine.Engine{Driver: said1000}})
				for i := range others {
					name := fmt.Sprintf("type_%d", i%100)
					if asked {
						a.On(func(e event.Event) { _ = e.Data.Type() == name })
					} else {
						a.On(func(event.Event) {}, name)
					}
				}
				n := 0
				a.On(func(event.Event) { n++ }, "text_delta")
				b.ReportAllocs()
				for b.Loop() {
					if err := a.Receive(context.Background(), message("go on")); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/delta")
			})
		}
	}
}

var said1000 = engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		yield(event.MessageStart{MessageID: "m"}, nil)
		for range 1000 {
			yield(event.TextDelta{Text: "x"}, nil)
		}
		yield(event.MessageStop{StopReason: event.EndTurn}, nil)
	}
})
