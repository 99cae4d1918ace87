package runtime_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whoever else writes to a session, its agent asks with all that was said in it:
// what it keeps of that is never behind, nor before, what the journal has. A
// driver may do with the history it is given what it likes.
func TestAnAgentKnowsWhatTheJournalKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j runtime.Memory
		ctx := context.Background()
		minted := 0
		r := runtime.New(runtime.Config{Bus: &bus.Bus{}, Journal: &j, Now: time.Now, NewID: func(prefix string) string {
			minted++
			return fmt.Sprint(prefix, minted)
		}})
		greedy := engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			want, _, err := j.Messages(ctx, req.Session, 0)
			if diff := cmp.Diff(want, append(req.History, req.Message)); err != nil || diff != "" {
				t.Fatalf("asked with another past than the journal's: -want +got\n%s%v", diff, err)
			}
			_ = append(req.History, event.UserMessage{ID: "not said"})
			id := fmt.Sprint("m", len(want))
			return func(yield func(event.Stream, error) bool) {
				_ = yield(event.MessageStart{MessageID: id}, nil) && yield(event.TextDelta{Text: strings.Repeat("long ", len(want))}, nil) &&
					yield(event.ToolUseStart{ToolCallID: "c", ToolName: "t"}, nil) && yield(event.ToolUseStop{}, nil) &&
					yield(event.MessageStop{StopReason: event.EndTurn}, nil)
			}
		})
		agents := map[event.SessionID]*runtime.Agent{}
		agent := func(id event.SessionID) *runtime.Agent {
			if agents[id] == nil {
				agents[id] = r.Container("c").Run(runtime.Definition{Driver: greedy}, id)
			}
			return agents[id]
		}
		session := func() event.SessionID {
			return rapid.SampledFrom([]event.SessionID{"one", "two", "three"}).Draw(t, "session")
		}
		say := func(a *runtime.Agent) {
			if err := a.Receive(ctx, event.Say("hello")); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"say":       func(*rapid.T) { say(agent(session())) },
			"a newborn": func(*rapid.T) { id := session(); delete(agents, id); say(agent(id)) },
			"another agent": func(*rapid.T) {
				say(r.Container("d").Run(runtime.Definition{Driver: greedy}, session()))
			},
			"a fork": func(*rapid.T) {
				from, to := session(), session()
				if said, _, _ := j.Messages(ctx, from, 0); len(said) == 0 || from == to {
					return
				}
				_ = j.Delete(ctx, to) // if it is there
				if err := j.ForkBefore(ctx, from, to, ""); err != nil {
					t.Fatal(err)
				}
				delete(agents, to)
			},
			"an import": func(*rapid.T) {
				id := session()
				if err := j.Presenter(id).Present(ctx, "", event.Event{Data: event.UserMessage{ID: "i", Content: event.Say("from elsewhere")}}); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// A session that was deleted and begun anew is read from its beginning.
func TestAnotherSessionOfThatID(t *testing.T) {
	var j runtime.Memory
	a := open(t, &j).Container("c").Run(runtime.Definition{Driver: witness}, "s")
	for range 3 {
		if err := a.Receive(t.Context(), event.Say("a")); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := a.Receive(t.Context(), event.Say("b")); err != nil {
		t.Fatal(err)
	}
	if got, want := kept(t, &j, "s"), "b? [b?]!"; got != want {
		t.Errorf("kept\n%s\nwant\n%s", got, want)
	}
}

// What is too much to be kept is read again, and is all there.
func TestAPastTooLongToKeep(t *testing.T) {
	var j runtime.Memory
	var asked []int
	d := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		asked = append(asked, len(req.History))
		return say("seen").Receive(ctx, req)
	})
	a := open(t, counted{&j, &asked}).Container("c").Run(runtime.Definition{Driver: d}, "s")
	for range 3 {
		picture := event.Content{event.Image{MediaType: "image/png", Data: make([]byte, 20<<20)}}
		if err := a.Receive(t.Context(), picture); err != nil {
			t.Fatal(err)
		}
	}
	// Where it was read from, and how much the model was asked with.
	if diff := cmp.Diff([]int{0, 0, 0, 2, 4, 4}, asked); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A counted journal notes from where it is read.
type counted struct {
	*runtime.Memory
	from *[]int
}

func (c counted) Messages(ctx context.Context, id event.SessionID, seq int64) ([]event.Message, int64, error) {
	*c.from = append(*c.from, int(seq))
	return c.Memory.Messages(ctx, id, seq)
}
