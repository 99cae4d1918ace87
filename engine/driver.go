package engine

import (
	"context"
	"iter"

	"agentx/engine/event"
)

// A Driver answers requests with stream events. It keeps nothing between two
// requests, so one driver serves any number of agents at once.
//
// The sequence ends with the message's stop, or with the first error, which is
// a [*Fault] where the driver knows what kind it is. When ctx is done it ends
// at once.
type Driver interface {
	Receive(ctx context.Context, req Request) iter.Seq2[event.Stream, error]
}

// DriverFunc is a function that is a [Driver].
type DriverFunc func(context.Context, Request) iter.Seq2[event.Stream, error]

func (f DriverFunc) Receive(ctx context.Context, req Request) iter.Seq2[event.Stream, error] {
	return f(ctx, req)
}

// Described is a driver that says to people what it is.
type Described interface {
	Name() string
	Description() string
}
