package wire

import (
	"iter"

	"agentx/engine"
	"agentx/engine/event"
)

// Amend asks, and asks again where the provider refuses the request itself and
// amend, handed the refusal, has taken out of it what was refused. It says false
// where it can do nothing about it, at the latest when nothing more can be taken
// out. What has been answered is not asked for again.
func Amend(ask func() iter.Seq2[event.Stream, error], amend func(*engine.Fault) bool) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		for again := true; again; {
			again = amended(ask(), amend, yield)
		}
	}
}

// amended passes an answer on, and reports whether it was a refusal and the
// request is another now.
func amended(answer iter.Seq2[event.Stream, error], amend func(*engine.Fault) bool, yield func(event.Stream, error) bool) bool {
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
