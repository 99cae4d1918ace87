package mealy

import (
	"context"
	"sync"
)

// A Store keeps the state of each id between two inputs. It may lie on another
// machine; every method may fail.
type Store[S any] interface {
	// Get returns the state of id, or false where there is none.
	Get(ctx context.Context, id string) (S, bool, error)
	Set(ctx context.Context, id string, s S) error
	// Delete forgets id. To forget what is not there is no error.
	Delete(ctx context.Context, id string) error
	Has(ctx context.Context, id string) (bool, error)
}

// A Recorder is a [Store] that is told by which input a state came about, and
// may keep the input instead: a state that grows with each input, such as a text
// that is being written, is too long to be written down at each. Get returns the
// state all the same.
type Recorder[S, E any] interface {
	Store[S]
	// Record is Set of the state to which in, and all that followed from it, has
	// led from the one before.
	Record(ctx context.Context, id string, in E, s S) error
}

// MemoryStore is a Store in memory. Its zero value is empty and ready.
type MemoryStore[S any] struct {
	mu     sync.RWMutex
	states map[string]S
}

func (m *MemoryStore[S]) Get(_ context.Context, id string) (S, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	s, ok := m.states[id]
	return s, ok, nil
}

func (m *MemoryStore[S]) Set(_ context.Context, id string, s S) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.states == nil {
		m.states = map[string]S{}
	}
	m.states[id] = s
	return nil
}

func (m *MemoryStore[S]) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, id)
	return nil
}

func (m *MemoryStore[S]) Has(_ context.Context, id string) (bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.states[id]
	return ok, nil
}

// Len returns the number of ids that have a state.
func (m *MemoryStore[S]) Len() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.states)
}
