package tui

import (
	"context"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/composer"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// submit takes what the user sent: a slash word that was typed by hand, or a
// message.
func (m Model) submit(s composer.Submit) (Model, tea.Cmd) {
	m, keep := m.addPrompt(s.Entry())
	switch {
	case s.Slash:
		m, cmd := m.command(s.Text)
		return m, tea.Batch(keep, cmd)
	case s.Bang:
		m, ask := m.askToRun(s.Edited(s.Text[1:]))
		return m, tea.Batch(keep, ask)
	}
	if m.rewound.any() && !m.outbox.busy && !m.chats.turning && len(s.Mentions) == 0 {
		m, cmd := m.sendRewound(s.Trim())
		return m, tea.Batch(keep, cmd)
	}
	m, look := m.post(s.Trim(), s.Mentions)
	m.outbox.held = false
	m, _ = m.toEnd()
	m, cmd := m.pump()
	return m, tea.Batch(keep, look, cmd)
}

func (m Model) addPrompt(text string) (Model, tea.Cmd) {
	if strings.TrimSpace(text) == "" {
		return m, nil
	}
	m.open.Prompts = append(m.open.Prompts[:len(m.open.Prompts):len(m.open.Prompts)], text)
	m.composer = m.composer.SetHistory(m.open.Prompts)
	return m, m.ask(func(ctx context.Context, b Backend) error { return b.AddPrompt(ctx, text) })
}

// answered is the end of an answer.
type answered struct {
	chat int // in which
	err  error
}

// pump sends the first message that waits, if nothing is in its way.
func (m Model) pump() (Model, tea.Cmd) {
	if m.backend == nil || m.chats.turning || !m.outbox.ready() {
		return m, nil
	}
	var d Message
	m.outbox, d = m.outbox.pop()
	return m.run(m.sending(d, nil))
}

// run begins an answer.
func (m Model) run(answer func(context.Context) error) (Model, tea.Cmd) {
	m.outbox.busy, m.outbox.failed = true, false
	m.composer = m.composer.SetBusy(true)
	ctx, release, key := m.ctx, m.term.hold(), m.chats.key
	return m, func() tea.Msg {
		defer release()
		return answered{key, answer(ctx)}
	}
}

// answered notes the end of an answer. A batch with its last events may be on
// its way: what the end means is decided behind it.
func (m Model) answered(a answered) (Model, tea.Cmd) {
	if a.chat != m.chats.key {
		return m.answeredElsewhere(a)
	}
	m.outbox.over = &a
	m.feed.nudge()
	return m, nil
}

// finish ends an answer whose events have all been seen.
func (m Model) finish() (Model, tea.Cmd) {
	m, mine := m.route(m.feed.drain(nil))
	m = m.apply(mine)
	a := *m.outbox.over
	m.outbox.over = nil
	lost := m.outbox.flying
	m.outbox.busy, m.outbox.flying = false, Message{}
	m.status, m.composer = m.status.End(), m.composer.SetBusy(false)
	switch {
	case !lost.Empty():
		m = m.giveBack(lost).say(transcript.Failure, sentence(a.err, "The message was not taken"), "Nothing was sent; your text is back in the composer.")
		m.outbox.held = true
	case a.err != nil && !m.outbox.failed:
		m = m.say(transcript.Failure, sentence(a.err, ""), "What you see above may not be saved.", "/retry asks again, /export writes the conversation elsewhere.")
		m.outbox.held = true
	case a.err != nil && !m.outbox.stopped:
		m.outbox.held = true
	}
	complete := a.err == nil && !m.outbox.stopped && !m.outbox.failed
	if complete && m.outbox.mute {
		m = m.say(transcript.Info, "The model said nothing. /retry asks again.")
	}
	m.outbox.mute = false
	stopped := m.outbox.stopped
	m.outbox.stopped = false
	m, cmd := m.makeRoom(complete)
	if !m.outbox.busy && !stopped {
		m.notify(!complete)
	}
	return m, cmd
}

// sending sends a message to the session on the screen, with further parts.
func (m Model) sending(d Message, parts event.Content) func(context.Context) error {
	id, b := m.open.Session.ID, m.backend
	var c event.Content
	for _, part := range content(d) {
		c = append(c, event.Text{Text: part})
	}
	c = append(c, parts...)
	return func(ctx context.Context) error { return b.Send(ctx, id, c, paths(d)) }
}

// giveBack puts a message where it can be sent again.
func (m Model) giveBack(d Message) Model {
	m.composer = restored(m.composer, d)
	return m
}

func restored(c composer.Model, d Message) composer.Model { return c.SetDraft(d.Then(c.Draft())) }

// stop ends the command that is running, or the answer that is arriving; what
// came of it is kept.
func (m Model) stop() (Model, tea.Cmd) {
	if m.shell.running() {
		return m.halt(), nil
	}
	if !m.outbox.busy || m.backend == nil {
		return m, nil
	}
	m.outbox.stopped = true
	m.status = m.status.Stopping()
	b, id := m.backend, m.open.Session.ID
	return m, func() tea.Msg { b.Interrupt(id); return nil }
}

// result is what a question to the backend has led to.
type result struct {
	then func(Model) (Model, tea.Cmd)
}

// soon does f as soon as the world may be there: whoever types before that has
// said it once.
func soon(f func(Model) (Model, tea.Cmd)) tea.Cmd {
	return tea.Tick(10*time.Millisecond, func(time.Time) tea.Msg { return result{f} })
}

// ask has the backend do something of which only a failure is worth a word.
func (m Model) ask(f func(context.Context, Backend) error) tea.Cmd {
	if m.backend == nil {
		return soon(func(m Model) (Model, tea.Cmd) { return m, m.ask(f) })
	}
	ctx, b := m.ctx, m.backend
	return func() tea.Msg {
		err := f(ctx, b)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		return result{func(m Model) (Model, tea.Cmd) { return m.say(transcript.Failure, sentence(err, "")), nil }}
	}
}

// fetch asks the backend for something and hands it on. What says in words what
// could not be done if it fails.
func fetch[T any](m Model, what string, get func(context.Context, Backend) (T, error), then func(Model, T) (Model, tea.Cmd)) (Model, tea.Cmd) {
	if m.backend == nil {
		return m, soon(func(m Model) (Model, tea.Cmd) { return fetch(m, what, get, then) })
	}
	ctx, b := m.ctx, m.backend
	return m, func() tea.Msg {
		got, err := get(ctx, b)
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil {
				return m.say(transcript.Failure, "Could not "+what+": "+strings.TrimRight(err.Error(), ".")+".", "Nothing was changed."), nil
			}
			return then(m, got)
		}}
	}
}

// sentence is an error in one sentence, or the words for one that is missing.
func sentence(err error, otherwise string) string {
	if err == nil || strings.TrimSpace(err.Error()) == "" {
		return text.Sentence(otherwise)
	}
	return text.Sentence(err.Error())
}
