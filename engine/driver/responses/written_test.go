package responses

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// TestWritten finds no byte changed by what a client has written before.
func TestWritten(t *testing.T) {
	wiretest.TestWritten(t, []string{"gpt-5", "openai/gpt-5", "gpt-4o"}, []string{sealedHere("x"), sealedHere("")}, func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, Driver{Client: c, BaseURL: here}, true)
	})
}

func BenchmarkWritten(b *testing.B) {
	wiretest.BenchmarkWritten(b, "gpt-5", func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, Driver{Client: c, BaseURL: here}, true)
	})
}
