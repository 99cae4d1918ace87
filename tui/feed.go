package tui

import (
	"context"
	"time"

	"agentx/engine/event"

	tea "charm.land/bubbletea/v2"
)

// A Feed carries the engine's events to the screen. It is the one place where
// the goroutine that answers meets the one that draws. It is an engine's
// Presenter.
type Feed struct {
	events chan spoken
	nudged chan struct{}
	closed chan struct{}
}

// A spoken event is one with who says it.
type spoken struct {
	by event.AgentID
	event.Event
}

// feedSize is how many events may wait for a frame. A driver that is faster
// than that waits for the screen.
const feedSize = 4096

// NewFeed returns a feed that nobody looks at yet.
func NewFeed() *Feed {
	return &Feed{events: make(chan spoken, feedSize), nudged: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Close says that nobody looks any more: events go nowhere and wait for nobody.
// It may be called once.
func (f *Feed) Close() { close(f.closed) }

// nudge has the screen look although there may be nothing.
func (f *Feed) nudge() {
	select {
	case f.nudged <- struct{}{}:
	default:
	}
}

// Present hands one event to the screen.
func (f *Feed) Present(_ context.Context, by event.AgentID, e event.Event) error {
	s := spoken{by, e}
	select {
	case f.events <- s:
		return nil
	default:
	}
	select {
	case f.events <- s:
	case <-f.closed:
	}
	return nil
}

// outputs are the events since the screen last looked, perhaps none.
type outputs struct {
	events []spoken
	at     time.Time
}

// forever is a limit that is never reached.
const forever time.Duration = -1

// next is the command that brings outputs: as soon as there is something, or at
// the limit, but not before hold, so that a frame gets all that came in its
// time. Most of the time hold has passed when something comes, and nobody has to
// wake up for it.
func (f *Feed) next(hold, limit time.Duration) tea.Cmd {
	return func() tea.Msg {
		began := time.Now()
		first := f.drain(nil)
		if len(first) == 0 && limit != hold {
			var late <-chan time.Time
			if limit != forever {
				late = time.After(limit)
			}
			select {
			case e := <-f.events:
				first = []spoken{e}
			case <-late:
			case <-f.nudged:
			case <-f.closed:
				return nil
			}
		}
		if !f.rest(max(hold-time.Since(began), settling)) {
			return nil
		}
		select {
		case <-f.nudged: // it is done
		default:
		}
		return outputs{f.drain(first), time.Now()}
	}
}

// settling lets who speaks finish: what comes with the first event is seen with
// it, however fast the two goroutines are.
const settling = time.Nanosecond

// rest lets time pass, unless the feed is closed.
func (f *Feed) rest(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	select {
	case <-time.After(d):
		return true
	case <-f.closed:
		return false
	}
}

// drain takes what is there.
func (f *Feed) drain(batch []spoken) []spoken {
	for len(batch) < feedSize {
		select {
		case e := <-f.events:
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}
