package engine_test

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"regexp"
	"testing"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
)

// What the examples show keeps the promises that its neighbours rely on.
func TestTheExamplesAreTrue(t *testing.T) {
	for name, d := range map[string]engine.Driver{"parrot": parrot{}, "abacus": abacus{}, "elephant": engine.DriverFunc(elephant)} {
		t.Run(name, func(t *testing.T) { enginetest.TestDriver(t, func() engine.Driver { return d }) })
	}
	for name, p := range map[string]engine.Presenter{"logging": logging(slog.New(slog.DiscardHandler)), "keeping": keeping(io.Discard)} {
		t.Run(name, func(t *testing.T) { enginetest.TestPresenter(t, func() engine.Presenter { return p }) })
	}
}

// The manual has a line in a table for every event of the four layers.
func TestTheManualNamesEveryEvent(t *testing.T) {
	manual, err := os.ReadFile("../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]bool{} // the names that stand in the first column
	name := regexp.MustCompile("`[a-z_]+`")
	for line := range bytes.Lines(manual) {
		if cells := bytes.SplitN(line, []byte("|"), 3); len(cells) == 3 && len(cells[0]) == 0 {
			for _, n := range name.FindAll(cells[1], -1) {
				first[string(bytes.Trim(n, "`"))] = true
			}
		}
	}
	for _, e := range enginetest.Conversation() {
		if _, nobodys := e.Data.(event.Unknown); !nobodys && !first[e.Data.Type()] {
			t.Errorf("docs/engine.md has no line for %s", e.Data.Type())
		}
	}
}
