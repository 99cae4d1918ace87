package runtime

import (
	"os"
	"strings"
	"testing"

	"agentx/engine/event"
)

// The manual names every command, and everything that is told of containers,
// sessions and connections.
func TestTheManualNamesEveryCommand(t *testing.T) {
	manual, err := os.ReadFile("../../docs/engine.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for request := range commands() {
		names = append(names, strings.TrimSuffix(request, "_request"))
	}
	for _, d := range []event.Data{
		ContainerCreated{}, ContainerDestroyed{}, AgentRegistered{}, AgentUnregistered{},
		SessionCreated{}, SessionDestroyed{}, SessionResumed{}, SessionForked{}, SessionTitleUpdated{}, MessagePersisted{},
		Connected{}, Reconnecting{}, Disconnected{}, event.SystemError{},
	} {
		names = append(names, d.Type())
	}
	for _, name := range names {
		if !strings.Contains(string(manual), "`"+name+"`") {
			t.Errorf("docs/engine.md does not name %s", name)
		}
	}
}
