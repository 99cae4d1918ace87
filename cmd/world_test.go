package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"
)

// TestHandlersThatPanicAreHeardOf has a handler break down on the bus of a
// program: it says so, and those behind it are called all the same (F116).
func TestHandlersThatPanicAreHeardOf(t *testing.T) {
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	w := newWorld(nil, nil, stderr)
	w.bus.Subscribe(bus.Subscription{}, func(bus.SystemEvent) { panic("no") })
	heard := 0
	w.bus.Subscribe(bus.Subscription{}, func(bus.SystemEvent) { heard++ })
	w.bus.Publish(bus.OfAgent(event.Event{At: time.Now(), Data: event.TextDelta{Text: "hi"}}, bus.Scope{}))
	said, _ := os.ReadFile(stderr.Name())
	if heard != 1 || !strings.Contains(string(said), "panicked over text_delta: no") {
		t.Errorf("heard %d, said %q", heard, said)
	}
}
