package wire

import (
	"iter"
	"slices"
	"sync"

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
// The client remembers what is Lasting about a subject, such as a model and how
// much it shall think: it is taken out before the next is asked.
func Amend(c *Client, subject string, ask func() iter.Seq2[event.Stream, error], amend func(*engine.Fault) Amendment) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		memory := c.memory()
		for _, f := range memory.of(subject) {
			amend(f)
		}
		for again := true; again; {
			again = amended(ask(), yield, func(f *engine.Fault) bool {
				done := amend(f)
				if done == Lasting {
					memory.add(subject, f)
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

// A Memory is what models, and their servers, were found not to take. Its zero
// value is empty. Clients that share one learn from each other.
type Memory struct {
	mu      sync.Mutex
	refused map[string][]*engine.Fault // by subject
}

// maxSubjects is of how many models something is remembered.
const maxSubjects = 100

func (m *Memory) of(subject string) []*engine.Fault {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused[subject]
}

func (m *Memory) add(subject string, f *engine.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil || len(m.refused) >= maxSubjects {
		m.refused = map[string][]*engine.Fault{}
	}
	m.refused[subject] = append(slices.Clip(m.refused[subject]), f)
}

// memory is nobody's where there is no client.
func (c *Client) memory() *Memory {
	switch {
	case c == nil:
		return &Memory{}
	case c.Memory != nil:
		return c.Memory
	}
	return &c.mine
}
