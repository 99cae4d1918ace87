package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type frame struct{ Name, Data string }

func readAll(r *wire.Reader) (all []frame, err error) {
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, frame{string(f.Name), string(f.Data)})
	}
}

func TestFraming(t *testing.T) {
	for _, test := range []struct {
		name, stream string
		want         []frame
	}{
		{"lf", "event: a\ndata: 1\n\ndata: 2\n\n", []frame{{"a", "1"}, {"", "2"}}},
		{"crlf", "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []frame{{"a", "1"}, {"", "2"}}},
		{"cr", "event: a\rdata: 1\r\rdata: 2\r\r", []frame{{"a", "1"}, {"", "2"}}},
		{"mixed ends", "event: a\rdata: 1\r\n\ndata: 2\n\r\n", []frame{{"a", "1"}, {"", "2"}}},
		{"byte order mark", "\xEF\xBB\xBFdata: 1\n\n", []frame{{"", "1"}}},
		{"a mark only at the start", "data: 1\n\n\xEF\xBB\xBFdata: 2\n\n", []frame{{"", "1"}}},
		{"comments", ": hello\n\n:\ndata: 1\n: in between\n\n", []frame{{"", "1"}}},
		{"many lines", "data: {\ndata:  \"a\": 1\ndata: }\n\n", []frame{{"", "{\n \"a\": 1\n}"}}},
		{"no space", "event:a\ndata:1\n\n", []frame{{"a", "1"}}},
		{"unknown fields", "id: 7\nretry: 1\nfoo: bar\nfoo\ndata: 1\n\n", []frame{{"", "1"}}},
		{"a name without data", "event: a\n\ndata: 1\n\n", []frame{{"", "1"}}},
		{"colons in data", "data: a: b:c\n\n", []frame{{"", "a: b:c"}}},
		{"blank lines", "\n\n\ndata: 1\n\n\n\n\n", []frame{{"", "1"}}},
		{"no last blank line", "data: 1\n\ndata: 2\n", []frame{{"", "1"}, {"", "2"}}},
		{"no last end of line", "data: 1\n\ndata: 2", []frame{{"", "1"}, {"", "2"}}},
		{"nothing", "", nil},
		{"other things", "<html>\n\n{}\n\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":    strings.NewReader(test.stream),
				"one byte": iotest.OneByteReader(strings.NewReader(test.stream)),
				"halves":   iotest.HalfReader(strings.NewReader(test.stream)),
				"with EOF": iotest.DataErrReader(strings.NewReader(test.stream)),
			} {
				got, err := readAll(wire.NewReader(r, 1000))
				if err != io.EOF {
					t.Errorf("%s: error %v", name, err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}

func TestLinesOfJSON(t *testing.T) {
	got, err := readAll(wire.NewLineReader(strings.NewReader("{\"a\":1}\r\n\n  {\"b\":2}\n{\"c\":3}"), 100))
	if want := []frame{{"", `{"a":1}`}, {"", `{"b":2}`}, {"", `{"c":3}`}}; err != io.EOF || !cmp.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestCut says of an event whose end did not come that it was cut.
func TestCut(t *testing.T) {
	r := wire.NewReader(strings.NewReader("data: 1\n\ndata: {\"a"), 100)
	if f, err := r.Next(); err != nil || f.Cut {
		t.Errorf("%v %v, want a whole event", f, err)
	}
	if f, err := r.Next(); err != nil || !f.Cut || string(f.Data) != `{"a` {
		t.Errorf("%q cut %v %v, want what there was of it", f.Data, f.Cut, err)
	}
}

func TestBounds(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 10<<20/16)
	got, err := readAll(wire.NewReader(strings.NewReader("data: "+big+"\n\n"), 32<<20))
	if err != io.EOF || len(got) != 1 || got[0].Data != big {
		t.Errorf("a line of 10 MB: %d events, %v", len(got), err)
	}
	for name, stream := range map[string]io.Reader{
		"one line":              strings.NewReader("data: " + big + "\n\n"),
		"a line without an end": io.MultiReader(strings.NewReader("data: "), endless('x')),
		"many lines":            endlessly("data: 0123456789\n"),
	} {
		_, err := readAll(wire.NewReader(stream, 1<<20))
		f, ok := errors.AsType[*engine.Fault](err)
		if !ok || f.Code != event.CodeTooLarge || !strings.Contains(f.Message, "line longer than 1 MB") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

type endlessly string

func (e endlessly) Read(p []byte) (int, error) {
	n := 0
	for n+len(e) <= len(p) {
		n += copy(p[n:], e)
	}
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	return n, nil
}

// TestAnySplit cuts a stream of anything into anything: the events are those of
// the whole, and those of a reader that is too simple to be wrong.
func TestAnySplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			"\n", "\r", "\r\n", "data: ", "data:", "data", "event: ", ": c", "x", " ", "é", "\xEF\xBB\xBF", "id: 1", ":", "{}",
		})).Draw(t, "stream")
		stream := strings.Join(pieces, "")
		want := naive(stream)
		got, err := readAll(wire.NewReader(&chunks{[]byte(stream), rapid.SliceOf(rapid.IntRange(1, 7)).Draw(t, "sizes")}, 1<<20))
		if err != io.EOF {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s", stream, diff)
		}
	})
}

// naive reads server-sent events with all of them before it. The last may lack
// its end.
func naive(stream string) (all []frame) {
	stream = strings.TrimPrefix(stream, "\xEF\xBB\xBF")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	name, data := "", []string{}
	for _, line := range strings.Split(stream+"\n\n", "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if s := strings.TrimPrefix(strings.Join(data, "\n"), "\n"); strings.Join(data, "") != "" {
				all = append(all, frame{name, s})
			}
			name, data = "", nil
		case field == "event":
			name = value
		case field == "data":
			if value != "" || len(data) > 0 { // the reader does not tell no data from empty data
				data = append(data, value)
			}
		}
	}
	return all
}

// chunks gives its bytes in pieces of the given sizes, then of one.
type chunks struct {
	b     []byte
	sizes []int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := 1
	if len(c.sizes) > 0 {
		n, c.sizes = c.sizes[0], c.sizes[1:]
	}
	n = copy(p, c.b[:min(n, len(c.b))])
	c.b = c.b[n:]
	return n, nil
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\r\ndata: {\"x\":1}\r\n\r\n"), uint8(3))
	f.Add([]byte("\xEF\xBB\xBF: c\rdata\rdata: x\r\r"), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, n uint8) {
		whole, err1 := readAll(wire.NewReader(bytes.NewReader(stream), 1<<16))
		cut, err2 := readAll(wire.NewReader(&chunks{bytes.Clone(stream), []int{int(n) + 1, 1, int(n) + 1, 2}}, 1<<16))
		if fmt.Sprint(err1) != fmt.Sprint(err2) || !cmp.Equal(whole, cut) {
			t.Errorf("%q: whole %q %v, cut %q %v", stream, whole, err1, cut, err2)
		}
	})
}

// BenchmarkReader reads lines that end with LF and with CR: neither may search
// the buffer again for each of them.
func BenchmarkReader(b *testing.B) {
	for name, end := range map[string]string{"lf": "\n", "cr": "\r", "crlf": "\r\n"} {
		stream := []byte(strings.Repeat("data: {\"type\":\"ping\"}"+end+end, 50_000))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				r := wire.NewReader(bytes.NewReader(stream), 32<<20)
				for {
					if _, err := r.Next(); err != nil {
						break
					}
				}
			}
		})
	}
}
