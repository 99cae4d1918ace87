//go:build unix

package cmd

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A chat of two answers is recorded, checked, and played as a film: stopped,
// stepped to and fro, and left with the terminal as it was.
func TestFilmOfAChat(t *testing.T) {
	h := newHouse(t)
	w := h.open(90, 30, nil, "--trace", "chat.jsonl", "-m", "openai/echo")
	w.ready()
	w.says("first question")
	w.reads("You said: first question")
	w.ready()
	w.says("second question")
	w.reads("You said: second question")
	w.ready()
	w.leaves()
	out, errs, code := h.run("replay", "--verify", "chat.jsonl")
	if code != 0 || !strings.Contains(out, "the same") {
		t.Fatalf("the recording does not hold: %d %s%s", code, out, errs)
	}
	if out, _, _ := h.run("replay", "--speed", "0", "chat.jsonl"); out != "You said: first question\n\nYou said: second question\n" {
		t.Errorf("without a terminal it says %q", out)
	}

	f := h.open(90, 30, nil, "replay", "--speed", "0", "chat.jsonl")
	f.sees("› first question", "● You said: second question", "turn_response", "q quit")
	f.types("\x1b[D") // left
	f.sees("stopped", "● You said: second question", "in    message_delta")
	f.types("[[")
	f.sees("in    user_message", "› second question")
	f.misses("You said: second question")
	f.types("\x1b[H") // home
	f.sees("step 0 of", "nothing has happened yet")
	f.misses("first question")
	f.types("\x1b[C\x1b[C\x1b[C") // right
	f.sees("step 3 of", "● You said: first question", `text_delta  {"text":"You said: first question`, "conversation_responding", "responding")
	f.resize(60, 14)
	f.sees("step 3 of", "q quit")
	f.types(" ")
	f.sees("● You said: second question", "stopped")
	f.types("q")
	f.ends(0)
	f.restored()
	if s := f.screen(); strings.Contains(s, "question") {
		t.Errorf("the film is still on the screen:\n%s", s)
	}
}

// Whatever ends a film, the terminal is given back.
func TestFilmGivesTheTerminalBack(t *testing.T) {
	h := newHouse(t)
	if _, errs, code := h.run("-p", "--trace", "long.jsonl", "-m", "openai/lines", "Hello"); code != 0 {
		t.Fatal(errs)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		w := h.open(80, 24, nil, "replay", "--speed", "0.01", "long.jsonl")
		w.sees("playing", "q quit")
		w.endsBy(s)
		w.restored()
	}
	for _, key := range []string{"q", ctrlC, esc} {
		w := h.open(80, 24, nil, "replay", "long.jsonl")
		w.sees("q quit")
		w.types(key)
		w.ends(0)
		w.restored()
	}
}

// A terminal that can only print gets the answers.
func TestFilmWithoutAScreen(t *testing.T) {
	h := newHouse(t)
	h.run("-p", "--trace", "one.jsonl", "-m", "openai/echo", "Hello")
	w := h.open(80, 24, []string{"TERM=dumb"}, "replay", "--speed", "0", "one.jsonl")
	w.ends(0)
	w.restored()
	if s := w.all(); !strings.Contains(s, "You said: Hello") || strings.Contains(string(w.written()), "\x1b[?1049h") {
		t.Errorf("it shows\n%s", s)
	}
}

// What is recorded is on the disk while the answer comes: a crash loses little.
func TestTraceSurvivesAKill(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "--trace", "killed.jsonl", "-m", "openai/drip", "the weather")
	w.reads("drop30 ")
	h.until("drop30 in the file, while the answer goes on", func() bool {
		file, err := os.ReadFile(h.dir + "/killed.jsonl")
		return err == nil && strings.Contains(string(file), "drop30 ")
	})
	w.signal(syscall.SIGKILL)
	w.ends(-int(syscall.SIGKILL))
	if out, errs, code := h.run("replay", "--verify", "killed.jsonl"); code != 0 {
		t.Error(fmt.Sprint(out, errs, code))
	}
}
