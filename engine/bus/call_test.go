package bus_test

import (
	"testing"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"
)

// A call is a request, whatever the work gives rise to, and a response, joined
// by an id that no other call has.
func TestCall(t *testing.T) {
	var b bus.Bus
	var seen []bus.SystemEvent
	b.Subscribe(bus.Subscription{}, func(e bus.SystemEvent) { seen = append(seen, e) })
	at := time.UnixMilli(5)
	now := func() time.Time { return at }

	one := b.Begin(now, bus.Scope{Container: "c"}, event.TurnRequest{TurnID: "one"})
	two := b.Begin(now, bus.Scope{}, event.TurnRequest{TurnID: "two"})
	b.Publish(say("work"))
	at = time.UnixMilli(9)
	two.End(bus.Scope{}, event.TurnResponse{TurnID: "two"})
	one.End(bus.Scope{Container: "c", Agent: "a"}, event.TurnResponse{TurnID: "one"})

	if len(seen) != 5 {
		t.Fatalf("%d events, want 5", len(seen))
	}
	ask, last := seen[0], seen[4]
	if ask.Source != bus.Command || ask.Category != bus.Request || ask.Intent != bus.Asks || ask.Scope != (bus.Scope{Container: "c"}) {
		t.Errorf("request %+v", ask)
	}
	if last.Source != bus.Command || last.Category != bus.Response || last.Intent != bus.Answers || last.Scope != (bus.Scope{Container: "c", Agent: "a"}) {
		t.Errorf("response %+v", last)
	}
	if ask.At.UnixMilli() != 5 || last.At.UnixMilli() != 9 {
		t.Errorf("asked at %v and answered at %v, want 5 and 9 ms", ask.At, last.At)
	}
	if ask.RequestID != one.ID() || last.RequestID != one.ID() || seen[3].RequestID != two.ID() || one.ID() == two.ID() || one.ID() == "" {
		t.Errorf("ids: request %q, response %q, of calls %q and %q", ask.RequestID, last.RequestID, one.ID(), two.ID())
	}
}
