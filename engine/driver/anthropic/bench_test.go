package anthropic

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
	b.WriteString("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_01\",\"model\":\"m\",\"usage\":{\"input_tokens\":9}}}\n\n")
	for i := range benchEvents {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word %d \\u2014 and \\\"more\\\"\"}}\n\n", i)
	}
	b.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
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
