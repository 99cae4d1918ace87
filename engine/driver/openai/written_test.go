package openai

import (
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// TestWritten finds no byte changed by what a client has written before.
func TestWritten(t *testing.T) {
	for _, base := range []string{"", "https://api.deepseek.com", "https://resells.example/v1", "https://api.mistral.ai/v1"} {
		wiretest.TestWritten(t, []string{"gpt-5", "openai/gpt-5", "mistral-large-latest"}, []string{`reasoning_details@resells.example:[{"type":"reasoning.text","signature":"s"}]`}, func(c *wire.Client, req engine.Request) ([]byte, error) {
			return encode(req, Driver{Client: c, BaseURL: base}, true)
		})
	}
}

func BenchmarkWritten(b *testing.B) {
	wiretest.BenchmarkWritten(b, "gpt-5", func(c *wire.Client, req engine.Request) ([]byte, error) {
		return encode(req, Driver{Client: c}, true)
	})
}
