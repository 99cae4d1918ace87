package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/anthropic"
	"agentx/engine/event"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ask sends one message and prints its answer.
func ask(ctx context.Context, w *world, o options) error {
	if o.pick {
		return w.refused(o, usage("-r picks a session on a terminal; without one give its ID or title: agentx -r ID -p %q", cmp.Or(o.prompt, "…")))
	}
	content, err := w.content(ctx, o)
	if err != nil {
		return w.refused(o, err)
	}
	if o.dry {
		return w.dryRun(ctx, o, content)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, engine.Interrupt(event.ByTimeout))
		defer cancel()
	}
	p := w.printer(o)
	t, err := w.open(ctx, o)
	if err != nil {
		return w.refused(o, unopened(ctx, err))
	}
	w.warnOf(t.choice())
	return w.answer(ctx, t, p, content, o.schema != "")
}

// warnOf says what whoever asks a model might not expect.
func (w *world) warnOf(choice config.Choice) {
	if doubt := choice.Doubt(); doubt != "" {
		w.note("%s", doubt)
	}
	c, err := w.config()
	if err == nil && c.Temperature != nil && choice.Provider.Protocol == config.Anthropic && anthropic.ThinksColdly(choice.Model, c.Effort) {
		w.note("the temperature is left out: %s takes none from a model that is to think (effort %s)", choice.Provider.Name, c.Effort)
	}
}

// answer sends content to the session and prints what comes.
func (w *world) answer(ctx context.Context, t *talk, p printer, content event.Content, schema bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	last := outcome{schema: schema}
	watch := &watcher{printer: p, stop: cancel, outcome: &last}
	defer t.client.Follow(t.agent, watch)()
	defer t.client.Follow(t.agent, progress{w, w.flags.verbose})()
	if l, ok := p.(*lines); ok {
		defer t.client.Timeline.Subscribe(bus.Subscription{}, l.take)()
	}
	err := p.begin(opening{Version: versionLine(), SessionID: t.session, Model: t.choice().Name(), Cwd: w.dir})
	if watch.failed = err; err == nil {
		err = t.client.Receive(ctx, t.agent, content)
		last.sent = !unsent(err)
	}
	last.session, last.model = t.shown(), t.answerer(last.turn.Model)
	last.err = broken(verdict(errors.Join(watch.failed, err), last.turn), last.text)
	if last.err == nil && schema && !json.Valid([]byte(last.text)) {
		last.err = &exit{code: codeIncomplete, err: errors.New("the model did not answer with JSON, as --json-schema asks")}
	}
	if last.err != nil {
		last.words = w.words(w.account(ctx, t, last))
	}
	if failed := p.end(last); failed != nil && watch.failed == nil {
		watch.failed = failed
	}
	return w.afterwards(t, watch.failed, last)
}

// afterwards says what could not be written, else what came of the message.
func (w *world) afterwards(t *talk, failed error, o outcome) error {
	if failed == nil {
		if o.err != nil {
			return &exit{code: codeOf(o.err), err: errors.New(o.words)}
		}
		return nil
	}
	if errors.Is(failed, syscall.EPIPE) {
		return failed // whoever reads has had enough
	}
	kept := "nothing of it is saved"
	switch {
	case !o.sent:
		kept = "nothing was sent"
	case t.shown() != "":
		kept = fmt.Sprintf("it is saved in session %s", t.session)
	}
	return &exit{code: codeOutput, err: fmt.Errorf("cannot write the answer (%w); %s", bare(failed), kept)}
}

// bare is the innermost error, which names no file descriptor.
func bare(err error) error {
	if n, ok := errors.AsType[syscall.Errno](err); ok {
		return n
	}
	return err
}

// verdict is what makes an answer that came not a complete one.
func verdict(err error, t event.TurnResponse) error {
	if err != nil {
		return err
	}
	switch t.StopReason {
	case event.Refusal:
		return &exit{code: codeRefused, err: errors.New("the model refused to answer")}
	case event.ContentFilter:
		return &exit{code: codeRefused, err: errors.New("the provider's content filter stopped the answer")}
	case event.MaxTokens:
		return &exit{code: codeIncomplete, err: errors.New("the answer stops where its token limit is reached (max_tokens)"), remedy: "raise --max-tokens"}
	case event.PauseTurn, event.StopOther, event.StopError:
		return &exit{code: codeIncomplete, err: fmt.Errorf("the answer is incomplete (%s)", t.StopReason)}
	}
	if t.Messages == 0 {
		return &exit{code: codeIncomplete, err: errors.New("the model ended its answer without having said anything"), remedy: "ask again, or in other words"}
	}
	return nil
}

// broken gives a failure of the provider that ended an answer after its
// beginning the exit code of what it left: an answer that is not complete.
func broken(err error, text string) error {
	if code := codeOf(err); text != "" && (code == codeProvider || code == codeRate) {
		return &exit{code: codeIncomplete, err: err}
	}
	return err
}

// A watcher shows events to a printer, remembers what came, and stops the
// answer when nobody can read it any more.
type watcher struct {
	printer printer
	stop    context.CancelCauseFunc
	outcome *outcome
	failed  error
}

func (w *watcher) Present(ctx context.Context, id event.AgentID, e event.Event) error {
	switch d := e.Data.(type) {
	case event.AssistantMessage:
		if s := d.Content.Text(); s != "" {
			w.outcome.text = s
		}
	case event.TurnResponse:
		w.outcome.turn = d
	case event.Retrying:
		w.outcome.elsewhere = w.outcome.elsewhere || d.Attempt == 1 // a second try is the second
	}
	if w.failed != nil {
		return nil
	}
	if w.failed = w.printer.Present(ctx, id, e); w.failed != nil && gone(w.failed) {
		w.stop(engine.Interrupt(event.BySystem))
	}
	return nil
}

// gone reports whether there is no reader any more. A full disk is not that:
// the answer is still worth keeping.
func gone(err error) bool { return errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) }

// printer chooses how the answer is shown.
func (w *world) printer(o options) printer {
	switch {
	case o.format == "json":
		return object{w.stdout}
	case o.format == "stream-json":
		return &lines{out: w.stdout}
	case isTerminal(w.stdout):
		return &rendered{out: w.colored(w.stdout), theme: sync.OnceValue(w.theme), width: min(w.width(), 100)}
	}
	return &plain{out: w.stdout}
}

// refused prints an error of which nothing came in the format that was asked
// for, so that a script that reads JSON always gets some.
func (w *world) refused(o options, err error) error {
	p := w.printer(o)
	switch p.(type) {
	case object, *lines:
		if p.begin(opening{Version: versionLine(), Model: o.model, Cwd: w.dir}) == nil {
			_ = p.end(outcome{model: o.model, err: err, words: w.words(err)}) // the error itself is on stderr
		}
	}
	return err
}

// misread says what is wrong with a flag, and does so in JSON, too, where that
// was asked for before the flag or behind it.
func (w *world) misread(c *cobra.Command, args []string, err error) error {
	err = flagError(c, err)
	if c.Flags().Lookup("print") == nil {
		return err
	}
	var o options
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.StringVarP(&o.format, "output-format", "o", "", "")
	_ = f.Parse(args) // has been looked at
	return w.refused(o, err)
}
