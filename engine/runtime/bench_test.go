package runtime_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// A delta costs the same in a long answer as in a short one. Beside it the
// engine alone: what journal, bus and screen add.
func BenchmarkDelta(b *testing.B) {
	for _, deltas := range []int{1_000, 100_000} {
		driver := engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
			return func(yield func(event.Stream, error) bool) {
				yield(event.MessageStart{MessageID: "m"}, nil)
				for range deltas {
					yield(event.TextDelta{Text: "x"}, nil)
				}
				yield(event.MessageStop{StopReason: event.EndTurn}, nil)
			}
		})
		screen := engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return nil })
		question := event.UserMessage{ID: "q", Content: event.Say("go on")}
		per := func(b *testing.B, receive func() error) {
			b.ReportAllocs()
			for b.Loop() {
				if err := receive(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
		}
		b.Run(fmt.Sprintf("runtime/deltas=%d", deltas), func(b *testing.B) {
			var timeline bus.Bus
			heard := 0
			bus.On(&timeline, func(bus.SystemEvent, event.TextDelta) { heard++ })
			r := runtime.New(runtime.Config{
				Bus: &timeline, Journal: &runtime.Memory{}, Now: time.Now,
				NewID: func(prefix string) string { return prefix },
			})
			d := runtime.Definition{Driver: driver, Present: []engine.Presenter{screen}}
			sessions := 0
			per(b, func() error {
				sessions++
				a := r.Container("c").Run(d, event.SessionID(fmt.Sprint(sessions)))
				return a.ReceiveMessage(context.Background(), question)
			})
		})
		b.Run(fmt.Sprintf("engine/deltas=%d", deltas), func(b *testing.B) {
			e := engine.Engine{Driver: driver, Now: time.Now, Presenters: []engine.Presenter{screen}}
			per(b, func() error { return e.Receive(context.Background(), engine.Request{Message: question}) })
		})
	}
}
