package runtime_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// A pace is how fast everybody streams: a delta each hundredth of a second, not
// all at the same moment.
type pace struct {
	began  time.Time
	deltas int
}

const each = 10 * time.Millisecond

// due is when the agent of a number has its n-th delta.
func (p pace) due(agent, n int) time.Time {
	return p.began.Add(time.Duration(agent)*each/1000 + time.Duration(n)*each)
}

// Receive streams the numbers of its deltas. Its model is the number of the agent.
func (p pace) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	agent, _ := strconv.Atoi(req.Model)
	return func(yield func(event.Stream, error) bool) {
		if !yield(event.MessageStart{MessageID: "m" + req.Model}, nil) {
			return
		}
		for n := range p.deltas {
			time.Sleep(time.Until(p.due(agent, n)))
			if !yield(event.TextDelta{Text: strconv.Itoa(n) + " "}, nil) {
				return
			}
		}
		yield(event.MessageStop{StopReason: event.EndTurn}, nil)
	}
}

// A reader follows one agent as a client, and has every delta in its order, once,
// or says what it has instead.
type reader struct {
	next  int
	wrong string
	text  string // of the message
	late  func(n int)
}

func (r *reader) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	switch d := e.Data.(type) {
	case event.TextDelta:
		if want := strconv.Itoa(r.next) + " "; d.Text != want && r.wrong == "" {
			r.wrong = fmt.Sprintf("%q instead of %q", d.Text, want)
		}
		r.late(r.next)
		r.next++
	case event.AssistantMessage:
		r.text = d.Content.Text()
	}
	return nil
}

// crowd has agents stream at once, each followed by a client of its own, and
// returns when all have ended. It fails where a client lacks something. Late is
// called with every delta, one after the other.
func crowd(t testing.TB, agents, deltas int, late func(p pace, agent, n int)) {
	t.Helper()
	var memory runtime.Memory
	var ids atomic.Int64
	mint := func(prefix string) string { return prefix + strconv.FormatInt(ids.Add(1), 10) }
	var timeline bus.Bus
	p := pace{deltas: deltas}
	w := runtime.New(runtime.Config{
		Bus: &timeline, Journal: &memory, Sessions: &memory, Images: &memory, Now: time.Now, NewID: mint,
		Define: func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
			return runtime.Definition{Model: c.Model, Driver: engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
				return p.Receive(ctx, req)
			})}, nil
		},
	})
	if err := w.Serve(); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c := runtime.Client{Timeline: &timeline, Now: time.Now, NewID: mint}
	if err := c.Container(ctx, "home"); err != nil {
		t.Fatal(err)
	}
	readers, ran := make([]*reader, agents), make([]event.AgentID, agents)
	for i := range agents {
		a, err := c.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", Config: runtime.AgentConfig{Model: strconv.Itoa(i)}})
		if err != nil {
			t.Fatal(err)
		}
		readers[i], ran[i] = &reader{late: func(n int) { late(p, i, n) }}, a.AgentID
		c.Follow(a.AgentID, readers[i])
	}
	p.began = time.Now().Add(100 * time.Millisecond) // when all have been asked
	var all sync.WaitGroup
	for i := range agents {
		all.Go(func() { // ends with its answer
			if err := c.Receive(ctx, ran[i], event.Say("go on")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, r := range readers {
		if r.wrong != "" || r.next != deltas || strings.Count(r.text, " ") != deltas {
			t.Errorf("client %d was told %d of %d deltas, %s; the message has %d", i, r.next, deltas, r.wrong, strings.Count(r.text, " "))
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Error(err)
	}
}

// A thousand agents stream at once, a hundred deltas a second each, and a client
// follows each: none lacks a delta, has one twice or in another's place, and
// none has its last later than it was due (F125).
func TestAThousandAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		crowd(t, 1000, 50, func(p pace, agent, n int) {
			if lag := time.Since(p.due(agent, n)); lag != 0 {
				t.Errorf("delta %d of agent %d came %v late", n, agent, lag)
			}
		})
		if took, want := time.Since(began), 100*time.Millisecond+49*each+999*each/1000; took != want {
			t.Errorf("the last was told after %v, want %v", took, want)
		}
	})
}

// The same by the clock on the wall: how much of the machine it takes, and how
// long behind its time a delta reaches the client that waits for it (F125).
func BenchmarkAThousandAgents(b *testing.B) {
	const agents, deltas = 1000, 200 // two seconds
	var lags []time.Duration
	var spent, streaming time.Duration
	for b.Loop() {
		lags = make([]time.Duration, 0, agents*deltas)
		before := cpu()
		crowd(b, agents, deltas, func(p pace, agent, n int) {
			lags = append(lags, time.Since(p.due(agent, n)))
			streaming = time.Since(p.began)
		})
		spent = cpu() - before
	}
	slices.Sort(lags)
	b.ReportMetric(float64(len(lags))/streaming.Seconds(), "deltas/s")
	b.ReportMetric(spent.Seconds()/streaming.Seconds(), "cores")
	b.ReportMetric(float64(spent.Nanoseconds())/float64(len(lags)), "cpu-ns/delta")
	b.ReportMetric(lags[len(lags)/2].Seconds()*1000, "ms-median-lag")
	b.ReportMetric(lags[len(lags)-1].Seconds()*1000, "ms-worst-lag")
}
