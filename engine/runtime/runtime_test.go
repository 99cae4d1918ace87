package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
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

// A world is a runtime and everything that was told on its bus.
type world struct {
	*runtime.Runtime
	t *testing.T

	mu   sync.Mutex
	told []bus.SystemEvent
}

func open(t *testing.T, j runtime.Journal) *world {
	var ids, clock atomic.Int64
	w := &world{t: t}
	timeline := &bus.Bus{Report: func(e bus.SystemEvent, problem error) { t.Errorf("%s: %v", e.Data.Type(), problem) }}
	timeline.Subscribe(bus.Subscription{}, func(e bus.SystemEvent) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, e)
	})
	w.Runtime = runtime.New(runtime.Config{
		Bus: timeline, Journal: j,
		Now:   func() time.Time { return time.UnixMilli(1000 + clock.Add(1)).UTC() },
		NewID: func(prefix string) string { return fmt.Sprintf("%s_%d", prefix, ids.Add(1)) },
	})
	return w
}

// since takes what was told since it was last asked, one line each: where it
// belongs, what it is, whose it is.
func (w *world) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, e := range w.told {
		s := e.Scope
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s/%s/%s %s %s,%s,%s,%s %s",
			e.Source, e.Category, e.Intent, e.Data.Type(), s.Container, s.Agent, s.Session, s.Turn, e.RequestID)))
	}
	w.told = nil
	return lines
}

// types are the types of what was told, those with the prefix alone.
func (w *world) types(prefix string) string {
	var names []string
	for _, line := range w.since() {
		if name := strings.Fields(line)[1]; strings.HasPrefix(line, prefix) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func (w *world) want(lines string) {
	w.t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(lines), "\n"), w.since()); diff != "" {
		w.t.Errorf("told on the bus: -want +got\n%s", diff)
	}
}

// kept is what the journal holds of a session, in words.
func kept(t *testing.T, j runtime.Journal, s event.SessionID) string {
	t.Helper()
	said, _, err := j.Messages(context.Background(), s, 0)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range said {
		words = append(words, word(m))
	}
	return strings.Join(words, " ")
}

func word(m event.Message) string {
	switch m := m.(type) {
	case event.UserMessage:
		return m.Content.Text() + "?"
	case event.AssistantMessage:
		if m.Incomplete {
			return m.Content.Text() + "…"
		}
		return m.Content.Text() + "!"
	}
	return m.Type()
}

func say(s string) script.Driver {
	return script.Say(event.MessageStart{MessageID: "re:" + s, Model: "mock"}, event.TextDelta{Text: s}, event.MessageStop{StopReason: event.EndTurn})
}

// witness answers with all that it was sent: what was said, and who it is.
var witness = engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	var words []string
	for m := range req.Messages() {
		words = append(words, word(m))
	}
	return say(fmt.Sprintf("%s%s[%s]", req.Model, req.System, strings.Join(words, " "))).Receive(ctx, req)
})

// A whole life on the bus: each request before what it gives rise to, each
// response behind; a message is persisted before it is told
// (F82, F87, F88, F93, F101, F107).
func TestALife(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	home := w.Container("home")
	w.want(`
command/request/request container_create_request home,,, req_1
container/lifecycle/notification container_created home,,,
command/response/result container_create_response home,,, req_1`)
	if again := w.Container("home"); again != home {
		t.Error("the same id is another container")
	}
	w.want(`
command/request/request container_create_request home,,, req_2
command/response/result container_create_response home,,, req_2`)
	a := home.Run(runtime.Definition{Name: "a", Driver: say("Hi")}, "s")
	w.want(`
command/request/request agent_run_request home,,s, req_3
container/lifecycle/notification agent_registered home,agent_1,s,
command/response/result agent_run_response home,agent_1,s, req_3`)
	if err := a.ReceiveMessage(t.Context(), event.UserMessage{ID: "m", Content: event.Say("hello")}); err != nil {
		t.Error(err)
	}
	w.want(`
command/request/request agent_receive_request home,agent_1,s, req_4
agent/message/notification user_message home,agent_1,s,turn_m
session/persist/notification message_persisted home,agent_1,s,turn_m
agent/turn/notification turn_request home,agent_1,s,turn_m
environment/connection/notification connected home,agent_1,s,turn_m
agent/stream/notification message_start home,agent_1,s,turn_m
agent/state/notification conversation_start home,agent_1,s,turn_m
agent/stream/notification text_delta home,agent_1,s,turn_m
agent/state/notification conversation_responding home,agent_1,s,turn_m
agent/stream/notification message_stop home,agent_1,s,turn_m
agent/message/notification assistant_message home,agent_1,s,turn_m
session/persist/notification message_persisted home,agent_1,s,turn_m
agent/state/notification conversation_end home,agent_1,s,turn_m
agent/turn/notification turn_response home,agent_1,s,turn_m
environment/connection/notification disconnected home,agent_1,s,turn_m
command/response/result agent_receive_response home,agent_1,s,turn_m req_4`)
	a.Interrupt(event.ByUser)
	w.want(`
command/request/request agent_interrupt_request home,agent_1,s, req_5
command/response/result agent_interrupt_response home,agent_1,s, req_5`)
	if found, err := home.Agent(a.ID); found != a || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	if err := a.Destroy(t.Context()); err != nil {
		t.Error(err)
	}
	w.want(`
command/request/request agent_destroy_request home,agent_1,s, req_6
container/lifecycle/notification agent_unregistered home,agent_1,s,
command/response/result agent_destroy_response home,agent_1,s, req_6`)
	if err := errors.Join(a.Destroy(t.Context()), w.Close(t.Context()), w.Close(t.Context())); err != nil {
		t.Error(err)
	}
	w.want(`
command/request/request agent_destroy_request home,agent_1,s, req_7
command/response/result agent_destroy_response home,agent_1,s, req_7
container/lifecycle/notification container_destroyed home,,,`)
	if _, err := home.Agent(a.ID); !errors.Is(err, engine.ErrNotFound) || len(home.Agents()) > 0 {
		t.Errorf("the destroyed agent is known: %v", err)
	}
}

// Two containers, three agents, three sessions, all at once: nobody hears or
// keeps anything of another's (F96).
func TestAgentsAreIsolated(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	var agents []*runtime.Agent
	shown := make([][]event.AgentID, 3)
	for i, c := range []event.ContainerID{"one", "one", "two"} {
		d := runtime.Definition{Driver: witness, Model: fmt.Sprint(i)}
		d.Present = []engine.Presenter{engine.PresenterFunc(func(_ context.Context, id event.AgentID, _ event.Event) error {
			shown[i] = append(shown[i], id)
			return nil
		})}
		agents = append(agents, w.Container(c).Run(d, event.SessionID(fmt.Sprintf("s%d", i))))
	}
	if one, two := w.Container("one").Agents(), w.Container("two").Agents(); len(one) != 2 || len(two) != 1 {
		t.Errorf("containers hold %v and %v", one, two)
	}
	w.since()
	var talks sync.WaitGroup
	for i, a := range agents {
		talks.Go(func() {
			for _, text := range []string{"a", "b"} {
				if err := a.Receive(t.Context(), event.Say(fmt.Sprint(text, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	talks.Wait()
	for i, a := range agents {
		want := fmt.Sprintf("a%d? %d[a%d?]! b%d? %d[a%d? %d[a%d?]! b%d?]!", i, i, i, i, i, i, i, i, i)
		if got := kept(t, &j, a.Session); got != want {
			t.Errorf("session %d is\n%s\nwant\n%s", i, got, want)
		}
		for _, id := range shown[i] {
			if id != a.ID {
				t.Errorf("the screen of %s was shown an event of %s", a.ID, id)
			}
		}
		if len(shown[i]) == 0 {
			t.Errorf("the screen of %s was shown nothing", a.ID)
		}
	}
	// on the one timeline each agent's events are in order, between its request and its response
	for _, a := range agents {
		var story []string
		for _, e := range w.told {
			if e.Scope.Agent == a.ID && (e.Source == bus.Command || e.Category == bus.Turn) {
				story = append(story, e.Data.Type())
			}
		}
		turn := "agent_receive_request turn_request turn_response agent_receive_response"
		if got := strings.Join(story, " "); got != turn+" "+turn {
			t.Errorf("%s: %s", a.ID, got)
		}
	}
}

// A session outlives its agent, and another takes it up where it was left
// (F89).
func TestASessionOutlivesItsAgent(t *testing.T) {
	var j runtime.Memory
	w := open(t, &j)
	first := w.Container("one").Run(runtime.Definition{Driver: witness}, "s")
	err := first.Receive(t.Context(), event.Say("remember me"))
	if err = errors.Join(err, first.Destroy(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := first.Receive(t.Context(), event.Say("hello?")); !errors.Is(err, engine.ErrDestroyed) {
		t.Errorf("a destroyed agent received: %v", err)
	}
	second := w.Container("two").Run(runtime.Definition{Driver: witness}, "s")
	if err := second.Receive(t.Context(), event.Say("who am I")); err != nil {
		t.Error(err)
	}
	want := "remember me? [remember me?]! who am I? [remember me? [remember me?]! who am I?]!"
	if got := kept(t, &j, "s"); got != want {
		t.Errorf("kept\n%s\nwant\n%s", got, want)
	}
}

// stubborn answers for ten seconds, whoever interrupts it.
var stubborn = engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		time.Sleep(10 * time.Second)
		yield(event.MessageStop{StopReason: event.EndTurn}, nil)
	}
})

// Close ends all agents at once, also those that take their time, and whatever
// is run behind it (F94).
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &runtime.Memory{})
		var talks sync.WaitGroup
		var agents []*runtime.Agent
		for i := range 10 {
			a := w.Container(event.ContainerID(fmt.Sprint("c", i%2))).Run(runtime.Definition{Driver: stubborn}, event.SessionID(fmt.Sprint(i)))
			agents = append(agents, a)
			for range 2 {
				talks.Go(func() { _ = a.Receive(t.Context(), event.Say("hello")) })
			}
		}
		synctest.Wait()
		home := w.Container("c0")
		began := time.Now()
		if err := w.Close(t.Context()); err != nil || time.Since(began) != 10*time.Second {
			t.Errorf("closed after %v with %v", time.Since(began), err)
		}
		talks.Wait()
		if time.Since(began) != 10*time.Second {
			t.Errorf("a message was answered %v after the end", time.Since(began))
		}
		w.since()
		for _, late := range []*runtime.Agent{
			home.Run(runtime.Definition{Driver: witness}, "late"),
			w.Container("c0").Run(runtime.Definition{Driver: witness}, "later"),
			agents[0],
		} {
			if err := late.Receive(t.Context(), event.Say("hello?")); !errors.Is(err, engine.ErrDestroyed) {
				t.Errorf("received behind the end: %v", err)
			}
		}
		if got := w.types("container/"); got != "" || len(home.Agents()) > 0 {
			t.Errorf("behind the end there was %s; running: %v", got, home.Agents())
		}
	})
}

// Close does not wait for longer than it may, and by then has told everybody.
func TestCloseInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, &runtime.Memory{})
		var talks sync.WaitGroup
		var agents []*runtime.Agent
		for i := range 4 {
			a := w.Container("c").Run(runtime.Definition{Driver: stubborn}, event.SessionID(fmt.Sprint(i)))
			agents = append(agents, a)
			talks.Go(func() { _ = a.Receive(t.Context(), event.Say("hello")) })
		}
		synctest.Wait()
		w.since()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := w.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("gave up after %v with %v", time.Since(began), err)
		}
		for _, a := range agents {
			if !a.Shell().Destroyed() {
				t.Errorf("%s goes on", a.ID)
			}
		}
		if got := w.types("command/error"); got != "system_error system_error system_error system_error" {
			t.Errorf("told %q of four that did not come to rest", got)
		}
		talks.Wait()
	})
}

// Many end one agent at once, while others run new ones and the house is
// closed: each agent is registered and unregistered once, and none is left
// (F88, F101).
func TestManyEndings(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := open(t, &runtime.Memory{})
			a := w.Container("c").Run(runtime.Definition{Driver: witness}, "s")
			var crowd sync.WaitGroup
			for i := range 8 {
				crowd.Go(func() { _ = a.Destroy(t.Context()) })
				crowd.Go(func() {
					late := w.Container("c").Run(runtime.Definition{Driver: witness}, event.SessionID(fmt.Sprint(i)))
					_ = late.Receive(t.Context(), event.Say("hello"))
				})
			}
			crowd.Go(func() {
				if err := w.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
			crowd.Wait()
			if err := w.Close(t.Context()); err != nil {
				t.Error(err)
			}
			balance := map[event.AgentID]int{}
			for _, e := range w.told {
				switch d := e.Data.(type) {
				case runtime.AgentRegistered:
					balance[d.AgentID]++
				case runtime.AgentUnregistered:
					balance[d.AgentID]--
				}
			}
			for id, n := range balance {
				if n != 0 {
					t.Errorf("%s was registered %+d times more than unregistered", id, n)
				}
			}
		})
	}
}
