package wire_test

import (
	"context"
	"net/http"
	"runtime"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/enginetest"
)

// TestKit puts both drivers through what every driver promises.
func TestKit(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		p := serve(t, stream(d.start, d.pieces(10), d.pieces(10), d.stop))
		enginetest.TestDriver(t, func() engine.Driver { return d.driver(p.URL, nil) })
	})
}

// TestFiveHundredTurns leaves as much running as the first fifty did.
func TestFiveHundredTurns(t *testing.T) {
	turns := 500
	if raced {
		turns = 150
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		whole, cut := stream(d.whole()), stream(d.start+d.pieces(3))
		p := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if n%3 == 0 {
				cut(w, r, n)
			} else {
				whole(w, r, n)
			}
		})
		c := quick(t, nil)
		running := 0
		for i := range turns {
			wiretest.Ask(context.Background(), d.driver(p.URL, c), engine.Request{})
			if i == 50 {
				running = runtime.NumGoroutine()
			}
		}
		for range 6000 { // those of a connection that is gone end when they come to it
			if runtime.NumGoroutine() <= running+4 {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines after %d turns, %d after 50", runtime.NumGoroutine(), turns, running)
	})
}
