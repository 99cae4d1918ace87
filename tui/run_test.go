//go:build linux

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/tui/markdown"
	"agentx/tui/theme"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The tests of Run start this program again, on a terminal of its own.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TUI_CHILD"); dir != "" {
		os.Exit(child(dir))
	}
	keepColouring()
	os.Exit(m.Run())
}

// keepColouring keeps the clock of the expressions that colour code running. It
// is one goroutine for all: begun in a bubble of synctest it would be of that
// time, and never end there.
func keepColouring() {
	colour := func() { markdown.Render("```go\nx := 1\n```\n", 80, theme.Dark()) }
	colour()
	go func() { // ends with the tests
		for {
			time.Sleep(200 * time.Millisecond)
			colour()
		}
	}()
}

// fragile is a desk that breaks where a test wants it to, and writes drafts down.
type fragile struct {
	*desk
	dir string
}

func (f fragile) Export(context.Context, string) (string, error) { panic("the export broke") }

func (f fragile) SaveDraft(_ context.Context, _ event.SessionID, d Draft) error {
	return os.WriteFile(filepath.Join(f.dir, "draft"), []byte(d.Message.Text), 0o600)
}

// child is a chat whose answer takes an hour.
func child(dir string) int {
	d := &desk{feed: NewFeed(), answers: script.Turns{{Speed: 1, Steps: []script.Step{
		{Event: event.MessageStart{MessageID: "a"}}, {Event: event.TextDelta{Text: "half of it"}}, {After: time.Hour, Event: event.MessageStop{StopReason: event.EndTurn}},
	}}}}
	var kept any = 0
	r, err := Run(context.Background(), Options{
		In: os.Stdin, Out: os.Stdout, Env: os.Environ(), Feed: d.feed, Theme: "dark", Private: dir,
		Editor: []string{"sh", "-c", `test "$(stat -c %a "$0")" = 600 && test -t 0 && printf ' edited' >> "$0"`},
		Start: func(ctx context.Context) (Backend, Opened, error) {
			switch os.Getenv("TUI_START") {
			case "fails":
				return nil, Opened{}, errors.New("the database is locked")
			case "fails late":
				for {
					if _, err := os.Stat(filepath.Join(dir, "fail")); err == nil {
						return nil, Opened{}, errors.New("the database is locked")
					}
					time.Sleep(5 * time.Millisecond)
				}
			case "waits":
				_ = os.WriteFile(filepath.Join(dir, "opening"), nil, 0o600)
				<-ctx.Done()
				kept = "the world was told"
				return nil, Opened{}, ctx.Err()
			}
			return fragile{d, dir}, Opened{Model: small, Saved: true}, nil
		},
	})
	for _, e := range d.events() {
		if m, ok := e.Data.(event.AssistantMessage); ok && m.Incomplete {
			kept = len(m.Content.Text())
		}
	}
	report := fmt.Sprintf("%v, kept %v", err, kept)
	if len(r.Unsent) > 0 {
		report += fmt.Sprintf(", unsent %q", r.Unsent)
	}
	if r.Crash != nil {
		report += fmt.Sprintf(", %v in %d bytes of stack", r.Crash.Value, min(len(r.Crash.Stack), 1))
	}
	_ = os.WriteFile(filepath.Join(dir, "report"), []byte(report), 0o600)
	return r.Code
}

// A seat is a terminal with the chat on it.
type seat struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before *term.State

	mu     sync.Mutex
	screen *vt.Emulator
	raw    strings.Builder
}

func sit(t *testing.T, env ...string) *seat {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo-terminals here:", err)
	}
	s := &seat{t: t, dir: t.TempDir(), master: master, slave: slave, screen: vt.NewEmulator(70, 14)}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 14, Cols: 70}); err != nil {
		t.Fatal(err)
	}
	master = pollable(t, master)
	s.master = master
	s.before, _ = term.GetState(slave.Fd())
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append([]string{"TUI_CHILD=" + s.dir, "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.watch()                                         // ends when the terminal is closed
	go func() { _, _ = io.Copy(io.Discard, s.screen) }() // what the emulator answers; ends with the tests
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_, _ = master.Close(), slave.Close()
	})
	return s
}

// pollable is f where Close ends a Read.
func pollable(t *testing.T, f *os.File) *os.File {
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func (s *seat) watch() {
	b := make([]byte, 1<<16)
	for {
		n, err := s.master.Read(b)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.raw.Write(b[:n])
		_, _ = s.screen.Write(b[:n])
		s.mu.Unlock()
	}
}

func (s *seat) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

func (s *seat) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// until waits for something to become true.
func (s *seat) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(ever); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain: %s; the screen shows\n%s", what, s.text())
		}
	}
}

// sees waits until the screen shows something.
func (s *seat) sees(what string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q", what), func() bool { return strings.Contains(s.text(), what) })
}

// types sends keys, too few of them for a paste.
func (s *seat) types(keys string) {
	s.t.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// left checks the end: the code, and that the terminal is as it was.
func (s *seat) left(code int) string {
	s.t.Helper()
	s.ended(code)
	s.tidy()
	return s.report()
}

func (s *seat) report() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "report"))
	return string(b)
}

// ended checks that the chat ends, its code, and that the terminal is no longer raw.
func (s *seat) ended(code int) {
	s.t.Helper()
	s.exits(code)
	if after, err := term.GetState(s.slave.Fd()); err == nil && *after != *s.before {
		s.t.Error("the terminal is not as it was")
	}
}

// exits checks that the chat ends, long before its answer would, and its code.
func (s *seat) exits(code int) {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }() // ends with the child
	select {
	case <-done:
	case <-time.After(ever):
		s.t.Fatal("the chat does not end")
	}
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d", got, code)
	}
}

// tidy checks that no mode was left on.
func (s *seat) tidy() {
	s.t.Helper()
	out := s.last()
	for _, mode := range [][2]string{{"\x1b[?2004h", "\x1b[?2004l"}, {"\x1b[>1u", "\x1b[<u"}, {"\x1b[?2026h", "\x1b[?2026l"}, {"\x1b[>4;2m", "\x1b[>4m"}, {"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?1000h", "\x1b[?1000l"}, {"\x1b[?1006h", "\x1b[?1006l"}} {
		if strings.LastIndex(out, mode[0]) > strings.LastIndex(out, mode[1]) {
			s.t.Errorf("%q was left on", mode[0])
		}
	}
	if strings.LastIndex(out, "\x1b[?25l") > strings.LastIndex(out, "\x1b[?25h") {
		s.t.Error("the caret was left hidden")
	}
}

// last is all the output, once the end of it has been read.
func (s *seat) last() string {
	s.t.Helper()
	s.until("the end of the output", func() bool { return strings.HasSuffix(s.output(), "\x1b[?2004l") })
	return s.output()
}

func (s *seat) draft() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "draft"))
	return string(b)
}

// Whatever ends the chat, the terminal comes back, and what there is is kept.
func TestSignals(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGINT: 130, syscall.SIGHUP: 129, syscall.SIGQUIT: 131, syscall.SIGABRT: 134} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			s := sit(t)
			s.sees("test/small")
			s.types("go\r")
			s.sees("half of it")
			s.types("draft")
			s.sees("draft")
			_ = s.cmd.Process.Signal(sig)
			if got, want := s.left(code), "<nil>, kept 10"; got != want {
				t.Errorf("it reports %q, want %q", got, want)
			}
			if got := s.draft(); got != "draft" {
				t.Errorf("the draft is %q", got)
			}
			if !strings.Contains(s.text(), "half of it") || strings.Contains(s.text(), "test/small") {
				t.Errorf("what was said should stay and the rest go:\n%s", s.text())
			}
		})
	}
}

// From the full screen, too: what was said there is printed where it belongs.
func TestEndsOfTheFullScreen(t *testing.T) {
	begin := func(t *testing.T) *seat {
		t.Parallel()
		s := sit(t)
		s.sees("test/small")
		s.types("\x1bt")
		s.until("the full screen", s.full)
		s.types("go\r")
		s.sees("half of it")
		return s
	}
	printed := func(t *testing.T, s *seat) {
		t.Helper()
		if got := s.text(); s.full() || strings.Count(got, "half of it") != 1 || strings.Contains(got, "test/small") {
			t.Errorf("what was said should stay and the rest go:\n%s", got)
		}
		if on, off := strings.Count(s.output(), "\x1b[>1u"), strings.Count(s.output(), "\x1b[<u"); on != off {
			t.Errorf("the keyboard's flags were pushed %d times and popped %d times", on, off)
		}
	}
	t.Run("a signal", func(t *testing.T) {
		s := begin(t)
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.left(143)
		printed(t, s)
	})
	t.Run("a panic", func(t *testing.T) {
		s := begin(t)
		s.types("/export\r")
		s.left(70)
		printed(t, s)
	})
	t.Run("the editor and back", func(t *testing.T) {
		s := begin(t)
		s.types("text\x07")
		s.sees("text edited")
		s.until("the full screen again", s.full)
		s.types("\x1b[23~")
		s.until("the first screen", func() bool { return !s.full() && strings.Contains(s.text(), "text edited") })
		s.types("\x03")
		s.sees("stopped")
		s.types("\x03")
		s.sees("Ask anything")
		s.types("\x04")
		s.left(0)
		printed(t, s)
	})
}

// full reports whether the other screen is shown.
func (s *seat) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.IsAltScreen()
}

func TestPanic(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	s.types("/export\r")
	if got, want := s.left(70), ErrCrashed.Error()+", kept 0, the export broke in 1 bytes of stack"; got != want {
		t.Errorf("it reports %q, want %q", got, want)
	}
}

func TestPanicInUpdate(t *testing.T) {
	var crash Crash
	s := &stage{model: still(t, &desk{}), crashed: func(c Crash) { crash = c }}
	_, cmd := s.Update(result{func(Model) (Model, tea.Cmd) { panic("update") }})
	if crash.Value != "update" || cmd == nil {
		t.Errorf("caught %v", crash.Value)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	s := sit(t, "TUI_START=fails")
	if got, want := s.left(0), "the database is locked, kept 0"; got != want {
		t.Errorf("it reports %q, want %q", got, want)
	}
}

// Who leaves before the world is there is not followed by one that opens.
func TestLeftBeforeTheStart(t *testing.T) {
	t.Parallel()
	s := sit(t, "TUI_START=waits")
	s.sees("Ask anything")
	s.until("the world is being opened", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "opening"))
		return err == nil
	})
	s.sees("Opening your sessions")
	s.types("\x04")
	if got, want := s.left(0), "<nil>, kept the world was told"; got != want {
		t.Errorf("it reports %q, want %q", got, want)
	}
}

// What was written meanwhile comes back to who wrote it: nothing has kept it.
func TestWrittenBeforeTheStart(t *testing.T) {
	for start, test := range map[string]struct {
		ends func(s *seat)
		code int
		want string
	}{
		"fails late": {func(s *seat) { _ = os.WriteFile(filepath.Join(s.dir, "fail"), nil, 0o600) }, 0, "the database is locked, kept 0"},
		"waits":      {func(s *seat) { _ = s.cmd.Process.Signal(syscall.SIGTERM) }, 143, "<nil>, kept the world was told"},
	} {
		t.Run(start, func(t *testing.T) {
			t.Parallel()
			s := sit(t, "TUI_START="+start)
			s.sees("Ask anything")
			s.types("a\x13b\rc\rdraft") // no burst: what hands type while a program is busy
			s.sees("draft")
			test.ends(s)
			if got, want := s.left(test.code), test.want+`, unsent ["a" "b" "c" "draft"]`; got != want {
				t.Errorf("it reports %q, want %q", got, want)
			}
		})
	}
}

func TestHangup(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	_, _ = s.slave.Close(), s.master.Close()
	s.exits(129)
}

func TestEditor(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	s.types("text\x07")
	s.sees("text edited")
	if files, _ := filepath.Glob(filepath.Join(s.dir, "prompt-*")); len(files) > 0 {
		t.Errorf("left behind: %q", files)
	}
	s.types("\x03")
	s.sees("Ask anything")
	s.types("\x04")
	s.left(0)
}

// Answers of the terminal that come late, or are no answers, never become text.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	_, _ = s.master.WriteString("\x1b[?62;22c\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?2026;2$y\x1b[?1u\x1b[12;40R")
	s.types("\x04") // leaves only who has written nothing
	s.left(0)
}

// A terminal that takes nothing holds up neither the answer nor the end.
func TestStuckTerminal(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	s.types("go\r")
	s.sees("half of it")
	if err := unix.IoctlSetInt(int(s.slave.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	s.types("draft")
	s.until("the draft is saved, though it is not seen", func() bool { return s.draft() == "draft" })
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.ended(143)
	if got, want := s.report(), "<nil>, kept 10"; got != want {
		t.Errorf("it reports %q, want %q", got, want)
	}
}

// An idle chat comes to rest: whatever turned or ticked would write more often.
func TestIdle(t *testing.T) {
	t.Parallel()
	s := sit(t)
	s.sees("test/small")
	wrote, since := 0, time.Now()
	s.until("a second and a half of nothing", func() bool {
		if n := len(s.output()); n != wrote {
			wrote, since = n, time.Now()
		}
		return time.Since(since) > 1500*time.Millisecond
	})
}
