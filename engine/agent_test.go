package engine_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

func agent(d engine.Driver) *engine.Agent {
	return engine.NewAgent(engine.AgentConfig{ID: "agent_1", Engine: engine.Engine{Driver: d, Now: time.Now}})
}

// echo answers each message with itself, after a second.
func echo() engine.Driver {
	return engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		d := answers(req.Message.Content.Text())
		d.Speed, d.Steps[1].After = 1, time.Second
		return d.Receive(ctx, req)
	})
}

// A late message waits its turn, is announced, and is answered in order.
func TestMessagesWaitTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agent(echo())
		var said []string
		queued := 0
		a.React(
			engine.To(func(m event.AssistantMessage) { said = append(said, m.Content.Text()) }),
			engine.To(func(event.ConversationQueued) { queued++ }),
		)
		var all sync.WaitGroup
		for _, text := range []string{"one", "two", "three"} {
			all.Go(func() { // ends with its answer
				if err := a.Say(t.Context(), text); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			})
			synctest.Wait()
		}
		if n := len(a.Queue()); n != 2 || queued != 2 {
			t.Errorf("%d wait, %d were announced, want 2", n, queued)
		}
		all.Wait()
		if want := []string{"one", "two", "three"}; !slices.Equal(said, want) || len(a.Queue()) != 0 {
			t.Errorf("said %q, want %q", said, want)
		}
	})
}

func TestAMessageIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agent(echo())
		var first, second error
		var all sync.WaitGroup
		all.Go(func() { first = a.Say(t.Context(), "one") }) // ends with its answer
		synctest.Wait()
		all.Go(func() { // ends when it is taken back
			second = a.Receive(t.Context(), event.UserMessage{ID: "u2", Content: event.Say("two")})
		})
		synctest.Wait()
		m, ok := a.TakeBack("u2")
		all.Wait()
		if !ok || m.Content.Text() != "two" || !errors.Is(second, engine.ErrWithdrawn) || first != nil {
			t.Errorf("took back %+v, %v; %v, %v", m, ok, first, second)
		}
		if _, ok := a.TakeBack("u2"); ok {
			t.Error("it was taken back twice")
		}
	})
}

// A driver that fails, and handlers that panic, leave the agent ready for the
// next message.
func TestAFailedAnswerDoesNotHinderTheNext(t *testing.T) {
	broken := script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"})
	broken.Steps = append(broken.Steps, script.Step{Err: &engine.Fault{Code: event.CodeNetwork, Message: "socket closed"}})
	a := agent(script.Turns{broken, broken})
	var phases []string
	a.OnPhase(func(c engine.PhaseChange) { phases = append(phases, c.Current.String()) })
	a.On(func(event.Event) { panic("a handler") }, "text_delta")
	for range 2 {
		if err := a.Say(t.Context(), "Hello"); engine.FaultOf(err).Code != event.CodeNetwork {
			t.Fatalf("Say() = %v", err)
		}
		if a.Phase() != engine.Failed {
			t.Errorf("after an error the agent is %s", a.Phase())
		}
	}
	if want := "thinking responding error thinking responding error"; strings.Join(phases, " ") != want {
		t.Errorf("phases = %s, want %s", phases, want)
	}
}

func TestHandlersAreFoundByType(t *testing.T) {
	a := agent(answers("Hi"))
	var got []string
	note := func(who string) func(event.Event) {
		return func(e event.Event) { got = append(got, who+":"+e.Data.Type()) }
	}
	stop := a.On(note("once"), "text_delta")
	a.On(note("several"), "text_delta", "message_stop")
	a.OnEach(map[string]func(event.Event){"turn_response": note("map")})
	a.React(engine.To(func(d event.Turn) { got = append(got, "layer:"+d.Type()) }))
	all := 0
	a.On(func(event.Event) { all++ })
	if err := a.Say(t.Context(), "Hello"); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := a.Say(t.Context(), "Hello"); err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	want := "layer:turn_request layer:turn_request layer:turn_response layer:turn_response map:turn_response map:turn_response " +
		"once:text_delta several:message_stop several:message_stop several:text_delta several:text_delta"
	if s := strings.Join(got, " "); s != want || all != 20 {
		t.Errorf("handled %s and %d, want %s and 20", s, all, want)
	}
}

// Middleware is an onion around the answer: it may change the message, or not
// have it answered at all.
func TestMiddleware(t *testing.T) {
	var order []string
	layer := func(name string) engine.Middleware {
		return func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
			order = append(order, name+" in")
			defer func() { order = append(order, name+" out") }()
			if m.Content.Text() == "stop" {
				return nil
			}
			m.Content = event.Say(m.Content.Text() + " " + name)
			return next(ctx, m)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var said []string
		a := agent(echo())
		a.React(engine.To(func(m event.AssistantMessage) { said = append(said, m.Content.Text()) }))
		a.Use(layer("a"))
		stop := a.Use(layer("b"))
		for _, text := range []string{"Hello", "stop"} {
			if err := a.Say(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		stop()
		if err := a.Say(t.Context(), "Bye"); err != nil {
			t.Fatal(err)
		}
		if want := []string{"Hello a b", "Bye a"}; !slices.Equal(said, want) {
			t.Errorf("said %q, want %q", said, want)
		}
	})
	if want := "a in,b in,b out,a out,a in,a out,a in,a out"; strings.Join(order, ",") != want {
		t.Errorf("order = %s, want %s", strings.Join(order, ","), want)
	}
}

// An interceptor rewrites what presenters and handlers see, or drops it. What
// the engine assembles is what the driver said.
func TestInterceptors(t *testing.T) {
	var seen notebook
	a := engine.NewAgent(engine.AgentConfig{ID: "agent_1", Engine: engine.Engine{Driver: answers("secret"), Presenters: []engine.Presenter{&seen}}})
	var shown, kept string
	a.React(
		engine.To(func(d event.TextDelta) { shown = d.Text }),
		engine.To(func(m event.AssistantMessage) { kept = m.Content.Text() }),
	)
	a.Intercept(func(e event.Event) (event.Event, bool) {
		if _, ok := e.Data.(event.TextDelta); ok {
			e.Data = event.TextDelta{Text: "***"}
		}
		return e, event.LayerOf(e.Data) != event.StateLayer
	})
	if err := a.Say(t.Context(), "Hello"); err != nil {
		t.Fatal(err)
	}
	if shown != "***" || kept != "secret" {
		t.Errorf("shown %q, kept %q", shown, kept)
	}
	if want := "user_message turn_request message_start text_delta message_stop assistant_message turn_response"; seen.String() != want {
		t.Errorf("seen %s, want %s", &seen, want)
	}
}

func TestInterruptingAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agent(echo())
		if a.Interrupt(event.ByUser) {
			t.Error("there was nothing to interrupt")
		}
		time.AfterFunc(time.Second/2, func() { a.Interrupt(event.ByUser) })
		if err := a.Say(t.Context(), "one"); !errors.Is(err, engine.Interrupt(event.ByUser)) || a.Phase() != engine.Idle {
			t.Errorf("Say() = %v, and the agent is %s", err, a.Phase())
		}
		if err := a.Say(t.Context(), "two"); err != nil {
			t.Errorf("the next message: %v", err)
		}
	})
}

func TestDestroying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := agent(echo())
		ready, destroyed := 0, 0
		a.OnReady(func() { ready++ })
		a.OnDestroy(func() { destroyed++ })
		var running, waiting error
		var all sync.WaitGroup
		all.Go(func() { running = a.Say(t.Context(), "one") }) // ends when the agent is destroyed
		synctest.Wait()
		all.Go(func() { waiting = a.Say(t.Context(), "two") }) // likewise
		synctest.Wait()
		began := time.Now()
		for range 2 {
			if err := a.Destroy(t.Context()); err != nil {
				t.Error(err)
			}
		}
		all.Wait()
		if time.Since(began) > 0 || ready != 1 || destroyed != 1 {
			t.Errorf("after %v: ready %d times, destroyed %d times", time.Since(began), ready, destroyed)
		}
		if !errors.Is(running, engine.Interrupt(event.BySystem)) || !errors.Is(waiting, engine.ErrDestroyed) {
			t.Errorf("the running answer: %v; the waiting message: %v", running, waiting)
		}
		if err := a.Say(t.Context(), "three"); !errors.Is(err, engine.ErrDestroyed) {
			t.Errorf("a destroyed agent answers %v", err)
		}
	})
}

// Many at once, from everywhere: each message is answered once, and the agent
// comes to rest.
func TestACrowdedAgent(t *testing.T) {
	a := agent(answers("Hi"))
	var mu sync.Mutex
	answered := 0
	a.React(engine.To(func(event.TurnResponse) { mu.Lock(); answered++; mu.Unlock() }))
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { // ends with its answer
			if err := a.Say(context.Background(), "Hello"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if answered != 100 || a.Phase() != engine.Idle || len(a.Queue()) > 0 {
		t.Errorf("%d answers, then %s with %d waiting", answered, a.Phase(), len(a.Queue()))
	}
	if err := a.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
}
