//go:build unix

package cmd

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentx/engine/event"
	"agentx/tui"
	"agentx/tui/composer"
)

// TestClipped pastes pictures: they lie in no file, go with the message, and come
// back with the draft after a crash.
func TestClipped(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	display := map[string]string{"DISPLAY": ":0"}
	home := t.TempDir()
	d := newDesk(t, home, options{model: "guide/guide"}, func(name string) string { return display[name] })
	clip := func(script string) {
		t.Helper()
		write(t, filepath.Join(bin, "xclip"), "#!/bin/sh\n"+script)
		if err := os.Chmod(filepath.Join(bin, "xclip"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	picture := filepath.Join(t.TempDir(), "picture")
	write(t, picture, string(png))
	for script, want := range map[string]string{
		"exit 1":                     "no image",
		"echo a text":                "no image",
		"head -c 40000000 /dev/zero": "no image",
	} {
		clip(script)
		if f, err := d.Clipped(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("where it does %q the clipboard has %+v, %v; want %s", script, f, err, want)
		}
	}
	clip("cat " + picture)
	one, err := d.Clipped(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two, err := d.Clipped(t.Context())
	if err != nil || one.Path == two.Path || two.Kind != "PNG" || two.Size != int64(len(png)) || !strings.HasPrefix(two.Name, "clipboard-") {
		t.Fatalf("the second is %+v, %v; the first was %+v", two, err, one)
	}
	if _, err := os.Stat(two.Path); err == nil {
		t.Errorf("%s lies on the disk", two.Path)
	}
	c, err := d.files(t.Context(), d.current(), []string{two.Path})
	if err != nil || fmt.Sprintf("%s", c) != fmt.Sprintf("%s", event.Content{event.Image{MediaType: "image/png", Data: png, Name: two.Name}}) {
		t.Fatalf("what goes along is %+v, %v", c, err)
	}
	in := d.current().session
	if err := d.Send(t.Context(), in, event.Say("so that it is kept"), nil); err != nil {
		t.Fatal(err)
	}
	chip := composer.Chip{Len: 5, Kind: composer.Attached, Path: two.Path, Label: "[x]"}
	if err := d.SaveDraft(t.Context(), in, tui.Draft{Message: tui.Message{Text: "@clip", Chips: []composer.Chip{chip}}}); err != nil {
		t.Fatal(err)
	}
	d.leave(t.Context(), in)
	d.world.close()
	later := newDesk(t, home, options{model: "guide/guide", last: true}, func(string) string { return "" })
	if data, ok := later.lost(t.Context(), later.current(), two.Path); !ok || string(data) != string(png) {
		t.Errorf("another day the picture is %q, %v", data, ok)
	}
	if _, err := later.Clipped(t.Context()); err == nil || !strings.Contains(err.Error(), "no program") {
		t.Errorf("without a display the error is %v", err)
	}
}

// TestClipboardsOfOtherSystems reads what their programs say.
func TestClipboardsOfOtherSystems(t *testing.T) {
	got, err := fromAppleScript([]byte("«data PNGf" + strings.ToUpper(hex.EncodeToString(png)) + "»\n"))
	if err != nil || string(got) != string(png) {
		t.Errorf("from AppleScript: %q, %v", got, err)
	}
	got, err = fromBase64([]byte(base64.StdEncoding.EncodeToString(png) + "\r\n"))
	if err != nil || string(got) != string(png) {
		t.Errorf("from PowerShell: %q, %v", got, err)
	}
	for goos, want := range map[string]string{"linux": "powershell.exe", "windows": "powershell.exe", "darwin": "pngpaste osascript powershell.exe"} {
		var names []string
		for _, c := range clipboards(func(name string) (string, bool) { return "Debian", name == "WSL_DISTRO_NAME" }, goos) {
			names = append(names, c.argv[0])
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("on %s: %s, want %s", goos, got, want)
		}
	}
}
