//go:build unix

package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/guide"
	"agentx/engine/event"
)

// smallDisk is a disk of that many kilobytes, where this machine lets one be
// made; size and read-only can be changed.
func smallDisk(t *testing.T, kilobytes int) (dir string, again func(options string)) {
	t.Helper()
	dir = t.TempDir()
	mount := func(args ...string) error {
		out, err := exec.Command("mount", append(args, dir)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if err := mount("-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", kilobytes), "tmpfs"); err != nil {
		t.Skipf("no small disk can be made here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return dir, func(options string) {
		if err := mount("-o", "remount,"+options); err != nil {
			t.Fatal(err)
		}
	}
}

// wants runs agentx for an exit code and words of stderr.
func (h *house) wants(code int, words string, args ...string) string {
	h.t.Helper()
	out, errs, got := h.run(args...)
	if got != code || !regexp.MustCompile(words).MatchString(errs) {
		h.t.Errorf("agentx %s: exit code %d, want %d; it says %q, want %s", strings.Join(args, " "), got, code, errs, words)
	}
	return out
}

// The disk is full before anything is said: nothing is sent, that is told, and
// with room again all works.
func TestDiskWithoutRoom(t *testing.T) {
	for _, kilobytes := range []int{4, 120, 200} {
		t.Run(fmt.Sprint(kilobytes), func(t *testing.T) {
			h := newHouse(t)
			dir, again := smallDisk(t, kilobytes)
			db := filepath.Join(dir, "a.db")
			h.wants(13, "the disk is full .*; nothing was saved and nothing was sent; make room", "--db", db, "-p", "-m", "openai/echo", "hello")
			again("size=8m")
			h.wants(0, "^$", "--db", db, "-p", "-m", "openai/echo", "hello")
			h.wants(0, "", "--db", db, "doctor")
		})
	}
}

// On a disk that cannot be written all that only reads works, and nothing is sent.
func TestDiskThatIsReadOnly(t *testing.T) {
	h := newHouse(t)
	dir, again := smallDisk(t, 8192)
	db := filepath.Join(dir, "a.db")
	h.wants(0, "^$", "--db", db, "-p", "-m", "openai/echo", "hello there")
	h.wants(0, "^$", "--db", db, "image", "snapshot", "hello there", "-n", "frozen")
	again("ro")
	for _, args := range [][]string{
		{"session", "list"}, {"session", "show", "hello there"}, {"session", "export", "hello there"}, {"session", "search", "hello"},
		{"session", "tree", "hello there"}, {"image", "list"}, {"image", "show", "frozen"},
	} {
		out := h.wants(0, "^$", append([]string{"--db", db}, args...)...)
		if !strings.Contains(out, "hello there") && !strings.Contains(out, "frozen") {
			t.Errorf("%s shows %q", args, out)
		}
	}
	h.wants(0, "", "--db", db, "stats")
	h.wants(0, "", "--db", db, "doctor")
	h.wants(13, "is read-only; nothing was saved and nothing was sent", "--db", db, "-p", "-m", "openai/echo", "more")
	h.wants(13, "is read-only", "--db", db, "session", "rename", "hello there", "other")
}

// A folder or a file of somebody else is named, with whose it is.
func TestSomebodyElsesFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	h := newHouse(t)
	h.wants(0, "^$", "--db", filepath.Join(h.dir, "a.db"), "-p", "-m", "openai/echo", "hello")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(h.dir, "agentx") // the tests' own folders are closed to others
	if err := os.WriteFile(name, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir := h.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, db := range []string{"a.db", "new.db", "sub/new.db"} {
		cmd := exec.Command(name, "--db", filepath.Join(h.dir, db), "-p", "-m", "openai/echo", "hello")
		cmd.Dir, cmd.Env = h.dir, h.environment([]string{"HOME=/nonexistent"})
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: true}}
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 13 || !regexp.MustCompile(`permission denied \(it belongs to root\); nothing was saved and nothing was sent`).Match(out) {
			t.Errorf("%s: exit code %d, %s", db, code, out)
		}
		doctor := exec.Command(name, "--db", filepath.Join(h.dir, db), "doctor")
		doctor.Dir, doctor.Env, doctor.SysProcAttr = cmd.Dir, cmd.Env, cmd.SysProcAttr
		out, _ = doctor.CombinedOutput()
		if code := doctor.ProcessState.ExitCode(); code != 1 || !regexp.MustCompile(`✗  database.*permission denied \((it|its folder) belongs to root\); name another file with --db`).Match(out) {
			t.Errorf("%s: the doctor exits with %d, %s", db, code, out)
		}
	}
}

// The shell bounds how large files may grow, or how many may be open: it is said,
// and nobody dies of a signal.
func TestLimitsOfTheShell(t *testing.T) {
	for _, limit := range []string{"ulimit -f 64", "ulimit -n 11", "ulimit -n 12", "ulimit -n 13"} {
		h := &house{t: t, home: t.TempDir(), dir: t.TempDir(), url: "http://127.0.0.1:9/v1"}
		cmd := exec.Command("sh", "-c", limit+`; exec agentx -p -m openai/echo hello`)
		cmd.Dir, cmd.Env = h.dir, h.environment(nil)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != 13 || !regexp.MustCompile("^agentx: .*(disk I/O error|too many open files)").Match(out) {
			t.Errorf("%s: exit code %d, %s", limit, code, out)
		}
		h.wants(0, "", "doctor")
	}
}

// Whoever reads the answer is slow: nothing of it is missing at the end. Whoever
// has read enough ends it silently, and what came is kept.
func TestReaders(t *testing.T) {
	h := newHouse(t)
	start := func(model string) (*exec.Cmd, *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("agentx", "-p", "-m", model, "count")
		cmd.Dir, cmd.Env, cmd.Stdout = h.dir, h.environment(nil), w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		return cmd, r
	}
	cmd, r := start("openai/lines")
	time.Sleep(time.Second)
	text, err := io.ReadAll(r)
	if err != nil || cmd.Wait() != nil || strings.Count(string(text), " of 3000\n") != 3000 {
		t.Errorf("the slow one has read %d lines, %v", strings.Count(string(text), " of 3000\n"), err)
	}
	cmd, r = start("openai/endless")
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	r.Close()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 141 {
		t.Errorf("exit code %d, want 141", code)
	}
	if out, _, _ := h.run("session", "list"); !strings.Contains(out, "(interrupted)") {
		t.Errorf("the list does not say what happened:\n%s", out)
	}
}

// Many begin at once where nothing is yet: all are kept, in one database.
func TestManyBeginAtOnce(t *testing.T) {
	h := newHouse(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { h.wants(0, "^$", "-p", "-m", "openai/echo", fmt.Sprint("hello ", i)) })
	}
	wg.Wait()
	if out := h.wants(0, "", "session", "list", "--json"); strings.Count(out, `"id"`) != 8 {
		t.Errorf("of eight there are %d", strings.Count(out, `"id"`))
	}
	h.wants(0, "", "doctor")
}

// The folder of the sessions is removed while an answer comes: it goes on to its
// end, and that is told.
func TestFolderThatGoes(t *testing.T) {
	h := newHouse(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("agentx", "-p", "-m", "openai/gate", "hello")
	var errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = h.dir, h.environment(nil), w, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	h.until("text on the disk", func() bool { return h.live() != "" })
	if err := os.RemoveAll(filepath.Join(h.home, ".local/share/agentx")); err != nil {
		t.Error(err)
	}
	h.gate <- struct{}{}
	text, _ := io.ReadAll(r)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 13 || string(text) != "Thinking about hello, done with hello.\n" || !strings.Contains(errs.String(), "was removed while it was in use") {
		t.Errorf("exit code %d, %q; it says %s", code, text, errs.String())
	}
}

// Somebody has read the database for so long that its log has grown: doctor says
// so, and that it is nothing wrong.
func TestSwollenLog(t *testing.T) {
	h := newHouse(t)
	db := filepath.Join(h.dir, "a.db")
	h.wants(0, "^$", "--db", db, "-p", "-m", "openai/echo", "hello")
	log, err := os.Create(db + "-wal")
	if err == nil {
		err = log.Truncate(65 << 20)
	}
	if err != nil || log.Chmod(0o600) != nil || log.Close() != nil {
		t.Fatal(err)
	}
	if out := h.wants(0, "", "--db", db, "doctor"); !regexp.MustCompile(`·  database +log: .*a.db-wal has 65 MB`).MatchString(out) {
		t.Errorf("doctor does not say it:\n%s", out)
	}
}

// While it is so, whoever asks is told, once.
func TestSwollenLogIsToldOnce(t *testing.T) {
	w := newWorld(os.Stdin, os.Stdout, os.Stderr)
	w.flags.db = filepath.Join(t.TempDir(), "a.db")
	db, err := w.store(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var told []string
	defer w.bus.Subscribe(bus.Subscription{Agent: "a"}, func(e bus.SystemEvent) {
		if d, ok := e.Data.(event.SystemError); ok {
			told = append(told, d.Severity+" "+d.Message)
		}
	})()
	ask := func() {
		for range (bystander{guide.New(0), w}).Receive(t.Context(), engine.Request{Agent: "a", Message: event.UserMessage{Content: event.Say("hello")}}) {
		}
	}
	ask()
	if err := os.Truncate(w.flags.db+"-wal", 65<<20); err != nil {
		t.Fatal(err)
	}
	ask()
	ask()
	if len(told) != 1 || !strings.HasPrefix(told[0], "warning ") || !strings.HasSuffix(told[0], "a.db-wal has 65 MB") {
		t.Errorf("it is told %q", told)
	}
}

// What could not be saved is in an export all the same, each message once.
func TestUnkept(t *testing.T) {
	var u unkept
	say := func(data ...event.Data) (all []event.Event) {
		for _, d := range data {
			e := event.Event{Data: d}
			if err := u.Present(context.Background(), "", e); err != nil {
				t.Error(err)
			}
			all = append(all, e)
		}
		return all
	}
	answer := func(id, text string) event.AssistantMessage {
		return event.AssistantMessage{ID: id, Content: event.Parts{event.Text{Text: text}}}
	}
	log := say(event.UserMessage{ID: "u1"}, answer("a1", "saved"), event.TurnResponse{})
	log = append(log, say(event.UserMessage{ID: "u2"})...)
	log = append(log, event.Event{Data: answer("a2", "half")})
	say(event.SystemError{Severity: "error"}, answer("a2", "half and whole"), event.TurnResponse{})
	say(event.UserMessage{ID: "u3"}, event.SystemError{Severity: "error"}, answer("a3", "lost"), event.TurnResponse{})
	say(event.UserMessage{ID: "u4"}, event.SystemError{Severity: "warning"}, answer("a4", "in the log, or to come"), event.TurnResponse{})
	var got []string
	for _, e := range u.with(log) {
		switch d := e.Data.(type) {
		case event.UserMessage:
			got = append(got, d.ID)
		case event.AssistantMessage:
			got = append(got, d.ID+" "+d.Content.Text())
		}
	}
	if want := []string{"u1", "a1 saved", "u2", "a2 half and whole", "u3", "a3 lost"}; !slices.Equal(got, want) {
		t.Errorf("it has %q, want %q", got, want)
	}
}

// Signals that come while the program begins, and several at once, end it soon,
// and leave a sound database.
func TestSignalsAtTheBeginning(t *testing.T) {
	h := newHouse(t)
	h.wants(0, "^$", "-p", "-m", "openai/echo", "hello")
	for i := range 5 {
		cmd := exec.Command("agentx", "-p", "-m", "openai/hang", "hello")
		cmd.Dir, cmd.Env = h.dir, h.environment(nil)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i) * 5 * time.Millisecond)
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			_ = cmd.Process.Signal(s)
		}
		ended := make(chan struct{})
		go func() { _ = cmd.Wait(); close(ended) }() // ends with the program
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Fatal("it does not end")
		}
		if code := cmd.ProcessState.ExitCode(); !slices.Contains([]int{-1, 129, 130, 143}, code) { // -1: before anything was begun
			t.Errorf("exit code %d", code)
		}
	}
	h.wants(0, "", "doctor")
}
