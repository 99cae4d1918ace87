package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"agentx/config"
	"agentx/tui"
	"agentx/tui/text"
)

// chat is the chat on a terminal.
func chat(ctx context.Context, w *world, o options) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	w.signals.handOver()
	defer w.onOneProcessor()()
	feed := tui.NewFeed()
	d := &desk{world: w, options: o, feed: feed}
	files, err := d.given(ctx)
	if err != nil {
		return err
	}
	profile := w.profile()
	r, err := tui.Run(ctx, tui.Options{
		In: w.stdin, Out: w.stdout, Env: os.Environ(), Feed: feed,
		Start: func(ctx context.Context) (tui.Backend, tui.Opened, error) {
			_ = c.Paths.MakeState() // the editor's file lies there; whoever wants it is told where it cannot
			opened, err := d.enter(ctx)
			opened.Files = files
			return d, opened, err
		},
		Model: d.foreseen(c), Prompt: o.prompt, Pick: o.pick, Theme: c.Theme, Wardrobe: wardrobe{w}, NoTypewriter: !c.Typewriter || c.ReducedMotion,
		Measure: c.ReadingWidth, Notify: c.Notify, NoTitle: !c.Title, NoProgress: !c.Progress, NoMarks: !c.PromptMarks,
		FullScreen: c.FullScreen, NoMouse: !c.Mouse,
		Still: c.ReducedMotion, Plain: c.ScreenReader, CompactAt: c.CompactAt, Thinking: c.Thinking,
		Keys: c.Bindings, Vi: c.ViKeys, Profile: &profile, Editor: w.editor(), Private: c.Paths.State,
	})
	w.giveBack(r.Unsent)
	if err == nil && r.Said {
		w.sayHowToResume(d)
	}
	return w.left(c, r, err)
}

// giveBack prints what was written in a chat whose sessions could not be opened,
// or not soon enough: nothing else has kept it.
func (w *world) giveBack(unsent []string) {
	if len(unsent) == 0 {
		return
	}
	inTime(leaveTime, func() {
		w.warn("your sessions were not open yet, so that what you wrote was neither sent nor kept; here it is:")
		for _, m := range unsent {
			fmt.Fprintf(w.stderr, "\n%s\n", text.Clean(m))
		}
		fmt.Fprintln(w.stderr)
	})
}

// leaveTime is how long a terminal may take for what was written in vain.
const leaveTime = 5 * time.Second

// inTime does something and returns when it is done, or late: a terminal that
// takes nothing any more does not hold up the end.
func inTime(within time.Duration, do func()) {
	done := make(chan struct{})
	go func() { // ends when the terminal has taken it, or with the program
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(within):
	}
}

// sayHowToResume tells a person who leaves how to come back.
func (w *world) sayHowToResume(d *desk) {
	t := d.current()
	if t == nil || !t.kept {
		return
	}
	inTime(500*time.Millisecond, func() {
		w.note("to go on: agentx -r %s", shortID(t.session))
		for _, id := range d.brokenOff() {
			w.note("an answer was arriving in another chat; what had come is kept: agentx -r %s", shortID(id))
		}
	})
}

// left is how the chat ended, for the shell.
func (w *world) left(c config.Config, r tui.Result, err error) error {
	switch {
	case r.Crash != nil:
		return w.crashed(r.Crash.Value, r.Crash.Stack)
	case errors.Is(err, tui.ErrGone) || errors.Is(err, syscall.EIO):
		return &exit{code: codeSignal + int(syscall.SIGHUP), err: err, quiet: true} // nobody is there to be told
	case err != nil:
		return err
	case r.Code != 0:
		return &exit{code: r.Code, err: errors.New("interrupted"), quiet: true}
	}
	return nil
}

// editor is the user's editor with its arguments.
func (w *world) editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v, ok := w.env(name); ok && strings.TrimSpace(v) != "" {
			return strings.Fields(v)
		}
	}
	return nil
}

// onOneProcessor has the chat run on one processor, unless the user knows better:
// who answers and who draws work in turns, a thousandth of a second each, and to
// wake a second processor for that is a seventh of what the chat takes.
func (w *world) onOneProcessor() (end func()) {
	if _, ok := w.env("GOMAXPROCS"); ok {
		return func() {}
	}
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// foreseen is the model that will answer, where no session has a word in it: the
// first frame shows it.
func (d *desk) foreseen(c config.Config) tui.Choice {
	if o := d.options; o.model == "" && (o.last || o.pick || o.resume != "" || o.image != "") {
		return tui.Choice{}
	}
	choice, err := choose(c, d.options.model)
	if err != nil {
		return tui.Choice{} // it is told when the session is opened
	}
	return d.choice(choice)
}

// given are the files that the chat was begun with: they go with the prompt, if
// there is one, else they stand in the composer.
func (d *desk) given(ctx context.Context) ([]tui.File, error) {
	if d.options.prompt != "" {
		var err error
		d.attached, err = d.world.compose(ctx, "", "", d.options.files)
		return nil, err
	}
	var files []tui.File
	for _, name := range d.options.files {
		f, err := d.Attach(ctx, name)
		if err != nil {
			return nil, usage("%v", err)
		}
		files = append(files, f)
	}
	return files, nil
}
