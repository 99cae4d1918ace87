package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentx/config"
	"agentx/tui"
	"agentx/tui/text"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
)

// What is kept of an output: its beginning and its end.
const maxHalf = 24 << 10

// grace is how long a command that was told to end may take, and how long its
// output is waited for when it has ended.
const grace = time.Second

// Folder is where commands are run.
func (d *desk) Folder() string { return d.world.dir }

// Run runs a command of the user in a shell, away from the terminal.
func (d *desk) Run(ctx context.Context, command string) (tui.Ran, error) {
	out := &tap{}
	cmd := shellCommand(ctx, d.world.shell(), command)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = d.world.dir, out, out, grace
	cmd.Env = append(os.Environ(), "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0")
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return tui.Ran{}, d.say(fmt.Errorf("the shell %s: %w", cmd.Path, bare(err)))
	}
	err := cmd.Wait()
	r := tui.Ran{Took: time.Since(began), Code: cmd.ProcessState.ExitCode()}
	if ctx.Err() != nil {
		killGroup(cmd) // whoever did not heed the first signal
		r.How, r.Code = "stopped", -1
	} else if e, ok := errors.AsType[*exec.ExitError](err); ok && r.Code < 0 {
		r.How = e.String() // "signal: killed"
	}
	r.Output, r.Lines = out.text(d.world.secrets())
	return r, nil
}

// shell is the user's, where it is one, else the one that every system has.
func (w *world) shell() string {
	if s, ok := w.env("SHELL"); ok && filepath.IsAbs(s) {
		if info, err := os.Stat(s); err == nil && info.Mode().IsRegular() {
			return s
		}
	}
	return ""
}

// A tap keeps the beginning and the end of what runs through it.
type tap struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring, once it is full
	at    int    // in the ring
	total int64
	lines int
	last  byte
}

func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n == 0 {
		return 0, nil
	}
	t.total += int64(n)
	t.lines += bytes.Count(p, []byte("\n"))
	t.last = p[n-1]
	room := min(maxHalf-len(t.head), n)
	t.head, p = append(t.head, p[:room]...), p[room:]
	p = p[max(len(p)-maxHalf, 0):]
	for _, b := range p {
		if len(t.tail) < maxHalf {
			t.tail = append(t.tail, b)
			continue
		}
		t.tail[t.at] = b
		t.at = (t.at + 1) % maxHalf
	}
	return n, nil
}

// text is what is kept, fit to be shown and to be sent, and how many lines all
// of it had.
func (t *tap) text(secrets []config.Secret) (string, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if t.total > 0 && t.last != '\n' {
		lines++
	}
	head, tail := legible(t.head), legible(append(t.tail[t.at:len(t.tail):len(t.tail)], t.tail[:t.at]...))
	all := head + tail
	if gone := t.total - int64(len(t.head)+len(t.tail)); gone > 0 {
		all = head + "\n… " + humanize.Comma(gone) + " bytes left out …\n" + tail
	}
	return config.Redact(all, secrets...), lines
}

// legible is output without what was meant for a terminal. Of a line that was
// written over, as progress is shown, the last state stays.
func legible(b []byte) string {
	s := ansi.Strip(strings.ToValidUTF8(strings.ReplaceAll(string(b), "\r\n", "\n"), "\uFFFD"))
	if strings.Contains(s, "\r") {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			l = strings.TrimRight(l, "\r")
			lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
		}
		s = strings.Join(lines, "\n")
	}
	return text.Clean(s)
}
