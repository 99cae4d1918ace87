package runtime_test

import (
	"context"
	"fmt"
	"iter"
	goruntime "runtime"
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

// Agents that have nothing to do cost those who have nothing, and the house
// little, also when they have been of use and a client waits for more (F125).
func BenchmarkAmongIdleAgents(b *testing.B) {
	for _, idle := range []int{1, 10_000} {
		b.Run(fmt.Sprintf("idle=%d", idle), func(b *testing.B) {
			h := idleHouse(b, idle)
			a := h.Container("c").Run(runtime.Definition{Driver: say("Hi")}, "s")
			for b.Loop() {
				if err := a.Receive(context.Background(), event.Say("hello")); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(h.fresh, "B/agent")
			b.ReportMetric(h.used, "B/agent-that-answered")
			b.ReportMetric(h.followed, "B/agent-with-client")
		})
	}
}

// Ten thousand agents that wait fit into 40 MB, used or not, and their clients
// with them (F122).
func TestIdleAgentsAreSmall(t *testing.T) {
	h := idleHouse(t, 10_000)
	if h.fresh > 4000 || h.used > 4000 || h.followed > 4000 {
		t.Errorf("an agent takes %.0f bytes, %.0f when it has answered, %.0f with a client", h.fresh, h.used, h.followed)
	}
}

// A house knows how many bytes each of its agents takes: new, after an answer,
// and with a client that follows it.
type house struct {
	*runtime.Runtime
	fresh, used, followed float64
}

func idleHouse(t testing.TB, agents int) house {
	t.Helper()
	var timeline bus.Bus
	h := house{Runtime: runtime.New(runtime.Config{Bus: &timeline, Journal: nothing{}, Now: time.Now, NewID: new(numbers).next})}
	all := make([]*runtime.Agent, agents)
	before := heap()
	since := func() float64 { return max(0, float64(heap())-float64(before)) / float64(agents) }
	for i := range all {
		all[i] = h.Container("c").Run(runtime.Definition{Driver: say("Hi")}, event.SessionID(fmt.Sprint("session_", i)))
	}
	h.fresh = since()
	for _, a := range all {
		if err := a.Receive(context.Background(), event.Say("hello")); err != nil {
			t.Fatal(err)
		}
	}
	h.used = since()
	c := runtime.Client{Timeline: &timeline}
	for _, a := range all {
		c.Follow(a.ID, engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return nil }))
	}
	h.followed = since()
	return h
}

type numbers struct{ last int }

func (n *numbers) next(prefix string) string {
	n.last++
	return fmt.Sprintf("%s_%d", prefix, n.last)
}

// nothing is a journal that takes all and keeps none, for what is measured is
// around it.
type nothing struct{}

func (nothing) Messages(context.Context, event.SessionID, int64) ([]event.Message, int64, error) {
	return nil, 0, nil
}
func (nothing) Presenter(event.SessionID) engine.Presenter {
	return engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return nil })
}

func heap() uint64 {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return m.HeapAlloc
}
