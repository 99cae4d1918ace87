package engine_test

import (
	"context"
	"fmt"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// printing takes what followed from one input, and prints the whole messages.
func printing(_ context.Context, id string, outs []event.Event) error {
	for _, e := range outs {
		if m, ok := e.Data.(event.AssistantMessage); ok {
			fmt.Printf("%s: %s\n", id, m.Content.Text())
		}
	}
	return nil
}

// One machine serves any number of conversations, their events interleaved as
// they come off a wire. It holds none of them: that is the store's affair, and
// a store may lie on another machine (F68).
func Example_oneMachineForManyConversations() {
	var store mealy.MemoryStore[engine.State]
	machine := mealy.Machine[engine.State, event.Event]{
		Process: engine.Step,
		Store:   &store,
		Sinks:   []mealy.Sink[event.Event]{mealy.SinkFunc[event.Event](printing)},
	}
	ctx := context.Background()
	for _, in := range []struct {
		id   string
		data event.Data
	}{
		{"ann", event.MessageStart{MessageID: "m1"}},
		{"bob", event.MessageStart{MessageID: "m1"}}, // ids need not differ between conversations
		{"ann", event.TextDelta{Text: "Hello "}},
		{"bob", event.TextDelta{Text: "Good "}},
		{"ann", event.TextDelta{Text: "Ann."}},
		{"bob", event.TextDelta{Text: "night Bob."}},
		{"bob", event.MessageStop{StopReason: event.EndTurn}},
		{"ann", event.MessageStop{StopReason: event.EndTurn}},
	} {
		if _, err := machine.Input(ctx, in.id, event.Event{Data: in.data}); err != nil {
			fmt.Println(err) // the store's; nothing has happened
		}
	}
	fmt.Println(store.Len(), "states")
	for _, id := range []string{"ann", "bob"} {
		if err := machine.Close(ctx, id); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(store.Len(), "states")
	// Output:
	// bob: Good night Bob.
	// ann: Hello Ann.
	// 2 states
	// 0 states
}
