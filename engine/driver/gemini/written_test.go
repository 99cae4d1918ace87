package gemini

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// TestWritten finds no byte changed by what a client has written before.
func TestWritten(t *testing.T) {
	wiretest.TestWritten(t, []string{"gemini-3.5-flash", "gemini-2.5-pro", "gemma-4"}, []string{"s", ofCall + "c", ofText + "t"}, func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, c, 0, true)
	})
}

func BenchmarkWritten(b *testing.B) {
	wiretest.BenchmarkWritten(b, "gemini-3.5-flash", func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, c, 0, true)
	})
}
