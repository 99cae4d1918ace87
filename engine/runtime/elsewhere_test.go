package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/runtime"

	"github.com/google/go-cmp/cmp"
)

// branch is a runtime among others that share what is kept and nothing else.
func branch(t *testing.T, memory *runtime.Memory, name string) runtime.Client {
	w := open(t, memory)
	w.Config.Sessions = memory
	w.Config.NewID = prefixed(w.Config.NewID, name)
	w.Config.Define = func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
		return runtime.Definition{Model: c.Model, Driver: engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			answer := slices.Collect(streamed(witness.Receive(ctx, req)))
			steps := []script.Step{{Event: answer[0]}, {Event: answer[1]}, {After: time.Second, Event: answer[2]}}
			return script.Driver{Speed: 1, Steps: steps}.Receive(ctx, req)
		})}, nil
	}
	if err := w.Serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	c := runtime.Client{Timeline: w.Bus, Now: w.Now, NewID: w.Config.NewID}
	if err := c.Container(t.Context(), "home"); err != nil {
		t.Fatal(err)
	}
	return c
}

func prefixed(mint func(string) string, name string) func(string) string {
	return func(prefix string) string { return name + mint(prefix) }
}

func streamed(all iter.Seq2[event.Stream, error]) iter.Seq[event.Stream] {
	return func(yield func(event.Stream) bool) {
		for e := range all {
			if !yield(e) {
				return
			}
		}
	}
}

// Three runtimes share a database and nothing else. Whichever is asked next
// answers with all that was said, wherever it was said; and while one answers
// in a session, the others leave that alone and answer in others (F119, F121).
func TestAnyRuntimeAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var memory runtime.Memory
		branches := []runtime.Client{branch(t, &memory, "a"), branch(t, &memory, "b"), branch(t, &memory, "c")}
		ctx := t.Context()
		want := ""
		for i := range 6 {
			c := branches[(i*i+1)%3] // b, c, c, b, c, c
			a := run(t, c, runtime.AgentRunRequest{SessionID: "s"})
			if err := errors.Join(c.Receive(ctx, a.AgentID, event.Say(fmt.Sprint(i))), c.Destroy(ctx, a.AgentID)); err != nil {
				t.Fatal(err)
			}
			want = strings.TrimSpace(fmt.Sprintf("%s %d?", want, i))
			answer := "[" + want + "]"
			if got := last(t, branches[0], "s"); got != answer {
				t.Fatalf("message %d was answered with %q, want %q", i, got, answer)
			}
			want += " " + answer + "!"
		}
		here, there := branches[0], branches[1]
		a := run(t, here, runtime.AgentRunRequest{SessionID: "s"})
		done := make(chan error, 1)
		go func() { done <- here.Receive(ctx, a.AgentID, event.Say("stay")) }() // ends with its answer
		synctest.Wait()
		if _, err := there.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", SessionID: "s"}); !errors.Is(err, engine.ErrInUse) {
			t.Errorf("a second runtime in a session that is answered: %v", err)
		}
		b := run(t, there, runtime.AgentRunRequest{SessionID: "t"})
		if err := errors.Join(there.Receive(ctx, b.AgentID, event.Say("beside")), <-done); err != nil {
			t.Error(err)
		}
	})
}

// A driver is told whose the message is, what that agent is and what was said
// before; it is a copy, and what one makes of it no other sees (F11, F12, F85).
func TestWhatADriverIsTold(t *testing.T) {
	var asked []engine.Request
	nosy := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		asked = append(asked, req)
		req.Model, req.System, req.Agent = "another", "be rude", "somebody"
		return say("Hi").Receive(ctx, req)
	})
	w := open(t, &runtime.Memory{})
	warm := 0.7
	var agents []*runtime.Agent
	for _, model := range []string{"one", "two"} {
		d := runtime.Definition{Name: model, Driver: nosy, Model: model, System: "be kind", Options: engine.Options{MaxTokens: 9, Temperature: &warm, Effort: "low"}}
		agents = append(agents, w.Container("c").Run(d, event.SessionID("session of "+model)))
	}
	for _, a := range []int{0, 1, 0} {
		if err := agents[a].Receive(t.Context(), event.Say("hello")); err != nil {
			t.Error(err)
		}
	}
	var got []string
	for _, req := range asked {
		var said []string
		for m := range req.Messages() {
			said = append(said, word(m))
		}
		if req.Created.IsZero() {
			t.Errorf("%s was never made", req.Agent)
		}
		got = append(got, fmt.Sprintf("%s in %s: %s, %s, %d %v %s: %s", req.Agent, req.Session, req.Model, req.System,
			req.Options.MaxTokens, *req.Options.Temperature, req.Options.Effort, strings.Join(said, " ")))
	}
	want := []string{
		"agent_1 in session of one: one, be kind, 9 0.7 low: hello?",
		"agent_2 in session of two: two, be kind, 9 0.7 low: hello?",
		"agent_1 in session of one: one, be kind, 9 0.7 low: hello? Hi! hello?",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !asked[0].Created.Equal(asked[2].Created) || !asked[0].Created.Before(asked[1].Created) {
		t.Errorf("made at %v, %v, %v", asked[0].Created, asked[1].Created, asked[2].Created)
	}
	w.since()
}

// Who interrupts by a command stops the answer: both commands are answered, and
// what had come is kept (F110).
func TestAnInterruptByCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := serve(t)
		a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "slow"}})
		done := make(chan error, 1)
		go func() { done <- c.Receive(t.Context(), a.AgentID, event.Say("hello")) }() // ends with its answer
		synctest.Wait()
		w.since()
		began := time.Now()
		if err := c.Interrupt(t.Context(), a.AgentID, event.ByBudget); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, engine.Interrupt(event.ByBudget)) || time.Since(began) > 0 {
			t.Errorf("ended after %v with %v", time.Since(began), err)
		}
		if got := w.types("command/"); got != "agent_interrupt_request agent_interrupt_response agent_receive_response" && got != "agent_interrupt_request agent_receive_response agent_interrupt_response" {
			t.Errorf("told %s", got)
		}
		events, _, err := c.Messages(t.Context(), a.SessionID, 0, 0)
		var said []string
		for _, m := range runtime.Messages(events) {
			said = append(said, word(m))
		}
		if got := strings.Join(said, " "); err != nil || got != "hello? Well…" {
			t.Errorf("kept %q, %v", got, err)
		}
	})
}

// A typewriter, a spinner, a history and a bill listen to one layer each of the
// same answer, and each has all that it needs (F47).
func TestEachLayerServesItsConsumer(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	var typed strings.Builder
	var spins, history []string
	var bill event.USD
	bus.On(w.Bus, func(_ bus.SystemEvent, s event.Stream) {
		if d, ok := s.(event.TextDelta); ok {
			typed.WriteString(d.Text)
		}
	})
	phase := engine.Idle
	bus.On(w.Bus, func(_ bus.SystemEvent, s event.State) {
		if next := phase.Next(s); next != phase {
			phase = next
			spins = append(spins, phase.String())
		}
	})
	bus.On(w.Bus, func(_ bus.SystemEvent, m event.Message) { history = append(history, word(m)) })
	bus.On(w.Bus, func(_ bus.SystemEvent, d event.Turn) {
		if r, ok := d.(event.TurnResponse); ok {
			bill += *r.CostUSD
		}
	})
	driver := script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "It is "},
		event.ToolUseStart{ToolCallID: "c", ToolName: "clock"}, event.ToolUseStop{ToolCallID: "c"},
		event.ToolResult{ToolCallID: "c", Result: event.Output{Text: "12:00"}},
		event.TextDelta{Text: "noon."}, event.MessageDelta{Usage: event.Usage{OutputTokens: 2}}, event.MessageStop{StopReason: event.EndTurn})
	cents := func(_ string, u event.Usage) (event.USD, bool) {
		return event.USD(u.OutputTokens) * event.Dollar / 100, true
	}
	a := w.Container("c").Run(runtime.Definition{Driver: driver, Price: cents}, "s")
	for range 2 {
		if err := a.Receive(t.Context(), event.Say("time?")); err != nil {
			t.Error(err)
		}
	}
	turn := "thinking responding planning_tool awaiting_tool_result responding idle"
	if got := strings.Join(spins, " "); got != turn+" "+turn {
		t.Errorf("the spinner showed %s", got)
	}
	if got := strings.Join(history, " "); typed.String() != "It is noon.It is noon." || got != kept(t, &j, "s") || bill != 4*event.Dollar/100 {
		t.Errorf("typed %q; history %q, kept %q; %s to pay", typed.String(), got, kept(t, &j, "s"), bill)
	}
	w.since()
}
