package gemini

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
		fmt.Fprintf(&b, "data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \" word %d \\u2014 and \\\"more\\\" of what is said\"}],\"role\": \"model\"},\"index\": 0}],"+
			"\"usageMetadata\": {\"promptTokenCount\": 11,\"candidatesTokenCount\": %d,\"totalTokenCount\": %d,\"promptTokensDetails\": [{\"modality\": \"TEXT\",\"tokenCount\": 11}],\"thoughtsTokenCount\": 206},"+
			"\"modelVersion\": \"gemini-3.1-pro-preview\",\"responseId\": \"aB3dEfGhIjKlMnOpQrStUvW\"}\r\n\r\n", i, i, i+217)
	}
	b.WriteString("data: {\"candidates\": [{\"content\": {\"parts\": [{\"text\": \"\"}],\"role\": \"model\"},\"finishReason\": \"STOP\",\"index\": 0}]}\r\n\r\n")
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wiretest.BenchmarkDecode(b, benchStream(), benchEvents, fresh)
}

func BenchmarkNaive(b *testing.B) { wiretest.BenchmarkNaive(b, benchStream(), benchEvents) }
