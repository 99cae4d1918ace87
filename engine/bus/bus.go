// Package bus carries system events between the parts of a running agentx.
//
// There is one timeline: every subscriber is handed every event in the order
// of publication, a request always before its response. Whoever finds the
// timeline at rest carries it forward; an event that is published meanwhile,
// by another goroutine or by a handler, waits its turn and Publish returns at
// once. A handler must be quick; work that is not belongs on a goroutine of its
// own. A handler that panics is reported and hinders nobody.
package bus

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"agentx/engine/event"
)

// A Bus is a timeline of system events. The zero value is ready to use.
type Bus struct {
	// Report is told of handlers and filters that panic; nil ignores them. It is
	// set before the bus is used.
	Report func(e SystemEvent, problem error)

	mu       sync.Mutex
	queue    queue
	draining bool
	ears     registry                      // subscriptions
	raw      registry                      // of those who asked for what the environment says
	servers  map[string]*server            // by the type of request that they answer
	calls    map[string]chan<- SystemEvent // who waits for a response, by the request's id
	number   int64                         // of the latest subscription
	requests atomic.Int64
	spies    atomic.Int64 // how many ask for what the environment says
}

// A Subscription says which events a handler wants. The zero value wants all
// but the stream of the environment, which repeats what the agents say: that is
// for those who name it as the source.
type Subscription struct {
	Types    []string               // these types; none means all
	Agent    event.AgentID          // this agent's; empty means everybody's
	Source   Source                 // from this source; empty means any
	Filter   func(SystemEvent) bool // and only those that it lets through
	Priority int                    // the higher is handed an event first; equals in the order of subscription
	Once     bool                   // and no more after the first
}

// Publish puts e on the timeline.
func (b *Bus) Publish(e SystemEvent) { b.publish(e, false) }

// publish is Publish; an attended request is answered by whoever announced it.
func (b *Bus) publish(e SystemEvent, attended bool) {
	p := posted{e, e.Data.Type(), attended}
	b.mu.Lock()
	b.queue.push(p)
	if b.draining {
		b.mu.Unlock()
		return
	}
	b.draining = true
	b.mu.Unlock()
	b.drain()
}

// drain carries the timeline forward to its end. A handler that ends its
// goroutine leaves the rest to the next who publishes.
func (b *Bus) drain() {
	ended := false
	defer func() {
		if !ended {
			b.mu.Lock()
			b.draining = false
			b.mu.Unlock()
		}
	}()
	for {
		p, to, ok := b.next()
		if !ok {
			ended = true
			return
		}
		for s := to.next(); s != nil; s = to.next() {
			b.hand(p.SystemEvent, s)
		}
		switch p.Category {
		case Request:
			b.serve(p)
		case Response:
			b.answered(p.SystemEvent)
		}
	}
}

// next takes the oldest event and those who may want it. Where there is none,
// the timeline is at rest.
func (b *Bus) next() (p posted, to audience, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok = b.queue.pop(); !ok {
		b.draining = false
		return p, to, false
	}
	r := &b.ears
	if raw(p.SystemEvent) {
		r = &b.raw
	}
	return p, r.audience(p.Scope.Agent, p.name), true
}

// raw reports whether e is a piece of what the environment says.
func raw(e SystemEvent) bool { return e.Source == Environment && e.Category == Stream }

// hand calls s with e, if s still wants it. A panic is reported; that of a
// filter is a no.
func (b *Bus) hand(e SystemEvent, s *entry) {
	defer func() {
		if p := recover(); p != nil {
			b.report(e, fmt.Errorf("bus: a handler panicked over %s: %v", e.Data.Type(), p))
		}
	}()
	if s.done.Load() || s.Source != "" && s.Source != e.Source || s.Filter != nil && !s.Filter(e) {
		return
	}
	if s.Once {
		if s.done.Swap(true) {
			return
		}
		defer b.remove(s)
	}
	s.handle(e)
}

// report tells Report. One that panics too has nobody left to tell.
func (b *Bus) report(e SystemEvent, problem error) {
	if b.Report == nil {
		return
	}
	defer func() { _ = recover() }()
	b.Report(e, problem)
}

// Subscribe calls f with the events that s wants, from now until stop is
// called. An event that is published after stop has returned does not reach f;
// one that another goroutine is just handing out still may.
func (b *Bus) Subscribe(s Subscription, f func(SystemEvent)) (stop func()) {
	s.Types = once(s.Types)
	e := &entry{Subscription: s, handle: f}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.number++
	e.number = b.number
	b.ears.add(e)
	if e.Source == Environment {
		b.raw.add(e)
		b.spies.Add(1)
	}
	return func() {
		e.done.Store(true)
		b.remove(e)
	}
}

// On subscribes to the events that carry D, a layer or a single type.
func On[D event.Data](b *Bus, f func(SystemEvent, D)) (stop func()) {
	var wanted Subscription
	if name, ok := event.NameOf[D](); ok {
		wanted.Types = []string{name}
	}
	return b.Subscribe(wanted, func(e SystemEvent) {
		if d, ok := e.Data.(D); ok {
			f(e, d)
		}
	})
}

// remove forgets e, whose done is set. Twice is as good as once.
func (b *Bus) remove(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.removed {
		return
	}
	e.removed = true
	b.ears.forget(e)
	if e.Source == Environment {
		b.raw.forget(e)
		b.spies.Add(-1)
	}
}

// Overheard reports whether anybody asks for what the environment says, so that
// it need not be said to nobody.
func (b *Bus) Overheard() bool { return b.spies.Load() > 0 }

// newRequestID names a request on this bus.
func (b *Bus) newRequestID() string {
	return "req_" + strconv.FormatInt(b.requests.Add(1), 10)
}
