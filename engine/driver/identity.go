package driver

import (
	"strconv"

	"agentx/engine/event"
)

// identities give every call of an answer an id of its own, where a model sends
// none or the same one twice: results are matched by id, and providers refuse a
// history in which one is ambiguous. It maps what the model says to what it
// last stood for.
type identities map[string]string

// rename returns e with the id that its call goes by.
func (ids identities) rename(e event.Stream) event.Stream {
	switch e := e.(type) {
	case event.ToolUseStart:
		e.ToolCallID = ids.open(e.ToolCallID)
		return e
	case event.InputJSONDelta:
		e.ToolCallID = ids.known(e.ToolCallID)
		return e
	case event.ToolUseStop:
		e.ToolCallID = ids.known(e.ToolCallID)
		return e
	case event.ToolResult:
		e.ToolCallID = ids.known(e.ToolCallID)
		return e
	}
	return e
}

func (ids identities) open(id string) string {
	base := id
	if base == "" {
		base = "call"
	}
	name := base
	for n := 2; ids.taken(name); n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	ids[id] = name
	ids[name] = name
	return name
}

func (ids identities) taken(name string) bool {
	_, taken := ids[name]
	return taken
}

// known is the id that a call goes by. Pieces without an id stay without: they
// belong to the call that was opened last.
func (ids identities) known(id string) string {
	if name, ok := ids[id]; ok && id != "" {
		return name
	}
	return id
}
