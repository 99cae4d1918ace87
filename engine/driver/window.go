package driver

import (
	"context"
	"fmt"
	"iter"

	"agentx/engine"
	"agentx/engine/event"
)

// A Window refuses what is certainly longer than the model can read, before
// anything is sent. It counts with the provider's own numbers as far as they
// go, and so low where it has to guess that nothing is refused which might fit.
type Window struct {
	Model  engine.Driver
	Tokens int64 // that the model can read; 0 is unknown, and refuses nothing
}

// Receive answers, or fails with context_overflow.
func (w Window) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	if size := Size(req); w.Tokens > 0 && size > w.Tokens {
		return func(yield func(event.Stream, error) bool) {
			yield(nil, &engine.Fault{
				Code:    event.CodeContextOverflow,
				Message: fmt.Sprintf("the conversation is about %d tokens long, and %s reads %d; nothing was sent", size, req.Model, w.Tokens),
			})
		}
	}
	return w.Model.Receive(ctx, req)
}

// bytesPerToken is more than any language needs on average: a guess that is
// made with it is too low rather than too high.
const bytesPerToken = 6

// Size is about how many tokens a request has: what the provider counted up to
// the last answer that says so, and a low guess of the rest.
func Size(req engine.Request) int64 {
	var counted int64
	guessed := len(req.System)
	for m := range req.Messages() {
		if a, ok := m.(event.AssistantMessage); ok && a.Usage != nil && a.Model == req.Model {
			counted = a.Usage.InputTokens + a.Usage.CacheReadTokens + a.Usage.CacheWriteTokens + a.Usage.OutputTokens
			guessed = 0
			continue
		}
		guessed += length(m)
	}
	return counted + int64(guessed/bytesPerToken)
}

// length is how many bytes of text a message has.
func length(m event.Message) (n int) {
	switch m := m.(type) {
	case event.UserMessage:
		return len(m.Content.Text())
	case event.AssistantMessage:
		return len(m.Content.Text())
	case event.ToolResultMessage:
		return len(m.ToolResult.Output.String())
	}
	return 0
}
