package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A parrot says back what it is told, a word at a time. It keeps nothing: all
// that it knows is in the request.
type parrot struct{}

func (parrot) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		if !yield(event.MessageStart{MessageID: "re_" + req.Message.ID, Model: "parrot-1"}, nil) {
			return // the listener has left
		}
		for word := range strings.SplitAfterSeq(req.Message.Content.Text(), " ") {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx)) // the error is the last thing it yields
				return
			}
			if !yield(event.TextDelta{Text: word}, nil) {
				return
			}
		}
		yield(event.MessageStop{StopReason: event.EndTurn}, nil)
	}
}

// A driver yields stream events. The rest of the conversation follows from them
// (F1, F9, F13).
func ExampleDriver() {
	e := engine.Engine{Driver: parrot{}}
	req := engine.Request{Message: event.UserMessage{ID: "u1", Content: event.Say("Good morning, sailor")}}
	layers := []string{"", "stream", "state", "message", "turn"}
	for ev, err := range e.Events(context.Background(), req) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%-8s %s\n", layers[event.LayerOf(ev.Data)], ev.Data.Type())
	}
	// Output:
	// message  user_message
	// turn     turn_request
	// stream   message_start
	// state    conversation_start
	// stream   text_delta
	// state    conversation_responding
	// stream   text_delta
	// stream   text_delta
	// stream   message_stop
	// message  assistant_message
	// state    conversation_end
	// turn     turn_response
}
