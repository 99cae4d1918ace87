package engine

import (
	"context"
	"errors"

	"agentx/engine/event"
)

// A Fault is a failure that says of what kind it is. Its message is a sentence
// for people without a final stop, and never holds a secret.
type Fault struct {
	Code      event.ErrorCode
	Message   string
	Retryable bool // the same request may succeed later
	Err       error
}

func (f *Fault) Error() string { return f.Message }
func (f *Fault) Unwrap() error { return f.Err }

// FaultOf returns the Fault in err's chain, or makes one of err.
func FaultOf(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{Code: event.CodeInternal, Message: err.Error(), Err: err}
}

// An Interrupt is the cause of a cancelled context: who stopped the answer.
//
//	ctx, cancel := context.WithCancelCause(ctx)
//	cancel(engine.Interrupt(event.ByUser))
type Interrupt event.InterruptReason

func (i Interrupt) Error() string { return "interrupted by " + string(i) }

// ReasonOf says who cancelled ctx. A deadline is a timeout; whoever does not
// say is the system.
func ReasonOf(ctx context.Context) event.InterruptReason {
	cause := context.Cause(ctx)
	if i, ok := errors.AsType[Interrupt](cause); ok {
		return event.InterruptReason(i)
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return event.ByTimeout
	}
	return event.BySystem
}
