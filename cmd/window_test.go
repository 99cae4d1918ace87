//go:build unix

package cmd

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a terminal sends when the user goes elsewhere, and comes back.
const (
	leavesIt   = "\x1b[O"
	comesBack  = "\x1b[I"
	aFocusMode = 1004
)

// notices are what was shown on the desktop.
func (l *ledger) notices() []string {
	return slices.DeleteFunc(slices.Clone(l.strings), func(s string) bool {
		return !strings.HasPrefix(s, `OSC "9;agentx`) && !strings.HasPrefix(s, `OSC "777;`)
	})
}

// told waits until the ledger says something.
func (w *window) told(what string, ok func(ledger) bool) {
	w.t.Helper()
	w.until(what, func() bool { return ok(w.ledger()) })
}

// The window is called after the session, says that an answer is on its way, and
// tells who looks elsewhere, once, that it has come.
func TestChatWindow(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 24, []string{"TERM_PROGRAM=ghostty"}, "-m", "openai/gate")
	w.ready()
	w.told("a title", func(l ledger) bool { return l.title() == "agentx" && l.modes[aFocusMode] })
	w.says("one")
	w.sees("Thinking about one,")
	w.told("that it works", func(l ledger) bool { return l.works() && strings.HasSuffix(l.title(), " agentx: one") })
	h.gate <- struct{}{}
	w.sees("done with one.")
	w.ready()
	w.told("that it rests", func(l ledger) bool { return !l.works() && l.title() == "agentx: one" })

	w.says("two")
	w.sees("Thinking about two,")
	w.types(leavesIt)
	h.gate <- struct{}{}
	w.sees("done with two.")
	w.told("a notification", func(l ledger) bool { return len(l.notices()) == 1 })

	w.types(comesBack)
	w.says("three")
	w.sees("Thinking about three,")
	h.gate <- struct{}{}
	w.sees("done with three.")
	w.ready()
	w.rests(300 * time.Millisecond)
	w.leaves()
	l := w.ledger()
	if want := []string{`OSC "9;agentx: one: the answer is complete"`}; !slices.Equal(l.notices(), want) || l.control['\a'] > 0 {
		t.Errorf("the user was told %q, and %d times by a bell; want %q", l.notices(), l.control['\a'], want)
	}
	var marks []string
	for _, s := range l.strings {
		if mark, ok := strings.CutPrefix(s, `OSC "133;`); ok {
			marks = append(marks, strings.TrimSuffix(mark, `"`))
		}
	}
	if got, want := strings.Join(marks, ""), "ACDACDACD"; got != want {
		t.Errorf("the marks are %s, want %s", got, want)
	}
}

// By whatever way the chat is left while an answer is on its way, the window has
// its title back and shows no progress.
func TestChatWindowIsGivenBack(t *testing.T) {
	for name, leave := range map[string]func(w *window){
		"terminated": func(w *window) { w.endsBy(syscall.SIGTERM) },
		"hung up":    func(w *window) { w.endsBy(syscall.SIGHUP) },
		"quit":       func(w *window) { w.endsBy(syscall.SIGQUIT) },
		"by word":    func(w *window) { w.says("/quit"); w.ends(0) },
		"stopped first": func(w *window) {
			w.types(esc)
			w.reads("stopped")
			w.ready()
			w.types(ctrlD)
			w.ends(0)
		},
		"stopped from outside": func(w *window) {
			w.signal(syscall.SIGSTOP)
			w.until("the stop", func() bool { return stopped(w.cmd.Process.Pid) })
			w.signal(syscall.SIGCONT)
			w.endsBy(syscall.SIGTERM)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			w := h.open(80, 24, []string{"WT_SESSION=1"}, "-m", "openai/drip", "the weather")
			w.reads("drop19 drop20 ")
			w.told("that it works", func(l ledger) bool { return l.works() && l.csi["22;2t"] > 0 })
			leave(w)
			w.restored()
		})
	}
}

// What a terminal does not know it is not told, nor what the user does not want.
func TestChatWindowSettings(t *testing.T) {
	const focus, title, progress, marks = "focus", "title", "progress", "marks"
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"a plain xterm", nil, []string{focus, title, marks}},
		{"Windows Terminal", []string{"WT_SESSION=1"}, []string{focus, title, progress, marks}},
		{"ConEmu", []string{"ConEmuANSI=ON"}, []string{focus, title, progress, marks}},
		{"WezTerm", []string{"TERM_PROGRAM=WezTerm"}, []string{focus, title, progress, marks}},
		{"ghostty by name", []string{"TERM=xterm-ghostty"}, []string{focus, title, progress, marks}},
		{"a new VTE", []string{"VTE_VERSION=8002"}, []string{focus, title, progress, marks}},
		{"an old VTE", []string{"VTE_VERSION=7603"}, []string{focus, title, marks}},
		{"kitty", []string{"TERM=xterm-kitty"}, []string{focus, title, marks}},
		{"tmux in ghostty", []string{"TMUX=/tmp/x,1,0", "TERM=tmux-256color", "TERM_PROGRAM=ghostty"}, []string{focus, title, marks}},
		{"screen", []string{"STY=1.pts", "TERM=screen-256color"}, nil},
		{"the Linux console", []string{"TERM=linux"}, nil},
		{"a VT100", []string{"TERM=vt100"}, nil},
		{"no name", []string{"TERM="}, nil},
		{"no colours", []string{"NO_COLOR=1"}, []string{focus, title, marks}},
		{"all off", []string{"WT_SESSION=1", "AGENTX_NOTIFY=off", "AGENTX_TITLE=no", "AGENTX_PROGRESS=no", "AGENTX_PROMPT_MARKS=no"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t)
			w := h.open(80, 24, c.env, "-m", "openai/echo")
			w.ready()
			w.asks("hello", "You said: hello")
			w.leaves()
			l := w.ledger()
			var got []string
			for _, told := range []struct {
				what string
				is   bool
			}{
				{focus, l.csi["?1004h"] > 0}, {title, l.title() != "" && l.csi["22;2t"] > 0},
				{progress, strings.Contains(strings.Join(l.strings, ""), `"9;4;3"`)}, {marks, strings.Contains(strings.Join(l.strings, ""), `"133;A"`)},
			} {
				if told.is {
					got = append(got, told.what)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("it was told %q, want %q", got, c.want)
			}
		})
	}
}

// Of a storm of sizes the last one counts: the picture is laid out for it, and
// nothing of those between is left, on the screen or above it.
func TestChatResizeStorm(t *testing.T) {
	w := newHouse(t).chat(80, 24, "openai/echo")
	w.asks("hello", "You said: hello")
	w.settles(1)
	for n := range 500 {
		w.resize(40+n*7%120, 6+n*3%40)
	}
	w.resize(1, 1)
	w.resize(1000, 30)
	w.resize(72, 20)
	w.ready()
	w.types("behind the storm")
	w.sees("› behind the storm")
	w.rests(300 * time.Millisecond)
	w.readsOnce("You said: hello", "behind the storm")
	if n := strings.Count(w.screen(), "openai/echo"); n != 1 {
		t.Errorf("the footer is there %d times:\n%s", n, w.screen())
	}
	w.types(ctrlU)
	w.ready()
	w.leaves()
}
