package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"agentx/engine/event"
)

// A Presenter is shown every event of every layer, one at a time, in order. One
// that has a method Name() string is called by that when it fails.
type Presenter interface {
	Present(ctx context.Context, agent event.AgentID, e event.Event) error
}

// PresenterFunc is a function that is a [Presenter].
type PresenterFunc func(context.Context, event.AgentID, event.Event) error

func (f PresenterFunc) Present(ctx context.Context, id event.AgentID, e event.Event) error {
	return f(ctx, id, e)
}

// On presents the events that carry D, a layer or a single type, and no others.
func On[D event.Data](f func(ctx context.Context, agent event.AgentID, at time.Time, d D) error) Presenter {
	return PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		if d, ok := e.Data.(D); ok {
			return f(ctx, id, e.At, d)
		}
		return nil
	})
}

// Present shows e to p. A panic of p is an error.
func Present(ctx context.Context, p Presenter, id event.AgentID, e event.Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return p.Present(ctx, id, e)
}

// show presents one event to everybody.
func (e Engine) show(ctx context.Context, id event.AgentID, ev event.Event) []*PresenterError {
	var failed []*PresenterError
	for i, p := range e.Presenters {
		if err := Present(ctx, p, id, ev); err != nil {
			failed = append(failed, &PresenterError{Index: i, Name: nameOf(p), Event: ev.Data.Type(), Err: err})
		}
	}
	return failed
}

// nameOf is what p calls itself, if it does.
func nameOf(p Presenter) string {
	if n, ok := p.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}

// failures keeps the first failure of each presenter: one that fails at every
// piece of a long answer fails once.
type failures []*PresenterError

func (f *failures) add(errs ...*PresenterError) {
	for _, err := range errs {
		if !slices.ContainsFunc(*f, func(known *PresenterError) bool { return known.Index == err.Index }) {
			*f = append(*f, err)
		}
	}
}

// with joins the failures and the error that ended the answer.
func (f failures) with(err error) error {
	errs := []error{err}
	for _, p := range f {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// A PresenterError is the failure of one presenter over one event.
type PresenterError struct {
	Index int    // among the engine's presenters; -1 for a handler of an agent's
	Name  string // its own, where it has a method that says it
	Event string // type of the event
	Err   error
}

func (e *PresenterError) Error() string {
	return fmt.Sprintf("presenter %s: %s: %v", cmp.Or(e.Name, strconv.Itoa(e.Index)), e.Event, e.Err)
}
func (e *PresenterError) Unwrap() error { return e.Err }
