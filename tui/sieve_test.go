package tui

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"pgregory.net/rapid"
)

// However a slow link tears what a terminal sends: nothing of an answer is taken
// for typing, nothing that was typed is lost, and each key is still one.
func TestTornAnswers(t *testing.T) {
	answered := []string{
		"\x1b[?62;1;22c", "\x1b[>41;379;0c", "\x1b[?2026;2$y", "\x1b[?1u", "\x1b[12;40R", "\x1b[4;600;800t", "\x1b[<64;10;12M",
		"\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b]11;rgb:ffff/ffff/ffff\a", "\x1bP>|xterm(379)\x1b\\", "\x1b_Gi=1;OK\x1b\\", "\x1bP1+r524742=38\x1b\\",
	}
	typed := []string{"a", "word", "Grüße", "日本", "🙂", "4;1c", "?", "[", "\r", "\x1b[1;5C", "\x1b[15~", "\x1b[200~one\x1b[201~"}
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(append(answered, typed...)), 1, 12).Draw(rt, "pieces")
		cuts := rapid.SliceOfN(rapid.IntRange(2, 9), 1, 8).Draw(rt, "cuts")
		gaps := rapid.SliceOfN(rapid.IntRange(0, int(late.Milliseconds())), 1, 8).Draw(rt, "milliseconds")
		want, stream := "", strings.Join(pieces, "")
		for _, p := range pieces {
			if p[0] != '\x1b' && p != "\r" {
				want += p
			}
		}
		var out []byte
		synctest.Test(t, func(*testing.T) {
			var s sieve
			for i := 0; stream != ""; i++ {
				n := min(cuts[i%len(cuts)], len(stream))
				if len(stream)-n == 1 {
					n++ // one byte may be a key
				}
				out = append(out, s.sift([]byte(stream[:n]), time.Now())...)
				stream = stream[n:]
				gap := time.Duration(gaps[i%len(gaps)]) * time.Millisecond
				if s.mayBeKey() && gap >= shortly {
					out = append(out, s.key()...)
				}
				time.Sleep(gap)
			}
			out = append(out, s.half...)
		})
		if got := letters(rt, out); got != want {
			rt.Fatalf("%q types %q, want %q", out, got, want)
		}
	})
}

// letters is what a decoder takes for letters in b.
func letters(t *rapid.T, b []byte) string {
	var out strings.Builder
	var d uv.EventDecoder
	for pasting := false; len(b) > 0; {
		n, e := d.Decode(b)
		switch e := e.(type) {
		case uv.PasteStartEvent:
			pasting = true
		case uv.PasteEndEvent:
			pasting = false
		case uv.KeyPressEvent:
			if !pasting {
				out.WriteString(e.Text)
			}
		case uv.UnknownEvent:
			t.Fatalf("%q is nothing", b[:n])
		}
		b = b[n:]
	}
	return out.String()
}

// A sequence that is larger than any answer is lost, and is not kept.
func TestEndlessAnswer(t *testing.T) {
	var s sieve
	out := s.sift([]byte("\x1b]11;"), time.Time{})
	for range 1000 {
		out = append(out, s.sift([]byte(strings.Repeat("long ", 1000)), time.Time{})...)
		if len(s.half) > maxHalf+1 {
			t.Fatalf("%d bytes are kept", len(s.half))
		}
	}
	out = append(out, s.sift([]byte("\x1b\\hello"), time.Time{})...)
	if !strings.HasSuffix(string(out), "hello") || len(out) > 2*maxHalf {
		t.Errorf("it comes out as %q", out)
	}
}

// What was never ended is given up: who types then is heard.
func TestAnswerWithoutEnd(t *testing.T) {
	var s sieve
	now := time.Now()
	for _, half := range []string{"\x1b]11;rgb:0000", "\x1b[?6", "\x1bP>|x"} {
		s.sift([]byte(half), now)
		now = now.Add(late + 1)
		if out := s.sift([]byte("h"), now); string(out) != "h" {
			t.Errorf("behind %q, h is %q", half, out)
		}
	}
	s.sift([]byte("\x1b[?6"), now)
	if out := s.sift([]byte("4;1c"), now.Add(time.Minute)); string(out) != "\x1b[?64;1c" {
		t.Errorf("a minute later the rest of an answer is %q", out)
	}
}

// Lines that come at once are pastes, whatever the terminal says meanwhile and
// however long they are; keys stay keys.
func TestReadAtOnce(t *testing.T) {
	lines := strings.Repeat("Grüße, a line of a paste\r", 1000)
	for name, test := range map[string]struct{ sent, keys, pasted string }{
		"lines":             {"one line\rand another\r", "", "one line\rand another\r"},
		"an answer before":  {"\x1b[?62;22cone line\rand another\r", "\x1b[?62;22c", "one line\rand another\r"},
		"one in its middle": {"one line\rand\x1b[?2026;2$y another\r", "\x1b[?2026;2$y", "one line\rand another\r"},
		"many":              {lines + "end\r", "", lines + "end\r"},
		"many, and a key":   {lines + "end\r\x1b[A", "\x1b[A", lines + "end\r"},
		"a line":            {"a long line that ends\r", "a long line that ends\r", ""},
		"an arrow":          {"one line\r\x1b[Aand another\r", "one line\r\x1b[Aand another\r", ""},
		"Escape":            {"\x1b", "\x1b[27u", ""},
		"Escape, often":     {"\x1b\x1b\x1b", "\x1b\x1b\x1b", ""},
		"Alt+Shift+P":       {"\x1bP", "\x1b[112;4u", ""},
		"marks":             {"\x1b[200~one line\rand another\r\x1b[201~", "", "one line\rand another\r"},
	} {
		t.Run(name, func(t *testing.T) {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			go func() { _, _ = out.WriteString(test.sent); out.Close() }() // ends when it has been read
			k := keyboard{in, make(chan struct{}, 1), &paste{broken: func(string) {}}, &sieve{}}
			var all []byte
			for b := make([]byte, 4<<10); ; {
				n, err := k.Read(b)
				all = append(all, b[:n]...)
				if err != nil {
					break
				}
			}
			keys, rest, _ := strings.Cut(string(all), pasteBegins)
			pasted, behind, _ := strings.Cut(rest, pasteEnds)
			if keys+behind != test.keys || pasted != test.pasted {
				t.Errorf("it is read as %q and the paste %q", keys+behind, pasted)
			}
		})
	}
}

// Whatever comes, cut wherever: it comes out in its order and nothing of it twice,
// and what waits is bounded.
func FuzzSieve(f *testing.F) {
	f.Add([]byte("\x1b[?62;22c\x1b]11;rgb:0/0/0\x1b\\hi\x1b[200~a\x1b[201~"), byte(3))
	f.Add([]byte("\x1b\x1b[A\x1bP>|x\x18\xf0\x9f\x99\x1b[M   \x1b[[A"), byte(1))
	f.Fuzz(func(t *testing.T, stream []byte, cut byte) {
		var s sieve
		var out []byte
		now := time.Now()
		for rest := stream; len(rest) > 0; {
			n := min(int(cut)+1, len(rest))
			out = append(out, s.sift(rest[:n], now)...)
			rest = rest[n:]
			if len(s.half) > maxHalf+1 {
				t.Fatalf("%d bytes wait", len(s.half))
			}
		}
		if out = append(out, s.half...); len(stream) <= maxHalf && string(out) != string(stream) {
			t.Errorf("%q comes out as %q", stream, out)
		}
		if _, rest := part(out); len(rest) > len(out) {
			t.Errorf("%q is more than %q", rest, out)
		}
	})
}
