package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/enginetest"
	"agentx/engine/event"
)

func hello(id string) engine.Request {
	return engine.Request{Agent: "agent_1", Message: event.UserMessage{ID: id, Content: event.Say("Hello"), Timestamp: 1000}}
}

func answers(text string) script.Driver {
	return script.Say(event.MessageStart{MessageID: "m", Model: "mock"}, event.TextDelta{Text: text}, event.MessageStop{StopReason: event.EndTurn})
}

// A notebook is a presenter that writes down the types of what it sees.
type notebook struct {
	mu    sync.Mutex
	lines []string
}

func (n *notebook) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, e.Data.Type())
	return nil
}

func (n *notebook) String() string { return strings.Join(n.lines, " ") }

const whole = "user_message turn_request message_start conversation_start text_delta conversation_responding message_stop assistant_message conversation_end turn_response"

// From a driver's three events follow ten, causes before effects (F1, F26).
func TestAnAnswerInAllItsLayers(t *testing.T) {
	var seen notebook
	e := engine.Engine{Driver: answers("Hi"), Presenters: []engine.Presenter{&seen}, Now: enginetest.Clock()}
	if err := e.Receive(t.Context(), hello("u")); err != nil {
		t.Fatal(err)
	}
	if seen.String() != whole {
		t.Errorf("seen %s, want %s", &seen, whole)
	}
}

// A presenter that fails or panics hinders neither the engine nor the other
// presenters. It fails once in the result, however often it failed (F18).
func TestPresentersThatFail(t *testing.T) {
	var seen notebook
	full := errors.New("the disk is full")
	e := engine.Engine{Driver: answers("Hi"), Presenters: []engine.Presenter{
		engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return full }),
		engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { panic("oh") }),
		&seen,
	}}
	for range 2 { // the second answer is as good as the first
		err := e.Receive(t.Context(), hello("u"))
		p, ok := errors.AsType[*engine.PresenterError](err)
		if !errors.Is(err, full) || !ok || p.Index != 0 || p.Event != "user_message" || !strings.Contains(err.Error(), "oh") {
			t.Errorf("Receive() = %v", err)
		}
		if n := strings.Count(err.Error(), "disk"); n != 1 {
			t.Errorf("the same failure is told %d times", n)
		}
	}
	if want := whole + " " + whole; seen.String() != want {
		t.Errorf("the third presenter saw %s, want %s", &seen, want)
	}
}

// A presenter of a layer or of a type is shown nothing else (F20, F22).
func TestPresentersOfOneKind(t *testing.T) {
	var got []string
	note := func(kind string, d event.Data) error {
		got = append(got, kind+":"+d.Type())
		return nil
	}
	e := engine.Engine{Driver: answers("Hi"), Presenters: []engine.Presenter{
		engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Turn) error { return note("turn", d) }),
		engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Message) error {
			return note("message", d)
		}),
		engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.TextDelta) error { return note("text", d) }),
	}}
	if err := e.Receive(t.Context(), hello("u")); err != nil {
		t.Fatal(err)
	}
	want := "message:user_message turn:turn_request text:text_delta message:assistant_message turn:turn_response"
	if strings.Join(got, " ") != want {
		t.Errorf("presented %s, want %s", got, want)
	}
}

// However a driver ends, the turn is closed, what had come is kept, and the
// engine says what happened (F7).
func TestHoweverADriverEnds(t *testing.T) {
	part := []event.Stream{event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"}}
	after := func(last func(yield func(event.Stream, error) bool)) engine.Driver {
		return engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
			return func(yield func(event.Stream, error) bool) {
				for _, e := range part {
					if !yield(e, nil) {
						return
					}
				}
				last(yield)
			}
		})
	}
	for name, c := range map[string]struct {
		driver engine.Driver
		code   event.ErrorCode
	}{
		"it panics":    {after(func(func(event.Stream, error) bool) { panic("oh") }), event.CodeInternal},
		"it just ends": {after(func(func(event.Stream, error) bool) {}), event.CodeIncomplete},
		"it fails":     {after(func(y func(event.Stream, error) bool) { y(nil, errors.New("oh")) }), event.CodeInternal},
		"it fails and says": {after(func(y func(event.Stream, error) bool) {
			y(nil, fmt.Errorf("reading: %w", &engine.Fault{Code: event.CodeNetwork, Message: "reset"}))
		}), event.CodeNetwork},
	} {
		t.Run(name, func(t *testing.T) {
			var kept event.AssistantMessage
			var failed event.ErrorMessage
			responses := 0
			e := engine.Engine{Driver: c.driver, Presenters: []engine.Presenter{
				engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, m event.AssistantMessage) error {
					kept = m
					return nil
				}),
				engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, m event.ErrorMessage) error {
					failed = m
					return nil
				}),
				engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, m event.TurnResponse) error {
					responses++
					return nil
				}),
			}}
			err := e.Receive(t.Context(), hello("u"))
			if engine.FaultOf(err).Code != c.code || failed.ErrorCode != c.code {
				t.Errorf("Receive() = %v, shown as %s; want %s", err, failed.ErrorCode, c.code)
			}
			if kept.Content.Text() != "Hi" || !kept.Incomplete || responses != 1 {
				t.Errorf("kept %+v, %d responses", kept, responses)
			}
		})
	}
}

// A panic of the listener is the listener's; the driver is not blamed for it.
func TestAPanicOfTheListenerIsItsOwn(t *testing.T) {
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v", p)
		}
	}()
	for range (engine.Engine{Driver: answers("Hi")}).Events(t.Context(), hello("u")) {
		panic("mine")
	}
}

// Esc: the answer ends at once, is kept as far as it came, and everybody is
// shown its end; saving is not interrupted with it (F10, F63).
func TestInterrupting(t *testing.T) {
	for cause, want := range map[error]event.InterruptReason{
		engine.Interrupt(event.ByUser):   event.ByUser,
		engine.Interrupt(event.ByBudget): event.ByBudget,
		context.DeadlineExceeded:         event.ByTimeout,
		errors.New("somebody"):           event.BySystem,
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := script.Driver{Speed: 1, Steps: []script.Step{
				{Event: event.MessageStart{MessageID: "m"}}, {Event: event.TextDelta{Text: "Once"}}, {After: time.Hour, Event: event.TextDelta{Text: " upon"}},
			}}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			time.AfterFunc(time.Second, func() { cancel(cause) })
			var told event.Interrupted
			var kept event.AssistantMessage
			dead := 0
			e := engine.Engine{Driver: slow, Now: time.Now, Presenters: []engine.Presenter{
				engine.PresenterFunc(func(ctx context.Context, _ event.AgentID, _ event.Event) error {
					if ctx.Err() != nil {
						dead++
					}
					return nil
				}),
				engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Interrupted) error { told = d; return nil }),
				engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.AssistantMessage) error {
					kept = d
					return nil
				}),
			}}
			began := time.Now()
			err := e.Receive(ctx, hello("u"))
			if took := time.Since(began); took != time.Second || !errors.Is(err, cause) {
				t.Errorf("ended after %v with %v", took, err)
			}
			if told.Reason != want || kept.Content.Text() != "Once" || !kept.Incomplete || kept.StopReason != event.StopInterrupted {
				t.Errorf("told %q, want %q; kept %+v", told.Reason, want, kept)
			}
			if dead > 0 {
				t.Errorf("%d events were presented under a cancelled context", dead)
			}
		})
	}
}

// An answer that was complete before the interrupt is complete.
func TestInterruptingTooLate(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var seen notebook
	e := engine.Engine{Driver: answers("Hi"), Presenters: []engine.Presenter{&seen, engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, _ event.MessageStop) error {
		cancel(engine.Interrupt(event.ByUser))
		return nil
	})}}
	if err := e.Receive(ctx, hello("u")); err != nil || seen.String() != whole {
		t.Errorf("seen %s, %v", &seen, err)
	}
}

// One engine is a value that any number of agents use at once, and nothing of
// one answer is seen in another (F4, F6).
func TestOneEngineForAll(t *testing.T) {
	echo := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		pieces := []event.Stream{event.MessageStart{MessageID: "m_" + req.Message.ID, Model: "mock"}}
		for range 50 {
			pieces = append(pieces, event.TextDelta{Text: req.Message.ID + " "})
		}
		return script.Say(append(pieces, event.MessageStop{StopReason: event.EndTurn})...).Receive(ctx, req)
	})
	var mu sync.Mutex
	byAgent := map[event.AgentID][]event.Event{}
	e := engine.Engine{Driver: echo, Now: time.Now, Presenters: []engine.Presenter{engine.PresenterFunc(func(_ context.Context, id event.AgentID, ev event.Event) error {
		mu.Lock()
		defer mu.Unlock()
		byAgent[id] = append(byAgent[id], ev)
		return nil
	})}}
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() { // ends with its answer
			req := hello(fmt.Sprint("u", i))
			req.Agent = event.AgentID(fmt.Sprint("agent_", i))
			if err := e.Receive(context.Background(), req); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range 100 {
		events := byAgent[event.AgentID(fmt.Sprint("agent_", i))]
		at := slices.IndexFunc(events, func(ev event.Event) bool { return ev.Data.Type() == "assistant_message" })
		if at < 0 {
			t.Fatalf("agent %d has no answer", i)
		}
		m := events[at].Data.(event.AssistantMessage)
		if want := strings.Repeat(fmt.Sprint("u", i, " "), 50); m.Content.Text() != want || m.ParentID != fmt.Sprint("u", i) {
			t.Errorf("agent %d was answered %q", i, m.Content.Text())
		}
	}
}

func TestErrorsKeepTheirKind(t *testing.T) {
	cause := errors.New("reset by peer")
	f := &engine.Fault{Code: event.CodeNetwork, Message: "the connection was closed", Retryable: true, Err: cause}
	if got := engine.FaultOf(fmt.Errorf("reading: %w", f)); got != f || !errors.Is(got, cause) {
		t.Errorf("FaultOf() = %+v", got)
	}
	if got := engine.FaultOf(cause); got.Code != event.CodeInternal || got.Message != "reset by peer" {
		t.Errorf("FaultOf() = %+v", got)
	}
}
