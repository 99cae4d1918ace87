package wiretest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// Fuzz feeds decoders anything, beginning with testdata/streams. One makes at
// most one message of it, whose calls are opened once and closed once, and reads
// the same whether or not an event has the shape that is read quickly.
func Fuzz(f *testing.F, decoder func() wire.Decoder) {
	for _, path := range streams(f) {
		f.Add(read(f, path))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		quick, err1 := Decode(decoder(), stream)
		ordered(t, quick)
		slow, err2 := Decode(decoder(), spoiled(stream))
		if err1 == nil && err2 == nil && len(quick) > 0 {
			if diff := cmp.Diff(nameless(t, quick), nameless(t, slow)); diff != "" {
				t.Errorf("%q: %s", stream, diff)
			}
		}
	})
}

// ordered checks what holds of every message, whatever it was made of.
func ordered(t *testing.T, events []event.Stream) {
	open := map[string]bool{}
	for i, e := range events {
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
			if i != len(events)-1 {
				t.Errorf("event %d is a stop", i)
			}
		}
	}
}

// spoiled gives every event that is an object a field that nothing knows, so
// that none is read quickly.
func spoiled(stream []byte) []byte {
	var b bytes.Buffer
	r := wire.NewReader(bytes.NewReader(stream), longestLine)
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

// nameless is events as lines without the ids of messages, which calls without
// an id of their own are known by too.
func nameless(t testing.TB, events []event.Stream) string {
	s := lines(t, events)
	for _, e := range events {
		if start, ok := e.(event.MessageStart); ok {
			s = strings.ReplaceAll(s, start.MessageID, "")
		}
	}
	return strings.ReplaceAll(s, "msg_MINTED", "")
}
