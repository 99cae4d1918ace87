// Package mealy composes Mealy machines: pure functions from a state and an
// input to the next state and some outputs.
//
// In a reducer the state is the goal. Here the outputs are; the state is only
// what must be remembered to produce them.
//
// The package knows no agent and no event.
package mealy

import "iter"

// A Processor is the transition function of a machine. It has no side effects,
// never modifies what its state refers to, and gives the same answer to the
// same question: an old state stays valid for ever.
type Processor[S, I, O any] func(S, I) (S, []O)

// Identity is the machine that says nothing.
func Identity[S, I, O any](s S, _ I) (S, []O) { return s, nil }

// Combine runs several processors over one state, in order: each sees the
// input, and their outputs follow each other.
func Combine[S, I, O any](ps ...Processor[S, I, O]) Processor[S, I, O] {
	return func(s S, in I) (S, []O) {
		var all []O
		for _, p := range ps {
			var outs []O
			s, outs = p(s, in)
			all = concat(all, outs)
		}
		return s, all
	}
}

// concat appends b to a where a belongs to nobody else, and b may.
func concat[O any](a, b []O) []O {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b[:len(b):len(b)]
	}
	return append(a, b...)
}

// Field lets a processor of a part work on the whole.
func Field[S, T, I, O any](part func(*S) *T, p Processor[T, I, O]) Processor[S, I, O] {
	return func(s S, in I) (S, []O) {
		t, outs := p(*part(&s), in)
		*part(&s) = t
		return s, outs
	}
}

// Initial builds the first state of a combined machine from the first states
// of its parts.
func Initial[S any](parts ...func(*S)) S {
	var s S
	for _, set := range parts {
		set(&s)
	}
	return s
}

// Filter keeps from p the inputs that keep refuses.
func Filter[S, I, O any](keep func(I) bool, p Processor[S, I, O]) Processor[S, I, O] {
	return func(s S, in I) (S, []O) {
		if !keep(in) {
			return s, nil
		}
		return p(s, in)
	}
}

// MapOutput rewrites the outputs of p.
func MapOutput[S, I, O, P any](p Processor[S, I, O], f func(O) P) Processor[S, I, P] {
	return func(s S, in I) (S, []P) {
		s, outs := p(s, in)
		if len(outs) == 0 {
			return s, nil
		}
		mapped := make([]P, len(outs))
		for i, o := range outs {
			mapped[i] = f(o)
		}
		return s, mapped
	}
}

// A Pair is the state of two chained machines.
type Pair[S, T any] struct {
	First  S
	Second T
}

// Chain feeds the outputs of p to q, and puts out what q makes of them.
func Chain[S, T, I, M, O any](p Processor[S, I, M], q Processor[T, M, O]) Processor[Pair[S, T], I, O] {
	return func(s Pair[S, T], in I) (Pair[S, T], []O) {
		var mids []M
		var all []O
		s.First, mids = p(s.First, in)
		for _, m := range mids {
			var outs []O
			s.Second, outs = q(s.Second, m)
			all = concat(all, outs)
		}
		return s, all
	}
}

// WithLogging tells log every step of p. The processor stays as pure as log is.
func WithLogging[S, I, O any](p Processor[S, I, O], log func(before S, in I, after S, outs []O)) Processor[S, I, O] {
	return func(s S, in I) (S, []O) {
		next, outs := p(s, in)
		log(s, in, next, outs)
		return next, outs
	}
}

// A Definition is a processor with a name, for those who list them, and its
// first state.
type Definition[S, I, O any] struct {
	Name, Description string
	Initial           S
	Process           Processor[S, I, O]
}

// Follow feeds in to p, and whatever p puts out back to p, depth first, until
// p has nothing to add. It yields in and every output, causes before effects,
// and leaves the last state in s.
func Follow[S, E any](p Processor[S, E, E], s *S, in E) iter.Seq[E] {
	return func(yield func(E) bool) { follow(p, s, in, yield) }
}

func follow[S, E any](p Processor[S, E, E], s *S, in E, yield func(E) bool) bool {
	if !yield(in) {
		return false
	}
	var outs []E
	*s, outs = p(*s, in)
	for _, out := range outs {
		if !follow(p, s, out, yield) {
			return false
		}
	}
	return true
}

// Replay follows every input from the state s, and yields all that comes of it.
func Replay[S, E any](p Processor[S, E, E], s S, inputs iter.Seq[E]) iter.Seq[E] {
	return func(yield func(E) bool) {
		for in := range inputs {
			if !follow(p, &s, in, yield) {
				return
			}
		}
	}
}
