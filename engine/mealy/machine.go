package mealy

import (
	"context"
	"fmt"
	"sync"
)

// A Sink takes the outputs of a machine, all that followed from one input.
type Sink[E any] interface {
	Take(ctx context.Context, id string, outs []E) error
}

// SinkFunc is a function that is a [Sink].
type SinkFunc[E any] func(ctx context.Context, id string, outs []E) error

func (f SinkFunc[E]) Take(ctx context.Context, id string, outs []E) error { return f(ctx, id, outs) }

// A Machine is a processor with a place for its states and takers for its
// outputs. One machine serves any number of ids at once, each isolated from
// the others. Its fields are set before it is first used.
type Machine[S, E any] struct {
	Process Processor[S, E, E]
	Store   Store[S]
	Initial S
	Sinks   []Sink[E]

	// Report is told of sinks that fail or panic. They hinder nobody.
	Report func(id string, err error)

	ids locks
}

// Input steps id with in, re-injecting what comes out, and returns in and all
// that followed. The new state is stored before the sinks see the outputs. An
// error is the store's, and then nothing has happened.
func (m *Machine[S, E]) Input(ctx context.Context, id string, in E) ([]E, error) {
	defer m.ids.lock(id)()
	s, ok, err := m.Store.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("mealy: state of %q: %w", id, err)
	}
	if !ok {
		s = m.Initial
	}
	var outs []E
	for e := range Follow(m.Process, &s, in) {
		outs = append(outs, e)
	}
	if err := m.keep(ctx, id, in, s); err != nil {
		return nil, fmt.Errorf("mealy: state of %q: %w", id, err)
	}
	for _, sink := range m.Sinks {
		if err := take(ctx, sink, id, outs); err != nil && m.Report != nil {
			m.Report(id, err)
		}
	}
	return outs, nil
}

func (m *Machine[S, E]) keep(ctx context.Context, id string, in E, s S) error {
	if r, ok := m.Store.(Recorder[S, E]); ok {
		return r.Record(ctx, id, in, s)
	}
	return m.Store.Set(ctx, id, s)
}

// Close forgets id.
func (m *Machine[S, E]) Close(ctx context.Context, id string) error {
	defer m.ids.lock(id)()
	return m.Store.Delete(ctx, id)
}

func take[E any](ctx context.Context, sink Sink[E], id string, outs []E) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("mealy: a sink panicked: %v", p)
		}
	}()
	return sink.Take(ctx, id, outs[:len(outs):len(outs)])
}

// locks are mutexes by name, that exist while somebody holds or wants them.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	sync.Mutex
	users int
}

func (l *locks) lock(id string) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	k := l.held[id]
	if k == nil {
		k = &lock{}
		l.held[id] = k
	}
	k.users++
	l.mu.Unlock()
	k.Lock()
	return func() {
		k.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.held, id)
		}
	}
}
