//go:build unix

package sandbox_test

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"

	"agentx/engine/sandbox"
)

// A pipe that nobody writes into, a socket, a device: they are seen, they keep
// nobody waiting, and an image is none the worse for them.
func TestPipesAndSockets(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{Baseline: &sandbox.Manifest{}}), t.Context()
	s.must(syscall.Mkfifo(filepath.Join(s.dir, "pipe"), 0o644))
	socket, err := net.Listen("unix", filepath.Join(s.dir, "s"))
	if err == nil {
		defer socket.Close()
	}
	s.link("pipe", "to-pipe")
	for _, name := range []string{"pipe", "to-pipe"} {
		for op, err := range map[string]error{
			"read": second(s.Read(ctx, name)), "write": s.Write(ctx, name, nil), "list": second(s.List(ctx, name)),
		} {
			if !errors.Is(err, sandbox.ErrNotFile) && !errors.Is(err, sandbox.ErrNotFolder) {
				t.Errorf("%s %s: %v", op, name, err)
			}
		}
	}
	if e, err := s.Stat(ctx, "to-pipe"); err != nil || e.Kind != sandbox.IsOther {
		t.Errorf("Stat() = %v, %v", e, err)
	}
	files, err := s.Changes(ctx)
	if err != nil || len(files) != 1 || files[0].Path != "to-pipe" {
		t.Errorf("Changes() = %v, %v", files, err)
	}
	s.must(s.Delete(ctx, "pipe"))
	if _, err := sandbox.Open(filepath.Join(s.dir, "s"), sandbox.Options{}); err == nil {
		t.Error("a socket is opened as a folder")
	}
}
