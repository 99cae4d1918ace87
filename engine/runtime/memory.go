package runtime

import (
	"context"
	"slices"
	"sync"

	"agentx/engine"
	"agentx/engine/event"
)

// Memory is a [Journal] that forgets everything with the process. Its zero
// value is empty and ready.
type Memory struct {
	mu       sync.Mutex
	sessions map[event.SessionID][]event.Event
}

// Events returns what has been said in the session.
func (m *Memory) Events(_ context.Context, s event.SessionID) ([]event.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clip(m.sessions[s]), nil
}

// Presenter keeps messages and turns.
func (m *Memory) Presenter(s event.SessionID) engine.Presenter {
	return engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		switch e.Data.(type) {
		case event.Message, event.Turn:
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.sessions == nil {
				m.sessions = map[event.SessionID][]event.Event{}
			}
			m.sessions[s] = append(m.sessions[s], e)
		}
		return nil
	})
}
