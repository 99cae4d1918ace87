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

// A file of the kernel says that it is empty, and has no end that anybody knows.
func TestFileOfUnknownSize(t *testing.T) {
	w, err := sandbox.Open("/proc", sandbox.Options{Limits: sandbox.Limits{File: 1000}})
	if err != nil {
		t.Skip("no /proc here")
	}
	defer w.Close()
	if e, err := w.Stat(t.Context(), "self/smaps"); err != nil || e.Size != 0 {
		t.Skip("no file of unknown size here", err)
	}
	if text, err := w.Read(t.Context(), "self/smaps"); !errors.Is(err, sandbox.ErrTooLarge) {
		t.Errorf("%d bytes are read, %v", len(text), err)
	}
	if _, err := w.Read(t.Context(), "self/root/etc/passwd"); !errors.Is(err, sandbox.ErrOutside) {
		t.Errorf("/proc leads outside: %v", err)
	}
}
