package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// A client knows the timeline and nothing else: the runtime may be in the same
// process or at the other end of a wire. It runs an agent, has a message
// answered, freezes what was said, and begins anew from there
// (F108, F109, F112, F113, F115).
func ExampleClient() {
	ids := 0
	mint := func(prefix string) string { ids++; return fmt.Sprintf("%s_%d", prefix, ids) }
	clock := func() time.Time { return time.UnixMilli(1000) } // in life: time.Now
	var timeline bus.Bus
	var memory runtime.Memory // in life: the store
	world := runtime.New(runtime.Config{
		Bus: &timeline, Journal: &memory, Sessions: &memory, Images: &memory, Now: clock, NewID: mint,
		Define: func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
			if c.Model != "tally-1" {
				return runtime.Definition{}, errors.New("there is one model here: tally-1")
			}
			return runtime.Definition{Name: c.Name, Model: c.Model, Driver: engine.DriverFunc(counting)}, nil
		},
	})
	if err := world.Serve(); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	client := runtime.Client{Timeline: &timeline, Now: clock, NewID: mint}
	err := client.Container(ctx, "home")
	a, failed := client.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", Config: runtime.AgentConfig{Name: "tally", Model: "tally-1"}})
	if err = errors.Join(err, failed); err != nil {
		fmt.Println(err)
		return
	}
	show := engine.On(func(_ context.Context, id event.AgentID, _ time.Time, m event.AssistantMessage) error {
		fmt.Println(m.Content.Text())
		return nil
	})
	stop := client.Follow(a.AgentID, show)
	err = client.Receive(ctx, a.AgentID, event.Say("How many?"))
	stop()

	image, failed := client.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID, Name: "one question"})
	err = errors.Join(err, failed, client.Destroy(ctx, a.AgentID), client.DeleteSession(ctx, a.SessionID))
	fmt.Printf("frozen: %d messages\n", image.Length)

	b, failed := client.Thaw(ctx, runtime.ImageResumeRequest{ImageID: "one question"})
	err = errors.Join(err, failed)
	stop = client.Follow(b.AgentID, show)
	err = errors.Join(err, client.Receive(ctx, b.AgentID, event.Say("And now?")))
	stop()

	err = errors.Join(err, client.Receive(ctx, a.AgentID, event.Say("Anybody there?")), world.Close(ctx))
	fmt.Println(err)
	// Output:
	// That is question 1.
	// frozen: 2 messages
	// That is question 2.
	// agent "agent_2": the agent is destroyed
}
