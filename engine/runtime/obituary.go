package runtime

import "agentx/engine/event"

// An obituary remembers the agents that were destroyed last, so that whoever
// asks for one is told what became of it.
type obituary struct {
	known map[event.AgentID]bool
	order [remembered]event.AgentID
	next  int
}

const remembered = 1024

func (o *obituary) add(id event.AgentID) {
	if o.known == nil {
		o.known = map[event.AgentID]bool{}
	}
	delete(o.known, o.order[o.next])
	o.order[o.next], o.known[id] = id, true
	o.next = (o.next + 1) % remembered
}

func (o *obituary) has(id event.AgentID) bool { return o.known[id] }
