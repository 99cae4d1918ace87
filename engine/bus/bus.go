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
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"agentx/engine/event"
)

// A Bus is a timeline of system events. The zero value is ready to use.
type Bus struct {
	// Report is told of handlers that panic; nil ignores them. It is set before
	// the bus is used.
	Report func(e SystemEvent, problem error)

	mu       sync.Mutex
	queue    []SystemEvent
	draining bool
	table    atomic.Pointer[table] // replaced under mu, read without
	requests atomic.Int64
}

// A Subscription says which events a handler wants. The zero value wants all.
type Subscription struct {
	Types    []string               // these types; none means all
	Filter   func(SystemEvent) bool // and only those that it lets through
	Priority int                    // the higher is handed an event first; equals in the order of subscription
	Once     bool                   // and no more after the first
}

// entry is a subscription with its handler.
type entry struct {
	Subscription
	handle func(SystemEvent)
	number int64
	done   atomic.Bool
}

// A table is never changed, only replaced.
type table struct {
	byType map[string][]*entry // a type that somebody asked for: all that want it, in order
	all    []*entry            // those that want every type, in order
	last   int64
}

// Publish puts e on the timeline.
func (b *Bus) Publish(e SystemEvent) {
	b.mu.Lock()
	b.queue = append(b.queue, e)
	if b.draining {
		b.mu.Unlock()
		return
	}
	b.draining = true
	for len(b.queue) > 0 {
		batch := b.queue
		b.queue = nil
		b.mu.Unlock()
		for _, e := range batch {
			b.deliver(e)
		}
		b.mu.Lock()
	}
	b.draining = false
	b.mu.Unlock()
}

func (b *Bus) deliver(e SystemEvent) {
	t := b.table.Load()
	if t == nil {
		return
	}
	entries, asked := t.byType[e.Data.Type()]
	if !asked {
		entries = t.all
	}
	for _, s := range entries {
		if s.done.Load() || s.Filter != nil && !b.safely(e, func() bool { return s.Filter(e) }) {
			continue
		}
		if s.Once && s.done.Swap(true) {
			continue
		}
		b.safely(e, func() bool { s.handle(e); return true })
		if s.Once {
			b.remove(s)
		}
	}
}

// safely reports a panic of f and takes it for a no.
func (b *Bus) safely(e SystemEvent, f func() bool) (ok bool) {
	defer func() {
		if p := recover(); p != nil && b.Report != nil {
			b.Report(e, fmt.Errorf("bus: a handler panicked over %s: %v", e.Data.Type(), p))
		}
	}()
	return f()
}

// Subscribe calls f with the events that s wants, from now until stop is
// called. Once stop has returned, no further call of f begins.
func (b *Bus) Subscribe(s Subscription, f func(SystemEvent)) (stop func()) {
	e := &entry{Subscription: s, handle: f}
	b.replace(func(t *table) {
		t.last++
		e.number = t.last
		t.add(e)
	})
	return func() {
		e.done.Store(true)
		b.remove(e)
	}
}

// On subscribes to the events that carry D, a layer or a single type.
func On[D event.Data](b *Bus, f func(SystemEvent, D)) (stop func()) {
	return b.Subscribe(Subscription{}, func(e SystemEvent) {
		if d, ok := e.Data.(D); ok {
			f(e, d)
		}
	})
}

func (b *Bus) remove(e *entry) {
	b.replace(func(t *table) { t.drop(e) })
}

func (b *Bus) replace(change func(*table)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := &table{byType: map[string][]*entry{}}
	if t := b.table.Load(); t != nil {
		next.all, next.last = slices.Clone(t.all), t.last
		for name, entries := range t.byType {
			next.byType[name] = slices.Clone(entries)
		}
	}
	change(next)
	b.table.Store(next)
}

func (t *table) add(e *entry) {
	if len(e.Types) == 0 {
		t.all = inOrder(append(t.all, e))
		for name, entries := range t.byType {
			t.byType[name] = inOrder(append(entries, e))
		}
		return
	}
	for _, name := range e.Types {
		entries, asked := t.byType[name]
		if !asked {
			entries = slices.Clone(t.all)
		}
		t.byType[name] = inOrder(append(entries, e))
	}
}

func (t *table) drop(e *entry) {
	gone := func(o *entry) bool { return o == e }
	t.all = slices.DeleteFunc(t.all, gone)
	for name, entries := range t.byType {
		t.byType[name] = slices.DeleteFunc(entries, gone)
	}
}

func inOrder(entries []*entry) []*entry {
	slices.SortStableFunc(entries, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.number, b.number))
	})
	return entries
}

// newRequestID names a request on this bus.
func (b *Bus) newRequestID() string {
	return "req_" + strconv.FormatInt(b.requests.Add(1), 10)
}
