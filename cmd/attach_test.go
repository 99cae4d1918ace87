package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/tui"
	"agentx/tui/composer"

	"github.com/google/go-cmp/cmp"
)

// png is the smallest beginning of a file that is one.
var png = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")

// newFolder is a desk in a folder of files.
func newFolder(t *testing.T, files map[string]string) *desk {
	t.Helper()
	d := newDesk(t, t.TempDir(), options{}, func(string) string { return "" })
	d.world.dir = t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(d.world.dir, name), text)
	}
	return d
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestAttach says what a path is when it is attached, and why one cannot be.
func TestAttach(t *testing.T) {
	d := newFolder(t, map[string]string{
		"main.go": "package main\n", "docs/a plan.txt": "beans", "Bild 1.png": string(png), "paper.pdf": "%PDF-1.7\n",
		"binary": "a\x00b", "big.txt": strings.Repeat("x", maxFile+1), "it's.png": string(png),
	})
	for path, want := range map[string]string{
		"main.go":           "main.go text 13",
		"docs/a plan.txt":   "docs/a plan.txt text 5",
		`docs/a\ plan.txt`:  "docs/a plan.txt text 5",
		`"docs/a plan.txt"`: "docs/a plan.txt text 5",
		"Bild 1.png":        "Bild 1.png PNG 16",
		"file://" + strings.ReplaceAll(filepath.ToSlash(d.world.dir), " ", "%20") + "/Bild%201.png": "Bild 1.png PNG 16",
		"paper.pdf": "paper.pdf PDF 9",
		"binary":    "binary is neither text in UTF-8, nor a PDF, nor an image (PNG, JPEG, GIF, WebP)",
		"big.txt":   "big.txt is larger than the 10 MB that a file may have",
		"docs":      "docs: a folder cannot go with a message",
		"gone":      "gone: there is no such file",
		"":          ": a folder cannot go with a message",
	} {
		f, err := d.Attach(t.Context(), path)
		got := fmt.Sprint(f.Name, " ", f.Kind, " ", f.Size)
		if err != nil {
			got = strings.ReplaceAll(err.Error(), d.world.dir+string(filepath.Separator), "")
		}
		if got != want {
			t.Errorf("Attach(%q) is %q, want %q", path, got, want)
		}
	}
	at := filepath.Join(d.world.dir, "it's.png")
	for text, want := range map[string]bool{
		at: true, "'" + strings.ReplaceAll(at, "'", `'\''`) + "'": true, strings.ReplaceAll(at, "'", `\'`): true,
		"it's.png": false, filepath.Join(d.world.dir, "main.go"): false, at + " and more": false, d.world.dir: false,
	} {
		if _, ok := d.Dropped(t.Context(), text); ok != want {
			t.Errorf("Dropped(%q) is %v, want %v", text, ok, want)
		}
	}
}

// TestAttachedGoesAsItIs sends a file as it is when the message goes, and one
// that is gone by then as it was when it was attached; so too after a crash.
func TestAttachedGoesAsItIs(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	d := newDesk(t, home, options{}, func(string) string { return "" })
	d.world.dir = t.TempDir()
	var paths []string
	for _, name := range []string{"kept.txt", "changed.txt", "shot.png"} {
		write(t, filepath.Join(d.world.dir, name), map[bool]string{true: string(png), false: "first"}[name == "shot.png"])
		f, err := d.Attach(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, f.Path)
	}
	write(t, paths[1], "second")
	if err := os.Remove(paths[2]); err != nil {
		t.Fatal(err)
	}
	want := event.Content{
		event.Text{Text: "<file name=\"kept.txt\">\nfirst\n</file>"},
		event.Text{Text: "<file name=\"changed.txt\">\nsecond\n</file>"},
		event.Image{MediaType: "image/png", Data: png, Name: "shot.png"},
	}
	here := d.talk
	got, err := d.files(ctx, here, paths)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("what goes (-want +got), %v:\n%s", err, diff)
	}

	draft := tui.Draft{Message: tui.Message{Text: "@shot.png"}}
	draft.Chips = append(draft.Chips, composer.Chip{Len: 9, Kind: composer.Attached, Label: "[shot.png]", Path: paths[2], Size: 16})
	if err := d.SaveDraft(ctx, here.session, draft); err != nil {
		t.Fatal(err)
	}
	d.leave(ctx, here.session)
	again := newDesk(t, home, options{resume: string(here.session)}, func(string) string { return "" })
	again.world.dir = d.world.dir
	back, err := again.draft(ctx, here.session)
	if diff := cmp.Diff(draft, back); diff != "" || err != nil {
		t.Errorf("the draft (-want +got), %v:\n%s", err, diff)
	}
	there := again.talk
	got, err = again.files(ctx, there, paths[2:])
	if diff := cmp.Diff(want[2:], got); diff != "" || err != nil {
		t.Errorf("after a crash (-want +got), %v:\n%s", err, diff)
	}
	if err := again.SaveDraft(ctx, here.session, tui.Draft{}); err != nil {
		t.Fatal(err)
	}
	if got, err = again.files(ctx, there, paths[2:]); err == nil {
		t.Errorf("when it was let go of, there is still %v", got)
	}
}

// TestIgnoreIsGits holds what is left out of a list against git itself.
func TestIgnoreIsGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git to ask")
	}
	root := t.TempDir()
	git := func(in string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "core.excludesFile=", "-c", "core.fsmonitor=false"}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() > 1) {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q")
	write(t, filepath.Join(root, ".gitignore"), "# a comment\n*.log\n!keep.log\n/top.txt\nbuild/\ndocs/*.tmp\n**/deep/*.x\na/**/z\n[!a-y]only\n\\#hash\ntrailing  \nsub/\n!sub/\n")
	write(t, filepath.Join(root, "inner/.gitignore"), "local\n!back.log\n")
	names := []string{"main.go", "x.log", "keep.log", "top.txt", "inner/top.txt", "build/out", "inner/build/out", "docs/a.tmp", "docs/b/a.tmp", "deep/f.x", "q/deep/f.x",
		"a/z", "a/b/c/z", "zonly", "bonly", "#hash", "trailing", "inner/local", "local", "inner/back.log", "inner/x.log", "sub/file", "top/sub/file"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		parts := []string{"a", "b", "build", "deep", "docs", "inner", "z", "x.log", "f.x", "local", "a.tmp"}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		names = append(names, "rnd/"+strings.Join(parts[:1+r.IntN(3)], "/")+"/end"+fmt.Sprint(r.IntN(9)))
	}
	for _, name := range names {
		write(t, filepath.Join(root, name), "x")
	}
	ignored := strings.Split(git(strings.Join(names, "\n"), "check-ignore", "--stdin"), "\n")
	var want []string
	for _, name := range names {
		if !slices.Contains(ignored, name) && !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	got := walk(root, time.Now().Add(time.Hour))
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is listed (-git +ours):\n%s", diff)
	}

	inner := walk(filepath.Join(root, "inner"), time.Now().Add(time.Hour))
	slices.Sort(inner)
	want = slices.DeleteFunc(want, func(s string) bool { return !strings.HasPrefix(s, "inner/") })
	for i, s := range want {
		want[i] = strings.TrimPrefix(s, "inner/")
	}
	if diff := cmp.Diff(want, inner); diff != "" {
		t.Errorf("from a folder within (-git +ours):\n%s", diff)
	}
}

// TestComplete finds near and whole names first, hidden ones when they are asked
// for, and what lies elsewhere only by its folder.
func TestComplete(t *testing.T) {
	d := newFolder(t, map[string]string{
		"main.go": "x", "cmd/main_test.go": "x", "cmd/ask.go": "x", "docs/manual.md": "x", ".hidden/main": "x", ".env": "x",
		"node_modules/main.js": "x", "a\x1bb": "x", "deep/er/domain.txt": "x", "src/m/a/i.n": "x",
	})
	outside := t.TempDir()
	write(t, filepath.Join(outside, "other.txt"), "xyz")
	for part, want := range map[string]string{
		"main":                 "main.go cmd/main_test.go deep/er/domain.txt src/m/a/i.n",
		"MAIN.G":               "main.go cmd/main_test.go",
		"cmd/":                 "cmd/ask.go cmd/main_test.go",
		"cmd/a":                "cmd/ask.go cmd/main_test.go",
		"dman":                 "docs/manual.md cmd/main_test.go deep/er/domain.txt",
		".e":                   ".env .hidden/",
		".hidden/":             ".hidden/main",
		"nothing here":         "",
		outside + "/o":         outside + "/other.txt",
		"../" + "nobody/knows": "",
	} {
		d.browser.at = time.Time{}
		list, err := d.Complete(t.Context(), filepath.ToSlash(part))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, e.Name)
		}
		if s := strings.Join(got, " "); s != filepath.ToSlash(want) {
			t.Errorf("Complete(%q) is %q, want %q", part, s, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := d.Complete(ctx, "m"); err == nil {
		t.Errorf("nobody waits for it any more, and it lists %v", list)
	}
}

// BenchmarkComplete is a key behind an @ in a tree of twenty thousand files; beside
// it one that walks the tree for each key.
func BenchmarkComplete(b *testing.B) {
	root := b.TempDir()
	for dir := range 100 {
		name := filepath.Join(root, fmt.Sprint("package", dir))
		if err := os.Mkdir(name, 0o755); err != nil {
			b.Fatal(err)
		}
		for file := range 200 {
			if err := os.WriteFile(filepath.Join(name, fmt.Sprint("file", file, ".go")), nil, 0o600); err != nil {
				b.Fatal(err)
			}
		}
	}
	w := newWorld(os.Stdin, os.Stdout, os.Stderr)
	w.dir = root
	for _, c := range []struct {
		name string
		each func(*desk)
	}{{"known", func(*desk) {}}, {"naive", func(d *desk) { d.browser.at = time.Time{} }}} {
		b.Run(c.name, func(b *testing.B) {
			d := &desk{world: w}
			for b.Loop() {
				c.each(d)
				if list, err := d.Complete(b.Context(), "file19"); err != nil || len(list) == 0 {
					b.Fatal(list, err)
				}
			}
		})
	}
}

// TestLegible is what a terminal would have shown in the end.
func TestLegible(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\n": "a\nb\n", "10%\r50%\rdone\n": "done\n", "\x1b[31mred\x1b[0m": "red", "\xff\x1b]0;title\x07x": "\uFFFDx", "a\u202eb": "a<U+202E>b", "\r": "",
	} {
		if got := legible([]byte(in)); got != want {
			t.Errorf("legible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestTap keeps the two ends of a long output, however it comes.
func TestTap(t *testing.T) {
	var all bytes.Buffer
	for n := range 20_000 {
		fmt.Fprintf(&all, "line %d\n", n)
	}
	r := rand.New(rand.NewPCG(3, 4))
	out := &tap{}
	for rest := all.Bytes(); len(rest) > 0; {
		n := min(1+r.IntN(60_000), len(rest))
		_, _ = out.Write(rest[:n])
		rest = rest[n:]
	}
	text, lines := out.text(nil)
	whole := all.String()
	head, tail := whole[:maxHalf], whole[len(whole)-maxHalf:]
	if lines != 20_000 || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(text) > 2*maxHalf+60 || !strings.Contains(text, " bytes left out ") {
		t.Errorf("of %d lines there are %d bytes: %.100q … %q", lines, len(text), text, text[len(text)-100:])
	}
	small := &tap{}
	_, _ = small.Write([]byte("one\ntwo"))
	if text, lines := small.text(nil); text != "one\ntwo" || lines != 2 {
		t.Errorf("a short output is %q in %d lines", text, lines)
	}
}

// TestAttachAnAddress fetches what lies on the net once, and says why it cannot
// be had; whatever leads elsewhere is followed, but for what is less safe.
func TestAttachAnAddress(t *testing.T) {
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		if from := r.Header.Get("Referer"); from != "" {
			t.Errorf("%s is told of %s", r.URL.Path, from)
		}
		switch r.URL.Path {
		case "/pictures/Bild 1.png":
			_, _ = w.Write(png)
		case "/":
			_, _ = io.WriteString(w, "beans")
		case "/moved":
			http.Redirect(w, r, "/pictures/Bild%201.png", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/large":
			_, _ = w.Write(make([]byte, maxFile+1))
		case "/binary":
			_, _ = io.WriteString(w, "a\x00b")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	host := server.Listener.Addr().String()
	d := newFolder(t, nil)
	for address, want := range map[string]string{
		"/pictures/Bild%201.png": "Bild 1.png PNG 16",
		"/moved":                 "moved PNG 16",
		"":                       "127.0.0.1 text 5",
		"/round":                 "http://" + host + "/round: it leads from address to address, 5 times",
		"/large":                 "http://" + host + "/large: larger than the 10 MB that a file may have",
		"/binary":                "binary is neither text in UTF-8, nor a PDF, nor an image (PNG, JPEG, GIF, WebP)",
		"/nothing":               "http://" + host + "/nothing: the server answers 404 Not Found",
	} {
		f, err := d.Attach(t.Context(), "http://"+host+address)
		got := fmt.Sprint(f.Name, " ", f.Kind, " ", f.Size)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	nobody := httptest.NewServer(nil)
	nobody.Close()
	gone := nobody.Listener.Addr().String()
	if _, err := d.Attach(t.Context(), nobody.URL+"/x"); err == nil || err.Error() != "http://"+gone+"/x: nothing answers at "+gone+": connection refused" {
		t.Errorf("of a server that does not run: %v", err)
	}
	before := asked["/moved"]
	content, err := d.files(t.Context(), nil, []string{"http://" + host + "/moved"})
	if err != nil || len(content) != 1 || asked["/moved"] != before {
		t.Errorf("sent as %v, %v, fetched %d times more", content, err, asked["/moved"]-before)
	}
	insecure, err := http.NewRequest(http.MethodGet, "http://"+host, nil)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := http.NewRequest(http.MethodGet, "https://"+host, nil)
	if err != nil {
		t.Fatal(err)
	}
	if follow(insecure, []*http.Request{secure}) == nil {
		t.Error("from an encrypted address it goes on without")
	}
}
