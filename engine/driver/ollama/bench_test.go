package ollama

import (
	"bytes"
	"fmt"
	"testing"

	"agentx/engine/driver/wire/wiretest"
)

const benchEvents = 1000

func benchStream() []byte {
	var b bytes.Buffer
	for i := range benchEvents {
		kind := "content"
		if i%4 == 0 {
			kind = `content":"","thinking`
		}
		fmt.Fprintf(&b, "data: {\"model\":\"llama3.2:3b\",\"created_at\":\"2026-11-21T10:00:00.%09dZ\",\"message\":{\"role\":\"assistant\",\"%s\":\" word %d \\u003e and \\\"more\\\"\"},\"done\":false}\n\n", i, kind, i)
	}
	b.WriteString("data: {\"model\":\"llama3.2:3b\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":9,\"eval_count\":1000}\n\n")
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wiretest.BenchmarkDecode(b, benchStream(), benchEvents, fresh)
}

func BenchmarkNaive(b *testing.B) { wiretest.BenchmarkNaive(b, benchStream(), benchEvents) }
