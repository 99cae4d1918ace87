//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/term"
)

// Somebody new asks, reads, leaves, and comes back to go on.
func TestChatNewcomer(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 30, []string{"OPENAI_BASE_URL="})
	w.ready()
	t.Logf("the composer stands after %v", w.sinceStart())
	w.asks("How do I resume a session?", "● ", "agentx -c", "manual: Sessions")
	w.once("› How do I resume a session?")
	w.leaves()
	w.sees("to go on: agentx -r ")

	w = h.open(80, 30, nil, "-c", "-m", "openai/history")
	w.ready()
	w.sees("How do I resume a session?", "manual: Sessions")
	w.says("And now?")
	w.reads("user: How do I resume a session?", "user: And now?")
	w.ready()
	w.leaves()
}

// Power fails in the middle of an answer.
func TestChatKilled(t *testing.T) {
	h := newHouse(t)
	w := h.chat(80, 30, "openai/drip")
	w.says("the weather")
	w.reads("Thinking about the weather, drop1 drop2 ")
	h.until("the text on the disk", func() bool { return strings.Contains(h.live(), "drop20 ") })
	w.signal(syscall.SIGKILL)
	w.ends(-int(syscall.SIGKILL))

	if out, _, _ := h.run("session", "list"); !strings.Contains(out, "(interrupted)") {
		t.Errorf("the list does not say what happened:\n%s", out)
	}
	w = h.open(80, 60, nil, "-c", "-m", "openai/history")
	w.ready()
	w.reads("› the weather", "Thinking about the weather, drop1 ", "broken off")
	w.readsOnce("› the weather", "Thinking about the weather, drop1 drop2 ", "drop19 drop20 ", "broken off")
	w.says("go on")
	w.reads("user: go on")
	w.ready()
	w.readsOnce("user: the weather", "user: go on")
	w.leaves()
	if out, _, _ := h.run("session", "list"); strings.Contains(out, "(interrupted)") {
		t.Errorf("the list does not say that it went on:\n%s", out)
	}
}

// live is what is on the disk of an answer that is not over.
func (h *house) live() string {
	files, _ := filepath.Glob(filepath.Join(h.home, ".local/share/agentx/agentx.db-live/*"))
	var all strings.Builder
	for _, name := range files {
		text, _ := os.ReadFile(name)
		all.Write(text)
	}
	return all.String()
}

// Esc stops an answer; what came stays, and the conversation goes on.
func TestChatStopped(t *testing.T) {
	w := newHouse(t).chat(80, 30, "openai/drip")
	w.says("the weather")
	w.reads("drop5 drop6 ")
	w.types(esc)
	w.ready()
	w.once("Thinking about the weather, drop1 ")
	w.says("/model openai/history")
	w.sees("openai/history answers")
	w.says("go on")
	w.reads("user: the weather", "assistant: Thinking about the weather, drop1 ", "user: go on")
	w.ready()
	w.leaves()
}

// What is written while an answer runs waits for its end, in order, and can be
// taken back.
func TestChatQueue(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 40, nil, "-m", "openai/gate", "one")
	w.sees("Thinking about one,")
	for _, next := range []string{"two", "three", "four"} {
		w.says(next)
		w.sees("queued: " + next)
	}
	w.types(up)
	w.misses("queued: four")
	w.sees("› four")
	w.types(ctrlU)
	for _, n := range []string{"one", "two", "three"} {
		w.sees("Thinking about " + n + ",")
		h.gate <- struct{}{}
		w.sees("done with " + n + ".")
	}
	w.ready()
	w.once("done with one.", "done with two.", "done with three.", "› one", "› two", "› three")
	if all := w.all(); strings.Index(all, "done with two.") > strings.Index(all, "done with three.") || strings.Contains(all, "about four") {
		t.Errorf("not in order:\n%s", all)
	}
	w.leaves()
}

// Whatever signal ends it, the terminal is as it was and what came is kept.
func TestChatSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		t.Run(fmt.Sprint("idle, ", s), func(t *testing.T) {
			h := newHouse(t)
			w := h.chat(80, 24, "openai/drip")
			w.endsBy(s)
			w.restored()
		})
		t.Run(fmt.Sprint("answering, ", s), func(t *testing.T) {
			h := newHouse(t)
			w := h.open(80, 24, nil, "-m", "openai/drip", "the weather")
			w.reads("drop19 drop20 ")
			w.endsBy(s)
			w.restored()
			w.once("Thinking about the weather,")
			h.keptPart(t)
		})
	}
}

// endsBy sends a signal and wants the program to end by it.
func (w *window) endsBy(s syscall.Signal) {
	w.t.Helper()
	w.signal(s)
	w.ends(128 + int(s))
}

// keptPart wants the beginning of the answer of "drip" in the session.
func (h *house) keptPart(t *testing.T) {
	t.Helper()
	out, errs, code := h.run("session", "search", "drop3")
	if code != 0 || !strings.Contains(out, "drop3") {
		t.Errorf("what came is not kept: %d %s%s", code, out, errs)
	}
	if out, _, _ := h.run("session", "list"); !strings.Contains(out, "(interrupted)") {
		t.Errorf("the list does not say what happened:\n%s", out)
	}
}

// What was written and not sent is there again.
func TestChatUnsent(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "-m", "openai/gate", "one")
	w.sees("Thinking about one,")
	w.says("two")
	w.sees("queued: two")
	w.types("half a thought")
	w.sees("› half a thought")
	w.endsBy(syscall.SIGTERM)
	w.restored()

	w = h.open(80, 24, nil, "-c")
	w.sees("› one", "held: two", "› half a thought")
	w.types(ctrlU)
	w.misses("half a thought")
	w.types(enter)
	w.sees("Thinking about two,")
	h.gate <- struct{}{}
	w.sees("done with two.")
	w.ready()
	w.once("› one", "› two")
	w.leaves()
}

// The window is closed.
func TestChatHangUp(t *testing.T) {
	for name, args := range map[string][]string{"idle": nil, "answering": {"the weather"}} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			w := h.open(80, 24, nil, append([]string{"-m", "openai/drip"}, args...)...)
			if args == nil {
				w.ready()
			} else {
				w.reads("drop19 drop20 ")
			}
			_ = w.ptm.Close()
			w.ends(128 + int(syscall.SIGHUP))
			if args != nil {
				h.keptPart(t)
			}
		})
	}
}

// A terminal that takes nothing any more holds up neither the answer nor the end.
func TestChatStuck(t *testing.T) {
	h := newHouse(t)
	w := h.chat(80, 24, "openai/endless")
	w.says("count")
	w.sees(" of many")
	w.mu.Lock() // from here on nobody reads
	h.until("an answer far larger than a terminal's buffer", func() bool { return h.said.Load() > 256<<10 })
	w.signal(syscall.SIGTERM)
	select {
	case <-w.ended:
	case <-time.After(patience):
		t.Error("the program does not end")
	}
	w.mu.Unlock()
	w.ends(128 + int(syscall.SIGTERM))
	after, err := term.GetState(int(w.tty.Fd()))
	if err != nil || !reflect.DeepEqual(after, w.before) {
		t.Errorf("the terminal's attributes are not as they were: %v", err)
	}
	if out, _, _ := h.run("session", "search", "line"); !strings.Contains(out, "openai/endless") {
		t.Errorf("what came is not kept:\n%s", out)
	}
}

// Ctrl+Z goes back to the shell, fg to the chat.
func TestChatSuspended(t *testing.T) {
	h := newHouse(t)
	w := h.openProgram(80, 30, []string{"PS1=shell> ", "ENV="}, "sh", "-i")
	w.sees("shell>")
	w.types("agentx -m openai/gate\r")
	w.ready()
	w.says("one")
	w.sees("Thinking about one,")
	w.types("half a")
	w.sees("› half a")
	w.types(ctrlZ)
	w.until("the shell", func() bool { return strings.Count(w.all(), "shell>") == 2 })
	w.borrowed(false)
	w.types("echo still $((40+2))\r")
	w.sees("still 42")
	w.types("fg\r")
	w.sees("› half a", "still 42")
	w.borrowed(true)
	w.types(" thought")
	w.sees("› half a thought")
	h.gate <- struct{}{}
	w.sees("done with one.")
	w.types(ctrlU)
	w.ready()
	w.types(ctrlD)
	w.until("the shell", func() bool { return strings.Count(w.all(), "shell>") == 4 })
	w.borrowed(false)
	w.types("exit\r")
	w.ends(0)
	w.restored()
}

// borrowed wants the terminal to be in the hands of the chat, or not.
func (w *window) borrowed(want bool) {
	w.t.Helper()
	w.until(fmt.Sprint("paste marks and keyboard flags: ", want), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.book.modes[2004] == want && (w.book.kitty > 0) == want
	})
}

// SIGSTOP by somebody else, SIGCONT: the picture is there.
func TestChatStoppedFromOutside(t *testing.T) {
	w := newHouse(t).chat(80, 24, "openai/echo")
	w.types("half a")
	w.sees("› half a")
	w.signal(syscall.SIGSTOP)
	w.until("the stop", func() bool { return stopped(w.cmd.Process.Pid) })
	w.types(" thought")
	w.signal(syscall.SIGCONT)
	w.sees("› half a thought")
	w.once("half a thought")
	w.types(ctrlC)
	w.ready()
	w.leaves()
}

func stopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "state=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}

// Writing: a paste is not sent, keys make new lines, slash words open lists.
func TestChatWriting(t *testing.T) {
	w := newHouse(t).chat(90, 40, "openai/echo")
	w.types("\x1b[200~first\nsecond\rthird\x1b[201~")
	w.sees("› first", "  second", "  third")
	w.types(altEnter + "fourth")
	w.sees("  fourth")
	if strings.Contains(w.all(), "You said") {
		t.Error("a paste was sent")
	}
	w.rests(250 * time.Millisecond) // an Enter so close behind a paste would be its last line
	w.types(enter)
	w.sees("● You said: first", "› first")
	w.ready()

	w.says("/help")
	w.sees("Commands", "/sessions", "choose the model")
	w.types(esc)
	w.misses("choose the model")
	w.says("/model")
	w.sees("Models", "now")
	w.types("guide")
	w.sees("guide/guide")
	w.types(esc)
	w.misses("guide/guide")
	w.says("/sessions")
	w.sees("Sessions", "2 messages")
	w.types(esc)
	w.misses("2 messages")
	w.asks("/nonsense", "There is no command /nonsense")
	w.leaves()
}

// The editor has the terminal while it runs, and what was written in it is in
// the composer behind it. The clipboard gets the answer, a file the session.
func TestChatAround(t *testing.T) {
	h := newHouse(t)
	editor := filepath.Join(h.dir, "editor.sh")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho the editor is here; stty -a | tr ' ;' '\\n\\n' | grep -x -e icanon; printf ' of mine' >>\"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w := h.open(80, 30, []string{"EDITOR=" + editor}, "-m", "openai/echo")
	w.ready()
	w.types("a thought")
	w.sees("› a thought")
	w.types(ctrlG)
	w.sees("the editor is here", "icanon", "› a thought of mine")
	w.types(enter)
	w.sees("● You said: a thought of mine")
	w.ready()
	w.says("/copy")
	w.sees("Copied")
	w.until("the clipboard", func() bool {
		return strings.Contains(strings.Join(w.ledger().strings, "\n"), `OSC "52;c;WW91IHNhaWQ6IGEgdGhvdWdodCBvZiBtaW5l`)
	})
	w.says("/export talk.md")
	w.sees("talk.md")
	w.until("the file", func() bool {
		text, _ := os.ReadFile(filepath.Join(h.dir, "talk.md"))
		return strings.Contains(string(text), "You said: a thought of mine")
	})
	w.ready()
	w.leaves()
}

// agentx -r shows what there is to go on with.
func TestChatPick(t *testing.T) {
	h := newHouse(t)
	for _, title := range []string{"Planning", "Cooking"} {
		if _, errs, code := h.run("-p", "-m", "openai/echo", "-n", title, "about "+title); code != 0 {
			t.Fatal(errs)
		}
	}
	w := h.open(80, 24, nil, "-r")
	w.sees("Sessions", "Planning", "Cooking", "2 messages")
	w.types(" ")
	w.sees("› about Cooking", "You said: about Cooking")
	w.types("plan")
	w.misses("Cooking")
	w.types(enter)
	w.sees("› about Planning", "● You said: about Planning")
	w.ready()
	w.leaves()
}

// Who came to pick a session and picks none leaves; where there is none to pick,
// one begins.
func TestChatPickNone(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, nil, "-r")
	w.sees("No session yet")
	w.types(esc)
	w.misses("No session yet")
	w.asks("about Planning", "You said: about Planning")
	w.leaves()
	for _, key := range []string{esc, ctrlC} {
		w = h.open(80, 24, nil, "-r")
		w.sees("Sessions", "about Planning", "esc leave")
		w.types(key)
		w.ends(0)
		w.restored()
		if strings.Contains(w.all(), "to go on") {
			t.Errorf("%q: nothing was begun, and yet there is something to go on with: %s", key, w.all())
		}
	}
	if out, _, _ := h.run("session", "list"); strings.Count(out, "\n") != 2 {
		t.Errorf("sessions = %s", out)
	}
}

// Nothing happens: nothing is written. Whatever turned or ticked would write
// more often.
func TestChatIdle(t *testing.T) {
	w := newHouse(t).chat(80, 24, "openai/echo")
	w.asks("hello", "You said: hello")
	w.rests(1500 * time.Millisecond)
	w.leaves()
}

// rests waits until nothing has been written for so long.
func (w *window) rests(long time.Duration) {
	w.t.Helper()
	n, since := -1, time.Now()
	w.until("rest", func() bool {
		if now := len(w.written()); now != n {
			n, since = now, time.Now()
		}
		return time.Since(since) > long
	})
}

// A terminal that wants no colours gets none, and one that can do nothing is
// either used or told.
func TestChatPlain(t *testing.T) {
	t.Run("NO_COLOR", func(t *testing.T) {
		h := newHouse(t)
		w := h.open(80, 24, []string{"NO_COLOR=1"}, "-m", "openai/echo")
		w.ready()
		w.asks("**bold** and `code`", "You said: bold and")
		w.leaves()
		if len(w.ledger().colours) > 0 {
			t.Errorf("colours: %q", w.ledger().colours)
		}
	})
	t.Run("dumb", func(t *testing.T) {
		h := newHouse(t)
		w := h.open(80, 24, []string{"TERM=dumb"}, "-m", "openai/echo", "hello")
		w.ends(0)
		w.restored()
		w.once("You said: hello")
		w.printsOnly()
		w = h.open(80, 24, []string{"TERM=dumb"}, "-m", "openai/echo")
		w.reads("/quit leaves")
		w.says("hello")
		w.reads("You said: hello")
		w.says("/quit")
		w.ends(0)
		w.restored()
		w.once("agentx: to go on:")
		w.printsOnly()
	})
}

// printsOnly wants no sequence to have been sent.
func (w *window) printsOnly() {
	w.t.Helper()
	if len(w.ledger().csi)+len(w.ledger().strings) > 0 {
		w.t.Errorf("a dumb terminal was told %v %v", w.ledger().csi, w.ledger().strings)
	}
}

// What a model sends is text, whatever it looks like.
func TestChatHostile(t *testing.T) {
	w := newHouse(t).chat(100, 30, "openai/hostile")
	w.asks("be nice", "the end of it")
	w.leaves()
	raw := string(w.written())
	for _, bad := range hostile {
		if strings.Contains(raw, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	for _, s := range w.ledger().strings {
		switch s {
		case `OSC "11;?"`, `OSC "133;A"`, `OSC "133;C"`, `OSC "133;D"`, `OSC "2;agentx"`, `OSC "2;● agentx"`, `OSC "2;● agentx: be nice"`, `OSC "2;agentx: be nice"`:
		default:
			t.Errorf("the terminal was told %s", s)
		}
	}
	for seq := range w.ledger().csi {
		if strings.HasSuffix(seq, "J") && seq != "0J" && seq != "J" || strings.HasSuffix(seq, "H") || strings.HasPrefix(seq, "ESC") || strings.HasPrefix(seq, "?1049") {
			t.Errorf("the terminal was told CSI %s", seq)
		}
	}
	if w.ledger().control['\a'] > 0 {
		t.Error("the bell rang")
	}
}

// Where there is no terminal to chat on, one line says so.
func TestChatWithoutTerminal(t *testing.T) {
	h := newHouse(t)
	_, errs, code := h.run()
	if code != 2 || !strings.Contains(errs, "terminal") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

// Two windows, one session: the second is told who has it.
func TestChatInUse(t *testing.T) {
	h := newHouse(t)
	first := h.chat(80, 24, "openai/echo")
	first.asks("hello", "You said: hello")
	second := h.open(120, 24, nil, "-c")
	second.reads("in use", fmt.Sprint(first.cmd.Process.Pid))
	second.ends(codeStore)
	second.restored()
	second.readsOnce("in use")
	first.leaves()
}

// A fast answer of 3,000 lines is in the scrollback, each line once, in order.
func TestChatLongAnswer(t *testing.T) {
	w := newHouse(t).chat(80, 24, "openai/lines")
	w.asks("count", "line 3000 of 3000")
	next := 1
	for _, row := range w.rows() {
		var n int
		if _, err := fmt.Sscanf(strings.TrimLeft(row, "● •"), "line %d of 3000", &n); err != nil {
			continue
		}
		if n != next {
			t.Fatalf("line %d comes where %d should", n, next)
		}
		next++
	}
	if next != 3001 {
		t.Errorf("%d lines, want 3000", next-1)
	}
	w.leaves()
}

// The window is drawn larger and smaller while an answer comes, faster than
// anybody could follow. The terminal pushes rows away while they are on their
// way, so the scrollback is not neat; but nothing breaks, what is kept is
// complete, and what comes behind the storm is there once, in its place.
func TestChatResized(t *testing.T) {
	h := newHouse(t)
	w := h.chat(80, 24, "openai/slow")
	w.says("count")
	sizes := [][2]int{{1, 1}, {200, 60}, {20, 5}, {79, 24}, {2, 40}, {200, 2}, {80, 24}, {3, 3}, {120, 30}}
	for i := range 60 {
		w.resize(sizes[i%len(sizes)][0], sizes[i%len(sizes)][1])
		time.Sleep(10 * time.Millisecond)
	}
	w.resize(100, 30)
	h.gate <- struct{}{} // the answer outlives the storm
	w.reads("word300.")
	w.ready()
	w.says("/model openai/echo")
	w.sees("echo answers")
	w.says("after the storm")
	w.reads("You said: after the storm")
	w.ready()
	if all := w.letters(); strings.Count(all, "Yousaid:afterthestorm") != 1 || strings.Index(all, "word300.") > strings.Index(all, "Yousaid:") {
		t.Errorf("not once, in order:\n%s", w.paper())
	}
	w.leaves()
	out, _, _ := h.run("session", "export", "count")
	if want := numbered(300); !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("what is kept is not what was said:\n%s", out)
	}
}

// numbered is what "slow" says.
func numbered(words int) string {
	var all []string
	for n := range words {
		all = append(all, fmt.Sprintf("word%d.", n+1))
	}
	return strings.Join(all, " ")
}

// A window that changes its size at rest shows everything once.
func TestChatResizedAtRest(t *testing.T) {
	w := newHouse(t).chat(80, 24, "openai/echo")
	w.types("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omikron pi")
	w.sees("omikron pi")
	w.types(enter)
	w.sees("You said:", "Ask anything")
	w.settles(1)
	thought := "half a thought that is long enough to need a second line in a smaller window"
	w.types(thought)
	w.sees("smaller window")
	for _, size := range [][2]int{{60, 24}, {120, 30}, {30, 12}, {30, 40}, {200, 50}, {20, 12}, {80, 24}} {
		w.rests(250 * time.Millisecond)
		before := len(w.written())
		w.resize(size[0], size[1])
		w.until(fmt.Sprint("everything once at ", size), func() bool {
			all := w.letters()
			return len(w.written()) > before && w.shows(firstLine("› "+thought, size[0])) && strings.Count(all, "Yousaid:alpha") == 1 && strings.Count(all, "omikronpi") == 2 &&
				strings.Count(all, "halfathought") == 1 && strings.Count(all, "smallerwindow") == 1
		})
	}
	w.types(ctrlC)
	w.ready()
	w.leaves()
}

// firstLine is as many words of text as fit.
func firstLine(text string, width int) string {
	line := ""
	for word := range strings.SplitAfterSeq(text, " ") {
		if len([]rune(strings.TrimRight(line+word, " "))) > width {
			break
		}
		line += word
	}
	return strings.TrimRight(line, " ")
}

// shows says whether one of the rows on the screen is line.
func (w *window) shows(line string) bool {
	return slices.Contains(strings.Split(w.screen(), "\n"), line)
}
