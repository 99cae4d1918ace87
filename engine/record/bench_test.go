package record_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/record"
)

// What a recording costs a delta, however long the message has become. The
// baselines are the engine that nobody records, and one whose transitions are
// thrown away.
func BenchmarkRecording(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		for name, tell := range map[string]func() func(engine.Transition){
			"unrecorded": func() func(engine.Transition) { return nil },
			"told":       func() func(engine.Transition) { return func(engine.Transition) {} },
			"written":    func() func(engine.Transition) { return record.NewWriter(io.Discard, record.Header{}).Step },
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				e := answering(n)
				e.Record = tell()
				b.ReportAllocs()
				for b.Loop() {
					answer(b, e)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delta")
			})
		}
	}
}

// answering is an engine whose driver says n deltas.
func answering(n int) engine.Engine {
	events := []event.Stream{event.MessageStart{MessageID: "m"}}
	for range n {
		events = append(events, event.TextDelta{Text: "hello "})
	}
	return engine.Engine{Driver: script.Say(append(events, event.MessageStop{StopReason: event.EndTurn})...), Now: time.Now}
}

func answer(t testing.TB, e engine.Engine) {
	for _, err := range e.Events(context.Background(), engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Where nobody records, nothing is paid. Recorded, a delta costs the same in a
// long answer as in a short one.
func TestWhatARecordingCosts(t *testing.T) {
	each := func(n int, tell func(engine.Transition)) float64 {
		e := answering(n)
		e.Record = tell
		return testing.AllocsPerRun(2, func() { answer(t, e) }) / float64(n)
	}
	if plain := each(10_000, nil); plain > 5 {
		t.Errorf("unrecorded: %.1f allocations for a delta", plain)
	}
	short := each(1_000, record.NewWriter(io.Discard, record.Header{}).Step)
	much := 100_000
	if raced {
		much = 10_000
	}
	long := each(much, record.NewWriter(io.Discard, record.Header{}).Step)
	if long > short+1 || long > 40 {
		t.Errorf("recorded: %.1f allocations for a delta, %.1f in a long answer", short, long)
	}
}

func BenchmarkVerify(b *testing.B) {
	var file counter
	e := answering(10_000)
	w := record.NewWriter(&file, record.Header{})
	e.Record = w.Step
	answer(b, e)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if _, diff := verify(b, file); diff != nil {
			b.Fatal(diff)
		}
	}
	b.ReportMetric(float64(len(file))/10_000, "B/step")
}

type counter []byte

func (c *counter) Write(p []byte) (int, error) {
	*c = append(*c, p...)
	return len(p), nil
}
