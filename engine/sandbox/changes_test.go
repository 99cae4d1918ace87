package sandbox_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/sandbox"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWhatChanged(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{}), t.Context()
	s.put("keep.txt", "same")
	s.put("old/gone.txt", "x")
	s.put("again.txt", "before")
	s.put("large.txt", "not ours")
	none, err := s.Changes(ctx)
	if len(none) != 0 || err != nil {
		t.Errorf("nothing was done, and changed are %v, %v", none, err)
	}
	s.must(s.Write(ctx, "src/a.go", []byte("package a")))
	s.must(s.Write(ctx, "keep.txt", []byte("other")))
	s.must(s.Write(ctx, "keep.txt", []byte("same")))
	s.must(s.Write(ctx, "again.txt", []byte("after!")))
	s.must(s.Write(ctx, "fleeting.txt", []byte("x")))
	s.must(s.Delete(ctx, "fleeting.txt"))
	s.must(s.Delete(ctx, "old/gone.txt"))
	s.must(s.Delete(ctx, "old"))
	got, err := s.Changes(ctx)
	s.must(err)
	for i := range got {
		got[i].Mode &^= 0o077 // the umask's part
	}
	want := []engine.File{
		{Path: "again.txt", Mode: 0o600, Data: []byte("after!")},
		{Path: "old", Gone: true},
		{Path: "old/gone.txt", Gone: true},
		{Path: "src", Mode: 0o40700},
		{Path: "src/a.go", Mode: 0o600, Data: []byte("package a")},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// An agent whose directory is its own is frozen, and another wakes from the
// image; that one is frozen too, and nothing of the first is lost.
func TestAnImageOfAnImage(t *testing.T) {
	ctx := t.Context()
	first := begin(t, sandbox.Options{Baseline: &sandbox.Manifest{}})
	first.must(first.Write(ctx, "plan.md", []byte("one")))
	first.put("bin/tool", "by a shell") // not through us
	first.link("bin/tool", "tool")
	first.link("/etc", "out")
	first.put("bin/.agentx-"+strings.Repeat("Q", 26), "half a fi") // somebody was killed while writing
	image, err := first.Changes(ctx)
	first.must(err)
	wire, err := json.Marshal(engine.Image{Sandbox: image})
	first.must(err)
	var kept engine.Image
	first.must(json.Unmarshal(wire, &kept))

	second := begin(t, sandbox.Options{Baseline: &sandbox.Manifest{}})
	second.must(second.Apply(ctx, kept.Sandbox))
	second.wants("written bin/tool 10, new", "written out 4, new", "written plan.md 3, new", "written tool 8, new")
	if text, err := second.Read(ctx, "tool"); string(text) != "by a shell" || err != nil {
		t.Errorf("Read() = %q, %v", text, err)
	}
	if _, err := second.Read(ctx, "out"); !errors.Is(err, sandbox.ErrOutside) {
		t.Errorf("a link that came with an image is followed to the outside: %v", err)
	}
	second.must(second.Write(ctx, "plan.md", []byte("two")))
	second.must(second.Delete(ctx, "bin/tool"))
	image, err = second.Changes(ctx)
	second.must(err)

	third := begin(t, sandbox.Options{Baseline: &sandbox.Manifest{}})
	third.must(third.Apply(ctx, image))
	third.must(third.Apply(ctx, image)) // again does no harm
	if diff := gocmp.Diff(tree(t, second.dir), tree(t, third.dir)); diff != "" {
		t.Errorf("-second +third\n%s", diff)
	}
}

// A baseline that was kept as JSON says after a restart what is other, whoever
// did it.
func TestMark(t *testing.T) {
	ctx := t.Context()
	s := begin(t, sandbox.Options{})
	s.put("a", "one")
	s.put("b/c", "two")
	s.put("b/d", "three")
	m, err := s.Mark(ctx)
	s.must(err)
	s.put("a", "ONE")
	s.must(os.Remove(filepath.Join(s.dir, "b/c")))
	s.must(os.Chmod(filepath.Join(s.dir, "b/d"), 0o600))
	text, err := json.Marshal(m)
	s.must(err)
	var kept sandbox.Manifest
	s.must(json.Unmarshal(text, &kept))
	later, err := sandbox.Open(s.dir, sandbox.Options{Baseline: &kept})
	s.must(err)
	defer later.Close()
	want := []engine.File{{Path: "a", Mode: 0o644, Data: []byte("ONE")}, {Path: "b/c", Gone: true}, {Path: "b/d", Mode: 0o600, Data: []byte("three")}}
	for _, w := range []*sandbox.Workdir{s.Workdir, later} {
		got, err := w.Changes(ctx)
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v -want +got\n%s", err, diff)
		}
	}
	if !strings.Contains(string(text), `{"path":"b/c","mode":33188,"size":3,"hash":"`) {
		t.Errorf("the manifest is kept as %s", text)
	}
}

func TestTooMuchForAnImage(t *testing.T) {
	ctx := t.Context()
	s := begin(t, sandbox.Options{Baseline: &sandbox.Manifest{}, Limits: sandbox.Limits{Changes: 3, Total: 100, Tree: 5}})
	s.put("a", strings.Repeat("x", 60))
	s.put("b", strings.Repeat("x", 60))
	if _, err := s.Changes(ctx); !errors.Is(err, sandbox.ErrTooLarge) || !strings.HasSuffix(err.Error(), ": too large: with it the changes are more than 100 bytes") {
		t.Errorf("Changes() = %v", err)
	}
	s.must(os.Truncate(filepath.Join(s.dir, "b"), 40))
	if files, err := s.Changes(ctx); len(files) != 2 || err != nil {
		t.Errorf("Changes() = %d files, %v", len(files), err)
	}
	s.put("c", "")
	s.put("d", "")
	if _, err := s.Changes(ctx); !errors.Is(err, sandbox.ErrTooMany) || !strings.HasSuffix(err.Error(), "too many: more than 3 changes") {
		t.Errorf("Changes() = %v", err)
	}
	s.put("e", "")
	s.put("f", "")
	if _, err := s.Mark(ctx); !errors.Is(err, sandbox.ErrTooMany) || err.Error() != "mark: too many: there are more than 5 files and folders" {
		t.Errorf("Mark() = %v", err)
	}
}

// An image comes from wherever images come from. One that makes no sense
// changes nothing.
func TestNonsenseIsNotApplied(t *testing.T) {
	s, ctx := begin(t, sandbox.Options{Limits: sandbox.Limits{Changes: 3, Total: 100}}), t.Context()
	s.link("../ws-evil", "evil")
	good := engine.File{Path: "a-good", Data: []byte("x")}
	for _, c := range []struct {
		why   error
		files []engine.File
	}{
		{sandbox.ErrOutside, []engine.File{{Path: "../secret", Data: []byte("pwned")}}},
		{sandbox.ErrOutside, []engine.File{{Path: "../secret", Gone: true}}},
		{sandbox.ErrOutside, []engine.File{{Path: s.secret}}},
		{sandbox.ErrName, []engine.File{{Path: "."}}},
		{sandbox.ErrName, []engine.File{{Path: ""}}},
		{sandbox.ErrName, []engine.File{{Path: "b/../c"}}},
		{sandbox.ErrName, []engine.File{{Path: "b//c"}}},
		{sandbox.ErrName, []engine.File{{Path: "b\x00"}}},
		{sandbox.ErrName, []engine.File{{Path: "b"}, {Path: "b", Gone: true}}},
		{sandbox.ErrName, []engine.File{{Path: "b", Mode: 0o120000}}},
		{sandbox.ErrName, []engine.File{{Path: "b", Mode: 0o120000, Data: []byte("c\x00d")}}},
		{sandbox.ErrNotFile, []engine.File{{Path: "b", Mode: 0o10644}}},
		{sandbox.ErrNotFile, []engine.File{{Path: "b", Mode: 1 << 31}}},
		{sandbox.ErrNotFolder, []engine.File{{Path: "b"}, {Path: "b/c/d"}}},
		{sandbox.ErrNotFolder, []engine.File{{Path: "b", Mode: 0o120777, Data: []byte("..")}, {Path: "b/secret", Data: []byte("pwned")}}},
		{sandbox.ErrName, []engine.File{{Path: ".agentx-" + strings.Repeat("A", 26)}}},
		{sandbox.ErrTooMany, []engine.File{{Path: "b"}, {Path: "c"}, {Path: "d"}}},
		{sandbox.ErrTooLarge, []engine.File{{Path: "b", Data: make([]byte, 100)}}},
	} {
		if err := s.Apply(ctx, append(slices.Clone(c.files), good)); !errors.Is(err, c.why) {
			t.Errorf("Apply(%v) = %v, want %v", c.files, err, c.why)
		}
	}
	if err := s.Apply(ctx, []engine.File{{Path: "evil/secret", Data: []byte("pwned")}}); !errors.Is(err, sandbox.ErrNotFolder) {
		t.Errorf("a change goes through a link that was there: %v", err)
	}
	if err := s.Apply(ctx, []engine.File{{Path: "evil/secret", Gone: true}}); err != nil {
		t.Errorf("what is gone is not to be found behind a link: %v", err)
	}
	if b, err := os.ReadFile(s.dir + "-evil/secret"); string(b) != canary || err != nil {
		t.Errorf("the secret is now %q, %v", b, err)
	}
	if all, err := os.ReadDir(s.dir); len(all) != 1 || err != nil {
		t.Errorf("there are now %v, %v", all, err)
	}
}

// Whatever was done to a copy of a directory, by us or behind our back, its
// changes bring another copy to the same state, and there the same is changed.
func TestChangesAndApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		home, err := os.MkdirTemp("", "sandbox")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(home)
		before, after, fresh := filepath.Join(home, "before"), filepath.Join(home, "after"), filepath.Join(home, "fresh")
		for _, dir := range []string{before, after, fresh} {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		w := open(t, before, sandbox.Options{})
		for range rapid.IntRange(0, 12).Draw(t, "things before") {
			change(t, w, before)
		}
		baseline := mark(t, w)
		must(t, w.Close())
		copyTree(t, before, after)
		copyTree(t, before, fresh)

		alone := rapid.Bool().Draw(t, "nobody else works there")
		o := sandbox.Options{Baseline: baseline}
		if alone {
			o = sandbox.Options{}
		}
		w = open(t, after, o)
		defer w.Close()
		for range rapid.IntRange(0, 25).Draw(t, "changes") {
			if alone || rapid.Bool().Draw(t, "ours") {
				work(t, w)
			} else {
				change(t, w, after)
			}
		}
		files, err := w.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		other := open(t, fresh, o)
		defer other.Close()
		for range rapid.IntRange(1, 2).Draw(t, "times applied") {
			if err := other.Apply(t.Context(), files); err != nil {
				t.Fatalf("%v\n%v", err, files)
			}
		}
		if diff := gocmp.Diff(tree(t, after), tree(t, fresh)); diff != "" {
			t.Fatalf("-after +fresh\n%s%v", diff, files)
		}
		again, err := other.Changes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(files, again); diff != "" {
			t.Fatalf("the changes there are others: -want +got\n%s", diff)
		}
	})
}

type failer interface{ Fatal(...any) }

func must(t failer, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func open(t failer, dir string, o sandbox.Options) *sandbox.Workdir {
	w, err := sandbox.Open(dir, o)
	must(t, err)
	return w
}

func mark(t failer, w *sandbox.Workdir) *sandbox.Manifest {
	m, err := w.Mark(context.Background())
	must(t, err)
	return m
}

// somewhere is a path in a small world, so that things happen to each other.
func somewhere(t *rapid.T) string {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a-b", "ü \x1b"}), 1, 3).Draw(t, "path")
	return path.Join(names...)
}

// work does something that a tool would. It may well fail.
func work(t *rapid.T, w *sandbox.Workdir) {
	p := somewhere(t)
	if rapid.Bool().Draw(t, "write") {
		_ = w.Write(t.Context(), p, []byte(rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "text")))
	} else {
		_ = w.Delete(t.Context(), p)
	}
}

// change does something that a shell would. It may well fail.
func change(t *rapid.T, w *sandbox.Workdir, dir string) {
	p := filepath.Join(dir, somewhere(t))
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0, 1, 2:
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		_ = os.WriteFile(p, []byte(rapid.SampledFrom([]string{"", "one", "two", "three"}).Draw(t, "text")), 0o644)
	case 3:
		_ = os.Mkdir(p, 0o755)
	case 4:
		_ = os.RemoveAll(p)
	case 5:
		_ = os.Symlink(rapid.SampledFrom([]string{"a", "../b", "/nowhere", "../../.."}).Draw(t, "target"), p)
	case 6:
		_ = os.Rename(p, filepath.Join(dir, somewhere(t)))
	case 7:
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			_ = os.Chmod(p, rapid.SampledFrom([]fs.FileMode{0o700, 0o755, 0o711}).Draw(t, "mode"))
		}
	case 8:
		work(t, w)
	}
}

// tree is all that is in a folder, a line each.
func tree(t failer, dir string) []string {
	var all []string
	must(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		l := fmt.Sprintf("%q %s", filepath.ToSlash(name), info.Mode())
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			l += fmt.Sprintf(" %q", text)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			l += " -> " + target
		}
		all = append(all, l)
		return nil
	}))
	slices.SortFunc(all, cmp.Compare)
	return all
}

func copyTree(t failer, from, to string) {
	must(t, filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == from {
			return err
		}
		name, _ := filepath.Rel(from, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		dest := filepath.Join(to, name)
		switch {
		case d.IsDir():
			err = os.Mkdir(dest, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			return os.Symlink(target, dest)
		default:
			text, _ := os.ReadFile(p)
			err = os.WriteFile(dest, text, 0o600)
		}
		if err != nil {
			return err
		}
		return os.Chmod(dest, info.Mode().Perm())
	}))
}
