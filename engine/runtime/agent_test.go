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
)

// A flaky journal keeps what it does not refuse.
type flaky struct {
	*runtime.Memory
	refuse func(event.Data) error
}

func (f flaky) Presenter(s event.SessionID) engine.Presenter {
	memory := f.Memory.Presenter(s)
	return engine.PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		if err := f.refuse(e.Data); err != nil {
			return err
		}
		return memory.Present(ctx, id, e)
	})
}

var errFull = errors.New("disk is full")

func refuse(types ...string) func(event.Data) error {
	return func(d event.Data) error {
		if len(types) == 0 || slices.Contains(types, d.Type()) {
			return errFull
		}
		return nil
	}
}

// What is on the screen has been told on the bus, and what has been told is
// kept (F98, F100).
func TestKeptToldShown(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	inJournal := func(id string) bool {
		events, err := j.Events(t.Context(), "s")
		return err == nil && slices.ContainsFunc(events, func(e event.Event) bool {
			u, user := e.Data.(event.UserMessage)
			m, reply := e.Data.(event.AssistantMessage)
			return user && u.ID == id || reply && m.ID == id
		})
	}
	persisted := 0
	bus.On(w.Bus, func(_ bus.SystemEvent, d runtime.MessagePersisted) {
		persisted++
		if !inJournal(d.MessageID) || d.SessionID != "s" || d.SavedAt == 0 {
			t.Errorf("told that it is kept: %+v", d)
		}
	})
	bus.On(w.Bus, func(_ bus.SystemEvent, m event.AssistantMessage) {
		if !inJournal(m.ID) {
			t.Errorf("%s was told before it was kept", m.ID)
		}
	})
	shown := 0
	screen := engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		shown++
		last := w.told[len(w.told)-1]
		if _, kept := last.Data.(runtime.MessagePersisted); kept {
			last = w.told[len(w.told)-2]
		}
		if last.Data.Type() != e.Data.Type() || !last.At.Equal(e.At) {
			t.Errorf("%s was shown when the bus had told %s", e.Data.Type(), last.Data.Type())
		}
		return nil
	})
	a := w.Container("c").Run(runtime.Definition{Driver: say("Hi"), Present: []engine.Presenter{screen}}, "s")
	if err := a.Receive(t.Context(), event.Say("hello")); err != nil {
		t.Error(err)
	}
	if persisted != 2 || shown != 10 {
		t.Errorf("%d messages persisted and %d events shown, want 2 and 10", persisted, shown)
	}
}

// A message that the journal refuses, in whatever way, is never sent; the user
// is told why, once.
func TestWhatIsNotSavedIsNotSent(t *testing.T) {
	for name, no := range map[string]func(event.Data) error{
		"the message": refuse("user_message"),
		"everything":  refuse(),
		"by a panic":  func(event.Data) error { panic(errFull) },
	} {
		t.Run(name, func(t *testing.T) {
			j := flaky{&runtime.Memory{}, no}
			w := open(t, j)
			var shown []event.Event
			a := w.Container("c").Run(runtime.Definition{
				Driver: engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
					t.Error("the driver was asked")
					return func(func(event.Stream, error) bool) {}
				}),
				Present: []engine.Presenter{engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
					shown = append(shown, e)
					return nil
				})},
			}, "s")
			w.since()
			err := a.Receive(t.Context(), event.Say("precious"))
			f, ok := errors.AsType[*engine.Fault](err)
			if !ok || f.Code != event.CodeStore || !strings.Contains(f.Message, "nothing was saved, so nothing was sent") || !strings.Contains(err.Error(), errFull.Error()) {
				t.Errorf("ended with %v", err)
			}
			var troubles, reasons []string
			for _, e := range w.told {
				switch d := e.Data.(type) {
				case event.SystemError:
					troubles = append(troubles, fmt.Sprintf("%s/%s %s %s: %s", e.Source, e.Category, d.Severity, d.Message, d.Details))
				case event.ErrorReceived:
					reasons = append(reasons, string(d.ErrorCode))
				case runtime.AgentReceiveResponse:
					if !strings.Contains(d.Error, errFull.Error()) {
						t.Errorf("the response says %q", d.Error)
					}
				}
			}
			if len(troubles) != 1 || !strings.HasPrefix(troubles[0], "session/error error this conversation is not being saved since ") || !strings.Contains(troubles[0], errFull.Error()) {
				t.Errorf("told of %q, want one", troubles)
			}
			if len(reasons) != 1 || reasons[0] != string(event.CodeStore) {
				t.Errorf("error_received with %q", reasons)
			}
			count := 0
			for _, e := range shown {
				if _, ok := e.Data.(event.SystemError); ok {
					count++
				}
			}
			if last := shown[len(shown)-1].Data.Type(); count != 1 || last != "turn_response" {
				t.Errorf("the screen was shown the trouble %d times and %s at last", count, last)
			}
		})
	}
}

// A journal that fails in mid-answer does not keep the answer from the screen.
// The result says what happened; the bus is told once, though every piece is
// refused. The next message is told of again, for it is another loss.
func TestTheJournalFailsInMidAnswer(t *testing.T) {
	j := flaky{&runtime.Memory{}, refuse("text_delta", "assistant_message")}
	w := open(t, j)
	var shown strings.Builder
	var pieces []event.Stream
	pieces = append(pieces, event.MessageStart{MessageID: "m"})
	for range 100 {
		pieces = append(pieces, event.TextDelta{Text: "x"})
	}
	pieces = append(pieces, event.MessageStop{StopReason: event.EndTurn})
	a := w.Container("c").Run(runtime.Definition{Driver: script.Say(pieces...), Present: []engine.Presenter{
		engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.TextDelta) error {
			shown.WriteString(d.Text)
			return nil
		}),
	}}, "s")
	for turn := 1; turn <= 2; turn++ {
		w.since()
		shown.Reset()
		err := a.Receive(t.Context(), event.Say("go on"))
		if p, ok := errors.AsType[*engine.PresenterError](err); !ok || !errors.Is(err, errFull) || p.Event != "text_delta" {
			t.Errorf("turn %d ended with %v", turn, err)
		}
		if shown.Len() != 100 {
			t.Errorf("turn %d: the screen was shown %d pieces of 100", turn, shown.Len())
		}
		types := w.types("")
		if n := strings.Count(types, "system_error"); n != 1 {
			t.Errorf("turn %d: told %d times", turn, n)
		}
		if n := strings.Count(types, "message_persisted"); n != 1 {
			t.Errorf("turn %d: %d messages were persisted, want the user's alone", turn, n)
		}
	}
}

// Where the session cannot be read nothing is asked, and the bus says so.
func TestTheSessionCannotBeRead(t *testing.T) {
	j := unreadable{&runtime.Memory{}, errFull}
	w := open(t, j)
	a := w.Container("c").Run(runtime.Definition{Driver: witness}, "s")
	w.since()
	err := a.Receive(t.Context(), event.Say("hello"))
	if f, ok := errors.AsType[*engine.Fault](err); !ok || f.Code != event.CodeStore || !errors.Is(err, errFull) {
		t.Errorf("ended with %v", err)
	}
	if got := w.types(""); got != "agent_receive_request system_error agent_receive_response" {
		t.Errorf("told %s", got)
	}
}

type unreadable struct {
	*runtime.Memory
	err error
}

func (u unreadable) Messages(context.Context, event.SessionID, int64) ([]event.Message, int64, error) {
	return nil, 0, u.err
}

// A command that fails is answered with its error, behind a system_error. What
// somebody wished is no failure.
func TestAFailedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &runtime.Memory{})
		slow := script.Driver{Speed: 1, Steps: []script.Step{{After: time.Minute, Event: event.MessageStop{StopReason: event.EndTurn}}}}
		a := w.Container("c").Run(runtime.Definition{Driver: script.Turns{slow}}, "s")
		w.since()
		done := make(chan error)
		go func() { done <- a.Receive(t.Context(), event.Say("one")) }()
		synctest.Wait()
		a.Interrupt(event.ByUser)
		if err := <-done; !errors.Is(err, engine.Interrupt(event.ByUser)) {
			t.Errorf("ended with %v", err)
		}
		if got := w.types("command/error"); got != "" {
			t.Errorf("an interrupt was told as %s", got)
		}
		if err := a.Receive(t.Context(), event.Say("two")); err == nil {
			t.Error("the script had an answer to the second message")
		}
		lines := w.since()
		if n := len(lines); n < 2 || !strings.HasPrefix(lines[n-2], "command/error/notification system_error c,agent_1,s,turn_") || !strings.Contains(lines[n-1], "agent_receive_response") {
			t.Errorf("told at last\n%s", strings.Join(lines[max(0, n-3):], "\n"))
		}
	})
}

// An interrupt that comes while the session is read finds the message kept.
func TestInterruptedBeforeItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &slowReader{}
		w := open(t, j)
		a := w.Container("c").Run(runtime.Definition{Driver: witness}, "s")
		done := make(chan error)
		go func() { done <- a.Receive(t.Context(), event.Say("hello")) }()
		time.Sleep(time.Second)
		a.Interrupt(event.ByUser)
		if err := <-done; !errors.Is(err, engine.Interrupt(event.ByUser)) {
			t.Errorf("ended with %v", err)
		}
		if got := kept(t, &j.Memory, "s"); got != "hello?" {
			t.Errorf("kept %q", got)
		}
	})
}

// A slowReader takes two seconds to read a session, and gives up when it may.
type slowReader struct{ runtime.Memory }

func (s *slowReader) Messages(ctx context.Context, id event.SessionID, seq int64) ([]event.Message, int64, error) {
	select {
	case <-time.After(2 * time.Second):
		return s.Memory.Messages(ctx, id, seq)
	case <-ctx.Done():
		return nil, 0, context.Cause(ctx)
	}
}

// The second message is asked with the first exchange, the third with both
// (F98).
func TestHistory(t *testing.T) {
	var j runtime.Memory
	a := open(t, &j).Container("c").Run(runtime.Definition{Driver: witness}, "s")
	for _, text := range []string{"a", "b", "c"} {
		if err := a.Receive(t.Context(), event.Say(text)); err != nil {
			t.Error(err)
		}
	}
	want := "a? [a?]! b? [a? [a?]! b?]! c? [a? [a?]! b? [a? [a?]! b?]! c?]!"
	if got := kept(t, &j, "s"); got != want {
		t.Errorf("kept\n%s\nwant\n%s", got, want)
	}
}

// What the agent is changes with the next message, and as a whole: a message
// that has begun keeps its driver, its model and its prices (F5).
func TestRedefine(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	var costs []string
	priced := func(cents event.USD) engine.Pricer {
		return func(string, event.Usage) (event.USD, bool) { return cents * event.Dollar / 100, true }
	}
	driver := func(name string) engine.Driver {
		return engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			return script.Say(event.MessageStart{MessageID: "re:" + req.Message.ID}, event.TextDelta{Text: name + " as " + req.Model + "," + req.System},
				event.MessageDelta{Usage: event.Usage{OutputTokens: 1}}, event.MessageStop{StopReason: event.EndTurn}).Receive(context.Background(), req)
		})
	}
	a := w.Container("c").Run(runtime.Definition{Driver: driver("one"), Model: "m1", System: "s1", Price: priced(1)}, "s")
	a.Redefine(func(d *runtime.Definition) {
		d.Present = []engine.Presenter{engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, d event.Message) error {
			if _, ok := d.(event.UserMessage); ok { // the message is kept, and the driver not yet asked
				a.Redefine(func(d *runtime.Definition) {
					d.Driver, d.Model, d.System, d.Price = driver("two"), "m2", "s2", priced(2)
				})
			}
			return nil
		}), engine.On(func(_ context.Context, _ event.AgentID, _ time.Time, r event.TurnResponse) error {
			costs = append(costs, r.CostUSD.String())
			return nil
		})}
	})
	for _, text := range []string{"a", "b"} {
		if err := a.Receive(t.Context(), event.Say(text)); err != nil {
			t.Error(err)
		}
	}
	if got, want := kept(t, &j, "s"), "a? one as m1,s1! b? two as m2,s2!"; got != want {
		t.Errorf("kept\n%s\nwant\n%s", got, want)
	}
	if got := strings.Join(costs, " "); got != "0.01 0.02" {
		t.Errorf("cost %s, want 0.01 0.02", got)
	}
	if d := a.Definition(); d.Model != "m2" || d.System != "s2" {
		t.Errorf("the definition is %+v", d)
	}
}

// A message that waits is told with its own turn, between request and response
// of each (F93).
func TestQueueOnTheBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &runtime.Memory{})
		slow := script.Driver{Speed: 1, Steps: []script.Step{{After: time.Second, Event: event.MessageStop{StopReason: event.EndTurn}}}}
		a := w.Container("c").Run(runtime.Definition{Driver: slow}, "s")
		w.since()
		done := make(chan error, 2)
		for _, id := range []string{"one", "two"} {
			go func() {
				done <- a.ReceiveMessage(t.Context(), event.UserMessage{ID: id, Content: event.Say(id)})
			}()
			synctest.Wait()
		}
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
		var story []string
		for _, line := range w.since() {
			f := strings.Fields(line)
			if strings.HasPrefix(line, "command/") || slices.Contains([]string{"user_message", "conversation_queued", "conversation_end"}, f[1]) {
				story = append(story, f[1]+f[2][strings.LastIndex(f[2], ","):])
			}
		}
		want := []string{
			"agent_receive_request,", "user_message,turn_one",
			"agent_receive_request,", "conversation_queued,turn_two",
			"conversation_end,turn_one", "agent_receive_response,turn_one",
			"user_message,turn_two", "conversation_end,turn_two", "agent_receive_response,turn_two",
		}
		slices.Sort(story[5:7]) // the first is answered while the second begins
		if !slices.Equal(story, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(story, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A screen that fails hinders neither the one beside it nor the journal (F18).
func TestAScreenFails(t *testing.T) {
	var j runtime.Memory
	beside := 0
	a := open(t, &j).Container("c").Run(runtime.Definition{Driver: say("Hi"), Present: []engine.Presenter{
		engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { panic("no terminal") }),
		engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return errFull }),
		engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { beside++; return nil }),
	}}, "s")
	err := a.Receive(t.Context(), event.Say("hello"))
	if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "no terminal") {
		t.Errorf("ended with %v", err)
	}
	if got := kept(t, &j, "s"); got != "hello? Hi!" || beside == 0 {
		t.Errorf("kept %q; the screen beside was shown %d events", got, beside)
	}
}

// A definition without a driver is a fault like any other.
func TestNoDriver(t *testing.T) {
	a := open(t, &runtime.Memory{}).Container("c").Run(runtime.Definition{}, "s")
	err := a.Receive(t.Context(), event.Say("hello"))
	if f, ok := errors.AsType[*engine.Fault](err); !ok || f.Code != event.CodeInternal {
		t.Errorf("ended with %v", err)
	}
}
