package tui

import (
	"slices"

	"agentx/engine/event"
)

// An outbox holds messages that have not been taken: one that is on its way,
// until it comes back as an event, and those that wait for the answer to end.
type outbox struct {
	busy    bool    // an answer is running
	flying  Message // on its way, or empty
	waiting []parcel
	posted  int       // parcels so far
	held    bool      // the last answer failed; what waits does not go by itself
	failed  bool      // the running answer has said that it failed
	mute    bool      // nothing of it has come
	stopped bool      // the user has stopped it
	summing bool      // the running answer is a summary to go on with
	over    *answered // it has ended, but its last events may be on their way
}

// before puts messages before those that wait, and holds them all.
func (o outbox) before(queued []Message) outbox {
	if len(queued) == 0 {
		return o
	}
	late := o.waiting
	o.waiting, o.held = nil, true
	for _, d := range queued {
		o = o.push(d)
	}
	o.waiting = append(o.waiting, late...)
	return o
}

// A parcel is a message that waits; an open one until its mentions were looked up.
type parcel struct {
	Message
	id   int
	open bool
}

func (o outbox) push(d Message) outbox {
	if !d.Empty() {
		o.posted++
		o.waiting = append(slices.Clip(o.waiting), parcel{Message: d, id: o.posted})
	}
	return o
}

// open keeps the last parcel from going until it is closed.
func (o outbox) open() (outbox, int) {
	o.waiting = slices.Clone(o.waiting)
	last := &o.waiting[len(o.waiting)-1]
	last.open = true
	return o, last.id
}

// close puts what a parcel holds into it for good.
func (o outbox) close(id int, d Message) outbox {
	o.waiting = slices.Clone(o.waiting)
	for i := range o.waiting {
		if o.waiting[i].id == id {
			o.waiting[i].Message, o.waiting[i].open = d, false
		}
	}
	return o
}

// holds says whether a parcel waits here.
func (o outbox) holds(id int) bool {
	return slices.ContainsFunc(o.waiting, func(p parcel) bool { return p.id == id })
}

// take takes the parcel out again; false where it has gone.
func (o outbox) take(id int) (outbox, Message, bool) {
	for i, p := range o.waiting {
		if p.id == id {
			o.waiting = slices.Delete(slices.Clone(o.waiting), i, i+1)
			return o, p.Message, true
		}
	}
	return o, Message{}, false
}

// pop takes the first message to be sent.
func (o outbox) pop() (outbox, Message) {
	d := o.waiting[0].Message
	o.waiting = o.waiting[1:]
	o.flying, o.busy, o.held, o.failed = d, true, false, false
	return o, d
}

// back takes the last one back.
func (o outbox) back() (outbox, Message) {
	last := len(o.waiting) - 1
	d := o.waiting[last].Message
	o.waiting = o.waiting[:last:last]
	return o, d
}

// ready says whether a message can go.
func (o outbox) ready() bool { return !o.busy && !o.held && len(o.waiting) > 0 && !o.waiting[0].open }

// apply sees a message arrive, and an answer fail.
func (o outbox) apply(e event.Event) outbox {
	switch e.Data.(type) {
	case event.UserMessage:
		o.flying, o.mute = Message{}, true
	case event.AssistantMessage, event.SystemError:
		o.mute = false
	case event.ErrorMessage, event.Interrupted:
		o.failed = true
	}
	return o
}

// size is how many have not been taken.
func (o outbox) size() int {
	if o.flying.Empty() {
		return len(o.waiting)
	}
	return len(o.waiting) + 1
}

// all is everything that has not been taken, oldest first.
func (o outbox) all() []Message {
	var all []Message
	if !o.flying.Empty() {
		all = append(all, o.flying)
	}
	for _, p := range o.waiting {
		all = append(all, p.Message)
	}
	return all
}
