//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentx/tui/dialog"
)

const (
	tabKey     = "\t"
	ctrlS      = "\x13"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Files go along: one is chosen from the list, one dropped, and both are in the
// request. Power fails before a third is sent, and its file is deleted.
func TestChatAttaches(t *testing.T) {
	h := newHouse(t)
	write(t, filepath.Join(h.dir, "cmd/main.go"), "package cannot_be_guessed\n")
	write(t, filepath.Join(h.dir, "Bild 1.png"), string(png))
	write(t, filepath.Join(h.dir, "notes.txt"), "beans beside corn")
	w := h.chat(90, 30, "openai/history")
	w.types("what is ")
	w.sees("› what is")
	time.Sleep(20 * time.Millisecond) // an at sign counts that a hand has typed, not one of many keys at once
	w.types("@main")
	w.sees("@cmd/main.go")
	w.types(tabKey)
	w.sees("what is [cmd/main.go · text · 26 B]")
	w.types("and ")
	w.types(pasteBegin + strings.ReplaceAll(filepath.Join(h.dir, "Bild 1.png"), " ", `\ `) + " " + pasteEnd)
	w.sees("[Bild 1.png · PNG · 16 B]")
	time.Sleep(200 * time.Millisecond) // what comes sooner behind a paste may be its rest
	w.types(enter)
	w.reads(`what is @cmd/main.go and @"Bild 1.png"`, "[file: cmd/main.go]", "[image: Bild 1.png]", "package cannot_be_guessed", "image_url")
	w.ready()

	w.types("/attach notes.txt" + enter)
	w.sees("[notes.txt · text · 17 B]")
	w.types("again")
	w.sees("] again")
	w.types(ctrlS)
	w.sees("put aside")
	w.types("half of ")
	w.sees("› half of")
	time.Sleep(20 * time.Millisecond)
	w.types("@cmd/main.go ")
	w.sees("half of [cmd/main.go · text · 26 B]")
	h.until("the draft on the disk", func() bool {
		return strings.Contains(h.draft(), "half of @cmd/main.go") && strings.Contains(h.draft(), "again")
	})
	w.signal(syscall.SIGKILL)
	w.ends(-int(syscall.SIGKILL))
	for _, name := range []string{"notes.txt", "cmd/main.go"} {
		if err := os.Remove(filepath.Join(h.dir, name)); err != nil {
			t.Fatal(err)
		}
	}

	w = h.open(90, 40, nil, "-c", "-m", "openai/history")
	w.sees("half of [cmd/main.go · text · 26 B]", "put aside")
	w.types(ctrlU + ctrlS)
	w.sees("[notes.txt · text · 17 B] again")
	w.types(enter)
	w.reads("[file: notes.txt]", "beans beside corn")
	w.ready()
	w.leaves()
}

// draft is what is kept of the unsent.
func (h *house) draft() string {
	h.t.Helper()
	text := ""
	for _, name := range []string{"agentx.db", "agentx.db-wal"} {
		found, _ := filepath.Glob(filepath.Join(h.home, ".local/*/agentx", name))
		for _, f := range found {
			b, _ := os.ReadFile(f)
			text += string(b)
		}
	}
	return text
}

// thinking is how long one reads a question before one answers it.
const thinking = dialog.Guard + 100*time.Millisecond

// A command runs after a yes and not before; what it prints goes along.
func TestChatRunsCommands(t *testing.T) {
	h := newHouse(t)
	w := h.open(90, 30, []string{"SHELL=/bin/sh"}, "-m", "openai/history")
	w.ready()
	w.types("!echo ran | tee ran.txt; exit 3" + enter)
	w.sees("Run this command?", "echo ran | tee ran.txt; exit 3", h.dir)
	w.rests(thinking)
	w.types(enter)
	w.misses("Run this command?")
	if _, err := os.Stat(filepath.Join(h.dir, "ran.txt")); err == nil {
		t.Fatal("it ran without a yes")
	}
	w.types(enter)
	w.sees("Run this command?")
	w.rests(thinking)
	w.types("y")
	w.sees("[! echo ran | tee ran.txt; exit 3 · exit 3 · 1 line]")
	w.types("why?" + enter)
	w.reads("[output: echo ran | tee ran.txt; exit 3]", "user: ", "why?", "result=", "exit 3")
	w.ready()

	w.types("!sleep 300" + enter)
	w.sees("Run this command?")
	w.rests(thinking)
	w.types("y")
	w.sees("running: sleep 300")
	w.types(esc)
	w.sees("stopped after")
	w.misses("running: sleep 300")
	w.types("!sleep 301" + enter)
	w.sees("Run this command?")
	w.rests(thinking)
	w.types("y")
	w.sees("running: sleep 301")
	w.endsBy(syscall.SIGTERM)
	w.restored()
}
