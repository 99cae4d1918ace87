package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
	"agentx/tui"
)

// A desk is the world as the chat sees it: it implements [tui.Backend].
type desk struct {
	world   *world
	options options
	feed    *tui.Feed

	mu       sync.Mutex
	talk     *talk                     // on the screen
	open     map[event.SessionID]place // talks that have an agent
	attached event.Content             // goes with the next message
	filed    event.SessionID           // whose draft is known to have no files
	left     []event.SessionID         // in which an answer was broken off when the chat was left, but for the one on the screen

	held    held
	browser browser
}

// A place is a talk that is open, and how to show no more of what is said in it.
type place struct {
	*talk
	unfollow func()
}

var _ tui.Backend = (*desk)(nil)

// shownEvents is how much of a resumed session the screen is given: more than a
// screenful, and no more for a long session than for a short one.
const shownEvents = 64

// enter opens the session that the flags mean.
func (d *desk) enter(ctx context.Context) (tui.Opened, error) {
	opened, err := d.turnTo(ctx, d.options)
	opened.Hello = d.hello(opened)
	return opened, err
}

// turnTo opens a session and puts it on the screen. The one before is left,
// unless an answer is arriving in it.
func (d *desk) turnTo(ctx context.Context, o options) (tui.Opened, error) {
	next, err := d.world.open(ctx, o)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	d.sit(next)
	return d.show(ctx, next)
}

// sit gives a talk its place; what is said in it is shown from now on.
func (d *desk) sit(t *talk) {
	unwatch := t.client.Follow(t.agent, &t.unkept)
	unfeed := t.client.Follow(t.agent, d.feed)
	unfollow := func() { unfeed(); unwatch() }
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[event.SessionID]place{}
	}
	d.open[t.session] = place{t, unfollow}
}

// show puts a talk on the screen.
func (d *desk) show(ctx context.Context, t *talk) (tui.Opened, error) {
	d.mu.Lock()
	last := d.talk
	d.talk = t
	d.mu.Unlock()
	if last != nil && last != t && !last.busy() {
		d.leave(ctx, last.session)
	}
	opened, err := d.opened(ctx, t)
	return opened, d.say(err)
}

// leave ends what is open of a session.
func (d *desk) leave(ctx context.Context, id event.SessionID) {
	d.mu.Lock()
	p, ok := d.open[id]
	delete(d.open, id)
	d.mu.Unlock()
	if ok {
		p.unfollow()
		p.leave(ctx)
	}
}

// at is the talk of a session, opened anew where it was left.
func (d *desk) at(ctx context.Context, id event.SessionID) (*talk, error) {
	d.mu.Lock()
	p, ok := d.open[id]
	t := d.talk
	d.mu.Unlock()
	switch {
	case ok:
		return p.talk, nil
	case id == "":
		return t, nil
	}
	t, err := d.world.open(ctx, options{at: id, noSave: d.world.shelf.forgets(id)})
	if err != nil {
		return nil, err
	}
	d.sit(t)
	return t, nil
}

// brokenOff are the sessions, beside that on the screen, in which an answer was
// arriving when the chat was left.
func (d *desk) brokenOff() []event.SessionID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.left)
}

// hello tells a newcomer who it is that answers, and how that can be changed.
// Whoever came with a question, or for a session, has no use for it.
func (d *desk) hello(o tui.Opened) string {
	if o.Model.Name != "guide/guide" || len(o.Events) > 0 || d.options.pick || d.options.prompt != "" || d.options.model != "" {
		return ""
	}
	return "No model is set up, so the built-in guide answers. Ask it, or type /model."
}

func (d *desk) current() *talk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.talk
}

// say makes of an error what a person is shown, and keeps its exit code.
func (d *desk) say(err error) error {
	if err == nil {
		return nil
	}
	return &exit{code: codeOf(err), err: errors.New(d.world.words(err))}
}

// opened is what the screen shows of a session.
func (d *desk) opened(ctx context.Context, t *talk) (tui.Opened, error) {
	o := tui.Opened{Session: tui.Session{ID: t.session}, Agent: t.agent, Model: d.choice(t.choice()), System: t.prompt(), Saved: t.kept}
	if !t.kept {
		events, err := t.events(ctx)
		o.Events = events
		return o, err
	}
	db := d.world.db
	s, err := db.Session(ctx, t.session)
	if err != nil {
		return o, err
	}
	o.Session = session(s)
	if o.Events, o.First, err = db.Page(ctx, t.session, 0, shownEvents); err != nil {
		return o, err
	}
	o.Earlier, o.Spent = earlier(s, o.Events)
	if s.Interrupted && s.Messages > 0 && !t.busy() {
		o.Notice = "The last answer was broken off; what had come of it is above. /retry asks again."
		if nothingCame(o.Events) {
			o.Notice = "The last answer was broken off before anything came of it. /retry asks again."
		}
	}
	if o.Notice == "" {
		o.Notice = t.choice().Doubt()
	}
	if o.Draft, err = d.draft(ctx, t.session); err != nil {
		return o, err
	}
	o.Prompts, err = db.Prompts(ctx, 1000)
	return o, err
}

// nothingCame reports whether the last message of a person is the last message.
func nothingCame(events []event.Event) bool {
	for _, e := range slices.Backward(events) {
		switch e.Data.(type) {
		case event.AssistantMessage:
			return false
		case event.UserMessage:
			return true
		}
	}
	return false
}

// earlier counts what a session holds and events leave out.
func earlier(s store.Session, events []event.Event) (messages int, spent tui.Spent) {
	messages = s.Messages
	spent.Usage = s.Usage
	if s.Cost != nil {
		spent.Cost = *s.Cost
	}
	for _, e := range events {
		switch m := e.Data.(type) {
		case event.UserMessage, event.AssistantMessage:
			messages--
		case event.TurnResponse:
			spent.Usage = spent.Usage.Sub(m.Usage)
			if m.CostUSD != nil {
				spent.Cost -= *m.CostUSD
			}
		}
	}
	if messages <= 0 {
		return 0, tui.Spent{}
	}
	if s.Cost == nil {
		spent.Cost, spent.Unpriced = 0, 1
	}
	spent.Cost = max(spent.Cost, 0)
	return messages, spent
}

func session(s store.Session) tui.Session {
	return tui.Session{ID: s.ID, Title: s.Title, Updated: s.Updated, Messages: s.Messages, Branches: s.Branches, Tags: strings.Fields(s.Tags)}
}

// Send answers a message.
func (d *desk) Send(ctx context.Context, in event.SessionID, content event.Content, files []string) error {
	t, err := d.at(ctx, in)
	if err != nil {
		return d.say(err)
	}
	more, err := d.files(ctx, t, files)
	if err != nil {
		return d.say(err)
	}
	content = append(content[:len(content):len(content)], more...)
	d.mu.Lock()
	content, d.attached = append(content[:len(content):len(content)], d.attached...), nil
	d.mu.Unlock()
	defer t.running()()
	return d.say(t.client.Receive(ctx, t.agent, content))
}

// Interrupt stops the answer that is arriving in a session, or in all.
func (d *desk) Interrupt(in event.SessionID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, p := range d.open {
		if in != "" && id != in {
			continue
		}
		if in == "" && p.talk != d.talk && p.busy() && !slices.Contains(d.left, id) {
			d.left = append(d.left, id)
		}
		go func() { // ends when the timeline has carried it, which may wait for whoever calls this to draw
			_ = p.client.Interrupt(context.Background(), p.agent, event.ByUser)
		}()
	}
}

// Close lets others have a session that is not on the screen any more.
func (d *desk) Close(ctx context.Context, id event.SessionID) error {
	d.mu.Lock()
	p, ok := d.open[id]
	if ok = ok && p.talk != d.talk; ok {
		delete(d.open, id) // from here on whoever turns to it opens it anew
	}
	d.mu.Unlock()
	if ok {
		p.unfollow()
		p.leave(ctx)
	}
	return nil
}

// Open turns to a session that is kept, or open.
func (d *desk) Open(ctx context.Context, id event.SessionID) (tui.Opened, error) {
	t, err := d.at(ctx, id)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	opened, err := d.show(ctx, t)
	if d.seated(t) {
		return opened, err
	}
	if t, err = d.at(ctx, id); err != nil { // it was just being closed
		return tui.Opened{}, d.say(err)
	}
	return d.show(ctx, t)
}

// seated reports whether a talk has its agent still.
func (d *desk) seated(t *talk) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[t.session].talk == t
}

// New turns to a new session, with the model that is being talked to.
func (d *desk) New(ctx context.Context) (tui.Opened, error) {
	o := options{noSave: d.options.noSave, system: d.options.system}
	if t := d.current(); t != nil {
		o.model = t.choice().Name()
	}
	return d.turnTo(ctx, o)
}

// Fork turns to a copy of the open session.
func (d *desk) Fork(ctx context.Context) (tui.Opened, error) {
	t := d.current()
	if !t.kept {
		return tui.Opened{}, errors.New("this conversation is not kept, so there is nothing to fork")
	}
	to, err := t.client.Fork(ctx, t.session, "")
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.goTo(ctx, t, to)
}

// SetSystem changes the system prompt from the next message on.
func (d *desk) SetSystem(ctx context.Context, prompt string) error {
	prompt, err := readSystem(prompt)
	if err != nil {
		return d.say(err)
	}
	t := d.current()
	if err := t.configure(ctx, runtime.AgentConfigureRequest{System: &prompt}); err != nil {
		return d.say(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.system = prompt
	return nil
}
