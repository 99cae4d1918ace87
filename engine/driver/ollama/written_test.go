package ollama

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// TestWritten finds no byte changed by what a client has written before.
func TestWritten(t *testing.T) {
	wiretest.TestWritten(t, []string{"qwen3:8b", "gpt-oss"}, []string{"s"}, func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, Driver{Client: c})
	})
}

func BenchmarkWritten(b *testing.B) {
	wiretest.BenchmarkWritten(b, "qwen3:8b", func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, Driver{Client: c})
	})
}
