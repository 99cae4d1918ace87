package openai

import (
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
)

// fresh is a decoder of an answer that has not begun.
func fresh() wire.Decoder { return newDecoder(wire.Call{Provider: "P"}, "asked", Driver{}.seal()) }

func TestStreams(t *testing.T) { wiretest.TestStreams(t, fresh) }

func FuzzDecode(f *testing.F) { wiretest.Fuzz(f, fresh) }
