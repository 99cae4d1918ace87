//go:build unix

package cmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// A row is a fault of a terminal (98–111) or of what is typed (112–120), a story
// in which the chat bears it, and what else shows that: a word of a file, from
// here.
type row struct {
	fault string
	story func(h *house)
	shown []string
}

// rows are all of them.
func allRows() map[int]row {
	return map[int]row{
		98:  {"a storm of sizes, of any size", stormOnTheWholeScreen, []string{"chat_test.go: func TestChatResized", "window_test.go: func TestChatResizeStorm", "../tui/size_test.go: func TestEverySizeFits"}},
		99:  {"terminals of few words", terminalsOfFewWords, []string{"chat_test.go: func TestChatWithoutTerminal", "chat_test.go: TERM=dumb", "window_test.go: the Linux console"}},
		100: {"no answer, late ones, nonsense", answersThatAreNone, []string{"../tui/run_test.go: func TestLateAnswers"}},
		101: {"hostile text in an answer", nil, []string{"chat_test.go: func TestChatHostile", "../tui/markdown/hostile_test.go: func TestHostileText", "../tui/text/text_test.go: func FuzzClean", "../tui/screen/paint_test.go: func TestTheLastNet"}},
		102: {"hostile names", hostileNames, []string{"live_test.go: func TestNamesFromOutside", "../config/load_test.go: \\u202e"}},
		103: {"bombs", bombs, []string{"../tui/markdown/hostile_test.go: func TestBombs"}},
		104: {"directions, and hosts that look like others", directions, []string{"../tui/markdown/hostile_test.go: a host that looks like another", "../tui/markdown/hostile_test.go: right to left in columns", "../tui/screen/pen_test.go: func TestDirectionsEndWithTheRow", "../tui/text/text_test.go: a reversed file name"}},
		105: {"widths", widths, []string{"../tui/screen/pen_test.go: func TestEveryTerminalHasAnOpinion", "../tui/text/text_test.go: func TestWidths"}},
		106: {"another character set", otherCharacterSets, []string{"../tui/screen/pen_test.go: func TestSmallCharacterSets"}},
		107: {"a slow terminal", slowTerminal, []string{"chat_test.go: func TestChatStuck"}},
		108: {"a terminal that somebody has reset", terminalIsReset, nil},
		109: {"the clipboard", nil, []string{"chat_test.go: the clipboard", "../tui/copy_test.go: func TestClipboards"}},
		110: {"links", nil, []string{"../tui/markdown/hostile_test.go: a link that lies", "../tui/markdown/hostile_test.go: javascript", "../tui/markdown/hostile_test.go: an image is not fetched", "script_test.go: \\x1b]8;;http://evil.example"}},
		111: {"a question that nobody asks", falseQuestion, nil},
		112: {"a paste of any size", largePaste, []string{"../tui/composer/property_test.go: func TestPasteIsSentWhole", "../tui/composer/story_test.go: paste"}},
		113: {"a paste that says it has ended", pasteWithAnEnd, nil},
		114: {"a paste that is none", rawPaste, []string{"../tui/composer/property_test.go: func TestBurst", "chat_test.go: func TestChatWriting"}},
		115: {"a paste without an end", endlessPaste, nil},
		116: {"input through a pipe", pipes, []string{"../testdata/scripts/oneshot.txtar: stdin poem"}},
		117: {"keys that were typed before a question", typedAhead, []string{"composer_test.go: it ran without a yes", "../tui/dialog/dialog_test.go: func TestGuard"}},
		118: {"what is no file", noFiles, []string{"attach_test.go: func TestAttach"}},
		119: {"paths that lead elsewhere", nil, []string{"../engine/sandbox/workdir_test.go: func TestNeverOutside", "../engine/sandbox/workdir_test.go: func TestSwappedWhileUsed"}},
		120: {"a file that changes", nil, []string{"attach_test.go: func TestAttachedGoesAsItIs"}},
	}
}

// TestEveryRow walks through the faults of terminals and of what is typed: each
// has a story here, or tests elsewhere that are still there.
func TestEveryRow(t *testing.T) {
	t.Parallel()
	all := allRows()
	for n := 98; n <= 120; n++ {
		r := all[n]
		t.Run(fmt.Sprintf("%d %s", n, r.fault), func(t *testing.T) {
			if r.story == nil && len(r.shown) == 0 {
				t.Error("nothing shows that it is borne")
			}
			for _, shown := range r.shown {
				file, word, _ := strings.Cut(shown, ": ")
				if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), word) {
					t.Errorf("%s says nothing of %q: %v", file, word, err)
				}
			}
			if r.story != nil {
				r.story(newHouse(t))
			}
		})
	}
}

// Both ways of showing a chat.
var inlineAndFull = map[string][]string{"inline": nil, "full screen": {"--fullscreen"}}

// each opens a chat with that model, in both ways.
func (h *house) each(model string, story func(w *window)) {
	for name, flags := range inlineAndFull {
		h.t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &house{t: t, home: t.TempDir(), dir: h.dir, url: h.url, mute: h.mute, slow: h.slow}
			w := h.open(80, 24, nil, append(flags, "-m", "openai/"+model)...)
			w.ready()
			story(w)
		})
	}
}

// 98: on the whole screen, sizes of all kinds while an answer comes, and one that
// is none. Who has gone back in it stays there.
func stormOnTheWholeScreen(h *house) {
	w := h.open(80, 24, nil, "--fullscreen", "-m", "openai/slow", "count")
	w.sees("word150.")
	w.types(toHome)
	w.sees("word1.")
	for n := range 100 {
		w.resize(1+n*37%200, 1+n*7%50)
	}
	for _, size := range [][2]int{{1, 1}, {1000, 2}, {1, 50}} {
		w.resize(size[0], size[1])
		w.rests(50 * time.Millisecond)
	}
	if err := pty.Setsize(w.ptm, &pty.Winsize{}); err != nil { // nobody knows
		h.t.Fatal(err)
	}
	w.resize(80, 24)
	w.sees("word1.", "End to the latest")
	w.types(toEnd)
	h.gate <- struct{}{}
	w.sees("word300.", "Ask anything")
	w.leaves()
}

// 99: whatever a terminal is called, the chat is held; and one that knows few
// sequences is sent no others.
func terminalsOfFewWords(h *house) {
	for name, c := range map[string]struct {
		env     []string
		simple  bool // is asked nothing but what it is
		colours string
		glyph   string // before what the user said
	}{
		"console":    {[]string{"TERM=linux", "COLORTERM="}, true, "^(3[0-7]|9[0-7]|[01479]|2[0-9])$", "> hello"},
		"no name":    {[]string{"TERM=", "COLORTERM="}, true, "^$", "› hello"},
		"sixteen":    {[]string{"TERM=xterm", "COLORTERM="}, false, "^(3[0-7]|9[0-7]|[01479]|2[0-9])$", "› hello"},
		"no colours": {[]string{"NO_COLOR=1"}, false, "^([01479]|2[0-9])?$", "› hello"},
		"Screen":     {[]string{"TERM=screen", "STY=1.pts", "COLORTERM="}, false, "", "› hello"},
	} {
		h.t.Run(name, func(t *testing.T) {
			h := &house{t: t, home: t.TempDir(), dir: h.dir, url: h.url}
			w := h.open(80, 24, c.env, "-m", "openai/echo")
			w.ready()
			w.asks("hello", "You said: hello", c.glyph)
			w.leaves()
			l, numbers := w.ledger(), regexp.MustCompile(c.colours)
			for seq, n := range l.csi {
				private := strings.HasPrefix(seq, ">") || strings.HasSuffix(seq, "$p") || strings.HasPrefix(seq, "<")
				if c.simple && private {
					t.Errorf("it was told %s, %d times", seq, n)
				}
				if sgr, ok := strings.CutSuffix(seq, "m"); ok && !strings.HasPrefix(seq, ">") && c.colours != "" {
					for number := range strings.SplitSeq(sgr, ";") {
						if number != "" && !numbers.MatchString(number) {
							t.Errorf("it was told SGR %s", sgr)
						}
					}
				}
			}
			if c.simple && len(l.strings) > 0 {
				t.Errorf("it was told %q", l.strings)
			}
		})
	}
}

// 100: a terminal says nothing, then too late what nobody wants to know, in
// pieces: nothing of it is taken for something that was written.
func answersThatAreNone(h *house) {
	h.mute = true
	h.each("echo", func(w *window) {
		w.types("\x1b[?62;22c\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?2026;2$y\x1b[?2027;0$y\x1b[?1u\x1b[12;40R\x1bP>|xterm(379)\x1b\\\x1b[>41;379;0c")
		for _, piece := range []string{"\x1b]11;rgb:0000/", "0000/0000\x1b\\", "\x1b[?6", "4;1c", "\x1b", "[?64;1c", "\x1b[", "12;40R"} {
			w.types(piece)
			w.rests(150 * time.Millisecond) // the link is slow
		}
		w.rests(200 * time.Millisecond)
		w.ready()
		w.asks("hello", "You said: hello", "› hello")
		w.leaves()
	})
}

// hostileName is what no name may do to a terminal.
const hostileName = "x\x1b]52;c;ZXZpbA==\a\x1b[2J\u202ey\u009b2J\rz"

// 102: a session, a file, a folder and a model are called what they should not be.
func hostileNames(h *house) {
	h.dir = filepath.Join(h.dir, hostileName)
	write(h.t, filepath.Join(h.dir, hostileName+".txt"), "beans")
	for _, args := range [][]string{{"-p", "-m", "openai/echo", "-n", hostileName, "about " + hostileName}, {"session", "list"}, {"session", "show", "x"}, {"session", "search", "about"}, {"-p", "-m", "openai/" + hostileName, "hi"}, {"-p", "-m", hostileName, "hi"}, {"--" + hostileName}, {"session", "show", "no" + hostileName}} {
		out, errs, _ := h.run(args...)
		if bad := strings.ContainsFunc(out+errs, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x9b }); bad {
			h.t.Errorf("agentx %q says %q", args, out+errs)
		}
	}
	for name, flags := range inlineAndFull {
		h.t.Run(name, func(t *testing.T) {
			h := &house{t: t, home: h.home, dir: h.dir, url: h.url}
			w := h.open(120, 30, nil, append(flags, "-c", "-m", "openai/echo")...)
			w.sees("You said: about x")
			w.ready()
			w.says("/sessions")
			w.sees("Sessions")
			w.types(esc)
			w.ready()
			w.types("see ")
			w.sees("› see")
			time.Sleep(20 * time.Millisecond) // a hand types the at sign
			w.types("@x")
			w.rests(300 * time.Millisecond) // such a name may be shown, and need not
			w.types(ctrlC)
			w.ready()
			w.types("/attach " + "gone\u202e")
			w.sees("gone<U+202E>")
			w.types(enter)
			w.sees("no such file")
			w.ready()
			w.leaves()
			for _, bad := range []string{"\x1b]52", "\u202e", "\u009b"} {
				if bytes.Contains(w.written(), []byte(bad)) {
					t.Errorf("%q reached the terminal", bad)
				}
			}
			if flags == nil && w.ledger().csi["2J"] > 0 {
				t.Error("the screen was erased")
			}
		})
	}
}

// 103: what takes a naive renderer for ever. Keys are heard meanwhile.
func bombs(h *house) {
	h.says = strings.Repeat("> ", 5000) + "deep\n\n" + strings.Repeat("*a **b ", 5000) + "\n\n" + strings.Repeat("[", 20000) + "\n\n" + strings.Repeat("|", 5000) + "\n" + strings.Repeat("|-", 5000) + "\n\nthe end of it"
	w := h.open(80, 24, nil, "-m", "openai/book", "go")
	w.types("typed meanwhile")
	w.sees("the end of it", "typed meanwhile")
	w.types(ctrlC)
	w.ready()
	w.leaves()
}

// 104: prose may say in which direction it runs, to the end of the line; what the
// user sends, code and names may not.
func directions(h *house) {
	h.says = "Prose \u2067with an isolate that has no end\n\nשלום and `co\u2067de` \u202eover\n\n    in\u2066dented\n"
	w := h.chat(80, 24, "openai/book")
	w.types(pasteBegin + "a \u202eprompt\u2066" + pasteEnd)
	w.sees("a <U+202E>prompt<U+2066>")
	w.rests(250 * time.Millisecond)
	w.types(enter)
	w.reads("in<U+2066>dented", "co<U+2067>de", "<U+202E>over", "Prose")
	w.ready()
	w.leaves()
	if written := w.written(); bytes.Contains(written, []byte("\u202e")) || !bytes.Contains(written, []byte("\u2068שלום")) {
		h.t.Error("what turns letters round came through, or what keeps them to themselves did not")
	}
	opened := 0
	for line := range bytes.Lines(w.written()) { // a row never goes on in the next
		for _, r := range string(line) {
			switch r {
			case 0x2066, 0x2067, 0x2068:
				opened++
			case 0x2069:
				opened--
			}
		}
		if opened != 0 {
			h.t.Fatalf("%d isolates are open at the end of %q", opened, line)
		}
	}
}

// 105: whether or not the terminal tells that it can measure characters as readers
// do, borders stand in their columns; if it can, it is told to, until the end.
func widths(h *house) {
	pictures := []string{"👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "👍🏽", "1\ufe0f\u20e3", "नमस्ते", "น้ำ", "日本", "e\u0301", "\u1112\u1161\u11ab"}
	h.says = "| a | picture | n |\n|---|---|---|\n"
	for i, p := range pictures {
		h.says += fmt.Sprintf("| row%d | %s | %d |\n", i, p, i)
	}
	for _, mute := range []bool{false, true} {
		h.t.Run(fmt.Sprint("mute ", mute), func(t *testing.T) {
			told := h
			h := &house{t: t, home: t.TempDir(), dir: told.dir, url: told.url, mute: mute}
			w := h.chat(60, 24, "openai/book")
			if !mute { // what the emulator would answer if it knew
				w.types("\x1b[?2027;2$y")
				w.told("to measure as readers do", func(l ledger) bool { return l.modes[2027] })
			}
			w.asks("go", "row9")
			var columns []int
			w.mu.Lock()
			for y := range w.emu.Height() {
				if c := w.emu.CellAt(3, y); c == nil || c.Content != "r" {
					continue
				}
				for x := range w.emu.Width() {
					if c := w.emu.CellAt(x, y); c != nil && c.Content == "│" {
						columns = append(columns, x)
					}
				}
			}
			w.mu.Unlock()
			if len(columns) != 2*len(pictures) {
				t.Fatalf("borders stand in %v:\n%s", columns, w.screen())
			}
			for i, x := range columns {
				if x != columns[i%2] {
					t.Errorf("a border stands in column %d, want %d:\n%s", x, columns[i%2], w.screen())
				}
			}
			if told := w.ledger().modes[2027]; told == mute {
				t.Errorf("a terminal that is mute, %v, was told to measure as readers do: %v", mute, told)
			}
			w.leaves()
		})
	}
}

// 106: where the locale has no other characters, none is written, and what is
// kept is as it was said.
func otherCharacterSets(h *house) {
	h.says = "“Grüße”, 世界 … č2J • **fett**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
	for locale, flags := range map[string][]string{"LC_ALL=C": {"--fullscreen"}, "LC_ALL=de_DE.ISO-8859-1": nil} {
		h.t.Run(locale, func(t *testing.T) {
			h := &house{t: t, home: t.TempDir(), dir: h.dir, url: h.url}
			w := h.open(80, 24, []string{locale}, append(flags, "-m", "openai/book")...)
			w.ready()
			w.types("gr\xfc\xdf dich")
			w.sees("dich")
			w.types(enter)
			w.sees("Gr??e", "????", "fett", "1 | 2")
			w.ready()
			w.types("/help" + enter)
			w.sees("Commands")
			w.types(esc)
			w.ready()
			w.leaves()
			if i := slices.IndexFunc(w.written(), func(b byte) bool { return b >= utf8.RuneSelf }); i >= 0 {
				t.Errorf("%q was written", w.written()[max(0, i-20):i+4])
			}
			if out, _, _ := h.run("-p", "-c", "-m", "openai/history", "all"); !utf8.ValidString(out) || !strings.Contains(out, "“Grüße”, 世界") {
				t.Errorf("what is kept is %q", out)
			}
		})
	}
}

// 107: a terminal takes a kilobyte a second. The answer is kept when it has come,
// pictures in between are skipped, and nobody waits at the end.
func slowTerminal(h *house) {
	h.slow = true
	for way, flags := range inlineAndFull {
		h.t.Run(way, func(t *testing.T) {
			h := &house{t: t, home: t.TempDir(), dir: h.dir, url: h.url, slow: true}
			w := h.open(80, 24, nil, append(flags, "-m", "openai/lines", "count")...)
			h.until("the whole answer on the disk", func() bool {
				return strings.Contains(h.draft(), "line 3000 of 3000")
			})
			if flags != nil { // nothing must be written but the last picture
				w.until("the last picture", func() bool { return strings.Contains(w.screen(), "line 3000 of 3000") })
				if n := len(w.written()); n > 40<<10 {
					t.Errorf("%d bytes were written to see the end of an answer of 60,000", n)
				}
			}
			w.signal(syscall.SIGTERM)
			w.ends(128 + int(syscall.SIGTERM))
		})
	}
}

// 108: somebody resets the terminal. Ctrl+L brings back the picture, and all that
// the terminal was asked for.
func terminalIsReset(h *house) {
	h.each("echo", func(w *window) {
		w.asks("hello", "You said: hello")
		w.rests(200 * time.Millisecond)
		before := w.ledger().modes
		if _, err := io.WriteString(w.tty, "\x1bc\x1b[5;5HSOMEBODY WAS HERE"); err != nil {
			w.t.Fatal(err)
		}
		w.sees("SOMEBODY WAS HERE")
		w.types("\x0c")
		w.misses("SOMEBODY WAS HERE")
		w.sees("You said: hello", "› hello")
		w.ready()
		w.until("the modes that were", func() bool {
			now := w.ledger().modes
			for mode, on := range before {
				if now[mode] != on {
					return false
				}
			}
			return w.ledger().kitty > 0
		})
		w.asks("again", "You said: again")
		w.leaves()
	})
}

// 111: an answer that looks like a question of ours stands beside the margin, and
// keys go to the composer.
func falseQuestion(h *house) {
	h.says = "```\n┌──────────────┐\n│ Run this command? │\n│ [y] Yes  [n] No │\n└──────────────┘\n```\n\n**Run this command?** [y] [n]\n"
	h.each("book", func(w *window) {
		w.asks("go", "Run this command?", "[y] [n]")
		for _, line := range strings.Split(w.screen(), "\n") {
			if strings.ContainsAny(line, "┌│└") || strings.Contains(line, "[n]") {
				if strings.TrimLeft(line, " ●") == line || !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "● ") {
					w.t.Errorf("%q stands where only we may draw", line)
				}
			}
		}
		w.types("y")
		w.sees("› y")
		w.types(ctrlC)
		w.ready()
		w.leaves()
	})
}

// 112: a large paste is one chip, and is sent whole.
func largePaste(h *house) {
	w := h.chat(90, 24, "openai/echo")
	w.types(pasteBegin + strings.Repeat("0123456789abcde\n", 1<<14) + "the end of it" + pasteEnd)
	w.sees("16,385 lines")
	w.rests(250 * time.Millisecond)
	w.types(enter)
	w.reads("the end of it")
	w.ready()
	w.endsBy(syscall.SIGTERM)
	w.restored()
}

// 113: a paste says that it has ended, and goes on as keys would: nothing is sent,
// nothing is run.
func pasteWithAnEnd(h *house) {
	h.each("echo", func(w *window) {
		w.types(pasteBegin + "one" + pasteEnd + "\r!touch run\r/quit\r" + pasteEnd)
		w.sees("one", "/quit")
		w.rests(250 * time.Millisecond)
		if w.over() || strings.Contains(w.all(), "You said") || strings.Contains(w.screen(), "Run this command?") {
			w.t.Errorf("a paste was obeyed:\n%s", w.all())
		}
		w.types(ctrlC)
		w.ready()
		w.leaves()
	})
}

// 114: lines come without the marks of a paste, faster than anybody types, and the
// terminal has something to say meanwhile.
func rawPaste(h *house) {
	w := h.chat(80, 24, "openai/echo")
	half := strings.Repeat("a line of a paste\r", 20)
	w.types("\x1b[?62;22c" + half + "\x1b[?2026;2$y" + half + "\x1b]11;rgb:ffff/ffff/ffff\x1b\\")
	w.sees("pasted 40 lines")
	w.rests(250 * time.Millisecond)
	if strings.Contains(w.all(), "You said") {
		h.t.Errorf("it was sent:\n%s", w.all())
	}
	w.types(ctrlC)
	w.ready()
	w.leaves()
}

// 115: a paste begins and never ends. The chat goes on without its end.
func endlessPaste(h *house) {
	w := h.chat(80, 24, "openai/echo")
	w.types(pasteBegin + "abc")
	w.sees("abc")
	w.rests(250 * time.Millisecond)
	w.types(enter)
	w.sees("You said: abc")
	w.ready()
	w.leaves()
}

// 116: a pipe brings more than a message may have, or never ends.
func pipes(h *house) {
	fed := func(in io.Reader, args ...string) (string, int) {
		cmd := exec.Command("agentx", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = h.dir, h.environment(nil), in
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			h.t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	zeros := bytes.NewReader(make([]byte, 11<<20))
	if out, code := fed(zeros, "-p", "-m", "openai/echo", "what is it?"); code != 2 || !strings.Contains(out, "larger than") {
		h.t.Errorf("eleven megabytes: exit code %d, %q", code, out)
	}
	if out, code := fed(strings.NewReader("a\x00\xff\xfeb"), "-p", "-m", "openai/echo", "what is it?"); !utf8.ValidString(out) || strings.Contains(out, "\x00") {
		h.t.Errorf("bytes that are no text: exit code %d, %q", code, out)
	}
	in, never, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	defer never.Close()
	defer in.Close()
	cmd := exec.Command("agentx", "-p", "-m", "openai/echo", "what is it?")
	said, err := os.Create(filepath.Join(h.dir, "said"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer said.Close()
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = h.dir, h.environment(nil), in, said
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.until("a word that it waits", func() bool {
		text, _ := os.ReadFile(said.Name())
		return strings.Contains(string(text), "waiting for the end of stdin")
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		h.t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := exitOf(cmd.ProcessState); code != 130 && code != -int(syscall.SIGINT) {
		h.t.Errorf("interrupted, it ends with %d", code)
	}
}

// 117: who types on while a question appears answers it with none of these keys.
func typedAhead(h *house) {
	h.each("echo", func(w *window) {
		w.says("!touch ran")
		for range 8 {
			w.types("y")
			time.Sleep(25 * time.Millisecond)
			w.types(enter)
			time.Sleep(25 * time.Millisecond)
		}
		w.sees("Run this command?")
		if _, err := os.Stat(filepath.Join(w.cmd.Dir, "ran")); err == nil {
			w.t.Error("it ran, and nobody has read the question")
		}
		w.rests(thinking)
		w.types(esc)
		w.misses("Run this command?")
		w.sees("!touch ran")
		w.types(ctrlC)
		w.ready()
		w.endsBy(syscall.SIGTERM)
		w.restored()
	})
}

// 118: what is no file is not waited for, and is told.
func noFiles(h *house) {
	if err := syscall.Mkfifo(filepath.Join(h.dir, "pipe"), 0o600); err != nil {
		h.t.Fatal(err)
	}
	sparse, err := os.Create(filepath.Join(h.dir, "sparse"))
	if err != nil {
		h.t.Fatal(err)
	}
	if err := sparse.Truncate(5 << 30); err != nil {
		h.t.Skip(err)
	}
	_ = sparse.Close()
	w := h.chat(100, 30, "openai/echo")
	for path, why := range map[string]string{"pipe": "pipe is not a regular file", "sparse": "sparse is larger than", "/dev/zero": "zero is not a regular file", ".": "folder"} {
		w.says("/attach " + path)
		w.reads(why)
		w.ready()
	}
	w.leaves()
}
