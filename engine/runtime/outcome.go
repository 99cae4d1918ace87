package runtime

import (
	"context"
	"errors"
	"strings"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// An Outcome is what every response says.
type Outcome struct {
	RequestID string                `json:"requestId"`
	Error     string                `json:"error,omitempty"`
	ErrorCode event.ErrorCode       `json:"errorCode,omitempty"`
	Reason    event.InterruptReason `json:"reason,omitempty"` // who stopped it, where somebody did

	// Cause is the error itself, for whoever is in the same process.
	Cause error `json:"-"`
}

// Err is what went wrong, or nil. Across processes it is a [*engine.Fault] or
// an [engine.Interrupt], and is one of the sentinel errors by its code.
func (o Outcome) Err() error {
	switch {
	case o.Cause != nil:
		return o.Cause
	case o.Error == "":
		return nil
	case o.Reason != "":
		return engine.Interrupt(o.Reason)
	}
	return &engine.Fault{Code: o.ErrorCode, Message: o.Error, Err: sentinel(o.ErrorCode)}
}

func (o *Outcome) finish(request string, err error) {
	o.RequestID = request
	if err == nil {
		return
	}
	o.Error, o.ErrorCode, o.Cause = err.Error(), codeOf(err), err
	if i, ok := errors.AsType[engine.Interrupt](err); ok {
		o.Reason = event.InterruptReason(i)
	}
}

// codeOf says of what kind an error is.
func codeOf(err error) event.ErrorCode {
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		return f.Code
	}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			return k.code
		}
	}
	if wished(err) {
		return event.CodeInterrupted
	}
	return event.CodeInternal
}

// sentinel is the error that a code stands for, or nil.
func sentinel(code event.ErrorCode) error {
	for _, k := range kinds() {
		if k.code == code {
			return k.err
		}
	}
	return nil
}

// A kind is an error that has a code.
type kind struct {
	code event.ErrorCode
	err  error
}

func kinds() []kind {
	return []kind{
		{event.CodeNotFound, engine.ErrNotFound},
		{event.CodeExists, engine.ErrExists},
		{event.CodeInUse, engine.ErrInUse},
		{event.CodeStopped, engine.ErrStopped},
		{event.CodeDestroyed, engine.ErrDestroyed},
		{event.CodeDestroyed, errClosed},
		{event.CodeInterrupted, engine.ErrWithdrawn},
	}
}

// kept is the error of whoever keeps sessions or images.
func kept(err error) error {
	if err == nil {
		return nil
	}
	if _, known := errors.AsType[*engine.Fault](err); known {
		return err
	}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			return err
		}
	}
	return &engine.Fault{Code: event.CodeStore, Message: err.Error(), Err: err}
}

// A response is a pointer to the data of one.
type response[A event.Data] interface {
	*A
	finish(request string, err error)
}

// work does what a request asks for and fills in the response. The scope is
// whom it concerned in the end.
type work[A event.Data] func(out *A) (bus.Scope, error)

// announce does something between the announcement of its request and that of
// its response.
func announce[A event.Data, P response[A]](r *Runtime, s bus.Scope, request event.Data, do work[A]) (A, error) {
	call := r.Bus.Begin(r.Now, s, request)
	var out A
	s, err := do(&out)
	P(&out).finish(call.ID(), err)
	r.complain(s, request.Type(), err)
	call.End(s, out)
	return out, err
}

// complain puts a failure on the bus, unless it was wished or has been told.
func (r *Runtime) complain(s bus.Scope, request string, err error) {
	if err == nil || wished(err) {
		return
	}
	if _, told := errors.AsType[told](err); told {
		return
	}
	what := strings.TrimSuffix(request, "_request") + " failed"
	r.tell(bus.Command, bus.Error, s, event.SystemError{Message: what, Severity: "error", Details: err.Error()})
}

// told is an error of which a system_error has spoken already.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// wished reports whether something ended early because somebody wanted it to.
func wished(err error) bool {
	_, interrupted := errors.AsType[engine.Interrupt](err)
	return interrupted || errors.Is(err, engine.ErrWithdrawn) || errors.Is(err, context.Canceled)
}
