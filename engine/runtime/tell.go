package runtime

import (
	"context"
	"errors"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// publish puts an engine's event on the bus, with all that the engine did not
// know.
func (a *Agent) publish(_ context.Context, _ event.AgentID, e event.Event) error {
	turn := a.current()
	if q, ok := e.Data.(event.ConversationQueued); ok {
		turn = engine.TurnID(q.MessageID) // it waits for the running turn and is not of it
	}
	r := a.home.runtime
	r.Bus.Publish(bus.OfAgent(e, a.scope(turn)))
	if id := messageID(e.Data); id != "" && id == a.saved {
		now := r.Now()
		r.tell(bus.Session, bus.Persist, a.scope(turn), MessagePersisted{SessionID: a.Session, MessageID: id, SavedAt: event.MillisOf(now)})
	}
	return nil
}

// complain puts a failure of the agent's session on the bus.
func (a *Agent) complain(turn, what string, err error) event.Event {
	e := event.Event{At: a.home.runtime.Now(), Data: event.SystemError{Message: what, Severity: "error", Details: a.home.runtime.words(err)}}
	a.home.runtime.Bus.Publish(bus.SystemEvent{
		Event: e, Source: bus.Session, Category: bus.Error, Intent: bus.Notifies, Scope: a.scope(turn),
	})
	return e
}

// words are an error for people.
func (r *Runtime) words(err error) string {
	if r.Words == nil {
		return err.Error()
	}
	return r.Words(err)
}

// present shows an event to those whom the definition names. One that fails or
// panics hinders none of the others.
func (a *Agent) present(ctx context.Context, id event.AgentID, e event.Event) error {
	var failed error
	for _, p := range a.Definition().Present {
		failed = errors.Join(failed, engine.Present(ctx, p, id, e))
	}
	return failed
}

func (a *Agent) scope(turn string) bus.Scope {
	return bus.Scope{Container: a.home.ID, Agent: a.ID, Session: a.Session, Turn: turn}
}
