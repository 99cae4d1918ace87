package engine_test

import (
	"bytes"
	"flag"
	"iter"
	"slices"
	"testing"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Golden files are read in review: update them only when you can say why.
var update = flag.Bool("update", false, "write the golden events of the traces")

const traces = "../testdata/traces/*.txtar"

func TestTraces(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		t.Run(tr.Name, func(t *testing.T) {
			tr.Compare(t, tr.Run(t), *update)
		})
	}
}

// Whatever the engine has shown can be derived again from its inputs alone, to
// the byte: this is time travel, and what resuming a session stands on (F123).
func TestReplayGivesTheSameBytes(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		if len(tr.Inputs) > 0 {
			continue // inputs of higher layers look like what follows from others
		}
		shown := tr.Run(t)
		replayed := slices.Collect(mealy.Replay(engine.StepWith(tr.Prices), engine.State{}, inputs(shown)))
		if got, want := enginetest.Lines(t, replayed), enginetest.Lines(t, shown); !bytes.Equal(got, want) {
			t.Errorf("%s: replayed\n%s\nshown\n%s", tr.Name, got, want)
		}
	}
}

// However an answer went, the engine leaves nothing open behind it: no turn, and
// no phase that waits for something (F72).
func TestNothingIsLeftOpen(t *testing.T) {
	for _, tr := range enginetest.Traces(t, traces) {
		if len(tr.Inputs) > 0 {
			continue
		}
		var s engine.State
		failed := false
		for e := range inputs(tr.Run(t)) {
			for out := range mealy.Follow(engine.Step, &s, e) {
				if end, ok := out.Data.(event.ConversationEnd); ok {
					failed = end.Reason == event.EndError
				}
			}
		}
		want := engine.Idle
		if failed {
			want = engine.Failed
		}
		if s.Open() || s.Phase() != want {
			t.Errorf("%s: open %v, and %s, want %s", tr.Name, s.Open(), s.Phase(), want)
		}
	}
}

// inputs are the events that followed from no other.
func inputs(all []event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		for _, e := range all {
			_, said := e.Data.(event.UserMessage)
			if (said || event.LayerOf(e.Data) == event.StreamLayer) && !yield(e) {
				return
			}
		}
	}
}
