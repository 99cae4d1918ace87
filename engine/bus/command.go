package bus

import (
	"time"

	"agentx/engine/event"
)

// A Call is a method of the runtime that announces itself: its request goes
// out before the work is done, its response behind everything that the work
// gave rise to. Both carry the same id.
type Call struct {
	bus   *Bus
	now   func() time.Time
	id    string
	scope Scope
}

// Begin announces a request.
func (b *Bus) Begin(now func() time.Time, s Scope, request event.Data) Call {
	c := Call{bus: b, now: now, id: b.newRequestID(), scope: s}
	c.publish(request, Request, Asks)
	return c
}

// ID returns the id that joins the response to the request.
func (c Call) ID() string { return c.id }

// End announces the response. The scope may have grown since the request.
func (c Call) End(s Scope, response event.Data) {
	c.scope = s
	c.publish(response, Response, Answers)
}

func (c Call) publish(d event.Data, category Category, intent Intent) {
	c.bus.publish(SystemEvent{
		Event:  event.Event{At: c.now(), Data: d},
		Source: Command, Category: category, Intent: intent, Scope: c.scope, RequestID: c.id,
	}, true)
}
