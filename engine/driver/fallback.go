package driver

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"agentx/engine"
	"agentx/engine/event"
)

// A Fallback asks another model where the first cannot answer. Only a failure
// before the first word counts: what has begun to arrive is never asked twice.
type Fallback struct {
	First engine.Driver
	Then  engine.Driver
	Model string // that Then is asked for
	Name  string // of that model, for people; empty is Model
}

// Receive answers with the first model that can.
func (f Fallback) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		begun := false
		for e, err := range f.First.Receive(ctx, req) {
			if err == nil {
				if _, again := e.(event.Retrying); !again {
					begun = true
				}
				if !yield(e, nil) {
					return
				}
				continue
			}
			if begun || ctx.Err() != nil || !elsewhere(err) {
				yield(nil, err)
				return
			}
			why := fmt.Sprintf("%s; asking %s instead", err, cmp.Or(f.Name, f.Model))
			if !yield(event.Retrying{Attempt: 1, MaxAttempts: 1, Reason: why}, nil) {
				return
			}
			req.Model = f.Model
			for e, err := range f.Then.Receive(ctx, req) {
				if !yield(e, err) {
					return
				}
			}
			return
		}
	}
}

// elsewhere reports whether another model may answer what this one could not.
func elsewhere(err error) bool {
	switch engine.FaultOf(err).Code {
	case event.CodeOverloaded, event.CodeServer, event.CodeNetwork, event.CodeTimeout, event.CodeRateLimit, event.CodeQuota, event.CodeNotFound:
		return true
	}
	return false
}
