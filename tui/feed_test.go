package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine/event"
)

// Many goroutines speak at once: whatever their order, one look shows all of it.
func TestALookTakesWhatComesAtOnce(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			f := NewFeed()
			began := time.Now()
			for range 5 {
				go func() { // ends when it has spoken
					time.Sleep(time.Second)
					if err := f.Present(t.Context(), "", event.Event{Data: event.TextDelta{Text: "x"}}); err != nil {
						t.Error(err)
					}
				}()
			}
			look := f.next(0, forever)().(outputs)
			if took := time.Since(began); len(look.events) != 5 || took != time.Second+settling {
				t.Fatalf("a look after %v shows %d events, want 5 at once", took, len(look.events))
			}
		})
	}
}
