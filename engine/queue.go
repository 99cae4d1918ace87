package engine

import (
	"context"

	"agentx/engine/event"
)

// A ticket is a place in the queue. Its channel is closed when its turn comes,
// after err has been set where it never will.
type ticket struct {
	message   event.UserMessage
	interrupt context.CancelCauseFunc // stops the answer
	called    chan struct{}
	err       error
}

// enter begins at once where nothing runs, and has t wait where something does.
func (a *Agent) enter(t *ticket) (waits bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.destroyed:
		return false, ErrDestroyed
	case a.stopped:
		return false, ErrStopped
	case a.interrupt == nil:
		a.interrupt, a.running = t.interrupt, t.message.ID
		return false, nil
	}
	a.waiting = append(a.waiting, t)
	return true, nil
}

// await returns when the turn of t has come. One that comes when nobody waits
// for it any more is passed on.
func (a *Agent) await(ctx context.Context, t *ticket) error {
	select {
	case <-t.called:
	case <-ctx.Done():
		a.withdraw(t, context.Cause(ctx))
		<-t.called
	}
	if t.err == nil && ctx.Err() != nil {
		a.leave()
		return context.Cause(ctx)
	}
	return t.err
}

// withdraw takes t out of the queue, if it is still there.
func (a *Agent) withdraw(t *ticket, why error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, w := range a.waiting {
		if w == t {
			a.waiting = append(a.waiting[:i:i], a.waiting[i+1:]...)
			t.err = why
			close(t.called)
			return true
		}
	}
	return false
}

// TakeBack removes a message that still waits; its Receive returns ErrWithdrawn.
func (a *Agent) TakeBack(id string) (event.UserMessage, bool) {
	a.mu.Lock()
	found := a.find(id)
	a.mu.Unlock()
	if found == nil || !a.withdraw(found, ErrWithdrawn) {
		return event.UserMessage{}, false
	}
	return found.message, true
}

// find returns the message of that id if it waits, under the lock.
func (a *Agent) find(id string) *ticket {
	for _, t := range a.waiting {
		if t.message.ID == id {
			return t
		}
	}
	return nil
}

// leave lets the next message in.
func (a *Agent) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.interrupt = nil
	if len(a.waiting) > 0 {
		next := a.waiting[0]
		a.waiting = a.waiting[1:]
		a.interrupt, a.running = next.interrupt, next.message.ID
		close(next.called)
		return
	}
	for _, rest := range a.resting {
		close(rest)
	}
	a.resting = nil
}

// Queue returns the messages that wait for the running answer, oldest first.
func (a *Agent) Queue() []event.UserMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	queue := make([]event.UserMessage, len(a.waiting))
	for i, t := range a.waiting {
		queue[i] = t.message
	}
	return queue
}
