package mealy_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentx/engine/enginetest"
	"agentx/engine/mealy"

	"pgregory.net/rapid"
)

// count adds its inputs up and puts out the sum.
func count(s int, in int) (int, []int) { return s + in, []int{s + in} }

// split puts out the halves of what can be halved.
func split(s int, in int) (int, []int) {
	if in < 2 || in%2 == 1 {
		return s + 1, nil
	}
	return s, []int{in / 2, in / 2}
}

// feed steps a machine with each input, without re-injection.
func feed[S, I, O any](p mealy.Processor[S, I, O], s S, ins ...I) (S, []O) {
	var all []O
	for _, in := range ins {
		var outs []O
		s, outs = p(s, in)
		all = append(all, outs...)
	}
	return s, all
}

func expect[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Two machines over parts of one state see the same input, and their outputs
// follow each other. The first state stays as it was (F55, F56).
func TestCombine(t *testing.T) {
	type state struct{ sum, max int }
	sum := mealy.Field(func(s *state) *int { return &s.sum }, count)
	highest := mealy.Field(func(s *state) *int { return &s.max }, func(s, in int) (int, []string) {
		if in <= s {
			return s, nil
		}
		return in, []string{fmt.Sprint("new highest ", in)}
	})
	both := mealy.Combine(mealy.MapOutput(sum, func(n int) string { return fmt.Sprint("sum ", n) }), highest)
	first := mealy.Initial(func(s *state) { s.sum = 100 }, func(s *state) { s.max = 5 })
	s, outs := feed(both, first, 3, 9)
	expect(t, outs, "sum 103", "sum 112", "new highest 9")
	if s != (state{112, 9}) || first != (state{100, 5}) {
		t.Errorf("state %+v from %+v", s, first)
	}
}

// What one puts out is what the next is fed (F57).
func TestChain(t *testing.T) {
	chained := mealy.Chain(split, count)
	s, outs := feed(chained, mealy.Pair[int, int]{}, 8, 3, 2)
	expect(t, outs, 4, 8, 9, 10)
	if s.First != 1 || s.Second != 10 {
		t.Errorf("state %+v", s)
	}
}

// A filter keeps inputs away, the identity says nothing, and a log is told each
// step (F58, F60, F61).
func TestFilterIdentityAndLogging(t *testing.T) {
	even := mealy.Filter(func(n int) bool { return n%2 == 0 }, count)
	s, outs := feed(even, 0, 1, 2, 3, 4)
	expect(t, outs, 2, 6)
	if s != 6 {
		t.Errorf("state %d", s)
	}
	s, outs = feed(mealy.Identity[int, int, int], 7, 1, 2)
	if s != 7 || outs != nil {
		t.Errorf("the identity made %d and %v", s, outs)
	}
	var log []string
	logged := mealy.WithLogging(count, func(before, in, after int, outs []int) {
		log = append(log, fmt.Sprint(before, "+", in, "=", after, outs))
	})
	_, outs = feed(logged, 0, 1, 2)
	expect(t, outs, 1, 3)
	expect(t, log, "0+1=1 [1]", "1+2=3 [3]")
}

// Combinators neither share nor spoil what the processors hand out (F55).
func TestCombineLeavesOutputsAlone(t *testing.T) {
	shared := make([]int, 1, 8)
	shared[0] = 1
	lend := func(s struct{}, _ int) (struct{}, []int) { return s, shared }
	own := func(s struct{}, in int) (struct{}, []int) { return s, []int{in} }
	_, first := mealy.Combine(lend, own)(struct{}{}, 2)
	_, second := mealy.Combine(lend, own)(struct{}{}, 3)
	expect(t, first, 1, 2)
	expect(t, second, 1, 3)
	if shared[:2][1] != 0 {
		t.Error("what was lent was written behind")
	}
}

// Causes stand before their effects, depth first; the input is the first
// (F27, F28).
func TestFollow(t *testing.T) {
	s := 0
	expect(t, slices.Collect(mealy.Follow(split, &s, 8)), 8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1, 2, 1, 1)
	if s != 8 {
		t.Errorf("state %d", s)
	}
	s = 0
	for n := range mealy.Follow(split, &s, 8) { // whoever leaves has seen enough
		if n == 2 {
			break
		}
	}
}

// To replay is to do again: the same inputs from the same state give the same,
// also in two halves (F123).
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ins := rapid.SliceOf(rapid.IntRange(0, 64)).Draw(t, "inputs")
		cut := rapid.IntRange(0, len(ins)).Draw(t, "cut")
		whole := slices.Collect(mealy.Replay(split, 0, slices.Values(ins)))
		half := slices.Collect(mealy.Replay(split, 0, slices.Values(ins[:cut])))
		s := 0
		for _, in := range ins[:cut] {
			drain(mealy.Follow(split, &s, in))
		}
		half = slices.AppendSeq(half, mealy.Replay(split, s, slices.Values(ins[cut:])))
		if !slices.Equal(whole, half) {
			t.Fatalf("%v, in two halves %v", whole, half)
		}
	})
}

func drain[T any](seq iter.Seq[T]) {
	for range seq {
	}
}

// A machine keeps many ids apart, whatever their inputs' order (F70).
func TestMachineKeepsIDsApart(t *testing.T) {
	m := mealy.Machine[int, int]{Process: halve, Store: &mealy.MemoryStore[int]{}}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { // ends with its inputs
			for range 50 {
				if _, err := m.Input(context.Background(), fmt.Sprint("id", i%4), 4); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 4 {
		s, _, err := m.Store.Get(context.Background(), fmt.Sprint("id", i))
		if err != nil || s != 5*50*3 {
			t.Errorf("id%d has %d, %v; want %d", i, s, err, 5*50*3)
		}
	}
}

// halve counts its steps and puts out the half of its input.
func halve(s int, in int) (int, []int) {
	if in < 2 {
		return s + 1, nil
	}
	return s + 1, []int{in / 2}
}

// Sinks see all that followed from an input, in their order. One that fails or
// panics is reported and hinders nobody, and none can spoil what the next sees
// (F64).
func TestSinks(t *testing.T) {
	var seen, reported []string
	full := errors.New("full")
	m := mealy.Machine[int, int]{
		Process: halve, Store: &mealy.MemoryStore[int]{},
		Sinks: []mealy.Sink[int]{
			mealy.SinkFunc[int](func(_ context.Context, _ string, outs []int) error { _ = append(outs, 99); return full }),
			mealy.SinkFunc[int](func(context.Context, string, []int) error { panic("oh") }),
			mealy.SinkFunc[int](func(_ context.Context, id string, outs []int) error {
				seen = append(seen, fmt.Sprint(id, outs))
				return nil
			}),
		},
		Report: func(id string, err error) { reported = append(reported, id+": "+err.Error()) },
	}
	outs, err := m.Input(t.Context(), "a", 4)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, outs, 4, 2, 1)
	expect(t, seen, "a[4 2 1]")
	expect(t, reported, "a: full", "a: mealy: a sink panicked: oh")
	m.Report = nil
	if _, err := m.Input(t.Context(), "a", 1); err != nil {
		t.Errorf("unreported: %v", err)
	}
}

// A store that fails leaves things as they were, and says so (F65, F67).
func TestAStoreThatFails(t *testing.T) {
	s := &flaky{}
	m := mealy.Machine[int, int]{Process: count1, Store: s, Initial: 10}
	if outs, err := m.Input(t.Context(), "a", 1); err != nil || len(outs) != 1 {
		t.Fatalf("%v, %v", outs, err)
	}
	s.broken = true
	if outs, err := m.Input(t.Context(), "a", 1); err == nil || outs != nil || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("%v, %v", outs, err)
	}
	s.broken = false
	if got, _, _ := s.Get(t.Context(), "a"); got != 11 {
		t.Errorf("state %d, want 11", got)
	}
}

// count1 counts its inputs and says nothing.
func count1(s int, in int) (int, []int) { return s + in, nil }

// A flaky store cannot always write.
type flaky struct {
	mealy.MemoryStore[int]
	broken bool
}

func (f *flaky) Set(ctx context.Context, id string, s int) error {
	if f.broken {
		return errors.New("no space left")
	}
	return f.MemoryStore.Set(ctx, id, s)
}

// A closed id begins anew, and costs nothing (F69).
func TestClose(t *testing.T) {
	store := &mealy.MemoryStore[int]{}
	m := mealy.Machine[int, int]{Process: count1, Store: store, Initial: 10}
	for range 2 {
		if _, err := m.Input(t.Context(), "a", 1); err != nil {
			t.Fatal(err)
		}
		if s, _, _ := store.Get(t.Context(), "a"); s != 11 {
			t.Errorf("state %d, want 11", s)
		}
		if err := m.Close(t.Context(), "a"); err != nil || store.Len() != 0 {
			t.Errorf("closed: %d states, %v", store.Len(), err)
		}
	}
	if err := m.Close(t.Context(), "never"); err != nil {
		t.Errorf("closing what is not there: %v", err)
	}
}

// The store in memory keeps the promises of a store (F65, F66).
func TestMemoryStore(t *testing.T) {
	enginetest.TestStore(t, func() mealy.Store[int] { return &mealy.MemoryStore[int]{} }, 1, 2)
}
