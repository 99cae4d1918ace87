package tui

import (
	"slices"

	"agentx/engine/event"
)

// An outbox holds messages that have not been taken: one that is on its way,
// until it comes back as an event, and those that wait for the answer to end.
type outbox struct {
	busy    bool   // an answer is running
	flying  string // on its way, or empty
	waiting []string
	held    bool      // the last answer failed; what waits does not go by itself
	failed  bool      // the running answer has said that it failed
	stopped bool      // the user has stopped it
	summing bool      // the running answer is a summary to go on with
	over    *answered // it has ended, but its last events may be on their way
}

func (o outbox) push(text string) outbox {
	if text != "" {
		o.waiting = append(slices.Clip(o.waiting), text)
	}
	return o
}

// pop takes the first message to be sent.
func (o outbox) pop() (outbox, string) {
	text := o.waiting[0]
	o.waiting = o.waiting[1:]
	o.flying, o.busy, o.held, o.failed = text, true, false, false
	return o, text
}

// back takes the last one back.
func (o outbox) back() (outbox, string) {
	last := len(o.waiting) - 1
	text := o.waiting[last]
	o.waiting = o.waiting[:last:last]
	return o, text
}

// ready says whether a message can go.
func (o outbox) ready() bool { return !o.busy && !o.held && len(o.waiting) > 0 }

// apply sees a message arrive, and an answer fail.
func (o outbox) apply(e event.Event) outbox {
	switch e.Data.(type) {
	case event.UserMessage:
		o.flying = ""
	case event.ErrorMessage, event.Interrupted:
		o.failed = true
	}
	return o
}

// size is how many have not been taken.
func (o outbox) size() int {
	if o.flying == "" {
		return len(o.waiting)
	}
	return len(o.waiting) + 1
}

// all is everything that has not been taken, oldest first.
func (o outbox) all() []string {
	if o.flying == "" {
		return o.waiting
	}
	return append([]string{o.flying}, o.waiting...)
}
