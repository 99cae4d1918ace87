package engine_test

import (
	"io"
	"log/slog"
	"testing"

	"agentx/engine"
	"agentx/engine/enginetest"
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
