package engine_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// An interceptor sees every event before presenters and handlers do, rewrites it
// or drops it. Whole messages are events of their own: who hides a word in the
// deltas hides it there too (F84).
func ExampleAgent_Intercept() {
	show := func(_ context.Context, _ event.AgentID, _ time.Time, d event.Data) error {
		switch d := d.(type) {
		case event.TextDelta:
			fmt.Printf("%s %q\n", d.Type(), d.Text)
		case event.AssistantMessage:
			fmt.Printf("%s %q\n", d.Type(), d.Content.Text())
		case event.State:
			fmt.Println(d.Type())
		}
		return nil
	}
	agent := engine.NewAgent(engine.AgentConfig{
		Engine: engine.Engine{Driver: parrot{}, Presenters: []engine.Presenter{engine.On(show)}},
	})
	hide := strings.NewReplacer("1234", "****")
	agent.Intercept(func(e event.Event) (event.Event, bool) {
		switch d := e.Data.(type) {
		case event.TextDelta:
			e.Data = event.TextDelta{Text: hide.Replace(d.Text)}
		case event.AssistantMessage:
			d.Content = event.Parts{event.Text{Text: hide.Replace(d.Content.Text())}}
			e.Data = d
		case event.State:
			return e, false // nobody needs to know how we feel
		}
		return e, true
	})
	fmt.Println(agent.Say(context.Background(), "My PIN is 1234 !"))
	// Output:
	// text_delta "My "
	// text_delta "PIN "
	// text_delta "is "
	// text_delta "**** "
	// text_delta "!"
	// assistant_message "My PIN is **** !"
	// <nil>
}
