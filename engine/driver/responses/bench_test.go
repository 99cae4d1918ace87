package responses

import (
	"bytes"
	"fmt"
	"testing"

	"agentx/engine/driver/wire/wiretest"
)

const benchEvents = 1000

func benchStream() []byte {
	const event = "event: response.%s\ndata: {\"type\":\"response.%[1]s\",\"item_id\":%q,\"output_index\":%d,%s\"delta\":%q,%s\"sequence_number\":%d,\"obfuscation\":\"0aXwT3Wx\"}\n\n"
	var b bytes.Buffer
	b.WriteString("event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_0bac52ec5f239d30\",\"model\":\"m\"}}\n\n")
	b.WriteString("data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"fc_1\",\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"t\",\"arguments\":\"\"}}\n\n")
	b.WriteString("data: {\"type\":\"response.output_item.added\",\"output_index\":1,\"item\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n")
	for i := range benchEvents {
		if i%4 == 0 {
			fmt.Fprintf(&b, event, "function_call_arguments.delta", "fc_1", 0, "", fmt.Sprintf(" \"word%d\"", i), "", i)
			continue
		}
		fmt.Fprintf(&b, event, "output_text.delta", "msg_1", 1, "\"content_index\":0,", fmt.Sprintf(" word %d — and \"more\"", i), "\"logprobs\":[],", i)
	}
	b.WriteString("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n")
	return b.Bytes()
}

func BenchmarkDecode(b *testing.B) {
	wiretest.BenchmarkDecode(b, benchStream(), benchEvents, fresh)
}

func BenchmarkNaive(b *testing.B) { wiretest.BenchmarkNaive(b, benchStream(), benchEvents) }
