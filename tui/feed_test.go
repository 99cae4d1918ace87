package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine/event"
)

// Many goroutines speak, one after the other or at once: whatever their order,
// one look shows all that came within its moment, and none of it waits longer.
func TestALookTakesAllOfItsMoment(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			f := NewFeed()
			time.Sleep(moment / 4)
			for _, after := range []time.Duration{0, 0, 0, moment / 4, moment / 2} {
				go func() { // ends when it has spoken
					time.Sleep(after)
					if err := f.Present(t.Context(), "", event.Event{Data: event.TextDelta{Text: "x"}}); err != nil {
						t.Error(err)
					}
				}()
			}
			began := time.Now()
			look := f.next(0, forever)().(outputs)
			if took := time.Since(began); len(look.events) != 5 || took != moment*3/4 {
				t.Fatalf("a look after %v shows %d events, want 5 at the end of the moment", took, len(look.events))
			}
		})
	}
}
