package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentx/engine/event"
)

// ErrServed is why a type of request is not served: it is already.
var ErrServed = errors.New("bus: served already")

// A server answers requests of some types.
type server struct{ answer func(SystemEvent) }

// Serve has answer called with the requests of these types, once for each,
// behind all subscribers. It answers by publishing a response with the
// request's id, at once or later. Like any handler it must be quick. A type has
// one server; a request that has none is answered with a [Refusal] at once.
func (b *Bus) Serve(types []string, answer func(SystemEvent)) (stop func(), err error) {
	types = once(types)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range types {
		if b.servers[name] != nil {
			return nil, fmt.Errorf("%w: %s", ErrServed, name)
		}
	}
	if b.servers == nil {
		b.servers = map[string]*server{}
	}
	s := &server{answer}
	for _, name := range types {
		b.servers[name] = s
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, name := range types {
			if b.servers[name] == s {
				delete(b.servers, name)
			}
		}
	}, nil
}

// Request puts a request on the timeline and returns its response, once every
// subscriber has been handed that, or the cause of ctx's end. Without an id the
// request is given one. It must not be called on the timeline: a handler would
// wait for itself.
func (b *Bus) Request(ctx context.Context, request SystemEvent) (SystemEvent, error) {
	if request.Data == nil {
		return SystemEvent{}, errors.New("bus: a request without data")
	}
	request.Source, request.Category, request.Intent = Command, Request, Asks
	answer := make(chan SystemEvent, 1)
	if err := b.expect(&request, answer); err != nil {
		return SystemEvent{}, err
	}
	defer b.forgetCall(request.RequestID)
	b.Publish(request)
	select {
	case response := <-answer:
		return response, nil
	case <-ctx.Done():
		return SystemEvent{}, fmt.Errorf("bus: %s has no response: %w", request.Data.Type(), context.Cause(ctx))
	}
}

// expect gives the request an id and notes who waits for its response.
func (b *Bus) expect(request *SystemEvent, answer chan<- SystemEvent) error {
	if request.RequestID == "" {
		request.RequestID = b.newRequestID()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls[request.RequestID] != nil {
		return fmt.Errorf("bus: request %s waits for its response already", request.RequestID)
	}
	if b.calls == nil {
		b.calls = map[string]chan<- SystemEvent{}
	}
	b.calls[request.RequestID] = answer
	return nil
}

func (b *Bus) forgetCall(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.calls, id)
}

// answered wakes whoever waits for this response.
func (b *Bus) answered(e SystemEvent) {
	b.mu.Lock()
	waiting := b.calls[e.RequestID]
	delete(b.calls, e.RequestID)
	b.mu.Unlock()
	if waiting != nil {
		waiting <- e // it has room for one, and is given one
	}
}

// serve has a request answered that nobody attends to.
func (b *Bus) serve(p posted) {
	if p.attended {
		return
	}
	b.mu.Lock()
	s := b.servers[p.name]
	b.mu.Unlock()
	if s == nil {
		b.Refuse(p.SystemEvent, event.CodeInvalidRequest, fmt.Sprintf("nobody answers a request of type %q", p.name))
		return
	}
	defer func() {
		if v := recover(); v != nil {
			problem := fmt.Errorf("bus: the server of %s panicked: %v", p.name, v)
			b.report(p.SystemEvent, problem)
			b.Refuse(p.SystemEvent, event.CodeInternal, problem.Error())
		}
	}()
	s.answer(p.SystemEvent)
}

// A Refusal is the response to a request that could not even be begun.
type Refusal struct {
	Name      string          `json:"-"` // of the response's type
	RequestID string          `json:"requestId"`
	Error     string          `json:"error"`
	ErrorCode event.ErrorCode `json:"errorCode"`
}

// Type is that of the response that was expected.
func (r Refusal) Type() string { return r.Name }

// Refuse answers a request with an error, and says so as a system_error.
func (b *Bus) Refuse(request SystemEvent, code event.ErrorCode, why string) {
	name := request.Data.Type()
	failed := SystemEvent{
		Event:  event.Event{At: request.At, Data: event.SystemError{Message: why, Severity: "error", Details: name}},
		Source: Command, Category: Error, Intent: Notifies, Scope: request.Scope, RequestID: request.RequestID,
	}
	b.Publish(failed)
	failed.Data = Refusal{strings.TrimSuffix(name, "_request") + "_response", request.RequestID, why, code}
	failed.Category, failed.Intent = Response, Answers
	b.Publish(failed)
}
