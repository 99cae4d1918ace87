package tui

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Which programs have the user's clipboard: those of the machine before which
// the user sits, and what leads there.
func TestClipboards(t *testing.T) {
	for _, test := range []struct {
		name string
		env  []string
		want string
	}{
		{"a desktop", []string{"DISPLAY=:0"}, "xclip xsel pbcopy termux-clipboard-set"},
		{"Wayland", []string{"WAYLAND_DISPLAY=wayland-0", "DISPLAY=:0"}, "wl-copy xclip xsel pbcopy termux-clipboard-set"},
		{"a multiplexer", []string{"TMUX=/tmp/tmux-0/default,1,0"}, "tmux pbcopy termux-clipboard-set"},
		{"far away", []string{"SSH_CONNECTION=1 2 3 4", "WAYLAND_DISPLAY=wayland-0"}, ""},
		{"far away, with a display", []string{"SSH_TTY=/dev/pts/1", "DISPLAY=localhost:10.0", "TMUX=x"}, "tmux xclip xsel"},
	} {
		var got []string
		for _, argv := range clipboards(lookup(test.env)) {
			got = append(got, argv[0])
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// A text goes to the first program that is there and takes it; where none does,
// that is said.
func TestHandOver(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := func(name, does string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+does+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	board := filepath.Join(dir, "board")
	script("clip-broken", "cat >/dev/null; exit 3")
	script("clip-works", `cat >"`+board+`"`)
	text := strings.Repeat("0123456789", 50_000)
	if err := handOver([][]string{{"clip-missing"}, {"clip-broken"}, {"clip-works"}}, text); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(board); err != nil || string(got) != text {
		t.Errorf("the clipboard has %d bytes of %d, error %v", len(got), len(text), err)
	}
	err := handOver([][]string{{"clip-missing"}}, text)
	if want := "500 kB are more than a terminal takes, and no program here has a clipboard"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if err := handOver([][]string{{"clip-broken"}}, text); err == nil || !strings.HasPrefix(err.Error(), "clip-broken: ") {
		t.Errorf("error %v, want that of clip-broken", err)
	}
}
