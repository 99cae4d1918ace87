package mealy_test

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"agentx/engine/mealy"
)

// lines is a machine that cuts what comes in pieces into lines. What it must
// remember is the line that has not ended yet.
func lines(rest, piece string) (string, []string) {
	whole := strings.Split(rest+piece, "\n")
	last := len(whole) - 1
	return whole[last], whole[:last]
}

// A processor is a function. An old state stays valid for ever: to step it twice
// is to have two futures (F2, F3).
func ExampleProcessor() {
	s, outs := lines("", "one\ntw")
	fmt.Printf("%q %q\n", s, outs)
	_, left := lines(s, "o\n")
	_, right := lines(s, "ice\n")
	fmt.Printf("%q %q\n", left, right)
	// Output:
	// "tw" ["one"]
	// ["two"] ["twice"]
}

// Two machines see the same input; each has a part of the state for itself
// (F55).
func ExampleCombine() {
	type state struct {
		rest   string
		length int
	}
	length := func(n int, piece string) (int, []string) {
		n += utf8.RuneCountInString(piece)
		return n, []string{fmt.Sprint(n, " so far")}
	}
	both := mealy.Combine(
		mealy.Field(func(s *state) *string { return &s.rest }, lines),
		mealy.Field(func(s *state) *int { return &s.length }, length),
	)
	s, outs := both(mealy.Initial(func(s *state) { s.rest = "> " }), "one\n")
	fmt.Printf("%q %+v\n", outs, s)
	// Output: ["> one" "4 so far"] {rest: length:4}
}

// Comments never reach the machine (F58).
func ExampleFilter() {
	said := func(piece string) bool { return !strings.HasPrefix(piece, "#") }
	p := mealy.Filter(said, lines)
	s, outs := p("one", "# two\n")
	fmt.Printf("%q %q\n", s, outs)
	s, outs = p(s, ", three\n")
	fmt.Printf("%q %q\n", s, outs)
	// Output:
	// "one" []
	// "" ["one, three"]
}

// Outputs become something else, and their type may too (F59).
func ExampleMapOutput() {
	p := mealy.MapOutput(lines, func(line string) int { return len(line) })
	_, outs := p("", "one\nthree\n")
	fmt.Println(outs)
	// Output: [3 5]
}

// What the first machine puts out is what the second is fed: pieces to lines,
// lines to numbered lines (F57).
func ExampleChain() {
	number := func(n int, line string) (int, []string) {
		return n + 1, []string{fmt.Sprintf("%d. %s", n+1, line)}
	}
	p := mealy.Chain(lines, number)
	var s mealy.Pair[string, int]
	for _, piece := range []string{"mi", "lk\nbread\nbu", "tter\n"} {
		var outs []string
		s, outs = p(s, piece)
		fmt.Printf("%q\n", outs)
	}
	// Output:
	// []
	// ["1. milk" "2. bread"]
	// ["3. butter"]
}

// Every step can be looked at from outside; the machine knows nothing of it
// (F60).
func ExampleWithLogging() {
	p := mealy.WithLogging(lines, func(before, in, after string, outs []string) {
		fmt.Printf("%q + %q = %q, %q\n", before, in, after, outs)
	})
	_, _ = p("on", "e\nt")
	// Output: "on" + "e\nt" = "t", ["one"]
}

// collatz halves what is even, and makes three of what is odd, and one more. It
// counts its steps.
func collatz(steps, n int) (int, []int) {
	switch {
	case n == 1:
		return steps, nil
	case n%2 == 0:
		return steps + 1, []int{n / 2}
	}
	return steps + 1, []int{3*n + 1}
}

// Follow feeds a machine its own outputs until it has nothing to add: from one
// input comes all that follows from it (F29).
func ExampleFollow() {
	steps := 0
	for n := range mealy.Follow(collatz, &steps, 6) {
		fmt.Print(n, " ")
	}
	fmt.Println("in", steps, "steps")
	// Output: 6 3 10 5 16 8 4 2 1 in 8 steps
}

// One machine, many ids: each has a state of its own in the store, and a sink is
// handed all that followed from an input at once (F68).
func ExampleMachine() {
	var store mealy.MemoryStore[int]
	m := mealy.Machine[int, int]{
		Process: collatz,
		Store:   &store,
		Sinks: []mealy.Sink[int]{mealy.SinkFunc[int](func(_ context.Context, id string, outs []int) error {
			fmt.Println(id, outs)
			return nil
		})},
	}
	ctx := context.Background()
	for _, in := range []struct {
		id string
		n  int
	}{{"ann", 4}, {"bob", 3}, {"ann", 2}} {
		if _, err := m.Input(ctx, in.id, in.n); err != nil {
			fmt.Println(err)
		}
	}
	ann, _, _ := store.Get(ctx, "ann")
	bob, _, _ := store.Get(ctx, "bob")
	fmt.Println("steps:", ann, bob)
	// Output:
	// ann [4 2 1]
	// bob [3 10 5 16 8 4 2 1]
	// ann [2 1]
	// steps: 3 7
}
