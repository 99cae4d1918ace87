package ollama

import (
	"errors"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// fresh is a decoder of an answer that has not begun.
func fresh() wire.Decoder { return newDecoder(wire.Call{Provider: "P"}, "asked") }

// TestStreams reads lines that stand in events: a decoder sees no difference.
func TestStreams(t *testing.T) { wiretest.TestStreams(t, fresh) }

func FuzzDecode(f *testing.F) { wiretest.Fuzz(f, fresh) }

// TestSignsOfLife keeps an answer that says nothing from looking like one that
// goes on.
func TestSignsOfLife(t *testing.T) {
	for _, line := range []string{`{"model":"m","message":{"role":"assistant","content":""},"done":false}`, `{"message":{"content":"","images":null},"done":false}`, `{}`} {
		if out, err := fresh().Decode(nil, wire.Frame{Data: []byte(line)}); len(out) > 0 || !errors.Is(err, wire.ErrPing) {
			t.Errorf("%s: %v, %v", line, out, err)
		}
	}
}
