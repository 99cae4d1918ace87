package engine_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// Middleware stands around an answer like the skins of an onion, the first that
// was used outermost. It may change the message, or refuse it (F73, F83).
func ExampleAgent_Use() {
	agent := engine.NewAgent(engine.AgentConfig{ID: "polly", Engine: engine.Engine{Driver: parrot{}}})
	agent.React(engine.To(func(m event.AssistantMessage) { fmt.Println("polly:", m.Content.Text()) }))

	agent.Use(func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
		if m.Content.Text() == "" {
			return errors.New("nothing was said")
		}
		return next(ctx, m)
	})
	agent.Use(func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute) // one that takes longer ends interrupted: timeout
		defer cancel()
		m.Content = event.Say(m.Content.Text() + ", please")
		return next(ctx, m)
	})

	fmt.Println(agent.Say(context.Background(), "A biscuit"))
	fmt.Println(agent.Say(context.Background(), ""))
	// Output:
	// polly: A biscuit, please
	// <nil>
	// nothing was said
}
