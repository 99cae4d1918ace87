package anthropic

import (
	"bytes"
	"fmt"
	"testing"

	"agentx/engine/driver/wire/wiretest"
)

const benchEvents = 1000

func benchStream() []byte {
	var b bytes.Buffer
	b.WriteString("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"model\":\"m\",\"usage\":{\"input_tokens\":9}}}\n\n")
	for i := range benchEvents {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word %d \\u2014 and \\\"more\\\"\"}}\n\n", i)
	}
	b.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wiretest.BenchmarkDecode(b, benchStream(), benchEvents, fresh)
}

func BenchmarkNaive(b *testing.B) { wiretest.BenchmarkNaive(b, benchStream(), benchEvents) }
