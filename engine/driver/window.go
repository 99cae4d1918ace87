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
	if size := SizeOf(req).Least; w.Tokens > 0 && size > w.Tokens {
		return func(yield func(event.Stream, error) bool) {
			yield(nil, &engine.Fault{
				Code:    event.CodeContextOverflow,
				Message: fmt.Sprintf("the conversation is about %d tokens long, and %s reads %d; nothing was sent", size, req.Model, w.Tokens),
			})
		}
	}
	return w.Model.Receive(ctx, req)
}
