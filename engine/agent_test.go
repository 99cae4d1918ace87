package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
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

// A scene is an agent and somebody who watches it. The watcher has no lock: it
// relies on being shown one event at a time, and the race detector says when
// it is not.
type scene struct {
	*engine.Agent
	t      *testing.T
	shown  []event.Event
	inside bool
}

func play(t *testing.T, d engine.Driver, also ...engine.Presenter) *scene {
	s := &scene{t: t}
	s.Agent = engine.NewAgent(engine.AgentConfig{
		ID: "agent_1",
		Engine: engine.Engine{
			Driver: d, Now: time.Now,
			Presenters: append([]engine.Presenter{engine.PresenterFunc(s.watch)}, also...),
		},
	})
	return s
}

func (s *scene) watch(ctx context.Context, _ event.AgentID, e event.Event) error {
	if s.inside {
		s.t.Error("two events were shown at once")
	}
	if ctx.Err() != nil {
		s.t.Errorf("%s was shown with a context that is done", e.Data.Type())
	}
	s.inside = true
	s.shown = append(s.shown, e)
	s.inside = false
	return nil
}

// say sends a message that is its own id, and returns a place for its outcome.
// It is in the agent's hands when say returns.
func (s *scene) say(ctx context.Context, text string) *outcome {
	o := &outcome{done: make(chan struct{})}
	began := time.Now()
	go func() {
		defer close(o.done)
		o.err = s.Receive(ctx, message(text))
		o.after = time.Since(began)
	}()
	synctest.Wait()
	return o
}

func message(text string) event.UserMessage {
	return event.UserMessage{ID: text, Content: event.Say(text)}
}

type outcome struct {
	done  chan struct{}
	err   error
	after time.Duration
}

func (o *outcome) wait() error {
	<-o.done
	return o.err
}

// tale is what was shown, in words. Only the types that are named are told; all
// where none is.
func (s *scene) tale(types ...string) string {
	var words []string
	for _, e := range s.shown {
		if len(types) == 0 || slices.Contains(types, e.Data.Type()) {
			words = append(words, word(e.Data))
		}
	}
	return strings.Join(words, " ")
}

func word(d event.Data) string {
	switch d := d.(type) {
	case event.UserMessage:
		return d.ID + "?"
	case event.ConversationQueued:
		return d.MessageID + "~"
	case event.TextDelta:
		return "+" + d.Text
	case event.AssistantMessage:
		if d.Incomplete {
			return d.Content.Text() + "…"
		}
		return d.Content.Text() + "!"
	case event.ConversationEnd:
		return string(d.Reason)
	}
	return d.Type()
}

func (s *scene) want(tale string, types ...string) {
	s.t.Helper()
	if got := s.tale(types...); got != tale {
		s.t.Errorf("shown\n%s\nwant\n%s", got, tale)
	}
}

// closed checks that each turn that was opened was closed, exactly once.
func (s *scene) closed() {
	s.t.Helper()
	open := ""
	for _, e := range s.shown {
		switch d := e.Data.(type) {
		case event.TurnRequest:
			if open != "" {
				s.t.Errorf("turn %s was opened before %s was closed", d.TurnID, open)
			}
			open = d.TurnID
		case event.TurnResponse:
			if d.TurnID != open {
				s.t.Errorf("turn %s was closed while %q was open", d.TurnID, open)
			}
			open = ""
		}
	}
	count := func(name string) int { return strings.Count(s.tale(name), " ") + min(1, len(s.tale(name))) }
	if turns, ends := count("turn_request"), count("conversation_end"); open != "" || turns != ends {
		s.t.Errorf("%d turns with %d ends; open is %q", turns, ends, open)
	}
	if p := s.Phase(); p != engine.Idle && p != engine.Failed {
		s.t.Errorf("the agent came to rest in the phase %v", p)
	}
	if q := s.Queue(); len(q) > 0 {
		s.t.Errorf("%d messages wait for nothing", len(q))
	}
}

var plot = []string{"user_message", "conversation_queued", "assistant_message", "conversation_end"}

// echo answers a message with its own text, in two pieces, and takes a second
// for each.
func echo(text string) script.Driver {
	half := (len(text) + 1) / 2
	return script.Driver{Speed: 1, Steps: []script.Step{
		{Event: event.MessageStart{MessageID: "re:" + text, Model: "mock"}},
		{After: time.Second, Event: event.TextDelta{Text: text[:half]}},
		{After: time.Second, Event: event.TextDelta{Text: text[half:]}},
		{Event: event.MessageStop{StopReason: event.EndTurn}},
	}}
}

var echoes = engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return echo(req.Message.Content.Text()).Receive(ctx, req)
})

// Three messages at once are answered one after the other (F75, F76).
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		one, two, three := s.say(t.Context(), "one"), s.say(t.Context(), "two"), s.say(t.Context(), "three")
		if q := s.Queue(); len(q) != 2 || q[0].ID != "two" || q[1].ID != "three" {
			t.Errorf("%v wait, want two and three", q)
		}
		for i, o := range []*outcome{one, two, three} {
			if err := o.wait(); err != nil || o.after != time.Duration(i+1)*2*time.Second {
				t.Errorf("answer %d came after %v with %v", i+1, o.after, err)
			}
		}
		s.want("one? two~ three~ one! completed two? two! completed three? three! completed", plot...)
		s.closed()
	})
}

// A message that waits can be taken back; the one that is answered, and one
// that is not there, cannot (F76).
func TestTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		one, two, three := s.say(t.Context(), "one"), s.say(t.Context(), "two"), s.say(t.Context(), "three")
		time.Sleep(time.Second)
		if m, ok := s.TakeBack("two"); !ok || m.Content.Text() != "two" {
			t.Errorf("took back %v, %v", m, ok)
		}
		if err := two.wait(); err != engine.ErrWithdrawn || two.after != time.Second {
			t.Errorf("the message that was taken back ended after %v with %v", two.after, err)
		}
		for _, id := range []string{"one", "two", "four"} {
			if m, ok := s.TakeBack(id); ok {
				t.Errorf("took back %v, which does not wait", m)
			}
		}
		if err := errors.Join(one.wait(), three.wait()); err != nil {
			t.Error(err)
		}
		s.want("one? two~ three~ one! completed three? three! completed", plot...)
		s.closed()
	})
}

func TestAWaitingMessageIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		one, two, three := s.say(t.Context(), "one"), s.say(ctx, "two"), s.say(t.Context(), "three")
		time.Sleep(time.Second)
		cancel(enough)
		if err := two.wait(); err != enough || two.after != time.Second {
			t.Errorf("ended after %v with %v, want at once and %v", two.after, err, enough)
		}
		if err := errors.Join(one.wait(), three.wait()); err != nil {
			t.Error(err)
		}
		s.want("one? two~ three~ one! completed three? three! completed", plot...)
		s.closed()
	})
}

// A message that is cancelled just before its turn is not answered, whoever
// hears of it first, and hands its turn on.
func TestAWaitingMessageIsCancelledAsItsTurnComes(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			s := play(t, echoes)
			ctx, cancel := context.WithCancel(t.Context())
			s.Use(func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
				err := next(ctx, m)
				cancel()
				return err
			})
			one, two, three := s.say(t.Context(), "one"), s.say(ctx, "two"), s.say(t.Context(), "three")
			if err := two.wait(); !errors.Is(err, context.Canceled) {
				t.Errorf("ended with %v", err)
			}
			if err := errors.Join(one.wait(), three.wait()); err != nil {
				t.Error(err)
			}
			s.want("one? two~ three~ one! completed three? three! completed", plot...)
			s.closed()
		})
	}
}

// The same where both have happened before it looks: it is still being
// announced when its turn comes, and when it is cancelled.
func TestAMessageIsCancelledWhileItIsAnnounced(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := play(t, echoes)
			s.Use(func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
				err := next(ctx, m)
				time.Sleep(time.Second)
				return err
			})
			s.On(func(event.Event) { time.Sleep(time.Minute) }, "conversation_queued")
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			one := s.say(t.Context(), "one")
			time.Sleep(2500 * time.Millisecond)
			two := s.say(ctx, "two")
			if err := one.wait(); err != nil || one.after != 3*time.Second {
				t.Errorf("the first ended after %v with %v", one.after, err)
			}
			if err := two.wait(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("ended with %v", err)
			}
			if err := s.say(t.Context(), "three").wait(); err != nil {
				t.Error(err)
			}
			s.want("one? one! completed two~ three? three! completed", plot...)
			s.closed()
		})
	}
}

// Whatever a driver does, its answer is closed, and the next is answered.
func TestADriverFailsAndTheNextMessageIsAnswered(t *testing.T) {
	start := event.MessageStart{MessageID: "m"}
	for name, c := range map[string]struct {
		driver engine.DriverFunc
		code   event.ErrorCode
		tale   string
	}{
		"error": {
			func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
				return func(yield func(event.Stream, error) bool) {
					_ = yield(start, nil) && yield(event.TextDelta{Text: "Hi"}, nil) && yield(nil, errors.New("socket closed"))
				}
			},
			event.CodeInternal, "x? Hi… error_message error turn_response",
		},
		"panic in mid-answer": {
			func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
				return func(yield func(event.Stream, error) bool) {
					_ = yield(start, nil) && yield(event.TextDelta{Text: "Hi"}, nil)
					panic("socket closed")
				}
			},
			event.CodeInternal, "x? Hi… error_message error turn_response",
		},
		"panic at once": {
			func(context.Context, engine.Request) iter.Seq2[event.Stream, error] { panic("socket closed") },
			event.CodeInternal, "x? error_message error turn_response",
		},
		"silence": {
			func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
				return func(func(event.Stream, error) bool) {}
			},
			event.CodeIncomplete, "x? error_message error turn_response",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(t, engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
					if req.Message.ID == "x" {
						return c.driver(ctx, req)
					}
					return echoes(ctx, req)
				}))
				told := append([]string{"error_message", "turn_response"}, plot...)
				fault, ok := errors.AsType[*engine.Fault](s.say(t.Context(), "x").wait())
				if !ok || fault.Code != c.code {
					t.Errorf("ended with %+v, want the code %s", fault, c.code)
				}
				s.want(c.tale, told...)
				if s.Phase() != engine.Failed {
					t.Errorf("the phase is %v, want error until something else begins", s.Phase())
				}
				if err := s.say(t.Context(), "next").wait(); err != nil {
					t.Error(err)
				}
				s.want(c.tale+" next? next! completed turn_response", told...)
				s.closed()
			})
		})
	}
}

// A presenter that fails hinders neither the others nor the queue, and says so
// once an answer, not once a piece.
func TestAPresenterFailsAndTheNextMessageIsAnswered(t *testing.T) {
	broken := errors.New("screen is gone")
	for name, fail := range map[string]func() error{
		"error": func() error { return broken },
		"panic": func() error { panic(broken) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				behind := 0
				s := play(t, echoes,
					engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return fail() }),
					engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { behind++; return nil }))
				one, two := s.say(t.Context(), "one"), s.say(t.Context(), "two")
				for _, o := range []*outcome{one, two} {
					err := o.wait()
					if p, ok := errors.AsType[*engine.PresenterError](err); !ok || p.Index != 1 {
						t.Errorf("ended with %v", err)
					}
					if n := strings.Count(err.Error(), broken.Error()); n == 0 || n > 2 { // the queued one was announced, too
						t.Errorf("told %d times:\n%v", n, err)
					}
				}
				s.want("one? two~ one! completed two? two! completed", plot...)
				if behind != len(s.shown) {
					t.Errorf("the presenter behind was shown %d events of %d", behind, len(s.shown))
				}
				s.closed()
			})
		})
	}
}

// What panics around an answer ends the answer at worst; never the program, nor
// the queue.
func TestPanics(t *testing.T) {
	type next = func(context.Context, event.UserMessage) error
	for name, c := range map[string]struct {
		spoil func(*scene)
		tale  string
	}{
		"handler":       {func(s *scene) { s.On(func(event.Event) { panic("oh") }) }, "x? +x + x! completed"},
		"phase handler": {func(s *scene) { s.OnPhase(func(engine.PhaseChange) { panic("oh") }) }, "x? +x + x! completed"},
		"interceptor": {
			func(s *scene) { s.Intercept(func(event.Event) (event.Event, bool) { panic("oh") }) }, "x? +x + x! completed",
		},
		"middleware, before": {
			func(s *scene) { s.Use(func(context.Context, event.UserMessage, next) error { panic("oh") }) }, "",
		},
		"middleware, after": {
			func(s *scene) {
				s.Use(func(ctx context.Context, m event.UserMessage, next next) error { _ = next(ctx, m); panic("oh") })
			},
			"x? +x + x! completed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(t, echoes)
				heard := 0
				s.On(func(event.Event) { heard++ })
				c.spoil(s)
				s.On(func(event.Event) { heard++ })
				err := s.say(t.Context(), "x").wait()
				if err == nil || !strings.Contains(err.Error(), "oh") {
					t.Errorf("the panic became %v", err)
				}
				s.want(c.tale, append(slices.Clone(plot), "text_delta")...)
				if heard != 2*len(s.shown) {
					t.Errorf("others heard %d events, want twice %d", heard, len(s.shown))
				}
				again := s.say(t.Context(), "x")
				behind := s.say(t.Context(), "behind")
				if again.wait() == nil || behind.wait() == nil {
					t.Error("the panic was told once and never again")
				}
				s.closed()
			})
		})
	}
}

// Even where the panic tears an answer apart, nobody is left to watch a
// spinner.
func TestAPriceListPanics(t *testing.T) {
	s := &scene{t: t}
	s.Agent = engine.NewAgent(engine.AgentConfig{ID: "a", Engine: engine.Engine{
		Driver: script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"}, event.MessageDelta{Usage: event.Usage{OutputTokens: 1}},
			event.MessageStop{StopReason: event.EndTurn}),
		Presenters: []engine.Presenter{engine.PresenterFunc(s.watch)},
		Price:      func(string, event.Usage) (event.USD, bool) { panic("no such currency") },
	}})
	err := s.Say(t.Context(), "what is it?")
	if f, ok := errors.AsType[*engine.Fault](err); !ok || f.Code != event.CodeInternal {
		t.Errorf("ended with %v", err)
	}
	s.want("conversation_start conversation_responding error_occurred error", "conversation_start", "conversation_responding", "error_occurred", "conversation_end")
	if s.Phase() != engine.Failed {
		t.Errorf("the phase is %v, want error", s.Phase())
	}
}

// The request for a message may not be had: nothing is begun, and the next may.
func TestARequestFails(t *testing.T) {
	locked := errors.New("locked")
	for name, fail := range map[string]func() error{
		"error": func() error { return locked },
		"panic": func() error { panic(locked) },
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{t: t}
			s.Agent = engine.NewAgent(engine.AgentConfig{
				ID:     "a",
				Engine: engine.Engine{Driver: script.Say(event.MessageStop{StopReason: event.EndTurn}), Presenters: []engine.Presenter{engine.PresenterFunc(s.watch)}},
				Request: func(_ context.Context, m event.UserMessage) (engine.Request, error) {
					if m.ID == "one" {
						return engine.Request{}, fail()
					}
					return engine.Request{Message: m}, nil
				},
			})
			if err := s.Receive(t.Context(), message("one")); err == nil || !strings.Contains(err.Error(), "locked") {
				t.Errorf("ended with %v", err)
			}
			if err := s.Receive(t.Context(), message("two")); err != nil {
				t.Error(err)
			}
			s.want("two? completed", plot...)
			s.closed()
		})
	}
}

// Whenever an answer is interrupted and whatever its driver makes of it: what
// came is kept, the turn closes once, and the agent is idle (F81).
func TestInterrupt(t *testing.T) {
	start, stop := event.MessageStart{MessageID: "m"}, event.MessageStop{StopReason: event.EndTurn}
	text := func(s string) event.TextDelta { return event.TextDelta{Text: s} }
	steps := func(steps ...script.Step) engine.Driver { return script.Driver{Speed: 1, Steps: steps} }
	for name, c := range map[string]struct {
		driver engine.Driver
		at     time.Duration // of the interrupt
		tale   string
		ends   time.Duration
		err    error
	}{
		"before the first word": {
			steps(script.Step{After: 5 * time.Second, Event: start}),
			time.Second, "x? interrupted interrupted", time.Second, engine.Interrupt(event.ByUser),
		},
		"in mid-answer": {
			steps(script.Step{Event: start}, script.Step{Event: text("Hi")}, script.Step{After: 5 * time.Second, Event: stop}),
			time.Second, "x? +Hi interrupted Hi… interrupted", time.Second, engine.Interrupt(event.ByUser),
		},
		"while a tool is at work": {
			steps(script.Step{Event: start}, script.Step{Event: event.ToolUseStart{ToolCallID: "c", ToolName: "ls"}}, script.Step{Event: event.ToolUseStop{ToolCallID: "c"}},
				script.Step{Event: event.MessageStop{StopReason: event.ToolUse}}, script.Step{After: 5 * time.Second, Event: event.ToolResult{ToolCallID: "c"}}),
			time.Second, "x? ! interrupted interrupted", time.Second, engine.Interrupt(event.ByUser),
		},
		"the driver just ends": {
			engine.DriverFunc(func(ctx context.Context, _ engine.Request) iter.Seq2[event.Stream, error] {
				return func(yield func(event.Stream, error) bool) {
					_ = yield(start, nil) && yield(text("Hi"), nil)
					<-ctx.Done()
				}
			}),
			time.Second, "x? +Hi interrupted Hi… interrupted", time.Second, engine.Interrupt(event.ByUser),
		},
		"the driver does not hear it at once": {
			engine.DriverFunc(func(ctx context.Context, _ engine.Request) iter.Seq2[event.Stream, error] {
				return func(yield func(event.Stream, error) bool) {
					if !yield(start, nil) || !yield(text("Hi"), nil) {
						return
					}
					time.Sleep(4 * time.Second)
					if yield(text(" there"), nil) {
						yield(nil, ctx.Err())
					}
				}
			}),
			time.Second, "x? +Hi + there interrupted Hi there… interrupted", 4 * time.Second, engine.Interrupt(event.ByUser),
		},
		"the driver never hears it, and finishes": {
			engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
				return echo("Hi").Receive(context.Background(), req)
			}),
			time.Second, "x? +H +i Hi! completed", 2 * time.Second, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := play(t, c.driver)
				o := s.say(t.Context(), "x")
				time.Sleep(c.at)
				synctest.Wait()
				if !s.Interrupt(event.ByUser) {
					t.Error("there was nothing to interrupt")
				}
				s.Interrupt(event.BySystem) // comes too late to be the reason
				if err := o.wait(); !errors.Is(err, c.err) || o.after != c.ends {
					t.Errorf("ended after %v with %v, want %v and %v", o.after, err, c.ends, c.err)
				}
				s.want(c.tale, "user_message", "text_delta", "interrupted", "assistant_message", "conversation_end")
				if s.Phase() != engine.Idle {
					t.Errorf("the phase is %v, want idle", s.Phase())
				}
				s.closed()
			})
		})
	}
}

func TestInterruptIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		if s.Interrupt(event.ByUser) || len(s.shown) > 0 {
			t.Error("an agent that does nothing was interrupted")
		}
		if err := s.say(t.Context(), "one").wait(); err != nil {
			t.Errorf("the interrupt before it hit it: %v", err)
		}
		if s.Interrupt(event.ByUser) {
			t.Error("an answer was interrupted that had ended")
		}
		s.want("one? one! completed", plot...)
	})
}

// Who interrupts means the running answer; those that wait are answered (F81).
func TestInterruptWhileOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		one, two := s.say(t.Context(), "one"), s.say(t.Context(), "two")
		time.Sleep(time.Second)
		synctest.Wait()
		s.Interrupt(event.ByUser)
		if one.wait() == nil || two.wait() != nil {
			t.Errorf("ended with %v and %v", one.err, two.err)
		}
		s.want("one? two~ on… interrupted two? two! completed", plot...)
		s.closed()
	})
}

// An interrupt that comes between two answers finds the one that has begun,
// however little of it.
func TestInterruptAsTheNextBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		s.React(engine.To(func(m event.UserMessage) {
			if m.ID == "two" && !s.Interrupt(event.ByUser) {
				t.Error("the second answer could not be interrupted")
			}
		}), engine.To(func(r event.TurnResponse) {
			if r.MessageID == "one" {
				s.Interrupt(event.ByUser) // of the first, which needs it no more
			}
		}))
		one, two, three := s.say(t.Context(), "one"), s.say(t.Context(), "two"), s.say(t.Context(), "three")
		if one.wait() != nil || !errors.Is(two.wait(), engine.Interrupt(event.ByUser)) || three.wait() != nil {
			t.Errorf("ended with %v, %v and %v", one.err, two.err, three.err)
		}
		s.want("one? two~ three~ one! completed two? interrupted three? three! completed", plot...)
		s.closed()
	})
}

// Nor is there a gap: a message whose turn has come can be interrupted, though
// it is still being announced that it waits.
func TestInterruptOfAMessageThatIsStillAnnounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		s.Use(func(ctx context.Context, m event.UserMessage, next func(context.Context, event.UserMessage) error) error {
			err := next(ctx, m)
			time.Sleep(time.Second)
			return err
		})
		s.On(func(event.Event) { time.Sleep(time.Minute) }, "conversation_queued")
		one := s.say(t.Context(), "one")
		time.Sleep(2500 * time.Millisecond)
		two := s.say(t.Context(), "two")
		if err := one.wait(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if !s.Interrupt(event.ByUser) {
			t.Error("there was nothing to interrupt")
		}
		if err := two.wait(); !errors.Is(err, engine.Interrupt(event.ByUser)) {
			t.Errorf("ended with %v", err)
		}
		s.want("one? one! completed two~ two? interrupted", plot...)
		s.closed()
	})
}

// The reason is whose it is: a deadline is a timeout, a caller who leaves the
// system.
func TestReasonsOfInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		var reasons []event.InterruptReason
		s.React(engine.To(func(i event.Interrupted) { reasons = append(reasons, i.Reason) }))
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.say(late, "one").wait(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
		gone, cancel := context.WithCancel(t.Context())
		two := s.say(gone, "two")
		cancel()
		if err := two.wait(); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		three := s.say(t.Context(), "three")
		s.Interrupt(event.ByBudget)
		if err := three.wait(); !errors.Is(err, engine.Interrupt(event.ByBudget)) {
			t.Errorf("ended with %v", err)
		}
		if want := []event.InterruptReason{event.ByTimeout, event.BySystem, event.ByBudget}; !slices.Equal(reasons, want) {
			t.Errorf("interrupted by %v, want %v", reasons, want)
		}
		s.closed()
	})
}

// Destroying interrupts what runs, sends away what waits, and tells those who
// wanted to know, once. Then nothing is received and nobody hears anything
// (F80, F82).
func TestDestroy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		heard, told := 0, 0
		s.On(func(event.Event) { heard++ })
		s.OnDestroy(func() { told++ })
		s.OnDestroy(func() { told += 100 })()
		one, two := s.say(t.Context(), "one"), s.say(t.Context(), "two")
		time.Sleep(time.Second)
		synctest.Wait()
		if s.Destroyed() {
			t.Error("destroyed before its time")
		}
		if err := s.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
		if err := one.wait(); !errors.Is(err, engine.Interrupt(event.BySystem)) {
			t.Errorf("the running answer ended with %v", err)
		}
		if err := two.wait(); err != engine.ErrDestroyed || two.after != time.Second {
			t.Errorf("the waiting message ended after %v with %v", two.after, err)
		}
		s.want("one? two~ on… interrupted", plot...)
		s.closed()

		before := heard
		if err := s.Destroy(t.Context()); err != nil {
			t.Errorf("the second time: %v", err)
		}
		if err := s.say(t.Context(), "three").wait(); err != engine.ErrDestroyed {
			t.Errorf("a destroyed agent received: %v", err)
		}
		if !s.Destroyed() || s.Interrupt(event.ByUser) || heard != before || told != 1 {
			t.Errorf("destroyed %v, heard %d more, told %d times", s.Destroyed(), heard-before, told)
		}
		s.OnReady(func() { t.Error("a destroyed agent is ready") })
		s.OnDestroy(func() { told++ })
		if told != 2 {
			t.Error("who asks late was not told that it is destroyed")
		}
	})
}

// A stopped agent refuses, says why, and goes on where it was resumed (F114).
func TestStopAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		one, two := s.say(t.Context(), "one"), s.say(t.Context(), "two")
		time.Sleep(time.Second)
		synctest.Wait()
		if err := s.Stop(t.Context()); err != nil || !s.Stopped() {
			t.Errorf("stopped %v: %v", s.Stopped(), err)
		}
		if err := one.wait(); !errors.Is(err, engine.Interrupt(event.BySystem)) {
			t.Errorf("the running answer ended with %v", err)
		}
		if err := two.wait(); err != engine.ErrStopped {
			t.Errorf("the waiting message ended with %v", err)
		}
		if err := s.say(t.Context(), "three").wait(); err != engine.ErrStopped {
			t.Errorf("a stopped agent received: %v", err)
		}
		if err := errors.Join(s.Stop(t.Context()), s.Resume(), s.Resume()); err != nil || s.Stopped() {
			t.Errorf("resumed: %v", err)
		}
		if err := s.say(t.Context(), "four").wait(); err != nil {
			t.Errorf("a resumed agent did not answer: %v", err)
		}
		s.want("one? two~ on… interrupted four? four! completed", plot...)
		s.closed()
		if err := s.Destroy(t.Context()); err != nil {
			t.Error(err)
		}
		if a, b := s.Stop(t.Context()), s.Resume(); a != engine.ErrDestroyed || b != engine.ErrDestroyed {
			t.Errorf("a destroyed agent was stopped: %v, and resumed: %v", a, b)
		}
	})
}

// Of several messages one is cancelled by its id, running or waiting, and no other.
func TestCancelByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		one, two, three := s.say(t.Context(), "one"), s.say(t.Context(), "two"), s.say(t.Context(), "three")
		time.Sleep(time.Second)
		if s.Cancel("nothing", event.ByUser) {
			t.Error("something that is not there was cancelled")
		}
		if !s.Cancel("two", event.ByTimeout) || !s.Cancel("one", event.ByUser) {
			t.Error("nothing was cancelled")
		}
		if err := one.wait(); !errors.Is(err, engine.Interrupt(event.ByUser)) {
			t.Errorf("the running answer ended with %v", err)
		}
		if err := two.wait(); !errors.Is(err, engine.Interrupt(event.ByTimeout)) {
			t.Errorf("the waiting message ended with %v", err)
		}
		if err := three.wait(); err != nil {
			t.Errorf("the last ended with %v", err)
		}
	})
}

// An agent at rest is ready, and is destroyed at once, though one of those who
// are told breaks down (F80).
func TestDestroyIdle(t *testing.T) {
	s := play(t, echoes)
	ready := 0
	s.OnReady(func() { ready++ })
	s.OnDestroy(func() { panic("oh") })
	told := false
	s.OnDestroy(func() {
		told = true
		if err := s.Say(t.Context(), "hello?"); err != engine.ErrDestroyed {
			t.Errorf("received in its last moment: %v", err)
		}
	})
	err := s.Destroy(t.Context())
	if err == nil || !strings.Contains(err.Error(), "oh") || !told || ready != 1 {
		t.Errorf("destroyed with %v; told %v; ready %d times", err, told, ready)
	}
	if err := s.Destroy(t.Context()); err != nil || len(s.shown) > 0 {
		t.Errorf("the second time: %v; shown %s", err, s.tale())
	}
}

// Who destroys waits for the answer to come to rest, but not for ever (F82).
func TestDestroyAStubbornAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			return echo("no!").Receive(context.Background(), req)
		}))
		o := s.say(t.Context(), "stop")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Destroy(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("gave up after %v with %v", time.Since(began), err)
		}
		if err := s.Destroy(t.Context()); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("at rest after %v with %v", time.Since(began), err)
		}
		if err := o.wait(); err != nil {
			t.Error(err)
		}
		s.want("stop? no!! completed", plot...)
		s.closed()
	})
}

// The first middleware is the outermost skin; it may change the message, and it
// may keep it (F83).
func TestMiddleware(t *testing.T) {
	type next = func(context.Context, event.UserMessage) error
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		var order []string
		skin := func(name string) engine.Middleware {
			return func(ctx context.Context, m event.UserMessage, next next) error {
				order = append(order, "("+name)
				defer func() { order = append(order, name+")") }()
				if m.Content.Text() == "stop at "+name {
					return nil
				}
				m.Content = event.Say(strings.ToUpper(m.Content.Text()) + name)
				return next(ctx, m)
			}
		}
		s.Use(skin("a"))
		peel := s.Use(skin("b"))
		s.Use(skin("c"))
		if err := errors.Join(s.say(t.Context(), "x").wait(), s.say(t.Context(), "stop at a").wait()); err != nil {
			t.Error(err)
		}
		peel()
		if err := s.say(t.Context(), "y").wait(); err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(order, ""), "(a(b(cc)b)a)"+"(aa)"+"(a(cc)a)"; got != want {
			t.Errorf("order %s, want %s", got, want)
		}
		s.want("x? XABc! completed y? YAc! completed", plot...)
		s.closed()
	})
}

// An interceptor rewrites and drops what is shown. What was said stays said:
// the whole message and the phase follow from the stream as it came (F84).
func TestInterceptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		heard := ""
		s.On(func(e event.Event) { heard += word(e.Data) + " " }, "text_delta", "conversation_responding")
		var phases []string
		s.OnPhase(func(c engine.PhaseChange) { phases = append(phases, c.Current.String()) })
		veil := s.Intercept(func(e event.Event) (event.Event, bool) {
			if d, ok := e.Data.(event.TextDelta); ok {
				e.Data = event.TextDelta{Text: strings.Repeat("*", len(d.Text))}
			}
			return e, true
		})
		s.Intercept(func(e event.Event) (event.Event, bool) {
			d, _ := e.Data.(event.TextDelta)
			return e, d.Text != "**" && e.Data.Type() != "conversation_responding"
		})
		s.Intercept(func(e event.Event) (event.Event, bool) {
			if _, ok := e.Data.(event.TurnResponse); ok {
				e.Data = nil
			}
			return e, true
		})
		if err := s.say(t.Context(), "abc").wait(); err != nil {
			t.Error(err)
		}
		s.want("abc? turn_request message_start conversation_start +* message_stop abc! completed")
		veil()
		if err := s.say(t.Context(), "xyz").wait(); err != nil {
			t.Error(err)
		}
		if heard != "+* +xy +z " {
			t.Errorf("handlers heard %q", heard)
		}
		if got := strings.Join(phases, " "); got != "thinking responding idle thinking responding idle" {
			t.Errorf("phases %s", got)
		}
	})
}

// Messages that come as text are numbered, or named by whoever knows how (F75).
func TestSay(t *testing.T) {
	s := play(t, script.Say(event.MessageStop{StopReason: event.EndTurn}))
	named := &scene{t: t}
	named.Agent = engine.NewAgent(engine.AgentConfig{
		ID: "b", NewID: func() string { return "mine" },
		Engine: engine.Engine{Driver: script.Say(event.MessageStop{StopReason: event.EndTurn}), Presenters: []engine.Presenter{engine.PresenterFunc(named.watch)}},
	})
	if err := errors.Join(s.Say(t.Context(), "x"), s.Say(t.Context(), "y"), named.Say(t.Context(), "z")); err != nil {
		t.Error(err)
	}
	s.want("agent_1_1? agent_1_2?", "user_message")
	named.want("mine?", "user_message")
	if m := s.shown[0].Data.(event.UserMessage); m.Content.Text() != "x" || m.Timestamp == 0 {
		t.Errorf("said %+v", m)
	}
}

// Fifty talk to one agent at once, while others interrupt it, take messages
// back and listen. Events are shown one at a time (the watcher has no lock, and
// the race detector looks on), and every turn that began has one end (F76).
func TestACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := play(t, echoes)
		var crowd sync.WaitGroup
		var mu sync.Mutex
		fate := map[string]int{}
		for i := range 50 {
			crowd.Go(func() {
				for j := range 4 {
					time.Sleep(time.Duration(rand.IntN(20)) * time.Second)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+rand.IntN(200))*time.Second)
					err := s.Receive(ctx, message(fmt.Sprintf("%d/%d", i, j)))
					cancel()
					mu.Lock()
					fate[fmt.Sprint(err)]++
					mu.Unlock()
				}
			})
		}
		crowd.Go(func() {
			for range 100 {
				time.Sleep(3 * time.Second)
				s.Interrupt(event.ByUser)
				if q := s.Queue(); len(q) > 0 {
					s.TakeBack(q[rand.IntN(len(q))].ID)
				}
				stop := s.On(func(event.Event) {}, "text_delta")
				defer stop()
			}
		})
		crowd.Wait()
		s.closed()
		total := 0
		for _, n := range fate {
			total += n
		}
		if total != 200 || fate["<nil>"] == 0 || fate[engine.ErrWithdrawn.Error()] == 0 || fate["interrupted by user"] == 0 {
			t.Errorf("what became of them: %v", fate)
		}
		if err := s.say(t.Context(), "and now?").wait(); err != nil {
			t.Errorf("after the crowd: %v", err)
		}
	})
}

// An agent is destroyed in the middle of a crowd: everybody gets an answer, and
// it comes to rest.
func TestACrowdAndItsEnd(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := play(t, echoes)
			var crowd sync.WaitGroup
			for i := range 20 {
				crowd.Go(func() {
					for j := range 3 {
						_ = s.Receive(t.Context(), message(fmt.Sprintf("%d/%d", i, j)))
					}
				})
			}
			for range 3 {
				crowd.Go(func() {
					time.Sleep(4 * time.Second) // at the moment when one answer gives way to the next
					if err := s.Destroy(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			crowd.Wait()
			s.closed()
		})
	}
}
