package runtime

import (
	"context"
	"iter"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// environment is the world outside as an agent meets it: what it is asked goes
// out to a driver, and all that comes back is told on the bus before the agent
// makes anything of it. Seeds: receptor and effector.
func (a *Agent) environment(ctx context.Context, d engine.Driver, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		up := false
		var broken error
		defer func() {
			if up {
				a.connection(Disconnected{Error: text(broken)})
			}
		}()
		for e, err := range d.Receive(ctx, req) {
			if err != nil {
				broken = err
				yield(nil, err)
				return
			}
			if again, ok := e.(event.Retrying); ok {
				a.connection(Reconnecting{Attempt: again.Attempt, MaxAttempts: again.MaxAttempts, DelayMs: again.DelayMs})
			} else if !up {
				up = true
				a.connection(Connected{Model: req.Model})
			}
			a.overheard(e)
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (a *Agent) connection(d event.Data) {
	a.home.runtime.tell(bus.Environment, bus.Connection, a.scope(a.current()), d)
}

// overheard puts a piece of the stream on the bus as the environment gave it, if
// anybody listens to that.
func (a *Agent) overheard(d event.Stream) {
	r := a.home.runtime
	if r.Bus.Overheard() {
		r.tell(bus.Environment, bus.Stream, a.scope(a.current()), d)
	}
}

// text is what went wrong, or nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
