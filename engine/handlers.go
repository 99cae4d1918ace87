package engine

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"agentx/engine/event"
)

// On calls f with every event of the given types, or with every event where
// none is given.
func (a *Agent) On(f func(event.Event), types ...string) (stop func()) {
	return a.handlers.add(f, types...)
}

// OnEach calls with every event the function that stands under its type.
func (a *Agent) OnEach(byType map[string]func(event.Event)) (stop func()) {
	var stops []func()
	for name, f := range byType {
		stops = append(stops, a.handlers.add(f, name))
	}
	return all(stops)
}

// A Reaction is a function of one kind of data. See [To].
type Reaction struct {
	types []string // none where f is to choose among all
	f     func(event.Event)
}

// To reacts to D, a type or a layer:
//
//	agent.React(engine.To(func(d event.TextDelta) { … }), engine.To(func(t event.Turn) { … }))
func To[D event.Data](f func(D)) Reaction {
	r := Reaction{f: func(e event.Event) {
		if d, ok := e.Data.(D); ok {
			f(d)
		}
	}}
	if name, ok := event.NameOf[D](); ok {
		r.types = []string{name}
	}
	return r
}

// React calls each reaction with what it reacts to.
func (a *Agent) React(rs ...Reaction) (stop func()) {
	var stops []func()
	for _, r := range rs {
		stops = append(stops, a.handlers.add(r.f, r.types...))
	}
	return all(stops)
}

// OnPhase calls f when the agent begins to do something else.
func (a *Agent) OnPhase(f func(PhaseChange)) (stop func()) {
	return a.handlers.addPhase(f)
}

func all(stops []func()) func() {
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// handlers are functions by the type of event that they want: found in
// constant time, without a lock.
type handlers struct {
	mu    sync.Mutex // held by those who change the table
	table atomic.Pointer[table]
}

// A table is never changed, only replaced.
type table struct {
	byType map[string][]*func(event.Event)
	all    []*func(event.Event) // those that named no type
	phase  []*func(PhaseChange)
}

// add has f called with events of these types; with all where there is none.
func (h *handlers) add(f func(event.Event), types ...string) (stop func()) {
	types = slices.Compact(slices.Sorted(slices.Values(types)))
	h.replace(func(t *table) {
		if len(types) == 0 {
			t.all = append(slices.Clip(t.all), &f)
		}
		for _, name := range types {
			t.byType[name] = append(slices.Clip(t.byType[name]), &f)
		}
	})
	return func() {
		h.replace(func(t *table) {
			if len(types) == 0 {
				t.all = without(t.all, &f)
			}
			for _, name := range types {
				t.byType[name] = without(t.byType[name], &f)
			}
		})
	}
}

func (h *handlers) addPhase(f func(PhaseChange)) (stop func()) {
	h.replace(func(t *table) { t.phase = append(slices.Clip(t.phase), &f) })
	return func() { h.replace(func(t *table) { t.phase = without(t.phase, &f) }) }
}

func (h *handlers) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.table.Store(nil)
}

func (h *handlers) replace(change func(*table)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := &table{byType: map[string][]*func(event.Event){}}
	if t := h.table.Load(); t != nil {
		next.byType, next.all, next.phase = maps.Clone(t.byType), t.all, t.phase
	}
	change(next)
	h.table.Store(next)
}

// tell calls the handlers of e's type and those of everything.
func (h *handlers) tell(e event.Event) (failed []*PresenterError) {
	t := h.table.Load()
	if t == nil {
		return nil
	}
	name := e.Data.Type()
	for _, those := range [...][]*func(event.Event){t.byType[name], t.all} {
		for _, f := range those {
			if err := safely(*f, e); err != nil {
				failed = append(failed, &PresenterError{Index: -1, Event: name, Err: err})
			}
		}
	}
	return failed
}

func (h *handlers) changed(c PhaseChange) (failed []*PresenterError) {
	t := h.table.Load()
	if t == nil {
		return nil
	}
	for _, f := range t.phase {
		if err := safely(*f, c); err != nil {
			failed = append(failed, &PresenterError{Index: -1, Event: c.Current.String(), Err: err})
		}
	}
	return failed
}

// safely calls f, and makes an error of a panic.
func safely[T any](f func(T), v T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("handler panicked: %v", p)
		}
	}()
	f(v)
	return nil
}
