package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
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

// BenchmarkDecode reads a stream as the driver does.
func BenchmarkDecode(b *testing.B) {
	stream := benchStream()
	b.ReportAllocs()
	for b.Loop() {
		r, d := wire.NewReader(bytes.NewReader(stream), 1<<20), newDecoder(wire.Call{}, "m")
		var out []event.Stream
		for {
			f, err := r.Next()
			if err == io.EOF {
				break
			}
			if out, err = d.Decode(out[:0], f); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchEvents), "ns/event")
}

// BenchmarkNaive is what it is measured against: each event into a map.
func BenchmarkNaive(b *testing.B) {
	stream := benchStream()
	b.ReportAllocs()
	for b.Loop() {
		r := wire.NewReader(bytes.NewReader(stream), 1<<20)
		for {
			f, err := r.Next()
			if err == io.EOF {
				break
			}
			var m map[string]any
			if err := json.Unmarshal(f.Data, &m); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchEvents), "ns/event")
}
