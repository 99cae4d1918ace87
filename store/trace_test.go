package store

import (
	"testing"

	"agentx/engine/enginetest"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// Every recorded conversation is kept as it was shown, to the byte, and can be
// gone on from (F98).
func TestTracesAreKept(t *testing.T) {
	db := fresh(t)
	for _, tr := range enginetest.Traces(t, "../testdata/traces/*.txtar") {
		if len(tr.Inputs) > 0 {
			continue // for the machine alone
		}
		t.Run(tr.Name, func(t *testing.T) {
			begin(t, db, event.SessionID(tr.Name))
			shown := tr.Run(t)
			p := db.Presenter(event.SessionID(tr.Name))
			for _, e := range shown {
				if err := p.Present(t.Context(), "a", e); err != nil {
					t.Fatal(err)
				}
			}
			log, err := db.Events(t.Context(), event.SessionID(tr.Name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wire(t, kept(shown)), wire(t, log)); diff != "" {
				t.Errorf("-shown +kept\n%s", diff)
			}
			s, err := db.Session(t.Context(), event.SessionID(tr.Name))
			if err != nil || s.Open {
				t.Errorf("its last turn is open, %v", err)
			}
		})
	}
}
