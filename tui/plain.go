package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"agentx/engine/event"
	"agentx/tui/status"
	"agentx/tui/theme"
	"agentx/tui/transcript"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// plainly says whether the chat must do without drawing: the terminal cannot
// move its cursor, or the user wants lines and nothing else.
func plainly(o Options) bool {
	if o.Plain {
		return true
	}
	for _, e := range o.Env {
		if e == "TERM=dumb" {
			return true
		}
	}
	return false
}

// A dictation is a chat in plain lines, for terminals that cannot move their
// cursor and for readers that speak: nothing is drawn twice, nothing moves, no
// escape sequence is written, and every part says what it is.
type dictation struct {
	options    Options
	world      Backend
	transcript transcript.Model
	status     status.Model
	said       string // the last word of the status
	lines      <-chan string
	busy       bool
	failed     bool // the answer has said so
	done       chan error
	open       event.SessionID      // in which the user writes
	turned     chan event.SessionID // to another one
}

// maxLine is how long a line from a terminal without an editor may be.
const maxLine = 1 << 20

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
	d := &dictation{options: o, world: world, status: status.New(true, true), done: make(chan error, 1), turned: make(chan event.SessionID, 1), lines: listen(o.In)}
	d.show(opened)
	defer o.Feed.Close()
	if o.Prompt != "" {
		fmt.Fprintln(o.Out, o.Prompt)
		d.send(ctx, o.Prompt)
	}
	r := d.converse(ctx, sig)
	world.Interrupt("")
	if d.busy {
		select {
		case <-d.done:
		case <-time.After(leaveTime):
		}
	}
	r.Session, r.Said = opened.Session, d.transcript.Any()
	return r, nil
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

func (d *dictation) show(o Opened) {
	d.open = o.Session.ID
	width := 80
	if w, _, err := term.GetSize(d.options.Out.Fd()); err == nil && w > 0 {
		width = w
	}
	d.transcript = transcript.New(transcript.Config{ASCII: true, Saved: o.Saved}, new(theme.Plain())).SetSize(width, 24).Replay(o.Events, o.Earlier)
	if o.Hello != "" {
		d.transcript = d.transcript.Notice(transcript.Info, o.Hello)
	}
	if o.Notice != "" {
		d.transcript = d.transcript.Notice(transcript.Warning, o.Notice)
	}
	d.transcript = d.transcript.Notice(transcript.Info, o.Model.Name+" answers. /quit leaves, Ctrl+C stops an answer.")
	d.print()
	d.prompt()
}

func (d *dictation) prompt() { fmt.Fprint(d.options.Out, "> ") }

// converse listens to the user, the answer and the system until one of them
// ends it.
func (d *dictation) converse(ctx context.Context, sig <-chan os.Signal) Result {
	for {
		select {
		case line, ok := <-d.lines:
			if !ok || strings.TrimSpace(line) == "/quit" {
				return Result{}
			}
			d.heard(ctx, line)
		case e := <-d.options.Feed.events:
			d.apply(e.Event)
		case id := <-d.turned:
			d.open = id
		case err := <-d.done:
			d.ended(err)
		case s := <-sig:
			if s == os.Interrupt && d.busy {
				d.world.Interrupt("")
				continue
			}
			return Result{Signal: s, Code: 128 + number(s)}
		case <-ctx.Done():
			return Result{Code: 1}
		}
	}
}

func (d *dictation) heard(ctx context.Context, line string) {
	switch line = strings.TrimSpace(line); {
	case d.busy:
		fmt.Fprintln(d.options.Out, "An answer is running; Ctrl+C stops it.")
	case line == "/retry":
		d.answer(ctx, d.retry)
	case strings.HasPrefix(line, "/"):
		fmt.Fprintln(d.options.Out, "Here there are only /quit and /retry.")
		d.prompt()
	case line == "":
		d.prompt()
	default:
		d.send(ctx, line)
	}
}

// retry asks the last message again, on a branch of its own.
func (d *dictation) retry(ctx context.Context) error {
	last, err := d.world.Asked(ctx, 1, "")
	if err != nil {
		return err
	}
	o, err := d.world.Branch(ctx, last.ID)
	if err != nil {
		return err
	}
	d.turned <- o.Session.ID
	return d.world.Send(ctx, o.Session.ID, last.Content, nil)
}

func (d *dictation) send(ctx context.Context, line string) {
	d.answer(ctx, func(ctx context.Context) error { return d.world.Send(ctx, d.open, event.Say(line), nil) })
}

func (d *dictation) answer(ctx context.Context, f func(context.Context) error) {
	d.busy, d.failed = true, false
	go func() { d.done <- f(ctx) }() // ends with the answer
}

// apply says what is new: finished lines, and each new word of the status once.
func (d *dictation) apply(e event.Event) {
	d.transcript, d.status = d.transcript.Apply(e), d.status.Apply(e)
	switch e.Data.(type) {
	case event.UserMessage:
		d.transcript, _ = d.transcript.Take() // stands there as it was typed
	case event.ErrorMessage, event.Interrupted:
		d.failed = true
	}
	d.print()
	if word := d.status.Word(); word != "" && word != d.said {
		fmt.Fprintf(d.options.Out, "(%s)\n", word)
	}
	d.said = d.status.Word()
}

func (d *dictation) ended(err error) {
	for _, e := range d.options.Feed.drain(nil) {
		d.apply(e.Event)
	}
	d.busy, d.status = false, d.status.End()
	if err != nil && !d.failed && !errors.Is(err, context.Canceled) {
		d.transcript = d.transcript.Notice(transcript.Failure, sentence(err, ""))
	}
	d.transcript = d.transcript.End()
	d.print()
	d.prompt()
}

func (d *dictation) print() {
	var lines []string
	d.transcript, lines = d.transcript.Take()
	for _, l := range lines {
		fmt.Fprintln(d.options.Out, ansi.Strip(l))
	}
}
