package openai

import (
	"bytes"
	"fmt"
	"testing"

	"agentx/engine/driver/wire/wiretest"
)

const benchEvents = 1000

func benchStream() []byte {
	var b bytes.Buffer
	b.WriteString("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"\"}}]}}]}\n\n")
	for i := range benchEvents {
		if i%4 == 0 {
			fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-C0mpl3t10n1234567890abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1771438841,\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\" \\\"word%d\\\"\"}}]},\"finish_reason\":null}]}\n\n", i)
			continue
		}
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-C0mpl3t10n1234567890abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1771438841,\"model\":\"gpt-5\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word %d \\u2014 and more\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n", i)
	}
	b.WriteString("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wiretest.BenchmarkDecode(b, benchStream(), benchEvents, fresh)
}

func BenchmarkNaive(b *testing.B) { wiretest.BenchmarkNaive(b, benchStream(), benchEvents) }
