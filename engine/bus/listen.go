package bus

import (
	"context"
	"errors"
	"sync"
)

// ErrBehind ends a [Listener] that did not keep up: what came after its room
// was full is not in it. The journal has it.
var ErrBehind = errors.New("bus: the listener fell behind")

// ErrClosed ends a [Listener] that was closed.
var ErrClosed = errors.New("bus: the listener is closed")

// A Listener takes events at its own pace and hinders nobody.
type Listener struct {
	stop func()
	came chan struct{} // holds something where there may be something new

	mu      sync.Mutex
	room    int
	waiting queue
	size    int
	ended   error
}

// Listen subscribes somebody who may be slow, or may never read at all. Up to
// room events wait; one more ends the subscription, and the listener is told so
// behind the last that had room.
func (b *Bus) Listen(s Subscription, room int) *Listener {
	l := &Listener{room: room, came: make(chan struct{}, 1)}
	ready := make(chan struct{})
	stop := b.Subscribe(s, func(e SystemEvent) {
		if !l.take(e) {
			<-ready
			l.stop()
		}
	})
	l.stop = stop
	close(ready)
	return l
}

// take keeps e, if it has room.
func (l *Listener) take(e SystemEvent) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		return false
	}
	if l.size == l.room {
		l.ended = ErrBehind
		l.wake()
		return false
	}
	l.waiting.push(posted{SystemEvent: e})
	l.size++
	l.wake()
	return true
}

func (l *Listener) wake() {
	select {
	case l.came <- struct{}{}:
	default:
	}
}

// Next returns the next event, waiting for it, or the cause of ctx's end. It is
// for one goroutine.
func (l *Listener) Next(ctx context.Context) (SystemEvent, error) {
	for {
		if e, err, ok := l.first(); ok {
			return e, err
		}
		select {
		case <-l.came:
		case <-ctx.Done():
			return SystemEvent{}, context.Cause(ctx)
		}
	}
}

func (l *Listener) first() (SystemEvent, error, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p, ok := l.waiting.pop(); ok {
		l.size--
		return p.SystemEvent, nil, true
	}
	return SystemEvent{}, l.ended, l.ended != nil
}

// Close ends the listener. What waits in it may still be read.
func (l *Listener) Close() {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended == nil {
		l.ended = ErrClosed
	}
	l.wake()
}
