package bus_test

import (
	"fmt"
	"testing"

	"agentx/engine/bus"
	"agentx/engine/event"
)

// What an event costs does not depend on how many listen to others.
func BenchmarkPublish(b *testing.B) {
	for _, others := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			var timeline bus.Bus
			for i := range others {
				timeline.Subscribe(bus.Subscription{Types: []string{fmt.Sprintf("type_%d", i)}}, func(bus.SystemEvent) {})
			}
			n := 0
			timeline.Subscribe(bus.Subscription{Types: []string{"text_delta"}}, func(bus.SystemEvent) { n++ })
			e := say("x")
			b.ReportAllocs()
			for b.Loop() {
				timeline.Publish(e)
			}
		})
	}
}

// What an event of an agent costs does not depend on how many agents there are,
// each with a client that listens to it alone (F125).
func BenchmarkPublishOfAgent(b *testing.B) {
	for _, agents := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("agents=%d", agents), func(b *testing.B) {
			var timeline bus.Bus
			n := 0
			for i := range agents {
				timeline.Subscribe(bus.Subscription{Agent: event.AgentID(fmt.Sprint(i))}, func(bus.SystemEvent) { n++ })
			}
			e := say("x")
			e.Scope.Agent = "0"
			b.ReportAllocs()
			for b.Loop() {
				timeline.Publish(e)
			}
			if n != b.N {
				b.Errorf("%d of %d arrived", n, b.N)
			}
		})
	}
}

// The naive way to the same: every listener is asked whether it wants the event.
func BenchmarkPublishNaive(b *testing.B) {
	for _, others := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			var timeline bus.Bus
			for i := range others {
				name := fmt.Sprintf("type_%d", i)
				timeline.Subscribe(bus.Subscription{Filter: func(e bus.SystemEvent) bool { return e.Data.Type() == name }}, func(bus.SystemEvent) {})
			}
			e := say("x")
			for b.Loop() {
				timeline.Publish(e)
			}
		})
	}
}

// The price of a subscription is that of one, however many there are.
func BenchmarkSubscribe(b *testing.B) {
	for _, agents := range []int{100, 10_000} {
		for name, types := range map[string]func(int) []string{
			"same":  func(int) []string { return []string{"text_delta"} },
			"own":   func(i int) []string { return []string{fmt.Sprintf("type_%d", i)} },
			"every": func(int) []string { return nil },
		} {
			b.Run(fmt.Sprintf("type=%s/agents=%d", name, agents), func(b *testing.B) {
				for b.Loop() {
					var timeline bus.Bus
					stops := make([]func(), agents)
					for i := range agents {
						stops[i] = timeline.Subscribe(bus.Subscription{Types: types(i)}, func(bus.SystemEvent) {})
					}
					for _, stop := range stops {
						stop()
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*agents), "ns/agent")
			})
		}
	}
}

func TestPublishAllocatesNothing(t *testing.T) {
	var b bus.Bus
	n := 0
	b.Subscribe(bus.Subscription{Types: []string{"text_delta"}}, func(bus.SystemEvent) { n++ })
	b.Subscribe(bus.Subscription{Filter: func(bus.SystemEvent) bool { return true }}, func(bus.SystemEvent) { n++ })
	e := say("x")
	if allocs := testing.AllocsPerRun(1000, func() { b.Publish(e) }); allocs > 0 {
		t.Errorf("an event that is handed to two costs %v allocations", allocs)
	}
}
