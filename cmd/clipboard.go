package cmd

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui"
)

// A clipboard is a program that writes the image in the clipboard to its output,
// and what is around the image there.
type clipboard struct {
	argv []string
	bare func([]byte) ([]byte, error)
}

// clipTime is how long such a program may take; the first on a Windows machine
// starts slowly.
const clipTime = 10 * time.Second

// Clipped attaches the image in the clipboard. It is in no file: it is held here,
// and beside the draft that it goes with.
func (d *desk) Clipped(ctx context.Context) (tui.File, error) {
	all := clipboards(d.world.env, runtime.GOOS)
	found := false
	for _, c := range all {
		data, err := c.read(ctx)
		if found = found || !errors.Is(err, exec.ErrNotFound); err != nil {
			continue
		}
		part, err := partOf(data, "")
		if image, ok := part.(event.Image); err == nil && ok {
			return d.clipped(image), nil
		}
	}
	if !found {
		return tui.File{}, d.say(errors.New("no program here reads the clipboard; wl-clipboard, xclip or pngpaste would, and @ attaches a file"))
	}
	return tui.File{}, d.say(fmt.Errorf("there is no image in the clipboard that is smaller than %d MB; @ attaches a file", maxFile>>20))
}

// clipped gives an image a path that no file can have.
func (d *desk) clipped(image event.Image) tui.File {
	kind := kindOf(image)
	stem, end := "clipboard-"+d.world.now().Format("150405"), "."+strings.ToLower(kind)
	for n := 1; ; n++ {
		name := stem + end
		if n > 1 {
			name = fmt.Sprint(stem, "-", n, end)
		}
		path := filepath.Join(os.DevNull, name)
		if _, taken := d.held.get(path); !taken {
			d.held.put(path, image.Data)
			return tui.File{Path: path, Name: name, Kind: kind, Size: int64(len(image.Data))}
		}
	}
}

// read has the program write the image.
func (c clipboard) read(ctx context.Context) ([]byte, error) {
	path, err := exec.LookPath(c.argv[0])
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, clipTime)
	defer stop()
	cmd := exec.CommandContext(ctx, path, c.argv[1:]...)
	cmd.WaitDelay = grace
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	const room = 3 * maxFile // letters take more of it than bytes
	data, err := io.ReadAll(io.LimitReader(out, room))
	if len(data) == room {
		stop() // it has more, and nobody will read it
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return nil, err
	}
	if c.bare != nil {
		if data, err = c.bare(data); err != nil {
			return nil, err
		}
	}
	if len(data) > maxFile {
		return nil, errors.New("too large")
	}
	return data, nil
}

// clipboards are the programs that may have the user's clipboard, the likeliest
// first. Far away only a forwarded display leads to it.
func clipboards(env func(string) (string, bool), goos string) []clipboard {
	has := func(name string) bool { v, ok := env(name); return ok && v != "" }
	var all []clipboard
	if has("WAYLAND_DISPLAY") {
		all = append(all, clipboard{argv: []string{"wl-paste", "--no-newline", "--type", "image/png"}})
	}
	if has("DISPLAY") {
		all = append(all, clipboard{argv: []string{"xclip", "-selection", "clipboard", "-target", "image/png", "-out"}})
	}
	if goos == "darwin" && !has("SSH_CONNECTION") {
		all = append(all, clipboard{argv: []string{"pngpaste", "-"}},
			clipboard{argv: []string{"osascript", "-e", "get the clipboard as «class PNGf»"}, bare: fromAppleScript})
	}
	if goos == "windows" || has("WSL_DISTRO_NAME") {
		all = append(all, clipboard{argv: []string{"powershell.exe", "-NoProfile", "-NonInteractive", "-STA", "-Command", windowsImage}, bare: fromBase64})
	}
	return all
}

const windowsImage = `Add-Type -AssemblyName System.Windows.Forms,System.Drawing; ` +
	`$i=[Windows.Forms.Clipboard]::GetImage(); if($i){$m=New-Object IO.MemoryStream; ` +
	`$i.Save($m,[Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($m.ToArray())}`

// fromAppleScript reads «data PNGf89504E47…».
func fromAppleScript(said []byte) ([]byte, error) {
	_, digits, _ := bytes.Cut(said, []byte("PNGf"))
	digits, _, _ = bytes.Cut(digits, []byte("»"))
	return hex.AppendDecode(nil, digits)
}

func fromBase64(said []byte) ([]byte, error) {
	return base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace(said))
}
