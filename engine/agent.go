package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"agentx/engine/event"
)

// What a message to an agent can fail with, beside its answer.
var (
	ErrDestroyed = errors.New("the agent is destroyed")
	ErrStopped   = errors.New("the agent is stopped; resume it first")
	ErrWithdrawn = errors.New("the message was taken back before its turn")
)

// An Agent is a small stateful shell around an [Engine]: it queues messages
// while one is answered, knows what it is doing, and lets others listen,
// interfere and interrupt. Make one with [NewAgent]. Seeds: AgentEngine.
//
// Its methods may be called from any goroutine. A handler may call them too,
// but for Receive and Destroy, which wait for the answer that waits for the
// handler.
type Agent struct {
	config   AgentConfig
	handlers handlers
	phase    atomic.Int64
	minted   atomic.Int64
	showing  sync.Mutex // held while one event is shown: they come one at a time

	mu           sync.Mutex
	waiting      []*ticket
	interrupt    context.CancelCauseFunc // of the running answer; nil where none runs
	running      string                  // id of the message that is being answered
	destroyed    bool
	stopped      bool
	resting      []chan struct{} // closed when the agent comes to rest
	middleware   []*Middleware
	interceptors []*Interceptor
	onDestroy    []*func()
}

// An AgentConfig says what an agent is made of.
type AgentConfig struct {
	ID      event.AgentID
	Created time.Time
	Engine  Engine

	// Request completes the request for a message: model, options, history.
	// Nil asks with the message alone.
	Request func(context.Context, event.UserMessage) (Request, error)

	// NewID names messages that come as text. Nil counts them.
	NewID func() string
}

// A Middleware stands around the answer to a message. It calls next to have it
// answered, with whatever message it likes, or does not.
type Middleware func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error

// An Interceptor sees every event before presenters and handlers do. It may
// rewrite it, or drop it by returning false.
type Interceptor func(event.Event) (event.Event, bool)

// NewAgent returns an agent that is idle and ready.
func NewAgent(c AgentConfig) *Agent {
	return &Agent{config: c}
}

// ID returns the agent's id.
func (a *Agent) ID() event.AgentID { return a.config.ID }

// Created returns when the agent was made.
func (a *Agent) Created() time.Time { return a.config.Created }

// Phase returns what the agent is doing.
func (a *Agent) Phase() Phase { return Phase(a.phase.Load()) }

// Say is Receive with a text.
func (a *Agent) Say(ctx context.Context, text string) error {
	m := event.UserMessage{ID: a.newID(), Content: event.Say(text)}
	if now := a.config.Engine.Now; now != nil {
		m.Timestamp = event.MillisOf(now())
	}
	return a.Receive(ctx, m)
}

func (a *Agent) newID() string {
	if a.config.NewID != nil {
		return a.config.NewID()
	}
	return string(a.config.ID) + "_" + strconv.FormatInt(a.minted.Add(1), 10)
}

// Receive answers a message, after those that came before it, and returns when
// the answer has ended. A message that waits is announced as
// conversation_queued; one whose ctx is done before its turn comes is never
// answered. A failed answer does not hinder the next.
func (a *Agent) Receive(ctx context.Context, m event.UserMessage) error {
	answer, err := a.Enter(ctx, m)
	if err != nil {
		return err
	}
	return answer()
}

// Enter is the first half of Receive: it gives the message its place among the
// others and returns at once. Answer is the second half, and must be called.
func (a *Agent) Enter(ctx context.Context, m event.UserMessage) (answer func() error, err error) {
	answering, interrupt := context.WithCancelCause(ctx)
	t := &ticket{message: m, interrupt: interrupt, called: make(chan struct{})}
	waits, err := a.enter(t)
	if err != nil {
		interrupt(nil)
		return nil, err
	}
	var failed failures
	if waits {
		failed = a.dispatch(context.WithoutCancel(ctx), a.event(event.ConversationQueued{MessageID: m.ID}))
	}
	return func() error {
		defer interrupt(nil)
		var err error
		if waits {
			err = a.await(ctx, t)
		}
		if err == nil {
			defer a.leave()
			err = a.guarded(answering, m)
		}
		if len(failed) == 0 {
			return err
		}
		return failed.with(err)
	}, nil
}

func (a *Agent) event(d event.Data) event.Event {
	return event.Event{At: a.config.Engine.now(), Data: d}
}

// guarded makes an error of a panic, and closes what it left open.
func (a *Agent) guarded(ctx context.Context, m event.UserMessage) (err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		f := &Fault{Code: event.CodeInternal, Message: fmt.Sprintf("the agent panicked: %v", p)}
		err = f
		if phase := a.Phase(); phase == Idle || phase == Failed {
			return
		}
		shown := context.WithoutCancel(ctx)
		a.dispatch(shown, a.event(event.ErrorOccurred{Code: f.Code, Message: f.Message}))
		a.dispatch(shown, a.event(event.ConversationEnd{Reason: event.EndError}))
	}()
	return a.onion()(ctx, m)
}

// onion is the answer inside its middleware, the first that was used outermost.
func (a *Agent) onion() func(context.Context, event.UserMessage) error {
	a.mu.Lock()
	layers := a.middleware
	a.mu.Unlock()
	next := a.answer
	for i := len(layers) - 1; i >= 0; i-- {
		layer, inner := *layers[i], next
		next = func(ctx context.Context, m event.UserMessage) error { return layer(ctx, m, inner) }
	}
	return next
}

func (a *Agent) answer(ctx context.Context, m event.UserMessage) error {
	req := Request{Agent: a.config.ID, Created: a.config.Created, Message: m}
	if a.config.Request != nil {
		var err error
		if req, err = a.config.Request(ctx, m); err != nil {
			return err
		}
	}
	var failed failures
	shown := context.WithoutCancel(ctx)
	for ev, err := range a.config.Engine.Events(ctx, req) {
		if err != nil {
			return failed.with(err)
		}
		failed.add(a.dispatch(shown, ev)...)
	}
	return failed.with(nil)
}

// dispatch shows one event: interceptors, then presenters, then handlers.
func (a *Agent) dispatch(ctx context.Context, ev event.Event) []*PresenterError {
	a.showing.Lock()
	defer a.showing.Unlock()
	change := a.fold(ev.Data)
	ev, kept, failed := a.intercepted(ev)
	if kept {
		failed = append(failed, a.config.Engine.show(ctx, a.config.ID, ev)...)
		failed = append(failed, a.handlers.tell(ev)...)
	}
	if change != nil {
		failed = append(failed, a.handlers.changed(*change)...)
	}
	return failed
}

// intercepted is ev as the interceptors leave it, if they do. One that panics
// has said nothing.
func (a *Agent) intercepted(ev event.Event) (_ event.Event, kept bool, failed []*PresenterError) {
	a.mu.Lock()
	interceptors := a.interceptors
	a.mu.Unlock()
	for _, f := range interceptors {
		next, kept := ev, true
		if err := safely(func(e event.Event) { next, kept = (*f)(e) }, ev); err != nil {
			failed = append(failed, &PresenterError{Index: -1, Event: ev.Data.Type(), Err: err})
			continue
		}
		if ev = next; !kept || ev.Data == nil {
			return ev, false, failed
		}
	}
	return ev, true, failed
}

// fold follows the phase, and returns the change if there is one.
func (a *Agent) fold(d event.Data) *PhaseChange {
	e, ok := d.(event.State)
	if !ok {
		return nil
	}
	prev := a.Phase()
	next := prev.Next(e)
	if next == prev {
		return nil
	}
	a.phase.Store(int64(next))
	return &PhaseChange{Prev: prev, Current: next}
}

// Interrupt stops the running answer; what came of it is kept. It reports
// whether there was one.
func (a *Agent) Interrupt(why event.InterruptReason) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.interrupt == nil {
		return false
	}
	a.interrupt(Interrupt(why))
	return true
}

// Cancel stops the answer to one message, or takes the message back where its
// turn has not come. It reports whether there was one.
func (a *Agent) Cancel(id string, why event.InterruptReason) bool {
	a.mu.Lock()
	if a.interrupt != nil && a.running == id {
		a.interrupt(Interrupt(why))
		a.mu.Unlock()
		return true
	}
	t := a.find(id)
	a.mu.Unlock()
	return t != nil && a.withdraw(t, Interrupt(why))
}

// Stop interrupts the agent, refuses what waits and all that comes, and returns
// when it has come to rest or ctx is done. Resume undoes it.
func (a *Agent) Stop(ctx context.Context) error {
	a.mu.Lock()
	if a.destroyed {
		a.mu.Unlock()
		return ErrDestroyed
	}
	a.stopped = true
	rest := a.quit(ErrStopped)
	a.mu.Unlock()
	return await(ctx, rest)
}

// Resume lets a stopped agent receive again.
func (a *Agent) Resume() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.destroyed {
		return ErrDestroyed
	}
	a.stopped = false
	return nil
}

// Stopped reports whether the agent is stopped.
func (a *Agent) Stopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// Destroy interrupts the agent, refuses what waits and all that comes, and
// returns when it has come to rest or ctx is done. Its handlers are then gone.
func (a *Agent) Destroy(ctx context.Context) error {
	told, rest := a.condemn()
	var failed error
	for _, f := range told {
		failed = errors.Join(failed, safely(func(*func()) { (*f)() }, f))
	}
	if err := await(ctx, rest); err != nil {
		return errors.Join(failed, err)
	}
	a.handlers.clear()
	return failed
}

// condemn marks the agent destroyed, and returns those who want to know. Only
// the first to call it is given any.
func (a *Agent) condemn() (told []*func(), rest <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.destroyed = true
	told, a.onDestroy = a.onDestroy, nil
	return told, a.quit(ErrDestroyed)
}

// quit sends everybody away, under the lock. The channel is closed when the
// agent has come to rest.
func (a *Agent) quit(why error) <-chan struct{} {
	for _, t := range a.waiting {
		t.err = why
		close(t.called)
	}
	a.waiting = nil
	rest := make(chan struct{})
	if a.interrupt == nil {
		close(rest)
		return rest
	}
	a.interrupt(Interrupt(event.BySystem))
	a.resting = append(a.resting, rest)
	return rest
}

func await(ctx context.Context, rest <-chan struct{}) error {
	select {
	case <-rest:
		return nil
	default:
	}
	select {
	case <-rest:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Destroyed reports whether the agent can receive no more.
func (a *Agent) Destroyed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.destroyed
}

// OnReady calls f as soon as the agent can receive, which it can from the
// beginning, unless it is destroyed.
func (a *Agent) OnReady(f func()) {
	if !a.Destroyed() {
		f()
	}
}

// OnDestroy calls f when the agent is destroyed; at once if it is already.
func (a *Agent) OnDestroy(f func()) (stop func()) {
	a.mu.Lock()
	destroyed := a.destroyed
	if !destroyed {
		defer a.mu.Unlock()
		return enlist(a, &a.onDestroy, f)
	}
	a.mu.Unlock()
	f()
	return func() {}
}

// Use puts m around the answers to come, inside the middleware already used.
func (a *Agent) Use(m Middleware) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return enlist(a, &a.middleware, m)
}

// Intercept lets f see every event first, after the interceptors already there.
func (a *Agent) Intercept(f Interceptor) (stop func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return enlist(a, &a.interceptors, f)
}

// enlist adds f to a list of the agent's, whose lock is held. Lists that were
// handed out stay as they were.
func enlist[F any](a *Agent, to *[]*F, f F) (stop func()) {
	entry := &f
	*to = append((*to)[:len(*to):len(*to)], entry)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		*to = without(*to, entry)
	}
}

// without returns a new list that lacks v.
func without[T comparable](all []T, v T) []T {
	var rest []T
	for _, e := range all {
		if e != v {
			rest = append(rest, e)
		}
	}
	return rest
}
