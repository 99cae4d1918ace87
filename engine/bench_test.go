package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

var lengths = []int{1_000, 100_000}

// The price of one delta, through all processors, with what follows from it:
// flat, however long the message has become (F125).
func BenchmarkDelta(b *testing.B) {
	for _, n := range lengths {
		b.Run(fmt.Sprint("engine/", n), func(b *testing.B) {
			deltas := deltas(n)
			b.ReportAllocs()
			for b.Loop() {
				var s engine.State
				for _, e := range deltas {
					for range mealy.Follow(engine.Step, &s, e) {
					}
				}
			}
			perDelta(b, n)
		})
	}
	// What it replaces: a state that copies the list of deltas at each event.
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint("copying/", n), func(b *testing.B) {
			deltas := deltas(n)
			b.ReportAllocs()
			for b.Loop() {
				var s []string
				for _, e := range deltas {
					s = copying(s, e)
				}
			}
			perDelta(b, n)
		})
	}
}

func copying(pieces []string, e event.Event) []string {
	switch d := e.Data.(type) {
	case event.TextDelta:
		return append(slices.Clone(pieces), d.Text)
	case event.MessageStop:
		_ = strings.Join(pieces, "")
		return nil
	}
	return pieces
}

func perDelta(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delta")
}

// deltas are a message in n pieces of a few letters.
func deltas(n int) []event.Event {
	at := time.UnixMilli(1000)
	all := []event.Event{
		{At: at, Data: event.UserMessage{ID: "u", Content: event.Say("Hello")}},
		{At: at, Data: event.MessageStart{MessageID: "m", Model: "mock"}},
	}
	for range n {
		all = append(all, event.Event{At: at, Data: event.TextDelta{Text: "hello "}})
	}
	return append(all, event.Event{At: at, Data: event.MessageStop{StopReason: event.EndTurn}})
}

// A delta may cost 500 ns and 4 allocations, and no more when the message is a
// hundred times as long. Tests run on busy machines, so the best of some runs
// counts, and ten times the time is allowed; the allocations are exact (F125).
func TestADeltaIsCheap(t *testing.T) {
	for _, n := range lengths {
		deltas := deltas(n)
		best := time.Hour
		allocs := testing.AllocsPerRun(max(3, 10_000/n), func() {
			began := time.Now()
			var s engine.State
			for _, e := range deltas {
				for range mealy.Follow(engine.Step, &s, e) {
				}
			}
			best = min(best, time.Since(began))
		})
		if each := best / time.Duration(n); allocs/float64(n) > 4 || each > 5*time.Microsecond {
			t.Errorf("%d deltas: %.1f allocations and %v each", n, allocs/float64(n), each)
		}
	}
}

// An open conversation that nothing happens in costs its state and what was
// said in it: ten thousand fit into 10 MB (F122).
func TestIdleConversationsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(engine.State{}); size > 500 {
		t.Errorf("a state has %d bytes", size)
	}
	if each := idle(t, 10_000); each > 1_000 {
		t.Errorf("an idle conversation takes %d bytes", each)
	}
}

// The bytes of a conversation in which nothing happens (F122, F125).
func BenchmarkIdleConversation(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(idle(b, 10_000)), "B/conversation")
	}
}

// idle returns the bytes that each of n conversations takes in a machine, after
// an answer.
func idle(t testing.TB, n int) uint64 {
	t.Helper()
	m := mealy.Machine[engine.State, event.Event]{Process: engine.Step, Store: &mealy.MemoryStore[engine.State]{}}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprint("agent_", i)
	}
	turn := deltas(20)
	before := heap()
	for _, id := range ids {
		for _, e := range turn {
			if _, err := m.Input(context.Background(), id, e); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := heap()
	runtime.KeepAlive(&m)
	if after < before {
		return 0
	}
	return (after - before) / uint64(n)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A whole answer, from the driver to a presenter.
func BenchmarkReceive(b *testing.B) {
	events := []event.Stream{event.MessageStart{MessageID: "m"}}
	for range 1_000 {
		events = append(events, event.TextDelta{Text: "hello "})
	}
	seen := 0
	e := engine.Engine{
		Driver: script.Say(append(events, event.MessageStop{StopReason: event.EndTurn})...),
		Presenters: []engine.Presenter{engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error {
			seen++
			return nil
		})},
		Now: time.Now,
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Receive(context.Background(), engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}); err != nil {
			b.Fatal(err)
		}
	}
	perDelta(b, 1_000)
}
