package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/record"

	"github.com/spf13/cobra"
)

// A replay is what the flags of `agentx replay` say.
type replay struct {
	file   string
	speed  float64
	verify bool
	redact string
	format string // empty plays it on a terminal, where there is one
}

func replayCommand(w *world) *cobra.Command {
	r := replay{speed: 1}
	c := &cobra.Command{
		Use: "replay FILE", Short: "Play a recorded conversation again, step by step, or check it",
		Long: `Play a recorded conversation again, step by step, or check it.

  agentx --trace FILE            record a chat; with -p, one answer
  agentx replay FILE             play it at its own speed; on a terminal Space
                                 stops it, and the arrow keys step to and fro
  agentx replay --verify FILE    does the engine of today answer as it did?
  agentx replay --redact COPY FILE    a copy without secrets, for a bug report

What -o stream-json printed can be played and checked too.`,
		Args: exactly("the FILE that --trace has written"),
		RunE: func(c *cobra.Command, args []string) error {
			r.file = args[0]
			if err := r.finish(); err != nil {
				return err
			}
			return w.replay(c.Context(), r)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVar(&r.verify, "verify", false, "exit with 1 and the first difference where the engine of today answers otherwise")
	f.StringVar(&r.redact, "redact", "", "write a copy without keys, home folder and user name into this new `FILE`")
	f.Float64Var(&r.speed, "speed", 1, "play it `N` times as fast; 0 at once")
	f.StringVarP(&r.format, "output-format", "o", "", "print it as `FORMAT`: text or stream-json")
	return c
}

// finish checks what the flags say together.
func (r replay) finish() error {
	switch {
	case r.verify && r.redact != "":
		return usage("--verify checks the recording and --redact copies it: give one of them")
	case r.speed < 0 || math.IsNaN(r.speed) || math.IsInf(r.speed, 0):
		return usage("--speed is a number such as 2, or 0 for no waiting, not %v", r.speed)
	case r.format != "" && r.format != "text" && r.format != "stream-json":
		return usage("--output-format is text or stream-json, not %q", r.format)
	}
	return nil
}

func (w *world) replay(ctx context.Context, r replay) error {
	return readRecording(r.file, func(in *record.Reader) error {
		switch {
		case r.verify:
			return w.verify(r.file, in)
		case r.redact != "":
			return w.redact(ctx, r, in)
		}
		if r.format == "" && w.interactive() && !w.plainly() {
			return w.film(ctx, r, in)
		}
		return w.print(ctx, r, in)
	})
}

// readRecording opens a recording, and says of which file an error tells.
func readRecording(name string, read func(*record.Reader) error) error {
	f, err := openRegular(name)
	if err != nil {
		return usage("%v", err)
	}
	defer f.Close()
	in, err := record.NewReader(f)
	if err == nil {
		err = read(in)
	}
	if wrong, ok := errors.AsType[*record.FormatError](err); ok {
		return usage("%s cannot be played: %v", name, wrong)
	}
	return err
}

// verify compares a recording with what the engine makes of its inputs today.
func (w *world) verify(name string, in *record.Reader) error {
	n, diff, err := record.Verify(in.Steps())
	if err != nil {
		return err
	}
	w.tellCut(name, in)
	if diff != nil {
		was, is := apart(diff.Recorded, diff.Today)
		fmt.Fprintf(visible{w.stderr}, "agentx: %s, line %d: %s after %s is another today\n  recorded  %s\n  today     %s\n", name, diff.Line, diff.What, diff.After, was, is)
		return &exit{code: codeOther, err: errors.New("the engine of today answers otherwise"), quiet: true}
	}
	_, err = fmt.Fprintf(w.stdout, "%s, %s: the same\n", count(n.Inputs, "input"), count(n.Outputs, "output"))
	return err
}

func (w *world) tellCut(name string, in *record.Reader) {
	if in.Cut {
		w.note("the last line of %s broke off, and is left out", name)
	}
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// apart cuts two texts down to where they differ, with as much around it as a
// person needs to find the place.
func apart(a, b string) (string, string) {
	const before, room = 60, 200
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-before)
	return excerpt(a, from, room), excerpt(b, from, room)
}

func excerpt(s string, from, room int) string {
	to := min(len(s), from+room)
	out := s[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return strings.ToValidUTF8(out, "")
}

// most is how large a recording may be that is taken into memory.
const most = 256 << 20

// longestPause is how long a replay waits where people did.
const longestPause = 2 * time.Second

// print prints a recording as the answers were printed, at its own pace.
func (w *world) print(ctx context.Context, r replay, in *record.Reader) error {
	p := &player{world: w, format: cmp.Or(r.format, "text"), head: in.Header}
	var last time.Time
	for s, err := range in.Steps() {
		if err != nil {
			return err
		}
		if err := pause(ctx, s.In.At.Sub(last), r.speed); err != nil {
			return err
		}
		if last = s.In.At; s.First {
			if err := p.turn(s); err != nil {
				return err
			}
		}
		if err := p.step(ctx, s); err != nil {
			return err
		}
	}
	w.tellCut(r.file, in)
	return p.end()
}

// pause waits for as long as the recording did, in the speed that is wished.
func pause(ctx context.Context, d time.Duration, speed float64) error {
	d = min(d, longestPause)
	if speed == 0 || d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(time.Duration(float64(d) / speed))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A player gives the steps of a recording to printers, one for each answer; a
// stream of events is one from its beginning to its end.
type player struct {
	world  *world
	format string
	head   record.Header
	shown  printer
	last   outcome
}

// turn begins another answer.
func (p *player) turn(s record.Step) error {
	if p.format == "stream-json" && p.shown != nil {
		return nil
	}
	if p.shown != nil {
		if err := p.end(); err != nil {
			return err
		}
		if _, err := io.WriteString(p.world.stdout, "\n"); err != nil {
			return err
		}
	}
	p.shown = p.world.printer(options{format: p.format})
	p.last = outcome{session: s.Session, model: cmp.Or(s.Model, p.head.Model)}
	return p.shown.begin(opening{Version: p.head.Agentx, SessionID: s.Session, Model: p.last.model})
}

func (p *player) step(ctx context.Context, s record.Step) error {
	if p.shown == nil {
		if err := p.turn(s); err != nil {
			return err
		}
	}
	if err := p.show(ctx, s, s.In); err != nil {
		return err
	}
	for _, o := range s.Outs {
		e, err := o.Event()
		if err != nil {
			return &record.FormatError{Line: o.Line, Problem: fmt.Sprintf("its output is no event: %v", err)}
		}
		if err := p.show(ctx, s, e); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) show(ctx context.Context, s record.Step, e event.Event) error {
	watch := watcher{printer: p.shown, stop: func(error) {}, outcome: &p.last}
	if l, ok := p.shown.(*lines); ok {
		l.take(bus.OfAgent(e, bus.Scope{Agent: s.Agent, Session: s.Session}))
	}
	_ = watch.Present(ctx, s.Agent, e)
	return watch.failed
}

// end ends the answer that is shown.
func (p *player) end() error {
	if p.shown == nil {
		return nil
	}
	p.last.err = verdict(nil, p.last.turn)
	if p.last.err != nil {
		p.last.words = p.world.words(p.last.err)
	}
	return p.shown.end(p.last)
}

// redact writes a copy without secrets.
func (w *world) redact(ctx context.Context, r replay, in *record.Reader) error {
	steps, err := in.All(most)
	if err != nil {
		return err
	}
	w.tellCut(r.file, in)
	_, diff, err := record.Verify(each(steps))
	if err != nil {
		return err
	}
	find, err := w.private(ctx)
	if err != nil {
		return err
	}
	places := 0
	err = toNewFile(r.redact, func(out io.Writer) (err error) {
		places, err = record.Redact(out, in.Header, steps, find)
		return err
	})
	if err != nil {
		return err
	}
	if diff != nil {
		w.warn("%s does not hold today, first in line %d; what follows from its inputs was made anew in the copy", r.file, diff.Line)
	}
	_, err = fmt.Fprintf(w.stdout, "%s, %s masked\n", count(len(steps), "input"), count(places, "place"))
	w.note("what was said is still in %s: look through it before you give it away", r.redact)
	return err
}

func each(steps []record.Step) func(func(record.Step, error) bool) {
	return func(yield func(record.Step, error) bool) {
		for s := range slices.Values(steps) {
			if !yield(s, nil) {
				return
			}
		}
	}
}
