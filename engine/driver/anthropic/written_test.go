package anthropic

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// TestWritten finds no byte changed by what a client has written before.
func TestWritten(t *testing.T) {
	wiretest.TestWritten(t, []string{"claude-sonnet-4-5", "claude-3-5-haiku-latest", "agentx-tiny"}, []string{"s", redacted + "x"}, func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, c, 0, true)
	})
}

func BenchmarkWritten(b *testing.B) {
	wiretest.BenchmarkWritten(b, "claude-sonnet-4-5", func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, c, 0, true)
	})
}
