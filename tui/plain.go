package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentx/tui/screen"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// plainly says whether the chat must do without drawing: the terminal cannot
// move its cursor, or the user wants lines and nothing else.
func plainly(o Options) bool { return o.Plain || lookup(o.Env)("TERM") == "dumb" }

// A dictation is a chat in plain lines, for terminals that cannot move their
// cursor and for readers that speak: nothing is drawn twice, nothing moves, no
// escape sequence is written, and every part says what it is. It is the chat that
// others see, with lines for keys: a list is numbered, a question is answered by a
// line.
type dictation struct {
	options Options
	model   Model
	lines   <-chan string
	done    chan tea.Msg // what commands brought, nil too
	running int          // commands; of these one listens to the feed
	late    <-chan time.Time
	waited  bool           // the user has waited long enough to write
	answers sync.WaitGroup // that are running
	leaving bool

	typed   string // was written on the line that the terminal shows, and may come back as a message
	word    string // of the status, that was said last
	asked   string // list or question that was read out last
	offered string // may be sent by an empty line
	opened  bool   // a line begins that the user may write on
	blank   bool   // another blank line would say nothing
}

// maxLine is how long a line from a terminal without an editor may be.
const maxLine = 1 << 20

// What stands before and behind what the user said, and is not printed.
const beginsUser, endsUser = "\x00begins", "\x00ends"

// unspoken are the actions that mean nothing in plain lines.
var unspoken = []string{"keys", "theme", "palette", "repaint", "suspend", "editor", "full", "find", "mouse", "vi"}

// runPlain holds such a chat until the user leaves or a signal comes.
func runPlain(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sig := make(chan os.Signal, 4)
	signal.Notify(sig, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(sig)
	world, opened, err := o.Start(ctx)
	if err != nil {
		return Result{Code: 1}, err
	}
	defer o.Feed.Close()
	d := dictate(ctx, o)
	d.open(world, opened)
	r := d.converse(ctx, sig)
	d.leave(world)
	r.Session, r.Said = d.model.open.Session, d.model.transcript.Any()
	return r, nil
}

// dictate returns a chat before there is a world behind it.
func dictate(ctx context.Context, o Options) *dictation {
	d := &dictation{options: o, lines: listen(o.In), done: make(chan tea.Msg, 64)}
	not := unspoken
	if lookup(o.Env)("TERM") == "dumb" {
		not = append(slices.Clip(not), "copy")
	}
	o.Plain, o.Theme, o.Still, o.Env, o.Keys = true, "plain", true, nil, nil
	d.model = newModel(ctx, o, d)
	d.model.table = d.model.table.without(not)
	return d
}

// open shows the session that the chat begins with.
func (d *dictation) open(world Backend, opened Opened) {
	d.measure()
	d.run(d.model.Init())
	d.take(result{func(m Model) (Model, tea.Cmd) {
		m.backend = world
		m, cmd := m.opened(opened)
		m = m.say(transcript.Info, opened.Model.Name+" answers. /help says what else there is, /quit leaves, Ctrl+C stops an answer.")
		if d.options.Pick {
			m, pick := m.pickSession()
			return m, tea.Batch(cmd, pick)
		}
		return m, cmd
	}})
}

// listen reads lines; the channel is closed at the end of the input. It ends
// with the program: a terminal cannot be made to stop waiting.
func listen(in io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		for s.Scan() {
			out <- s.Text()
		}
	}()
	return out
}

// converse listens to the user, the answer and the system until one of them
// ends it.
func (d *dictation) converse(ctx context.Context, sig <-chan os.Signal) Result {
	for !d.leaving {
		select {
		case line, ok := <-d.lines:
			if !ok {
				return Result{}
			}
			d.heard(line)
		case msg := <-d.done:
			d.running--
			d.take(msg)
		case <-d.late:
			d.waited = true
			d.speak()
		case s := <-sig:
			if s != os.Interrupt || !d.model.outbox.busy {
				return Result{Signal: s, Code: 128 + number(s)}
			}
			d.does(Model.stop)
		case <-ctx.Done():
			return Result{Code: 1}
		}
	}
	return Result{}
}

// run has a command done; what it brings is taken in its turn.
func (d *dictation) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	d.running++
	go func() { d.done <- cmd() }() // ends with the command, or with the program
}

func (d *dictation) take(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.QuitMsg:
		d.leaving = true
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			d.run(cmd)
		}
	default:
		var cmd tea.Cmd
		d.model, cmd = d.model.update(msg)
		d.run(cmd)
	}
	d.speak()
}

// rests says whether nothing is on its way that a line would come before.
func (d *dictation) rests() bool { return !d.model.outbox.busy && (d.running <= 1 || d.waited) }

func (d *dictation) does(what func(Model) (Model, tea.Cmd)) { d.take(result{what}) }

// heard takes a line: the answer to what was asked, a slash word, or a message.
func (d *dictation) heard(line string) {
	d.opened, d.waited, d.blank, d.typed, d.late = false, false, true, "", time.After(leaveTime)
	d.measure()
	switch {
	case d.model.overlays.open():
		d.asked = ""
		d.does(func(m Model) (Model, tea.Cmd) { return m.hear(line) })
	case strings.TrimSpace(line) == "" && d.offered != "":
		d.says(d.offered)
	case strings.TrimSpace(line) == "":
		d.does(Model.sendHeld)
	case strings.HasPrefix(line, "/"):
		d.does(func(m Model) (Model, tea.Cmd) {
			m, keep := m.addPrompt(line)
			m, cmd := m.command(line)
			return m, tea.Batch(keep, cmd)
		})
	case d.model.outbox.busy:
		d.print("(queued)")
		d.says(line)
	default:
		d.typed = strings.TrimSpace(d.model.composer.Text() + line)
		d.says(line)
	}
}

// says sends a line, or goes on with what the lines before it began.
func (d *dictation) says(line string) {
	d.offered = ""
	d.does(func(m Model) (Model, tea.Cmd) { return m.dictated(line) })
}

// offer reads out what stands in the composer although nobody has written it here:
// a draft, or a message to be changed.
func (d *dictation) offer() {
	said := d.model.composer.Text()
	if said == "" || strings.HasSuffix(said, "\n") {
		return
	}
	d.offered = said
	d.model.composer = d.model.composer.Reset()
	d.print(strings.Split("Written and not sent: "+text.Clean(said), "\n")...)
	d.print("An empty line sends it; what you write now is sent instead.")
}

// dictated writes a line and presses Enter.
func (m Model) dictated(line string) (Model, tea.Cmd) {
	m.composer = m.composer.SetText(m.composer.Text() + line)
	return m.toComposer(tea.KeyPressMsg{Code: tea.KeyEnter})
}

// hear gives a line to the list or question on top.
func (m Model) hear(line string) (Model, tea.Cmd) {
	top := m.overlays.top()
	if top.list != nil {
		list, out := top.list.Hear(line)
		top.list = &list
		m.overlays = m.overlays.replace(top)
		return m.fromList(top, out)
	}
	asks, out := top.asks.Hear(line)
	top.asks = &asks
	m.overlays = m.overlays.replace(top)
	return m.fromDialog(top, out)
}

// sendHeld lets go what waits since an answer failed.
func (m Model) sendHeld() (Model, tea.Cmd) {
	m.outbox.held = false
	return m.pump()
}

// speak says what is new: finished lines, each new word of the status once, a list
// or a question. Then the user may write.
func (d *dictation) speak() {
	var lines []string
	d.model.transcript, lines = d.model.transcript.Take()
	d.print(d.unheard(lines)...)
	if word := d.model.status.Word(); word != d.word {
		if d.word = word; word != "" {
			d.print("(" + word + ")")
		}
	}
	if d.model.overlays.open() {
		d.inquire()
		return
	}
	d.asked = ""
	if d.rests() {
		d.offer()
	}
	if !d.opened && d.rests() {
		d.opened = true
		fmt.Fprint(d.options.Out, "You: ")
	}
}

// inquire reads out what is open, unless that was done already.
func (d *dictation) inquire() {
	top, asks := d.model.overlays.top(), true
	var lines []string
	if top.list != nil {
		lines = top.list.Spoken()
	} else {
		lines, asks = top.asks.Spoken()
	}
	if says := strings.Join(lines, "\n"); says != d.asked {
		d.asked = says
		d.print(lines...)
		d.opened = false
	}
	switch {
	case !asks:
		d.does(func(m Model) (Model, tea.Cmd) { return m.hear("") })
	case !d.opened:
		d.opened = true
		fmt.Fprint(d.options.Out, "Answer: ")
	}
}

// unheard is lines without the message that the user has just written on the
// terminal's own line.
func (d *dictation) unheard(lines []string) []string {
	var out []string
	for len(lines) > 0 {
		from := slices.Index(lines, beginsUser)
		to := slices.Index(lines, endsUser)
		if from < 0 || to < from {
			break
		}
		out = append(out, lines[:from]...)
		if d.typed == "" {
			out = append(out, lines[from+1:to]...)
		}
		d.typed, lines = "", lines[to+1:]
	}
	return append(out, lines...)
}

// print writes lines, below one that the user may be writing on.
func (d *dictation) print(lines ...string) {
	if len(lines) == 0 {
		return
	}
	var b strings.Builder
	if d.opened {
		b.WriteByte('\n')
		d.opened = false
	}
	for _, l := range lines {
		if l = strings.TrimRight(text.Undirected(ansi.Strip(l)), " "); l != "" || !d.blank {
			b.WriteString(l + "\n")
		}
		d.blank = l == ""
	}
	fmt.Fprint(d.options.Out, b.String())
}

// measure lays what comes out for the window as it is now.
func (d *dictation) measure() {
	if w, h, err := term.GetSize(d.options.Out.Fd()); err == nil {
		d.model = d.model.resize(w, h)
	}
}

// leave ends the answer, and keeps what was not sent.
func (d *dictation) leave(world Backend) {
	world.Interrupt("")
	late := time.After(leaveTime)
	saved := make(chan struct{})
	unsent := d.model.drafts()
	go func() { // ends when all is saved, or with the program
		defer close(saved)
		ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
		defer cancel()
		for id, draft := range unsent {
			_ = world.SaveDraft(ctx, id, draft)
		}
		d.answers.Wait()
	}()
	await(saved, late)
}

// What others have done to their terminal is nothing here.

func (d *dictation) tell(screen.Sign, string)         {}
func (d *dictation) ask()                             {}
func (d *dictation) synchronised()                    {}
func (d *dictation) clusters(bool)                    {}
func (d *dictation) repaint()                         {}
func (d *dictation) suspend()                         {}
func (d *dictation) edit(text string) (string, error) { return text, errors.ErrUnsupported }

// copy needs a sequence, which shows nothing.

func (d *dictation) hold() func() {
	d.answers.Add(1)
	return d.answers.Done
}
