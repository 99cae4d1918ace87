package wiretest

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// BenchmarkDecode reads a stream of so many events as a driver does.
func BenchmarkDecode(b *testing.B, stream []byte, events int, decoder func() wire.Decoder) {
	var out []event.Stream
	each(b, stream, events, func() func(wire.Frame) error {
		d := decoder()
		return func(f wire.Frame) (err error) {
			out, err = d.Decode(out[:0], f)
			return err
		}
	})
}

// BenchmarkNaive is what it is measured against: each event into a map.
func BenchmarkNaive(b *testing.B, stream []byte, events int) {
	each(b, stream, events, func() func(wire.Frame) error {
		return func(f wire.Frame) error {
			var m map[string]any
			return json.Unmarshal(f.Data, &m)
		}
	})
}

// each times a reader of frames, new for every run of the stream.
func each(b *testing.B, stream []byte, events int, reader func() func(wire.Frame) error) {
	b.ReportAllocs()
	for b.Loop() {
		r, take := wire.NewReader(bytes.NewReader(stream), longestLine), reader()
		for {
			f, err := r.Next()
			if err == io.EOF {
				break
			}
			if err := take(f); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
}
