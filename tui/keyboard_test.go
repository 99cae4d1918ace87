package tui

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// However what the terminal sends is cut into pieces: of a paste that never ends
// everything that came is told, two seconds after the last of it, and of any other
// nothing.
func TestPastesThatDoNotEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "text", "\x1b", "\x1b[", "\x1b[200~", "\x1b[201~", "\x1b[20", "0~", "1~", "\r", strings.Repeat("long ", 50)})
		stream := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "stream"), "")
		cuts := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 8).Draw(rt, "cuts")
		want := ""
		for rest, on := stream, false; ; on = !on {
			mark := "\x1b[200~"
			if on {
				mark = "\x1b[201~"
			}
			_, behind, ok := strings.Cut(rest, mark)
			if !ok && on {
				want = rest
			}
			if !ok {
				break
			}
			rest = behind
		}
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var told []string
			p := &paste{broken: func(text string) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, text)
			}}
			heard := func() []string {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(told)
			}
			for i, rest := 0, stream; rest != ""; i++ {
				n := min(cuts[i%len(cuts)], len(rest))
				p.read([]byte(rest[:n]))
				rest = rest[n:]
				time.Sleep(endless - time.Millisecond)
			}
			if got := heard(); len(got) > 0 {
				rt.Fatalf("while it was on its way, %q was told", got)
			}
			time.Sleep(endless)
			synctest.Wait()
			if got := strings.Join(heard(), "|"); got != want {
				rt.Fatalf("of %q it is told %q, want %q", stream, got, want)
			}
		})
	})
}

// What comes at once and has lines in it is a paste; what hands may have typed
// while the program was busy is not, nor what only terminals send.
func TestPours(t *testing.T) {
	for in, want := range map[string]bool{
		"one line\rand another\r": true, "Grüße\nund mehr davon": true, "a\tb\rc\td\re\tf\rg": true,
		"a long line that ends\r": false, "y\ry\r": false, "\r\r\r\r": false, "line one\r\x1b[Aline two": false, "": false, "text\x7f\x7f and more\rx": false,
	} {
		if got := pours([]byte(in)); got != want {
			t.Errorf("pours(%q) is %v, want %v", in, got, want)
		}
	}
}

// A paste that does not end is not kept without an end.
func TestEndlessPasteIsBounded(t *testing.T) {
	p := &paste{broken: func(string) {}}
	p.read([]byte(pasteBegins))
	for range 40 {
		p.read(make([]byte, 1<<20))
	}
	if len(p.text) > maxPaste {
		t.Errorf("%d bytes are kept", len(p.text))
	}
	p.read([]byte(pasteEnds))
	if p.on || p.text != nil {
		t.Error("it is kept behind its end")
	}
}
