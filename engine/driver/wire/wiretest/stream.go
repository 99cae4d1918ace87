// Package wiretest is a kit for those who speak the dialect of a provider: it
// compares what they make of recorded streams and requests, feeds them anything,
// and times them. It knows no dialect.
package wiretest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

const longestLine = 1 << 20 // bytes

// Decode returns what d makes of a stream up to the message's stop.
func Decode(d wire.Decoder, stream []byte) (all []event.Stream, err error) {
	r := wire.NewReader(bytes.NewReader(stream), longestLine)
	for {
		f, err := r.Next()
		if err == io.EOF {
			return d.Count(d.End(all)), nil
		}
		if err != nil {
			return all, err
		}
		all, err = d.Decode(all, f)
		if err != nil && err != wire.ErrPing {
			return all, err
		}
		if n := len(all); n > 0 {
			if _, stop := all[n-1].(event.MessageStop); stop {
				return all, nil
			}
		}
	}
}

// TestStreams compares what a new decoder makes of testdata/streams/NAME.sse
// with NAME.events. With UPDATE set it writes that.
func TestStreams(t *testing.T, decoder func() wire.Decoder) {
	for _, path := range streams(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			events, err := Decode(decoder(), read(t, path))
			if err != nil {
				t.Fatal(err)
			}
			got, golden := lines(t, events), strings.TrimSuffix(path, "sse")+"events"
			update(t, golden, []byte(got))
			if diff := cmp.Diff(string(read(t, golden)), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func streams(t testing.TB) []string {
	paths, _ := filepath.Glob("testdata/streams/*.sse") // the pattern is good
	if len(paths) == 0 {
		t.Fatal("no streams")
	}
	return paths
}

func read(t testing.TB, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// update writes a golden file where UPDATE asks for it.
func update(t testing.TB, path string, text []byte) {
	if os.Getenv("UPDATE") == "" {
		return
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

var minted = regexp.MustCompile(`msg_[A-Z2-7]{26}`)

// lines writes each event as its type and its data, without ids of our own.
func lines(t testing.TB, events []event.Stream) string {
	var b strings.Builder
	for _, e := range events {
		data, err := event.MarshalData(e)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Type() + " " + minted.ReplaceAllString(string(data), "msg_MINTED") + "\n")
	}
	return b.String()
}
