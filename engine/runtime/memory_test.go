package runtime_test

import (
	"context"
	"slices"
	"testing"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/script"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/runtime"

	"github.com/google/go-cmp/cmp"
)

// The memory keeps the promises of a presenter (F120).
func TestMemoryIsAPresenter(t *testing.T) {
	enginetest.TestPresenter(t, func() engine.Presenter { return new(runtime.Memory).Presenter("s") })
}

func TestMemoryIsALibrary(t *testing.T) {
	enginetest.TestSessions(t, func() enginetest.Library { return &runtime.Memory{} })
}

func TestMemoryIsAGallery(t *testing.T) {
	enginetest.TestImages(t, func() enginetest.Gallery { return &runtime.Memory{} })
}

// What has been read of a session does not change when more is said in it.
func TestMemoryHandsOutWhatStays(t *testing.T) {
	var m runtime.Memory
	keep := func(id string) {
		e := event.Event{Data: event.UserMessage{ID: id}}
		if err := m.Presenter("s").Present(context.Background(), "a", e); err != nil {
			t.Fatal(err)
		}
	}
	read := func() []event.Event {
		events, err := m.Events(context.Background(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	for _, id := range []string{"1", "2", "3"} {
		keep(id)
	}
	early := read()
	mine := append(early, event.Event{Data: event.UserMessage{ID: "not said"}})
	keep("4")
	if id := mine[3].Data.(event.UserMessage).ID; id != "not said" {
		t.Errorf("what a reader added has become %q", id)
	}
	if id := read()[3].Data.(event.UserMessage).ID; id != "4" || len(early) != 3 {
		t.Errorf("the session goes on with %q behind %d", id, len(early))
	}
}

// Every recorded conversation, lived in a runtime: the bus tells what the trace
// has recorded, in its order, and the journal keeps its messages and turns and
// nothing else.
func TestTracesInARuntime(t *testing.T) {
	for _, tr := range enginetest.Traces(t, "../../testdata/traces/*.txtar") {
		if len(tr.Inputs) > 0 {
			continue // for the machine alone
		}
		t.Run(tr.Name, func(t *testing.T) {
			var j runtime.Memory
			w := open(t, &j)
			var told []event.Event
			w.Bus.Subscribe(bus.Subscription{Filter: func(e bus.SystemEvent) bool { return e.Source == bus.Agent }},
				func(e bus.SystemEvent) { told = append(told, e.Event) })
			a := w.Container("c").Run(runtime.Definition{Driver: script.Answers(tr.Turns, 0), Price: tr.Prices}, "s")
			for _, turn := range tr.Turns {
				_ = a.ReceiveMessage(t.Context(), turn.Message) // a failure is among the events
			}
			recorded := tr.Run(t)
			if diff := cmp.Diff(types(recorded), types(told)); diff != "" {
				t.Errorf("the bus: -trace +told\n%s", diff)
			}
			journal, err := j.Events(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			lasting := slices.DeleteFunc(recorded, func(e event.Event) bool {
				l := event.LayerOf(e.Data)
				return l != event.MessageLayer && l != event.TurnLayer
			})
			if diff := cmp.Diff(types(lasting), types(journal)); diff != "" {
				t.Errorf("the journal: -trace +kept\n%s", diff)
			}
		})
	}
}

func types(events []event.Event) []string {
	var names []string
	for _, e := range events {
		names = append(names, e.Data.Type())
	}
	return names
}
