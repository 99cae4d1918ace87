package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// talker is a program that opens a database, says three turns, and prints what
// it was promised: "kept N" of a turn that is saved, and what went wrong.
func talker(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	if err := db.Create(ctx, Session{ID: "s"}); err != nil && !errors.Is(err, ErrExists) {
		fmt.Println("error", err)
		return
	}
	p := db.Presenter("s")
	for turn := range 3 {
		var s engine.State
		var failed error
		for _, d := range []event.Data{
			event.UserMessage{ID: fmt.Sprint("u", os.Getpid(), turn), Content: event.Say("question")},
			event.MessageStart{MessageID: fmt.Sprint("m", os.Getpid(), turn), Model: "m"},
			event.TextDelta{Text: strings.Repeat(fmt.Sprintf("answer %d ", turn), 2000)},
			event.MessageStop{StopReason: event.EndTurn},
		} {
			for e := range mealy.Follow(engine.Step, &s, event.Event{At: time.Now(), Data: d}) {
				failed = errors.Join(failed, p.Present(ctx, "", e))
			}
		}
		if failed != nil {
			fmt.Println("error", failed)
			continue
		}
		fmt.Println("kept", turn)
	}
	if err := db.Close(); err != nil {
		fmt.Println("error", err)
	}
}

// faulty runs a talker whose calls of the kernel go wrong, and returns what it
// said. Where there is no strace, or it may not be used, the test is skipped.
func faulty(t *testing.T, path string, args ...string) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace: no fault of the kernel can be made here")
	}
	if out, err := exec.Command(strace, "-qq", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not be used here: %s", out)
	}
	cmd := exec.Command(strace, append(append([]string{"-f", "-qq", "-o", os.DevNull}, args...), os.Args[0])...)
	cmd.Env = append(os.Environ(), "AGENTX_TEST_TALKER="+path, "GODEBUG=asyncpreemptoff=1", "GORACE=atexit_sleep_ms=0") // else it sleeps for a second before it ends, where races are looked for
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // it may be killed
	if strings.Contains(out.String(), "panic") || strings.Contains(out.String(), "goroutine ") {
		t.Errorf("%v: it broke down:\n%s", args, out.String())
	}
	return out.String()
}

// promised wants a sound database with everything that was promised in it.
func promised(t *testing.T, path, said, what string) {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatalf("%s: %v; it had said\n%s", what, err, said)
	}
	defer db.Close()
	log, err := db.Events(t.Context(), "s")
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for turn := range 3 {
		if !strings.Contains(said, fmt.Sprintln("kept", turn)) {
			continue
		}
		whole, found := strings.Repeat(fmt.Sprintf("answer %d ", turn), 2000), false
		for _, e := range log {
			m, ok := e.Data.(event.AssistantMessage)
			found = found || ok && m.Content.Text() == whole && !m.Incomplete
		}
		if !found {
			t.Errorf("%s: turn %d was promised, and is not there; it had said\n%s", what, turn, said)
		}
	}
	if s, err := db.Session(t.Context(), "s"); err == nil && s.Open {
		t.Errorf("%s: a turn is open", what)
	}
	sane(t, db)
}

// rounds is how often a fault that strikes somewhere is tried.
func rounds() int {
	if testing.Short() {
		return 1
	}
	return 8
}

// A process is killed at a write, and at a sync, wherever that is.
func TestKilledAtAnyWrite(t *testing.T) {
	for i := range 2 * rounds() {
		path := filepath.Join(t.TempDir(), "a.db")
		call := []string{"pwrite64", "fsync"}[i%2]
		n := 1 + rand.IntN([]int{60, 12}[i%2])
		said := faulty(t, path, "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n))
		if _, err := os.Stat(path); err == nil {
			promised(t, path, said, fmt.Sprintf("killed at %s %d", call, n))
		}
	}
}

// A database of the first version is brought up to date, and the process killed
// at a write meanwhile: it is the old one or the new one, whole.
func TestKilledWhileMigrating(t *testing.T) {
	for range rounds() {
		path := first(t)
		n := 1 + rand.IntN(120)
		faulty(t, path, "-e", "trace=pwrite64", "-e", fmt.Sprintf("inject=pwrite64:signal=KILL:when=%d", n))
		db := open(t, path)
		for _, id := range []event.SessionID{"weather"} {
			if log, err := db.Events(t.Context(), id); err != nil || len(log) == 0 {
				t.Errorf("killed at write %d: %s has %d events, %v", n, id, len(log), err)
			}
		}
		sane(t, db)
		db.Close()
	}
}

// The disk is full, writes or reads fail, or a sync does: it is said in words that
// name the kind, nothing that was promised is lost, and nothing is repaired.
func TestADiskThatFails(t *testing.T) {
	for name, fault := range map[string]struct {
		call, error string
		most        int
		want        []error
	}{
		"full":  {"pwrite64", "ENOSPC", 40, []error{ErrDiskFull, ErrIO}},
		"write": {"pwrite64", "EIO", 40, []error{ErrIO}},
		"sync":  {"fsync", "EIO", 6, []error{ErrIO}},
		"read":  {"pread64", "EIO", 20, []error{ErrIO, ErrCorrupt, ErrNotDatabase}},
	} {
		t.Run(name, func(t *testing.T) {
			for range rounds() {
				path := filepath.Join(t.TempDir(), "a.db")
				open(t, path).Close()
				n := 1 + rand.IntN(fault.most)
				said := faulty(t, path, "-e", "trace="+fault.call, "-e", fmt.Sprintf("inject=%s:error=%s:when=%d+", fault.call, fault.error, n))
				for line := range strings.Lines(said) {
					known := !strings.HasPrefix(line, "error")
					for _, kind := range fault.want {
						known = known || strings.Contains(line, kind.Error())
					}
					if !known {
						t.Errorf("%s from the %dth on: it says %q", fault.error, n, line)
					}
				}
				promised(t, path, said, fmt.Sprintf("%s of %s from the %dth on", fault.error, fault.call, n))
			}
		})
	}
}

// After a sync of the log that failed, nothing more is promised by this process:
// the kernel may have dropped what it could not write.
func TestNothingIsPromisedAfterAFailedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	open(t, path).Close()
	said := faulty(t, path, "-P", path+"-wal", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=1+")
	if strings.Contains(said, "kept") || !strings.Contains(said, ErrIO.Error()) {
		t.Errorf("it says\n%s", said)
	}
	promised(t, path, said, "fsync failed")
}

// A sandbox gives neither shared memory nor locks: it is told in words. Without
// shared memory a database works for one alone, with consent.
func TestInASandbox(t *testing.T) {
	for name, c := range map[string]struct {
		suffix, call, error string
		want                error
	}{
		"no shared memory": {"-shm", "mmap", "EPERM", ErrUnshared},
		"nor a device":     {"-shm", "mmap", "ENODEV", ErrUnshared},
		"no locks":         {"-lock", "fcntl", "ENOLCK", ErrLocks},
		"locks forbidden":  {"-lock", "fcntl", "EPERM", ErrLocks},
		"no flock":         {"-lock", "flock", "ENOSYS", ErrLocks},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			open(t, path).Close()
			said := faulty(t, path, "-P", path+c.suffix, "-e", "trace="+c.call, "-e", "inject="+c.call+":error="+c.error)
			if !strings.HasPrefix(said, "error") || !strings.Contains(said, c.want.Error()) {
				t.Errorf("it says %q, want %v", said, c.want)
			}
			promised(t, path, said, name)
		})
	}
}
