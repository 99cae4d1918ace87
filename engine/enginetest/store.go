package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// TestStore puts a store of states through what every store promises. Open
// makes an empty one; a and b are two states that differ.
func TestStore[S any](t *testing.T, open func() mealy.Store[S], a, b S) {
	ctx := context.Background()
	expect := func(t *testing.T, s mealy.Store[S], id string, want *S) {
		t.Helper()
		got, ok, err := s.Get(ctx, id)
		has, hasErr := s.Has(ctx, id)
		if err != nil || hasErr != nil {
			t.Fatalf("Get(%q), Has(%q): %v, %v", id, id, err, hasErr)
		}
		if ok != (want != nil) || has != ok {
			t.Fatalf("%q is there: Get says %v, Has says %v, want %v", id, ok, has, want != nil)
		}
		if ok && !reflect.DeepEqual(got, *want) {
			t.Errorf("Get(%q) = %+v, want %+v", id, got, *want)
		}
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("what was never set is not there", func(t *testing.T) {
		expect(t, open(), "x", nil)
	})
	t.Run("the last state counts, for its id alone", func(t *testing.T) {
		s := open()
		must(t, s.Set(ctx, "x", a))
		must(t, s.Set(ctx, "y", b))
		expect(t, s, "x", &a)
		must(t, s.Set(ctx, "x", b))
		expect(t, s, "x", &b)
		expect(t, s, "y", &b)
	})
	t.Run("a zero state is a state", func(t *testing.T) {
		s := open()
		var zero S
		must(t, s.Set(ctx, "x", zero))
		expect(t, s, "x", &zero)
	})
	t.Run("what was deleted is gone, and may be deleted again", func(t *testing.T) {
		s := open()
		must(t, s.Set(ctx, "x", a))
		must(t, s.Set(ctx, "y", b))
		must(t, s.Delete(ctx, "x"))
		must(t, s.Delete(ctx, "x"))
		expect(t, s, "x", nil)
		expect(t, s, "y", &b)
		must(t, s.Set(ctx, "x", b))
		expect(t, s, "x", &b)
	})
	t.Run("ids are any text", func(t *testing.T) {
		s := open()
		ids := []string{"", " ", "a/b", "../a", "A", "a", "a'b\"c", "漢字", "a\x00b", "a%b_c"}
		for i, id := range ids {
			must(t, s.Set(ctx, id, []S{a, b}[i%2]))
		}
		for i, id := range ids {
			expect(t, s, id, &[]S{a, b}[i%2])
		}
	})
	t.Run("many at once", func(t *testing.T) {
		s := open()
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() { // ends with its rounds
				id := fmt.Sprint("id", i%4)
				for range 20 {
					if err := s.Set(ctx, id, a); err != nil {
						t.Errorf("Set: %v", err)
					}
					if _, _, err := s.Get(ctx, id); err != nil {
						t.Errorf("Get: %v", err)
					}
				}
			})
		}
		all.Wait()
		for i := range 4 {
			expect(t, s, fmt.Sprint("id", i), &a)
		}
	})
}

// Encoded is a store of the engine's states over one of bytes.
type Encoded struct{ mealy.Store[[]byte] }

// Get decodes the state of id.
func (e Encoded) Get(ctx context.Context, id string) (s engine.State, ok bool, err error) {
	b, ok, err := e.Store.Get(ctx, id)
	if ok && err == nil {
		err = s.UnmarshalBinary(b)
	}
	return s, ok && err == nil, err
}

// Set encodes the state of id.
func (e Encoded) Set(ctx context.Context, id string, s engine.State) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	return e.Store.Set(ctx, id, b)
}

// TestMachine lets the engine's machine live on a store of its states, many
// conversations at once, another machine for each input. Open makes an empty
// store, and returns how to come back to what is in it: a store that outlives
// its process is opened again there.
func TestMachine(t *testing.T, open func() (reopen func() mealy.Store[engine.State])) {
	ctx := context.Background()
	long := strings.Repeat("It is a long story, and a dull one. ", 2500)
	talk := func(id string) []event.Event {
		var all []event.Event
		say := func(data ...event.Data) {
			for _, d := range data {
				all = append(all, event.Event{At: time.UnixMilli(1_700_000_000_000 + int64(len(all))).UTC(), Data: d})
			}
		}
		say(event.UserMessage{ID: "u" + id, Content: event.Say("Hello")}, event.MessageStart{MessageID: "m" + id, Model: "x"},
			event.ThinkingDelta{Text: "hm"}, event.ThinkingDelta{Signature: "sig"}, event.TextDelta{Text: "half a letter: \xc3"}, event.TextDelta{Text: "\xa9"},
			event.ToolUseStart{ToolCallID: "c" + id, ToolName: "look"}, event.InputJSONDelta{PartialJSON: `{"at":`}, event.InputJSONDelta{PartialJSON: `1}`},
			event.ToolUseStop{}, event.MessageStop{StopReason: event.ToolUse}, event.ToolResult{ToolCallID: "c" + id, Result: event.Output{Text: id}},
			event.MessageStart{MessageID: "n" + id, Model: "x"})
		for i := 0; i < len(long); i += 15_000 {
			say(event.TextDelta{Text: long[i:min(len(long), i+15_000)]})
		}
		say(event.MessageDelta{Usage: event.Usage{OutputTokens: 7}}, event.MessageStop{StopReason: event.EndTurn},
			event.UserMessage{ID: "v" + id, Content: event.Say("And now?")}, event.ErrorReceived{Message: "no more"})
		return all
	}
	for name, often := range map[string]int{"by one machine": 0, "by another machine for each input": 1, "by another machine now and then": 7} {
		t.Run(name, func(t *testing.T) {
			reopen := open()
			machine := &mealy.Machine[engine.State, event.Event]{Process: engine.Step, Store: reopen()}
			ids := []string{"a", "B/../b", ""}
			want, told := map[string]*engine.State{}, 0
			for _, id := range ids {
				want[id] = new(engine.State)
			}
			for i := range talk("") {
				for _, id := range ids {
					if told++; often > 0 && told%often == 0 {
						machine = &mealy.Machine[engine.State, event.Event]{Process: engine.Step, Store: reopen()}
					}
					in := talk(id)[i]
					outs, err := machine.Input(ctx, id, in)
					if err != nil {
						t.Fatal(err)
					}
					var follows []event.Event
					for e := range mealy.Follow(engine.Step, want[id], in) {
						follows = append(follows, e)
					}
					if got, want := Lines(t, outs), Lines(t, follows); !bytes.Equal(got, want) {
						t.Fatalf("from input %d of %q follows\n%s\nwant\n%s", i, id, got, want)
					}
				}
			}
			if err := machine.Close(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				s, ok, err := reopen().Get(ctx, id)
				if err != nil || ok != (id != "a") || ok && s.Phase() != engine.Failed {
					t.Errorf("in the end %q is %s, there: %v, %v", id, s.Phase(), ok, err)
				}
			}
		})
	}
}
