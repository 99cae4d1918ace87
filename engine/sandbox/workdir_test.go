package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/sandbox"

	"github.com/google/go-cmp/cmp"
)

// A story has a folder with a work directory in it and a secret beside it, and
// writes down what the work directory tells.
type story struct {
	*testing.T
	*sandbox.Workdir
	dir    string // the work directory
	secret string // a file beside it
	told   []string
}

const canary = "CANARY-7f31"

func begin(t *testing.T, o sandbox.Options) *story {
	t.Helper()
	home := t.TempDir()
	s := &story{T: t, dir: filepath.Join(home, "ws"), secret: filepath.Join(home, "secret")}
	s.must(os.Mkdir(s.dir, 0o755))
	s.must(os.WriteFile(s.secret, []byte(canary), 0o600))
	s.must(os.Mkdir(s.dir+"-evil", 0o755))
	s.must(os.WriteFile(s.dir+"-evil/secret", []byte(canary), 0o600))
	o.Tell = func(d event.Data) { s.told = append(s.told, line(d)) }
	w, err := sandbox.Open(s.dir, o)
	s.must(err)
	s.Workdir = w
	t.Cleanup(func() { _ = w.Close() })
	return s
}

// line is an event as a story tells it.
func line(d event.Data) string {
	switch d := d.(type) {
	case sandbox.FileReadResult:
		return fmt.Sprintf("read %s %d", d.Path, d.Size)
	case sandbox.FileWritten:
		if d.Created {
			return fmt.Sprintf("written %s %d, new", d.Path, d.Size)
		}
		return fmt.Sprintf("written %s %d", d.Path, d.Size)
	case sandbox.FileDeleted:
		return "deleted " + d.Path
	case sandbox.DirectoryListResult:
		return fmt.Sprintf("list %s %v", d.Path, d.Entries)
	case sandbox.WorkdirError:
		return fmt.Sprintf("%s %s: %s: %s", d.Operation, d.Path, d.Code, d.Message)
	}
	return d.Type()
}

func (s *story) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// put makes a file behind the work directory's back.
func (s *story) put(name, text string) {
	s.Helper()
	s.must(os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755))
	s.must(os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
	s.must(os.Chmod(filepath.Join(s.dir, name), 0o644)) // whatever the umask is
}

func (s *story) link(target, name string) {
	s.Helper()
	if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
		s.Skip("no links here:", err)
	}
}

func (s *story) wants(lines ...string) {
	s.Helper()
	if diff := cmp.Diff(lines, s.told); diff != "" {
		s.Errorf("told: -want +got\n%s", diff)
	}
	s.told = nil
}

// What the runtime holds is declared there, by structure.
var _ interface {
	Changes(ctx context.Context) ([]engine.File, error)
	Apply(ctx context.Context, files []engine.File) error
	Close() error
} = (*sandbox.Workdir)(nil)

// A day's work in a directory, and what was told of it (F102).
func TestADay(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.must(s.Write(ctx, "src/lib/a.go", []byte("package a\n")))
	s.must(s.Write(ctx, "./src//lib/../b.go", []byte("package b\n")))
	text, err := s.Read(ctx, "src/lib/a.go")
	s.must(err)
	if string(text) != "package a\n" {
		t.Errorf("read %q", text)
	}
	s.must(s.Write(ctx, "src/lib/a.go", nil))
	entries, err := s.List(ctx, "src/")
	s.must(err)
	if diff := cmp.Diff([]sandbox.Entry{{Name: "b.go", Kind: sandbox.IsFile, Size: 10}, {Name: "lib", Kind: sandbox.IsDirectory}}, entries); diff != "" {
		t.Errorf("list: -want +got\n%s", diff)
	}
	e, err := s.Stat(ctx, "src/b.go")
	if want := (sandbox.Entry{Name: "b.go", Kind: sandbox.IsFile, Size: 10}); e != want || err != nil {
		t.Errorf("Stat() = %v, %v, want %v", e, err, want)
	}
	if err := s.Delete(ctx, "src/lib"); !errors.Is(err, sandbox.ErrNotEmpty) {
		t.Errorf("a folder with a file is deleted: %v", err)
	}
	s.must(s.Delete(ctx, "src/lib/a.go"))
	s.must(s.Delete(ctx, "src/lib"))
	if _, err := s.Read(ctx, "src/lib/a.go"); !errors.Is(err, sandbox.ErrNotFound) || err.Error() != "read src/lib/a.go: not there" {
		t.Errorf("a deleted file is read: %v", err)
	}
	s.wants(
		"written src/lib/a.go 10, new",
		"written src/b.go 10, new",
		"read src/lib/a.go 10",
		"written src/lib/a.go 0",
		"list src [{b.go file 10} {lib directory 0}]",
		"delete src/lib: not_empty: the folder is not empty",
		"deleted src/lib/a.go",
		"deleted src/lib",
		"read src/lib/a.go: not_found: not there",
	)
	s.must(s.Close())
	for _, err := range []error{
		s.Write(ctx, "a", nil), s.Delete(ctx, "a"), s.Apply(ctx, []engine.File{{Path: "a"}}), second(s.Read(ctx, "a")), second(s.List(ctx, ".")),
		second(s.Stat(ctx, "src/b.go")), second(s.Changes(ctx)), second(s.Mark(ctx)),
	} {
		if !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("a closed work directory says %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sandbox.Open(file, sandbox.Options{}); !errors.Is(err, sandbox.ErrNotFolder) {
		t.Errorf("a file is opened: %v", err)
	}
	if _, err := sandbox.Open(filepath.Join(dir, "no\x1b[2J"), sandbox.Options{}); !errors.Is(err, sandbox.ErrNotFound) || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("what is not there is opened: %q", err)
	}
}

// Each of these has been a hole somewhere. None leads to the secret, none
// changes it, and each is told (F102).
func TestNeverOutside(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.put("d/real.txt", "inside")
	s.link("../secret", "up")
	s.link(s.secret, "absolute")
	s.link("..", "parent")
	s.link("/", "slash")
	s.link("d/../../secret", "winding")
	s.link("up", "twice")
	s.link("loop", "loop")
	s.link("../../ws-evil", "d/twin")
	s.link("../../ws/../secret", "d/return")
	s.link("./parent/secret", "through")

	paths := []string{
		"../secret", "d/../../secret", "./../secret", "d/real.txt/../../../secret", "..", "../", "d/../..",
		s.secret, "/etc/passwd", "//etc/passwd", "/", "/proc/self/environ", "/dev/fd/0",
		"up", "absolute", "parent/secret", "slash/etc/passwd", "winding", "twice", "loop", "d/twin/secret", "d/return", "through",
		"../ws-evil/secret", "d/../../ws-evil/secret",
		"~/secret", "$HOME/secret", "file://" + s.secret, "..\\secret", "d\x00/../../secret", "up\x00", "..\u2215secret", "%2e%2e/secret", "d/..%2f..%2fsecret",
		strings.Repeat("a/", 3000) + "b", strings.Repeat("a", 300), "\xff", "d/real.txt/", "d/real.txt/x", "up/", ".", "", "d",
	}
	for _, p := range paths {
		for op, do := range map[string]func() error{
			"read":  func() error { return second(s.Read(ctx, p)) },
			"write": func() error { return s.Write(ctx, p, []byte("pwned")) },
		} {
			s.told = nil
			err := do()
			if p == "~/secret" || p == "$HOME/secret" || strings.HasPrefix(p, "file:") || strings.ContainsAny(p, "\\\u2215%") {
				continue // a name like another, and not there
			}
			if err == nil || len(s.told) != 1 || !strings.HasPrefix(s.told[0], op+" ") {
				t.Errorf("%s %q: %v, told %q", op, p, err, s.told)
			}
			if err != nil && strings.Contains(err.Error(), filepath.Dir(s.dir)) && !strings.Contains(p, s.secret) {
				t.Errorf("%s %q says where it is on the machine: %v", op, p, err)
			}
		}
	}
	leading := paths[:slices.Index(paths, "through")+1]
	for _, p := range leading {
		if _, err := s.Read(ctx, p); !errors.Is(err, sandbox.ErrOutside) && !(p == "loop" && errors.Is(err, sandbox.ErrName)) && p != "d/real.txt/../../../secret" {
			t.Errorf("read %q: %v, want that it is outside", p, err)
		}
		if _, err := s.List(ctx, p); err == nil {
			t.Errorf("%q is listed", p)
		}
	}
	for _, p := range leading {
		_ = s.Delete(ctx, p)
		if err := s.Apply(ctx, []engine.File{{Path: p, Data: []byte("pwned")}}); err == nil && (strings.Contains(p, "..") || strings.Contains(p, "/secret")) {
			t.Errorf("%q is applied", p)
		}
	}
	for _, name := range []string{s.secret, s.dir + "-evil/secret"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != canary {
			t.Errorf("%s is now %q, %v", name, b, err)
		}
	}
	if all, err := os.ReadDir(filepath.Dir(s.dir)); err != nil || len(all) != 3 {
		t.Errorf("beside the work directory there are now %v, %v", all, err)
	}
}

// A link is followed as long as it stays inside; what is told is where it led.
func TestLinksInside(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.put("docs/AGENTS.md", "one")
	s.link("docs/AGENTS.md", "CLAUDE.md")
	s.link("../docs", "docs/self")
	s.link("docs/later.md", "soon")
	s.must(s.Write(ctx, "CLAUDE.md", []byte("two")))
	text, err := s.Read(ctx, "docs/self/self/AGENTS.md")
	s.must(err)
	if string(text) != "two" {
		t.Errorf("read %q", text)
	}
	s.must(s.Write(ctx, "soon", []byte("now")))
	s.must(s.Delete(ctx, "CLAUDE.md"))
	s.must(s.Delete(ctx, "docs/self/AGENTS.md"))
	s.wants("written docs/AGENTS.md 3", "read docs/AGENTS.md 3", "written docs/later.md 3, new", "deleted CLAUDE.md", "deleted docs/AGENTS.md")
}

// Somebody swaps a folder for a link to the outside, again and again, while it
// is read and written: nothing of the outside comes in, nothing goes out.
func TestSwappedWhileUsed(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.put("d/secret", "inside")
	s.link("../ws-evil", "evil")
	var swapping sync.WaitGroup
	stop := make(chan struct{})
	swapping.Go(func() { // ends with the reading
		in := func(name string) string { return filepath.Join(s.dir, name) }
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(in("d"), in("aside"))
			_ = os.Rename(in("evil"), in("d"))
			_ = os.Rename(in("d"), in("evil"))
			_ = os.Rename(in("aside"), in("d"))
		}
	})
	defer swapping.Wait()
	defer close(stop)
	for i := range 500 {
		if text, err := s.Read(ctx, "d/secret"); err == nil && string(text) == canary {
			t.Fatalf("at the %dth time the secret was read", i)
		}
		_ = s.Write(ctx, "d/new", []byte("x"))
		files, _ := s.Changes(ctx)
		if slices.ContainsFunc(files, func(f engine.File) bool { return string(f.Data) == canary }) {
			t.Fatal("the secret is a change")
		}
	}
	if all, err := os.ReadDir(s.dir + "-evil"); err != nil || len(all) != 1 {
		t.Errorf("outside there is now %v, %v", all, err)
	}
}

// What is no file is not read, not written, and nobody waits for it.
func TestLimits(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{Limits: sandbox.Limits{File: 1000, Entries: 3}}), t.Context()
	s.must(s.Write(ctx, "full", make([]byte, 1000)))
	if err := s.Write(ctx, "large", make([]byte, 1001)); !errors.Is(err, sandbox.ErrTooLarge) || err.Error() != "write large: too large: 1001 bytes, at most 1000 bytes" {
		t.Errorf("a large file is written: %v", err)
	}
	s.put("huge", strings.Repeat("x", 20_000))
	if _, err := s.Read(ctx, "huge"); !errors.Is(err, sandbox.ErrTooLarge) || err.Error() != "read huge: too large: 19.53 KiB, at most 1000 bytes" {
		t.Errorf("a large file is read: %v", err)
	}
	if b, err := s.Read(ctx, "full"); err != nil || len(b) != 1000 {
		t.Errorf("a file as large as may be is read as %d bytes, %v", len(b), err)
	}
	if err := s.Delete(ctx, "huge"); err != nil {
		t.Errorf("a large file is not deleted: %v", err)
	}
	s.put("a", "")
	s.put("b", "")
	if all, err := s.List(ctx, "."); err != nil || len(all) != 3 {
		t.Errorf("List() = %v, %v", all, err)
	}
	s.put("c", "")
	if _, err := s.List(ctx, "."); !errors.Is(err, sandbox.ErrTooMany) || err.Error() != "list: too many: more than 3 in this folder" {
		t.Errorf("a crowded folder is listed: %v", err)
	}
	for _, name := range []string{"a\x1b]52;c;aGk=\x07", "a\u202etxt.exe", "a\nb", "a\u2028b", "d/.agentx-" + strings.Repeat("A", 26)} {
		if err := s.Write(ctx, name, nil); !errors.Is(err, sandbox.ErrName) || strings.ContainsAny(err.Error()+s.told[len(s.told)-1], "\x1b\a\n\u202e\u2028") {
			t.Errorf("%q is written: %v", name, err)
		}
	}
	s.must(s.Write(ctx, "می\u200cخواهم 👩\u200d💻.txt", nil)) // joiners are a matter of spelling
}

func TestCancelled(t *testing.T) {
	s := begin(t, sandbox.Options{})
	s.put("a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{
		s.Write(ctx, "b", nil), s.Delete(ctx, "a"), s.Apply(ctx, nil),
		second(s.Read(ctx, "a")), second(s.List(ctx, ".")), second(s.Stat(ctx, "a")), second(s.Changes(ctx)), second(s.Mark(ctx)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled request says %v", err)
		}
	}
	if len(s.told) != 8 || !strings.HasPrefix(s.told[0], "write b: cancelled") {
		t.Errorf("told %q", s.told)
	}
	s.told = nil
	if _, err := s.Read(t.Context(), "a"); err != nil {
		t.Errorf("after a cancelled request nothing goes: %v", err)
	}
}

// Who reads while others write sees one text or the other, never a piece of
// both, and nothing is left lying about.
func TestWholeOrNotAtAll(t *testing.T) {
	w, err := sandbox.Open(t.TempDir(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx := t.Context()
	texts := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 70_000)}
	if err := w.Write(ctx, "f", texts[0]); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	for _, text := range texts {
		writing.Go(func() {
			for range 50 {
				if err := w.Write(ctx, "f", text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := w.Read(ctx, "f")
		if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}
	writing.Wait()
	if all, err := w.List(ctx, "."); err != nil || len(all) != 1 {
		t.Errorf("there is now %v, %v", all, err)
	}
}

func TestModeStays(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.put("run.sh", "#!/bin/sh\n")
	s.must(os.Chmod(filepath.Join(s.dir, "run.sh"), 0o751))
	s.must(s.Write(ctx, "run.sh", []byte("#!/bin/sh\necho\n")))
	info, err := os.Stat(filepath.Join(s.dir, "run.sh"))
	s.must(err)
	if info.Mode().Perm() != 0o751 {
		t.Errorf("mode %o, want 751", info.Mode().Perm())
	}
	s.must(os.Chmod(filepath.Join(s.dir, "run.sh"), 0o444))
	if err := s.Write(ctx, "run.sh", nil); !errors.Is(err, sandbox.ErrDenied) {
		t.Errorf("a read-only file is written: %v", err)
	}
	s.must(os.Chmod(filepath.Join(s.dir, "run.sh"), 0o644))
	if err := os.Link(s.secret, filepath.Join(s.dir, "twin")); err == nil {
		if err := s.Write(ctx, "twin", []byte("pwned")); !errors.Is(err, sandbox.ErrDenied) {
			t.Errorf("a file with two names is written: %v", err)
		}
	}
	if b, _ := os.ReadFile(s.secret); string(b) != canary {
		t.Errorf("the secret is now %q", b)
	}
}

// Whatever a path looks like, what is read is inside, what is written is inside,
// and what is told can be shown on a terminal.
func FuzzPath(f *testing.F) {
	for _, p := range []string{
		"a", "d/e", "../secret", "up", "parent/secret", "d/../../secret", "/etc/passwd", "a\x00b", "\xff", "a\u202eb", "loop/x", ".agentx-AAAAAAAAAAAAAAAAAAAAAAAAAA",
		"d/", ".", "", "in/e", "in/../up", "C:\\x", "\\\\host\\share", "CON", "a\x1b[2J", "d/e/../../..", "x/y/../../../ws/d/e",
	} {
		f.Add(p)
	}
	home := f.TempDir()
	dir := filepath.Join(home, "ws")
	for _, err := range []error{
		os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(home, "secret"), []byte(canary), 0o600), os.Mkdir(filepath.Join(dir, "d"), 0o755),
		os.WriteFile(filepath.Join(dir, "d", "e"), []byte("inside"), 0o600),
		os.Symlink("../secret", filepath.Join(dir, "up")), os.Symlink("..", filepath.Join(dir, "parent")),
		os.Symlink("loop", filepath.Join(dir, "loop")), os.Symlink("d", filepath.Join(dir, "in")),
	} {
		if err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, p string) {
		told := ""
		w, err := sandbox.Open(dir, sandbox.Options{Tell: func(d event.Data) { told += line(d) }})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if text, err := w.Read(t.Context(), p); err == nil && string(text) == canary {
			t.Fatalf("%q reads the secret", p)
		}
		wrote := w.Write(t.Context(), p, []byte("x"))
		files, err := w.Changes(t.Context())
		if err != nil {
			t.Fatalf("after %q: %v", p, err)
		}
		if wrote == nil {
			for _, f := range slices.Backward(files) {
				if !f.Gone && f.Path != "d/e" {
					if err := w.Delete(t.Context(), f.Path); err != nil {
						t.Fatalf("%q was written as %q and cannot be deleted: %v", p, f.Path, err)
					}
				}
			}
		}
		if strings.ContainsFunc(told, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
			t.Fatalf("%q is told as %q", p, told)
		}
		if b, err := os.ReadFile(filepath.Join(home, "secret")); err != nil || string(b) != canary {
			t.Fatalf("after %q the secret is %q, %v", p, b, err)
		}
		if all, err := os.ReadDir(home); err != nil || len(all) != 2 {
			t.Fatalf("after %q there are %v, %v beside it", p, all, err)
		}
	})
}
