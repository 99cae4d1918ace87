package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// counting is a driver that says how many times it has been asked in this
// conversation: it knows from the history that it is given.
func counting(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	asked := 0
	for m := range req.Messages() {
		if _, ok := m.(event.UserMessage); ok {
			asked++
		}
	}
	return script.Say(
		event.MessageStart{MessageID: fmt.Sprint("answer_", asked), Model: "tally-1"},
		event.TextDelta{Text: fmt.Sprint("That is question ", asked, ".")},
		event.MessageStop{StopReason: event.EndTurn},
	).Receive(ctx, req)
}

// A runtime tells everything that happens on one timeline: commands before and
// behind what they give rise to, and the events of every agent between them.
// The session outlives its agent, and another takes it up (F85, F94).
func Example() {
	var timeline bus.Bus
	stop := timeline.Subscribe(bus.Subscription{
		Filter: func(e bus.SystemEvent) bool { return e.Source == bus.Command || e.Category == bus.Persist },
	}, func(e bus.SystemEvent) {
		fmt.Printf("%-8s %s\n", e.Category, e.Data.Type())
	})
	bus.On(&timeline, func(e bus.SystemEvent, m event.AssistantMessage) {
		fmt.Printf("%s in %s: %s\n", e.Scope.Agent, e.Scope.Session, m.Content.Text())
	})

	ids := 0
	world := runtime.New(runtime.Config{
		Bus:     &timeline,
		Journal: &runtime.Memory{}, // in life: the store
		Now:     func() time.Time { return time.UnixMilli(1000) },
		NewID:   func(prefix string) string { ids++; return fmt.Sprintf("%s_%d", prefix, ids) },
	})
	ctx := context.Background()
	definition := runtime.Definition{Name: "tally", Driver: engine.DriverFunc(counting)}

	first := world.Container("home").Run(definition, "session_1")
	err := first.Receive(ctx, event.Say("How many?"))
	err = errors.Join(err, first.Destroy(ctx))

	stop() // enough of the commands; the answers are still listened to
	second := world.Container("home").Run(definition, "session_1")
	err = errors.Join(err, second.Receive(ctx, event.Say("And now?")), world.Close(ctx))
	fmt.Println(err)
	// Output:
	// request  container_create_request
	// response container_create_response
	// request  agent_run_request
	// response agent_run_response
	// request  agent_receive_request
	// persist  message_persisted
	// agent_1 in session_1: That is question 1.
	// persist  message_persisted
	// response agent_receive_response
	// request  agent_destroy_request
	// response agent_destroy_response
	// agent_3 in session_1: That is question 2.
	// <nil>
}
