package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// decode returns what a decoder makes of a stream up to the message's stop.
func decodeAll(stream []byte, model string) (all []event.Stream, err error) {
	r, d := wire.NewReader(bytes.NewReader(stream), 1<<20), newDecoder(wire.Call{Provider: "P"}, model)
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

// TestStreams compares what is made of testdata/streams/NAME.sse with
// NAME.events. With UPDATE set it writes that.
func TestStreams(t *testing.T) {
	streams, _ := filepath.Glob("testdata/streams/*.sse")
	if len(streams) == 0 {
		t.Fatal("no streams")
	}
	for _, path := range streams {
		t.Run(filepath.Base(path), func(t *testing.T) {
			stream, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			events, err := decodeAll(stream, "asked")
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, events)
			golden := strings.TrimSuffix(path, "sse") + "events"
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var minted = regexp.MustCompile(`msg_[A-Z2-7]{26}`)

// lines writes each event as its type and its data.
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

// FuzzDecode feeds a decoder anything. It makes at most one message of it, whose
// calls are opened once and closed once, and reads the same whether or not an
// event has the shape that is read quickly.
func FuzzDecode(f *testing.F) {
	streams, _ := filepath.Glob("testdata/streams/*.sse")
	for _, path := range streams {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		quick, err1 := decodeAll(stream, "asked")
		open := map[string]bool{}
		for i, e := range quick {
			switch e := e.(type) {
			case event.ToolUseStart:
				if open[e.ToolCallID] || e.ToolCallID == "" {
					t.Errorf("event %d: %q is opened twice", i, e.ToolCallID)
				}
				open[e.ToolCallID] = true
			case event.ToolUseStop:
				if !open[e.ToolCallID] {
					t.Errorf("event %d: %q is not open", i, e.ToolCallID)
				}
				open[e.ToolCallID] = false
			case event.MessageStop:
				if i != len(quick)-1 {
					t.Errorf("event %d is a stop", i)
				}
			}
		}
		slow, err2 := decodeAll(spoiled(stream), "asked")
		if (err1 == nil) == (err2 == nil) && err1 == nil && len(quick) > 0 {
			if diff := cmp.Diff(stripped(t, quick), stripped(t, slow)); diff != "" {
				t.Errorf("%q: %s", stream, diff)
			}
		}
	})
}

// spoiled gives every event that is an object a field that nothing knows, so
// that none is read quickly.
func spoiled(stream []byte) []byte {
	var b bytes.Buffer
	r := wire.NewReader(bytes.NewReader(stream), 1<<20)
	for {
		f, err := r.Next()
		if err != nil {
			return b.Bytes()
		}
		data := f.Data
		if trimmed := bytes.TrimSpace(data); json.Valid(data) && bytes.HasPrefix(trimmed, []byte("{")) && len(trimmed) > 2 {
			data = append([]byte(`{"unknown":0,`), trimmed[1:]...)
		}
		b.WriteString("event: " + string(f.Name) + "\n")
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			b.WriteString("data: " + string(line) + "\n")
		}
		b.WriteString("\n")
	}
}

var anyID = regexp.MustCompile(`"messageId":"[^"]*"`)

func stripped(t testing.TB, events []event.Stream) string {
	return anyID.ReplaceAllString(lines(t, events), "")
}
