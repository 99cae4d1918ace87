//go:build unix

package cmd

import (
	"testing"
)

// Somebody new asks, reads, leaves, and comes back to go on.
func TestChatNewcomer(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 30, nil)
	w.ready()
	t.Logf("the composer stands after %v", w.sinceStart())
	w.says("How do I resume a session?")
	w.sees("● ", "agentx -c", "manual: Sessions")
	w.ready()
	w.once("How do I resume a session?")
	w.leaves()
	w.sees("to go on: agentx -r ")

	w = h.open(80, 30, nil, "-c", "-m", "openai/history")
	w.ready()
	w.sees("How do I resume a session?", "manual: Sessions")
	w.says("And now?")
	w.sees("user: How do I resume a session?", "user: And now?")
	w.ready()
	w.leaves()
}
