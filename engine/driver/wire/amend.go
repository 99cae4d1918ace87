package wire

import (
	"iter"
	"slices"

	"agentx/engine"
	"agentx/engine/event"
)

// An Amendment is what could be done about a refusal.
type Amendment int

const (
	Hopeless Amendment = iota // nothing
	Once                      // what was refused is of this conversation
	Lasting                   // the model, or its server, takes no such thing
)

// Amend asks, and asks again where the provider refuses the request itself and
// amend, handed the refusal, has taken out of it what was refused. It says
// Hopeless where it can do nothing about it, at the latest when nothing more can
// be taken out. What has been answered is not asked for again.
//
// A client that lives on remembers what is Lasting about a subject, such as a
// model and how much it shall think: it is taken out before the next is asked.
func Amend(c *Client, subject string, ask func() iter.Seq2[event.Stream, error], amend func(*engine.Fault) Amendment) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		for _, f := range c.refusals(subject) {
			amend(f)
		}
		for again := true; again; {
			again = amended(ask(), yield, func(f *engine.Fault) bool {
				done := amend(f)
				if done == Lasting {
					c.remember(subject, f)
				}
				return done != Hopeless
			})
		}
	}
}

// amended passes an answer on, and reports whether it was a refusal and the
// request is another now.
func amended(answer iter.Seq2[event.Stream, error], yield func(event.Stream, error) bool, amend func(*engine.Fault) bool) bool {
	begun := false
	for e, err := range answer {
		if err != nil && !begun {
			if f := engine.FaultOf(err); f.Code == event.CodeInvalidRequest && amend(f) {
				return true
			}
		}
		if !yield(e, err) {
			return false
		}
		_, retrying := e.(event.Retrying)
		begun = begun || !retrying
	}
	return false
}

// Subject is what a refusal is about: a model of a server, and how much it shall
// think.
func Subject(base string, req engine.Request) string {
	return base + "\x00" + req.Model + "\x00" + req.Options.Effort
}

// maxSubjects is of how many models a client remembers something.
const maxSubjects = 100

// refusals are what is remembered of a subject.
func (c *Client) refusals(subject string) []*engine.Fault {
	if c == nil {
		return nil
	}
	c.memory.Lock()
	defer c.memory.Unlock()
	return c.refused[subject]
}

func (c *Client) remember(subject string, f *engine.Fault) {
	if c == nil {
		return
	}
	c.memory.Lock()
	defer c.memory.Unlock()
	if c.refused == nil || len(c.refused) >= maxSubjects {
		c.refused = map[string][]*engine.Fault{}
	}
	c.refused[subject] = append(slices.Clip(c.refused[subject]), f)
}
