//go:build unix

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// A house is where somebody lives who uses agentx: a home without any files, a
// folder, and a provider on loopback.
type house struct {
	t         *testing.T
	home, dir string
	url       string
	gate      chan struct{} // lets the model "gate" finish one answer
	said      atomic.Int64  // bytes that "endless" has said
	says      string        // what "book" answers

	mute bool // its terminals answer no question
	slow bool // its terminals take a kilobyte a second
}

func newHouse(t *testing.T) *house {
	t.Parallel()
	h := &house{t: t, home: t.TempDir(), dir: t.TempDir(), gate: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(h.answer))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	h.url = server.URL + "/v1"
	return h
}

// answer is provider with models that tell stories: "gate" begins an answer and
// ends it when the story says so; "slow" counts to 300, the last words when the
// story says so; "drip" counts for ever, and "endless" too, as fast as it can.
func (h *house) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the one who asked is gone
	}
	var req struct {
		Model    string
		Messages []struct{ Content any }
	}
	if err := json.Unmarshal(body, &req); err != nil || !slices.Contains([]string{"gate", "slow", "drip", "endless", "book"}, req.Model) {
		r.Body = io.NopCloser(bytes.NewReader(body))
		provider(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(s string) {
		text, _ := json.Marshal(s)
		fmt.Fprintf(w, "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
		w.(http.Flusher).Flush()
	}
	if req.Model == "slow" {
		h.count(r.Context(), say)
		fmt.Fprint(w, finished)
		return
	}
	if req.Model == "book" {
		say(h.says)
		fmt.Fprint(w, finished)
		return
	}
	question := req.Messages[len(req.Messages)-1].Content
	say(fmt.Sprintf("Thinking about %v, ", question))
	for n := 1; req.Model == "endless" && r.Context().Err() == nil; n++ {
		line := fmt.Sprintf("line %d of many\n\n", n)
		say(line)
		h.said.Add(int64(len(line)))
	}
	for n := 1; req.Model == "drip"; n++ {
		select {
		case <-time.After(10 * time.Millisecond):
			say(fmt.Sprintf("drop%d ", n))
		case <-r.Context().Done():
			return
		}
	}
	select {
	case <-h.gate:
		say(fmt.Sprintf("done with %v.", question))
		fmt.Fprint(w, finished)
	case <-r.Context().Done():
	}
}

const finished = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// count says 300 words, and the last of them when the story lets it.
func (h *house) count(ctx context.Context, say func(string)) {
	for n := range 300 {
		if n == 280 {
			select {
			case <-h.gate:
			case <-ctx.Done():
				return
			}
		}
		say(fmt.Sprintf("word%d. ", n+1) + strings.Repeat("\n\n", (n+1)%10/9))
		time.Sleep(3 * time.Millisecond)
	}
}

// environment is all that the program finds; more comes last and wins.
func (h *house) environment(more []string) []string {
	return append([]string{
		"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "OPENAI_BASE_URL=" + h.url,
		"TERM=xterm-256color", "COLORTERM=truecolor",
		"GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), atOnce,
	}, more...)
}

// run runs agentx without a terminal.
func (h *house) run(args ...string) (stdout, stderr string, code int) {
	h.t.Helper()
	cmd := exec.Command("agentx", args...)
	cmd.Dir, cmd.Env = h.dir, h.environment(nil)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		h.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// A window is a terminal with a program in it.
type window struct {
	t        *testing.T
	cmd      *exec.Cmd
	ptm, tty *os.File
	before   *term.State
	began    time.Time
	ended    chan struct{} // the program
	drained  chan struct{} // nothing more can come from it
	read     int           // bytes that the terminal takes at once
	pause    time.Duration // and how long it is busy with them

	mu     sync.Mutex
	emu    *vt.Emulator
	parser *ansi.Parser
	book   ledger
	sheet  *sheet // shows the same
	bytes  bytes.Buffer
}

// open starts agentx in a window of that size.
func (h *house) open(cols, rows int, env []string, args ...string) *window {
	h.t.Helper()
	return h.openProgram(cols, rows, env, "agentx", args...)
}

// chat is a window in which a model waits for a question.
func (h *house) chat(cols, rows int, model string) *window {
	h.t.Helper()
	w := h.open(cols, rows, nil, "-m", model)
	w.ready()
	return w
}

func (h *house) openProgram(cols, rows int, env []string, name string, args ...string) *window {
	t := h.t
	t.Helper()
	ptm, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ptm, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		t.Fatal(err)
	}
	ptm = pollable(t, ptm)
	w := &window{t: t, ptm: ptm, tty: tty, emu: vt.NewEmulator(cols, rows), sheet: newSheet(cols, rows), parser: ansi.NewParser(), ended: make(chan struct{}), drained: make(chan struct{})}
	w.book.modes = map[int]bool{25: true, 7: true}
	w.parser.SetHandler(w.book.handler())
	if w.before, err = term.GetState(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	w.cmd = exec.Command(name, args...)
	w.cmd.Dir, w.cmd.Env = h.dir, h.environment(env)
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = tty, tty, tty
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	w.began = time.Now()
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.cmd.Wait(); close(w.ended) }() // ends with the program
	answers := io.Writer(ptm)
	if h.mute {
		answers = io.Discard
	}
	if w.read = 32 << 10; h.slow {
		w.read, w.pause = 100, 100*time.Millisecond
	}
	go w.show()                                                                                 // ends with the terminal
	go func() { _, _ = io.Copy(answers, w.emu) }()                                              // what the terminal answers; ends with it
	t.Cleanup(func() { _ = w.cmd.Process.Kill(); <-w.ended; _ = tty.Close(); _ = ptm.Close() }) // kills nothing that has ended
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last picture, below the scrollback:\n%s", w.all())
		}
	})
	return w
}

// pollable is f where Close ends a Read: else a window that nobody writes to
// could not be closed.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
		err = syscall.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// show gives what the program writes to the emulator and to the book.
func (w *window) show() {
	defer close(w.drained)
	buf := make([]byte, w.read)
	for {
		time.Sleep(w.pause)
		n, err := w.ptm.Read(buf)
		w.mu.Lock()
		w.bytes.Write(buf[:n])
		for _, b := range buf[:n] {
			w.parser.Advance(b)
		}
		w.sheet.write(buf[:n])
		_, _ = w.emu.Write(buf[:n]) // only a closed one fails
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// types sends what keys send.
func (w *window) types(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.ptm, text); err != nil {
		w.t.Fatal(err)
	}
}

// What keys send.
const (
	enter    = "\r"
	altEnter = "\x1b\r"
	esc      = "\x1b"
	up       = "\x1b[A"
	ctrlC    = "\x03"
	ctrlD    = "\x04"
	ctrlG    = "\x07"
	ctrlU    = "\x15"
	ctrlZ    = "\x1a"
)

// says types a line and sends it.
func (w *window) says(line string) {
	w.t.Helper()
	w.types(line)
	w.sees(line)
	w.types(enter)
}

// asks says something, and waits for the answer and its end.
func (w *window) asks(line string, answer ...string) {
	w.t.Helper()
	w.says(line)
	w.sees(answer...)
	w.ready()
}

// settles waits until so many answers are above what is drawn anew.
func (w *window) settles(answers int) {
	w.t.Helper()
	w.until("the end of the answer", func() bool {
		n := 0
		for _, s := range w.ledger().strings {
			if s == `OSC "133;D"` {
				n++
			}
		}
		return n >= answers
	})
}

// rows is the scrollback and the screen.
func (w *window) rows() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var rows []string
	for _, line := range w.emu.Scrollback().Lines() {
		rows = append(rows, strings.TrimRight(line.String(), " "))
	}
	return append(rows, w.picture()...)
}

// picture is what is on the screen.
func (w *window) picture() []string {
	var rows []string
	for y := range w.emu.Height() {
		var b strings.Builder
		for x := 0; x < w.emu.Width(); {
			c := w.emu.CellAt(x, y)
			if c == nil || c.Width == 0 {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += c.Width
		}
		rows = append(rows, strings.TrimRight(b.String(), " "))
	}
	return rows
}

func (w *window) screen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.picture(), "\n")
}

func (w *window) all() string { return strings.Join(w.rows(), "\n") }

func (w *window) written() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.bytes.Bytes())
}

// until waits for something to become true.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Errorf("waited in vain for %s", what)
			return
		}
	}
}

// until waits for something to become true.
func (w *window) until(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited in vain for %s; this is what there is:\n%s\nand where lines wrap anew:\n%s", what, w.all(), w.paper())
		}
	}
}

// sees waits until the screen shows all of texts.
func (w *window) sees(texts ...string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%q", texts), func() bool {
		s := w.screen()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s, text) })
	})
}

// reads waits until texts are there, wherever their lines end.
func (w *window) reads(texts ...string) {
	w.t.Helper()
	w.until(fmt.Sprintf("%q", texts), func() bool {
		all := w.letters()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(all, strings.ReplaceAll(text, " ", "")) })
	})
}

// misses waits until the screen does not show text any more.
func (w *window) misses(text string) {
	w.t.Helper()
	w.until(fmt.Sprintf("the end of %q", text), func() bool { return !strings.Contains(w.screen(), text) })
}

// readsOnce wants each of texts in scrollback and screen exactly once, wherever its lines end.
func (w *window) readsOnce(texts ...string) {
	w.t.Helper()
	all := w.letters()
	for _, text := range texts {
		if n := strings.Count(all, strings.ReplaceAll(text, " ", "")); n != 1 {
			w.t.Errorf("%q is there %d times, want once:\n%s", text, n, w.all())
		}
	}
}

// once wants each of texts in scrollback and screen exactly once.
func (w *window) once(texts ...string) {
	w.t.Helper()
	all := w.all()
	for _, text := range texts {
		if n := strings.Count(all, text); n != 1 {
			w.t.Errorf("%q is there %d times, want once:\n%s", text, n, all)
		}
	}
}

// ready waits for an empty composer, and below it the name of who will answer:
// what is typed from then on is not lost.
func (w *window) ready() {
	w.t.Helper()
	w.until("an empty composer", func() bool {
		_, below, ok := strings.Cut(w.screen(), "Ask anything")
		_, below, _ = strings.Cut(below, "\n")
		return ok && strings.TrimSpace(below) != ""
	})
}

// resize gives the window another size. Rows that do not fit any more go into
// the scrollback, as a terminal does it.
func (w *window) resize(cols, rows int) {
	w.t.Helper()
	w.until("the end of a sequence", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.parser.State() != parser.GroundState {
			return false
		}
		if at := w.emu.CursorPosition(); at.Y >= rows {
			up := at.Y - rows + 1
			fmt.Fprintf(w.emu, "\x1b[%d;1H%s\x1b[%d;%dH", w.emu.Height(), strings.Repeat("\n", up), at.Y-up+1, at.X+1)
		}
		w.emu.Resize(cols, rows)
		w.sheet.resize(cols, rows)
		return true
	})
	if err := pty.Setsize(w.ptm, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		w.t.Fatal(err)
	}
}

// letters is what a terminal that wraps its lines anew holds, without spaces.
func (w *window) letters() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sheet.letters()
}

// ledger is a copy of what was kept of the stream so far.
func (w *window) ledger() ledger {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.book
	l.modes, l.csi, l.control = maps.Clone(l.modes), maps.Clone(l.csi), maps.Clone(l.control)
	l.strings, l.colours = slices.Clone(l.strings), slices.Clone(l.colours)
	return l
}

func (w *window) paper() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sheet.String()
}

func (w *window) sinceStart() time.Duration { return time.Since(w.began).Round(time.Millisecond) }

func (w *window) signal(s os.Signal) {
	w.t.Helper()
	if err := w.cmd.Process.Signal(s); err != nil {
		w.t.Fatal(err)
	}
}

// ends waits for the program's end and wants its exit code.
func (w *window) ends(code int) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.t.Fatalf("the program does not end; this is what there is:\n%s", w.all())
	}
	if got := exitOf(w.cmd.ProcessState); got != code {
		w.t.Errorf("exit code %d, want %d", got, code)
	}
}

func exitOf(p *os.ProcessState) int {
	if s, ok := p.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return -int(s.Signal())
	}
	return p.ExitCode()
}

// leaves is a person who goes by Ctrl+C, twice, and again if that was too slow.
// While an answer arrives it would be stopped.
func (w *window) leaves() {
	w.t.Helper()
	w.ready()
	for late := true; late; {
		w.types(ctrlC)
		w.sees("again to quit")
		w.types(ctrlC)
		w.until("the end", func() bool {
			s := w.screen()
			late = strings.Contains(s, "Ask anything") && !strings.Contains(s, "again to quit")
			return late || w.over()
		})
	}
	w.ends(0)
	w.restored()
}

// over says whether the program has ended.
func (w *window) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// restored wants the terminal back as it was.
func (w *window) restored() {
	w.t.Helper()
	after, err := term.GetState(int(w.tty.Fd()))
	if err != nil {
		w.t.Fatal(err)
	}
	if !reflect.DeepEqual(after, w.before) {
		w.t.Errorf("the terminal's attributes are\n%+v, and were\n%+v", after, w.before)
	}
	_ = w.tty.Close() // so that reading ends
	select {
	case <-w.drained:
	case <-time.After(patience):
		w.t.Fatal("there is no end to what was written")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("%d bytes written", w.bytes.Len())
	if err := w.book.restored(); err != nil {
		w.t.Error(err)
	}
}

// A ledger keeps what a stream of bytes has done to a terminal beside text.
type ledger struct {
	modes   map[int]bool
	kitty   int      // depth of the keyboard's flags
	reset   bool     // the terminal was
	mods    bool     // keys are told apart in xterm's way
	keypad  bool     // is in application mode
	style   string   // the last SGR
	strings []string // OSC, DCS, APC, PM, SOS
	csi     map[string]int
	colours []string // SGR that colour
	control map[byte]int
}

func (l *ledger) handler() ansi.Handler {
	l.csi, l.control = map[string]int{}, map[byte]int{}
	keep := func(kind string) func([]byte) {
		return func(data []byte) { l.strings = append(l.strings, fmt.Sprintf("%s %q", kind, data)) }
	}
	return ansi.Handler{
		Print:     func(rune) {},
		Execute:   func(b byte) { l.control[b]++ },
		HandleEsc: l.escape,
		HandleCsi: l.sequence,
		HandleOsc: func(_ int, data []byte) { keep("OSC")(data) },
		HandleDcs: func(_ ansi.Cmd, _ ansi.Params, data []byte) { keep("DCS")(data) },
		HandleApc: keep("APC"), HandlePm: keep("PM"), HandleSos: keep("SOS"),
	}
}

func (l *ledger) escape(c ansi.Cmd) {
	switch c.Final() {
	case '=', '>':
		l.keypad = c.Final() == '='
	case '\\': // the end of a string
	case 'c': // everything is as in the beginning
		l.modes, l.kitty, l.mods, l.reset = map[int]bool{25: true, 7: true}, 0, false, true
	default:
		l.csi["ESC "+string(rune(c.Final()))]++
	}
}

func (l *ledger) sequence(c ansi.Cmd, params ansi.Params) {
	var numbers []string
	params.ForEach(0, func(_, n int, _ bool) { numbers = append(numbers, fmt.Sprint(n)) })
	prefix := strings.TrimLeft(string(rune(c.Prefix())), "\x00")
	text := prefix + strings.Join(numbers, ";") + strings.TrimLeft(string(rune(c.Intermediate())), "\x00") + string(rune(c.Final()))
	l.csi[text]++
	first, _, _ := params.Param(0, 0)
	switch {
	case prefix == "?" && (c.Final() == 'h' || c.Final() == 'l'):
		params.ForEach(0, func(_, n int, _ bool) { l.modes[n] = c.Final() == 'h' })
	case prefix == ">" && c.Final() == 'u':
		l.kitty++
	case prefix == "<" && c.Final() == 'u':
		if l.kitty -= max(first, 1); l.reset {
			l.kitty = max(l.kitty, 0) // nobody knows what is left of them
		}
	case prefix == ">" && c.Final() == 'm':
		l.mods = first == 4 && len(params) > 1
	case prefix == "" && c.Final() == 'm':
		l.style = text
		params.ForEach(0, func(_, n int, _ bool) {
			if n >= 30 && n <= 49 && n != 39 && n != 49 || n >= 90 && n <= 107 {
				l.colours = append(l.colours, text)
			}
		})
	}
}

// restored says what is not as it was.
func (l *ledger) restored() error {
	var errs []error
	for mode, on := range l.modes {
		if at := mode == 25 || mode == 7; on != at {
			errs = append(errs, fmt.Errorf("mode %d is %v in the end", mode, on))
		}
	}
	if l.kitty != 0 || l.mods || l.keypad {
		errs = append(errs, fmt.Errorf("the keyboard is not as it was: %d flags, modifiers %v, keypad %v", l.kitty, l.mods, l.keypad))
	}
	if l.style != "" && l.style != "m" && l.style != "0m" {
		errs = append(errs, fmt.Errorf("the last style is %q", l.style))
	}
	if kept, back := l.csi["22;2t"], l.csi["23;2t"]; kept != back {
		errs = append(errs, fmt.Errorf("the title was kept %d times and brought back %d times", kept, back))
	}
	if l.works() {
		errs = append(errs, errors.New("the terminal still shows progress"))
	}
	return errors.Join(errs...)
}

// works says whether the terminal was told that something goes on.
func (l *ledger) works() bool {
	for _, s := range slices.Backward(l.strings) {
		if progress, ok := strings.CutPrefix(s, `OSC "9;4;`); ok {
			return progress != `0"`
		}
	}
	return false
}

// title is what the window was called last.
func (l *ledger) title() string {
	for _, s := range slices.Backward(l.strings) {
		if title, ok := strings.CutPrefix(s, `OSC "2;`); ok {
			return strings.TrimSuffix(title, `"`)
		}
	}
	return ""
}
