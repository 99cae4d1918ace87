package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

// An abacus adds the numbers that it is told. It has its tool inside, as some
// providers do: call, result and answer come in one stream, and nobody outside
// has anything to run.
type abacus struct{}

func (abacus) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	numbers := strings.Fields(req.Message.Content.Text())
	input, _ := json.Marshal(numbers)
	sum, err := add(numbers)
	result := event.Output{Text: strconv.Itoa(sum)}
	if err != nil {
		result = event.Output{Kind: event.OutputError, Text: err.Error()}
	}
	return script.Say( // which stops when ctx does
		event.MessageStart{MessageID: "re_" + req.Message.ID, Model: "abacus-1"},
		event.ToolUseStart{ToolCallID: "call_1", ToolName: "add"},
		event.InputJSONDelta{ToolCallID: "call_1", PartialJSON: `{"numbers":`},
		event.InputJSONDelta{ToolCallID: "call_1", PartialJSON: string(input) + "}"},
		event.ToolUseStop{ToolCallID: "call_1"},
		event.ToolResult{ToolCallID: "call_1", Result: result, IsError: err != nil},
		event.TextDelta{Text: "I make it " + result.String() + "."},
		event.MessageStop{StopReason: event.EndTurn},
	).Receive(ctx, req)
}

func add(numbers []string) (sum int, err error) {
	for _, s := range numbers {
		n, err := strconv.Atoi(s)
		if err != nil {
			return 0, fmt.Errorf("%q is no number", s)
		}
		sum += n
	}
	return sum, nil
}

// Tool events may stand in the middle of a message. The state layer tells what
// the agent does, the message layer keeps the call and its result (F14).
func Example_toolsInTheStream() {
	show := func(_ context.Context, _ event.AgentID, _ time.Time, s event.State) error {
		switch s := s.(type) {
		case event.ToolExecuting:
			fmt.Println(s.Type(), s.ToolName, string(s.Input))
		case event.ToolCompleted:
			fmt.Println(s.Type(), s.ToolName, s.Result)
		default:
			fmt.Println(s.Type())
		}
		return nil
	}
	e := engine.Engine{Driver: abacus{}, Presenters: []engine.Presenter{engine.On(show)}}
	req := engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("19 23")}}
	if err := e.Receive(context.Background(), req); err != nil {
		fmt.Println(err)
	}
	// Output:
	// conversation_start
	// tool_planned
	// tool_executing add {"numbers":["19","23"]}
	// tool_completed add 42
	// conversation_responding
	// conversation_end
}
