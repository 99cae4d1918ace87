package driver_test

import (
	"context"
	"fmt"
	"testing"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

// What the loop adds to a model client, for one delta: flat in the length of
// the message. Plain is the client alone.
func BenchmarkLoop(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		events := []event.Stream{event.MessageStart{MessageID: "m"}}
		for range n {
			events = append(events, event.TextDelta{Text: "hello "})
		}
		client := script.Say(append(events, event.MessageStop{StopReason: event.EndTurn})...)
		for name, d := range map[string]engine.Driver{"plain": client, "loop": driver.Loop{Model: client}} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}
				for b.Loop() {
					for _, err := range d.Receive(context.Background(), req) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delta")
			})
		}
	}
}
