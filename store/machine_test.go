package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

type machine = mealy.Machine[engine.State, event.Event]

func machineOf(db *DB) *machine {
	return &machine{Process: engine.Step, Store: db.Machines(engine.Step)}
}

// soFar is what a machine's open message says.
func soFar(ctx context.Context, m *machine) (string, error) {
	s, _, err := m.Store.Get(ctx, "x")
	text := ""
	for e := range mealy.Follow(engine.Step, &s, event.Event{Data: event.Interrupted{}}) { // of a copy
		if a, ok := e.Data.(event.AssistantMessage); ok {
			text = a.Content.Text()
		}
	}
	return text, err
}

const pieces = 20_000

func piece(i int) string { return fmt.Sprintf("%05d,", i) }

// speaker goes on with a message where the stored state is, piece by piece, and
// says each that was taken, until it is killed.
func speaker(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	m, out := machineOf(db), bufio.NewWriter(os.Stdout)
	input := func(d event.Data) {
		if err == nil {
			_, err = m.Input(ctx, "x", event.Event{At: time.Now(), Data: d})
		}
	}
	if has, _ := m.Store.Has(ctx, "x"); !has {
		input(event.UserMessage{ID: "u", Content: event.Say("Count.")})
		input(event.MessageStart{MessageID: "m", Model: "m-1"})
	}
	text, err := soFar(ctx, m)
	for i := len(text) / len(piece(0)); i < pieces && err == nil; i++ {
		input(event.TextDelta{Text: piece(i)})
		fmt.Fprintln(out, "took", i)
		out.Flush()
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// A machine is killed in the middle of a message, again and again. Each time
// another process goes on with the next piece: none is lost that was taken, none
// comes twice, and in the end the message is whole (F67, F119).
func TestAMachineThatIsKilledGoesOnInMidMessage(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	path := filepath.Join(t.TempDir(), "a.db")
	taken := 0
	for round := range rounds {
		for _, l := range killAfter(t, "AGENTX_TEST_SPEAKER="+path, 1+rand.IntN(2000), time.Duration(rand.IntN(2000))*time.Microsecond) {
			var i int
			if strings.HasPrefix(l, "error") {
				t.Fatal(l)
			}
			if _, err := fmt.Sscanf(l, "took %d", &i); err == nil {
				taken = max(taken, i+1) // a line that was cut off names an earlier one
			}
		}
		db := open(t, path)
		text, err := soFar(t.Context(), machineOf(db))
		if err != nil || len(text)%len(piece(0)) != 0 {
			t.Fatalf("round %d: the text so far has %d bytes, %v", round, len(text), err)
		}
		kept := len(text) / len(piece(0))
		t.Logf("round %d: %d pieces were said to be taken, %d are kept", round, taken, kept)
		if kept < taken {
			t.Errorf("round %d: %d pieces were taken, %d are kept", round, taken, kept)
		}
		db.Close()
	}
	db := open(t, path)
	m := machineOf(db)
	text, err := soFar(t.Context(), m)
	if err != nil || len(text) == 0 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	for i := len(text) / len(piece(0)); i < pieces; i++ {
		if _, err := m.Input(t.Context(), "x", event.Event{Data: event.TextDelta{Text: piece(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	outs, err := m.Input(t.Context(), "x", event.Event{Data: event.MessageStop{StopReason: event.EndTurn}})
	var whole, said strings.Builder
	for i := range pieces {
		whole.WriteString(piece(i))
	}
	for _, e := range outs {
		if a, ok := e.Data.(event.AssistantMessage); ok {
			said.WriteString(a.Content.Text())
		}
	}
	if err != nil || said.String() != whole.String() {
		t.Errorf("the message has %d bytes, %v; want %d", said.Len(), err, whole.Len())
	}
	if left := glob(t, path+"-live/*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// A tape that was torn, one of another state and one that says nonsense: what
// can be read is believed, and what comes next is written behind that.
func TestATapeThatWasTorn(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), t.Context()
	db := open(t, path)
	m := machineOf(db)
	input := func(d event.Data) {
		t.Helper()
		if _, err := m.Input(ctx, "x", event.Event{At: at(1), Data: d}); err != nil {
			t.Fatal(err)
		}
	}
	reopen := func(want string) {
		t.Helper()
		db.Close()
		db = open(t, path)
		m = machineOf(db)
		if text, err := soFar(ctx, m); text != want || err != nil {
			t.Errorf("the text so far is %q, %v; want %q", text, err, want)
		}
	}
	tape := path + "-live/x.tape"
	input(event.UserMessage{ID: "u", Content: event.Say("Count.")})
	input(event.MessageStart{MessageID: "m"})
	for _, s := range []string{"one ", "two ", "three"} {
		input(event.TextDelta{Text: s})
	}
	reopen("one two three")
	if err := os.Truncate(tape, size(tape)-1); err != nil {
		t.Fatal(err)
	}
	reopen("one two ")
	input(event.TextDelta{Text: "3"}) // shorter than what was torn
	input(event.TextDelta{Text: " four"})
	reopen("one two 3 four")
	old, err := os.ReadFile(tape)
	if err != nil {
		t.Fatal(err)
	}
	s, _, _ := m.Store.Get(ctx, "x")
	if err := m.Store.Set(ctx, "x", s); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tape, old, 0o600); err != nil {
		t.Fatal(err)
	}
	reopen("one two 3 four") // and not twice
	input(event.TextDelta{Text: " five"})
	reopen("one two 3 four five")
	if err := db.States().Set(ctx, "machine:x", []byte("short")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Store.Get(ctx, "y"); err != nil {
		t.Errorf("Get(another) = %v", err)
	}
	if _, _, err := machineOf(db).Store.Get(ctx, "x"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Get(nonsense) = %v, want ErrCorrupt", err)
	}
}

// A piece costs the same for the last as for the first: what is written for a
// message twice as long is twice as much, where whole states take four times.
func TestWhatAMachineWritesGrowsWithWhatItIsTold(t *testing.T) {
	spent := func(states func(*DB) mealy.Store[engine.State], n int) int64 {
		db := fresh(t)
		m := &machine{Process: engine.Step, Store: states(db)}
		before, _ := written(t)
		for i := range n {
			d := event.Data(event.TextDelta{Text: prose[i*20 : i*20+20]})
			if i == 0 {
				d = event.MessageStart{MessageID: "m"}
			}
			if _, err := m.Input(t.Context(), "x", event.Event{At: at(i), Data: d}); err != nil {
				t.Fatal(err)
			}
		}
		after, _ := written(t)
		return after - before
	}
	const n = 3000
	ours := func(db *DB) mealy.Store[engine.State] { return db.Machines(engine.Step) }
	half, all := spent(ours, n/2), spent(ours, n)
	naive := spent(func(db *DB) mealy.Store[engine.State] { return enginetest.Encoded{Store: db.States()} }, n/10)
	t.Logf("%d bytes are written for a message of %d, %d for one of %d; whole states take %d for one of %d", half, n*10, all, n*20, naive, n*2)
	if all > 4*half || all > 20*n*20 {
		t.Errorf("%d and %d bytes are written for messages of %d and %d", half, all, n*10, n*20)
	}
	if naive < all {
		t.Errorf("whole states take %d bytes for a tenth: is something measured?", naive)
	}
}

// What an input costs behind a message of some length, and what it costs where
// the state is written whole.
func BenchmarkInput(b *testing.B) {
	for name, states := range map[string]func(*DB) mealy.Store[engine.State]{
		"ours":  func(db *DB) mealy.Store[engine.State] { return db.Machines(engine.Step) },
		"naive": func(db *DB) mealy.Store[engine.State] { return enginetest.Encoded{Store: db.States()} },
	} {
		for _, n := range []int{0, 1000} {
			b.Run(fmt.Sprintf("after=%dkB/%s", n, name), func(b *testing.B) {
				m := &machine{Process: engine.Step, Store: states(fresh(b))}
				input := func(d event.Data) {
					if _, err := m.Input(b.Context(), "x", event.Event{At: at(1), Data: d}); err != nil {
						b.Fatal(err)
					}
				}
				input(event.UserMessage{ID: "u", Content: event.Say("go")})
				input(event.MessageStart{MessageID: "m"})
				input(event.TextDelta{Text: strings.Repeat("x", n*1000)})
				for b.Loop() {
					input(event.TextDelta{Text: "four"})
				}
			})
		}
	}
}
