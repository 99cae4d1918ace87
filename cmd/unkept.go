package cmd

import (
	"context"
	"slices"
	"sync"

	"agentx/engine/event"
)

// unkept is what was said in turns of which not all could be saved. Whoever
// exports the conversation finds it there all the same.
type unkept struct {
	mu   sync.Mutex
	turn []event.Event // messages of the running one
	lost bool          // of which something could not be saved
	all  []event.Event
}

// Present remembers messages until their turn is over, and those of a turn that
// was not saved for good.
func (u *unkept) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch d := e.Data.(type) {
	case event.UserMessage:
		u.turn, u.lost = []event.Event{e}, false
	case event.SystemError:
		u.lost = u.lost || d.Severity == "error"
	case event.Message:
		u.turn = append(u.turn, e)
	case event.TurnResponse:
		if u.lost {
			u.all = append(u.all, u.turn...)
		}
		u.turn, u.lost = nil, false
	}
	return nil
}

// with is a log with what was not saved of it, each message once and whole.
func (u *unkept) with(log []event.Event) []event.Event {
	u.mu.Lock()
	defer u.mu.Unlock()
	places := map[string]int{}
	for i, e := range log {
		if id := messageID(e.Data); id != "" {
			places[id] = i
		}
	}
	log = slices.Clone(log)
	for _, e := range u.all {
		if i, ok := places[messageID(e.Data)]; ok {
			log[i] = e
			continue
		}
		log = append(log, e)
	}
	return log
}

// messageID tells the messages of a session from each other.
func messageID(d event.Data) string {
	switch m := d.(type) {
	case event.UserMessage:
		return m.Type() + m.ID
	case event.AssistantMessage:
		return m.Type() + m.ID
	case event.ToolCallMessage:
		return m.Type() + m.ID
	case event.ToolResultMessage:
		return m.Type() + m.ID
	case event.ErrorMessage:
		return m.Type() + m.ID
	}
	return ""
}
