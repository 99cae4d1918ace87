package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

// clerk is a model client of few words: it asks for a sum, and once it has been
// told, it says it. A real one asks a provider.
func clerk(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	for m := range req.Messages() {
		if result, ok := m.(event.ToolResultMessage); ok {
			return script.Say(
				event.MessageStart{MessageID: "m2", Model: "clerk-1"},
				event.TextDelta{Text: "The answer: " + result.ToolResult.Output.String()},
				event.MessageStop{StopReason: event.EndTurn},
			).Receive(ctx, req)
		}
	}
	return script.Say(
		event.MessageStart{MessageID: "m1", Model: "clerk-1"},
		event.ToolUseStart{ToolCallID: "call_1", ToolName: req.Tools[0].Name},
		event.InputJSONDelta{ToolCallID: "call_1", PartialJSON: `{"dividend": 84, "divisor": 2}`},
		event.ToolUseStop{ToolCallID: "call_1"},
		event.MessageStop{StopReason: event.ToolUse},
	).Receive(ctx, req)
}

type division struct{ Dividend, Divisor int }

// divide is the Go function that the model is given.
func divide(d division) (int, error) {
	if d.Divisor == 0 {
		return 0, errors.New("nothing can be divided by zero")
	}
	return d.Dividend / d.Divisor, nil
}

// calling makes a tool of a function. Its input is what a model wrote: what
// cannot be read is an answer that the model can learn from.
func calling[In, Out any](t engine.Tool, f func(In) (Out, error)) driver.Tool {
	return driver.Tool{Tool: t, ReadOnly: true, Call: func(_ context.Context, input json.RawMessage) (event.Output, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return event.Output{}, err
		}
		out, err := f(in)
		if err != nil {
			return event.Output{}, err
		}
		raw, err := json.Marshal(out)
		return event.Output{Kind: event.OutputJSON, JSON: raw}, err
	}}
}

var dividing = engine.Tool{
	Name:        "divide",
	Description: "Divides two whole numbers.",
	Schema: json.RawMessage(`{
		"type": "object",
		"properties": {"dividend": {"type": "integer"}, "divisor": {"type": "integer"}},
		"required": ["dividend", "divisor"]
	}`),
}

// The loop is a driver around a model client: it runs the calls of a message,
// yields their results, and asks again with all of it in the history. To the
// engine it is one answer, and one turn (F14).
func ExampleLoop() {
	loop := driver.Loop{
		Model: engine.DriverFunc(clerk),
		Tools: []driver.Tool{calling(dividing, divide)},
	}
	e := engine.Engine{Driver: loop}
	for ev, err := range e.Events(context.Background(), engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("84 / 2?")}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := ev.Data.(type) {
		case event.ToolCallMessage:
			fmt.Println("calls   ", d.ToolCall.Name, string(d.ToolCall.Input))
		case event.ToolResultMessage:
			fmt.Println("is told ", d.ToolResult.Output)
		case event.TextDelta:
			fmt.Println("says    ", d.Text)
		case event.TurnResponse:
			fmt.Println("one turn", d.Messages, "messages,", d.ToolCalls, "call")
		}
	}
	// Output:
	// calls    divide {"dividend": 84, "divisor": 2}
	// is told  42
	// says     The answer: 42
	// one turn 2 messages, 1 call
}

// A call that is refused has a result too, as every call that was announced: the
// model reads why, and goes on.
func ExampleLoop_approve() {
	loop := driver.Loop{
		Model: engine.DriverFunc(clerk),
		Tools: []driver.Tool{calling(dividing, divide)},
		Approve: func(_ context.Context, call event.ToolCall) (allowed bool, reason string) {
			return !strings.HasPrefix(call.Name, "div"), "we do not divide here"
		},
	}
	for e, err := range loop.Receive(context.Background(), engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("84 / 2?")}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if text, ok := e.(event.TextDelta); ok {
			fmt.Println(text.Text)
		}
	}
	// Output: The answer: The user did not allow this call: we do not divide here
}
