//go:build unix

package cmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentx/config"
)

// TestRunCommand runs what a user may type: what it prints, how it ends, and what
// it must not get or give away.
func TestRunCommand(t *testing.T) {
	d := newFolder(t, map[string]string{"a file": "x"})
	key, err := config.NewSecret("KEY", "hunter2-hunter2-hunter2")
	if err != nil {
		t.Fatal(err)
	}
	d.world.keep(key)
	for command, want := range map[string]string{
		"ls":                              "a file\n|exit 0",
		"echo out; echo err >&2; exit 3":  "out\nerr\n|exit 3",
		"kill -9 $$":                      "|signal: killed -1",
		"cat":                             "|exit 0", // there is nobody to type
		"tty < /dev/tty":                  "|exit",   // and no terminal
		"printf '\\033[31mred\\033[0m'":   "red|exit 0",
		"echo hunter2-hunter2-hunter2":    "[redacted]\n|exit 0",
		"sleep 300 & echo began":          "began\n|exit 0", // who stays behind is not waited for
		"nobody-has-such-a-command-as-me": "not found",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r, err := d.Run(t.Context(), command)
			if err != nil {
				t.Fatal(err)
			}
			got := r.Output + "|" + strings.TrimSpace(r.How+" "+map[bool]string{true: "exit ", false: ""}[r.How == ""]) + " " + strconv.Itoa(r.Code)
			if command == "tty < /dev/tty" {
				if r.Code == 0 {
					t.Errorf("it has a terminal: %q", r.Output)
				}
				return
			}
			if !strings.Contains(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestStopCommand ends a command with all that it has started, though one of
// them does not heed a request.
func TestStopCommand(t *testing.T) {
	d := newFolder(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	name := filepath.Join(d.world.dir, "pids")
	ended := make(chan error, 1)
	go func() { // ends with the command
		r, err := d.Run(ctx, `echo begun; sh -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 1; done' & sh -c 'echo $$ >> pids; exec sleep 300' & wait`)
		if r.How != "stopped" || r.Code != -1 || r.Output != "begun\n" {
			err = errors.Join(err, errors.New("it ended as "+r.How+" with "+r.Output))
		}
		ended <- err
	}()
	var pids []string
	for deadline := time.Now().Add(patience); len(pids) < 2; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(name)
		pids = strings.Fields(string(text))
		if time.Now().After(deadline) {
			t.Fatal("it never began")
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, pid := range pids {
		n, _ := strconv.Atoi(pid)
		for deadline := time.Now().Add(patience); alive(n); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still there", n)
			}
		}
	}
}

// alive says whether a process runs; one that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}
