package engine_test

import (
	"context"
	"errors"
	"fmt"

	"agentx/engine"
	"agentx/engine/event"
)

// Interrupting an answer keeps what had come of it. A handler may do it as well
// as any other goroutine (F71, F81).
func ExampleAgent_Interrupt() {
	agent := engine.NewAgent(engine.AgentConfig{ID: "polly", Engine: engine.Engine{Driver: parrot{}}})
	agent.React(
		engine.To(func(d event.TextDelta) {
			if d.Text == "biscuit " {
				agent.Interrupt(event.ByUser)
			}
		}),
		engine.To(func(m event.AssistantMessage) { fmt.Printf("%q incomplete=%t\n", m.Content.Text(), m.Incomplete) }),
		engine.To(func(e event.ConversationEnd) { fmt.Println(e.Type(), e.Reason) }),
		engine.To(func(t event.TurnResponse) { fmt.Println(t.Type(), t.StopReason) }),
	)
	agent.OnPhase(func(c engine.PhaseChange) { fmt.Println("   ", c.Prev, "→", c.Current) })

	err := agent.Say(context.Background(), "A biscuit or two")
	why, interrupted := errors.AsType[engine.Interrupt](err)
	fmt.Println(interrupted, why)
	// Output:
	//     idle → thinking
	//     thinking → responding
	// "A biscuit " incomplete=true
	//     responding → idle
	// conversation_end interrupted
	// turn_response interrupted
	// true interrupted by user
}
