package runtime

import (
	"context"

	"agentx/engine"
	"agentx/engine/event"
)

// keeper keeps events in the journal, and tells at once when it cannot.
func (a *Agent) keeper(journal engine.Presenter) engine.Presenter {
	return engine.PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		err := engine.Present(ctx, journal, id, e)
		if err != nil {
			a.saved = ""
			a.lost(ctx, e, err)
			return err
		}
		a.saved = messageID(e.Data)
		return nil
	})
}

// lost notes that the journal did not take e, and says so once in a turn.
func (a *Agent) lost(ctx context.Context, e event.Event, err error) {
	a.mu.Lock()
	if _, ok := e.Data.(event.UserMessage); ok {
		a.unsaved = err
	}
	turn := a.turn
	told := a.warned == turn
	a.warned = turn
	a.mu.Unlock()
	if told {
		return
	}
	trouble := a.complain(turn, "this conversation is not being saved since "+a.home.runtime.Now().Local().Format("15:04"), err)
	_ = a.present(ctx, a.ID, trouble) // a screen that fails here fails at the next event too
}

// toldOf reports whether the turn has told that it is not being kept.
func (a *Agent) toldOf(turn string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.warned == turn
}

// messageID is the id of a message; other data have none.
func messageID(d event.Data) string {
	switch m := d.(type) {
	case event.UserMessage:
		return m.ID
	case event.AssistantMessage:
		return m.ID
	case event.ToolCallMessage:
		return m.ID
	case event.ToolResultMessage:
		return m.ID
	case event.ErrorMessage:
		return m.ID
	}
	return ""
}
