//go:build unix

package screen

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
)

// Who is continued takes the terminal back, and who is terminated gives it away:
// where both come at once, it is the user's in the end.
func TestTheEndIsTheEnd(t *testing.T) {
	for range 100 {
		master, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		before, err := term.GetState(slave.Fd())
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(slave, slave, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		var reader sync.WaitGroup
		reader.Go(func() { _, _ = io.Copy(&said, master) })
		var both sync.WaitGroup
		both.Go(func() { _ = s.Acquire() })
		both.Go(s.Close)
		both.Wait()
		after, err := term.GetState(slave.Fd())
		if err != nil {
			t.Fatal(err)
		}
		slave.Close()
		reader.Wait()
		master.Close()
		if on, off := strings.LastIndex(said.String(), s.on), strings.LastIndex(said.String(), s.off); on > off {
			t.Fatalf("in the end the terminal is told %q", said.String()[off:])
		}
		if *after != *before {
			t.Fatal("in the end the terminal is raw")
		}
	}
}
