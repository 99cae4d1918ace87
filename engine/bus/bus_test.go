package bus_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentx/engine/bus"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

func say(text string) bus.SystemEvent {
	return bus.SystemEvent{Event: event.Event{Data: event.TextDelta{Text: text}}, Source: bus.Agent, Category: bus.Stream, Intent: bus.Notifies}
}

func ask(id string) bus.SystemEvent {
	return bus.SystemEvent{Event: event.Event{Data: event.TurnRequest{TurnID: id}}}
}

func answer(id string) bus.SystemEvent {
	return bus.SystemEvent{Event: event.Event{Data: event.TurnResponse{TurnID: id}}}
}

// A log writes down what a subscriber is handed, by the words it carries.
type log struct{ lines []string }

func (l *log) take(e bus.SystemEvent) {
	switch d := e.Data.(type) {
	case event.TextDelta:
		l.lines = append(l.lines, d.Text)
	case event.TurnRequest:
		l.lines = append(l.lines, "?"+d.TurnID)
	case event.TurnResponse:
		l.lines = append(l.lines, "!"+d.TurnID)
	default:
		l.lines = append(l.lines, e.Data.Type())
	}
}

func (l *log) want(t *testing.T, words string) {
	t.Helper()
	if got := strings.Join(l.lines, " "); got != words {
		t.Errorf("handed %q, want %q", got, words)
	}
}

// Fifty publishers at once, and subscribers who want everything, a type, two
// types, or what a filter lets through: there is one timeline, and each sees
// its part of it (F95).
func TestOneTimeline(t *testing.T) {
	var b bus.Bus
	var all, text, turns, even log
	b.Subscribe(bus.Subscription{}, all.take)
	b.Subscribe(bus.Subscription{Types: []string{"text_delta"}}, text.take)
	b.Subscribe(bus.Subscription{Types: []string{"turn_request", "turn_response"}}, turns.take)
	b.Subscribe(bus.Subscription{Filter: func(e bus.SystemEvent) bool { return e.RequestID == "even" }}, even.take)

	var publishers sync.WaitGroup
	for p := range 50 {
		publishers.Go(func() {
			for i := range 20 {
				id := fmt.Sprintf("%d/%d", p, i)
				e := say(id)
				if i%2 == 0 {
					e.RequestID = "even"
				}
				b.Publish(ask(id))
				b.Publish(e)
				b.Publish(answer(id))
			}
		})
	}
	publishers.Wait()

	if len(all.lines) != 50*20*3 {
		t.Fatalf("%d events arrived, want %d", len(all.lines), 50*20*3)
	}
	part := func(keep func(string) bool) []string {
		return slices.DeleteFunc(slices.Clone(all.lines), func(s string) bool { return !keep(s) })
	}
	isTurn := func(s string) bool { return s[0] == '?' || s[0] == '!' }
	isEven := func(s string) bool { return !isTurn(s) && (s[len(s)-1]-'0')%2 == 0 }
	for name, c := range map[string]struct{ got, want []string }{
		"one type":  {text.lines, part(func(s string) bool { return !isTurn(s) })},
		"two types": {turns.lines, part(isTurn)},
		"filter":    {even.lines, part(isEven)},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: handed in another order than the timeline has", name)
		}
	}
	seen := map[string]int{}
	for at, line := range all.lines {
		seen[line] = at
		if id, ok := strings.CutPrefix(line, "!"); ok {
			if _, asked := seen["?"+id]; !asked {
				t.Errorf("the answer to %s came before the question", id)
			}
		}
	}
	for p := range 50 {
		for i := 1; i < 20; i++ {
			if seen[fmt.Sprintf("?%d/%d", p, i)] < seen[fmt.Sprintf("!%d/%d", p, i-1)] {
				t.Errorf("publisher %d was overtaken by itself at %d", p, i)
			}
		}
	}
}

// Who answers inside a handler does not put the answer before the question for
// those who subscribed later.
func TestAHandlerPublishes(t *testing.T) {
	var b bus.Bus
	var early, late log
	b.Subscribe(bus.Subscription{}, early.take)
	bus.On(&b, func(_ bus.SystemEvent, d event.TurnRequest) {
		b.Publish(say("thinking"))
		b.Publish(answer(d.TurnID))
	})
	b.Subscribe(bus.Subscription{}, late.take)
	b.Publish(ask("a"))
	b.Publish(ask("b"))
	early.want(t, "?a thinking !a ?b thinking !b")
	late.want(t, "?a thinking !a ?b thinking !b")
}

// A chain of a hundred thousand events, each published by the handler of the
// one before, needs no deeper stack than one.
func TestAHandlerPublishesForLong(t *testing.T) {
	var b bus.Bus
	n := 0
	b.Subscribe(bus.Subscription{}, func(e bus.SystemEvent) {
		if n++; n < 100_000 {
			b.Publish(e)
		}
	})
	b.Publish(say("again"))
	if n != 100_000 {
		t.Errorf("%d links of the chain, want 100000", n)
	}
}

// The higher is handed an event first, and equals in the order in which they
// came, whatever they asked for (F95).
func TestPriority(t *testing.T) {
	var b bus.Bus
	var order []string
	as := func(name string, priority int, types ...string) {
		b.Subscribe(bus.Subscription{Priority: priority, Types: types}, func(bus.SystemEvent) { order = append(order, name) })
	}
	as("third", 0)
	as("last", -1, "text_delta")
	as("fourth", 0, "text_delta")
	as("first", 9, "text_delta")
	as("fifth", 0)
	as("second", 9)
	b.Publish(say("x"))
	if got := strings.Join(order, " "); got != "first second third fourth fifth last" {
		t.Errorf("handed to %s", got)
	}
}

// Whatever is subscribed and stopped in whatever order, an event goes to those
// who want it, once, by priority and then by age.
func TestSubscriptionsAreAsAPlainListWouldHaveThem(t *testing.T) {
	type sub struct {
		name, priority int
		types          []string
		agent          event.AgentID
		stop           func()
	}
	agents := rapid.SampledFrom([]event.AgentID{"", "", "one", "two"})
	rapid.Check(t, func(t *rapid.T) {
		var b bus.Bus
		var plain []sub
		var got []int
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				s := sub{
					name: n, priority: rapid.IntRange(-1, 1).Draw(t, "priority"),
					types: rapid.SliceOfN(rapid.SampledFrom([]string{"text_delta", "turn_request", "turn_response"}), 0, 3).Draw(t, "types"),
					agent: agents.Draw(t, "agent"),
				}
				s.stop = b.Subscribe(bus.Subscription{Types: s.types, Agent: s.agent, Priority: s.priority}, func(bus.SystemEvent) { got = append(got, n) })
				plain = append(plain, s)
			case 2:
				if len(plain) > 0 {
					at := rapid.IntRange(0, len(plain)-1).Draw(t, "stop")
					plain[at].stop()
					plain[at].stop()
					plain = slices.Delete(plain, at, at+1)
				}
			case 3:
				e := rapid.SampledFrom([]bus.SystemEvent{say("x"), ask("x"), answer("x")}).Draw(t, "event")
				e.Scope.Agent = agents.Draw(t, "of")
				var want []int
				for _, priority := range []int{1, 0, -1} {
					for _, s := range plain {
						if s.priority == priority && (s.agent == "" || s.agent == e.Scope.Agent) && (len(s.types) == 0 || slices.Contains(s.types, e.Data.Type())) {
							want = append(want, s.name)
						}
					}
				}
				got = nil
				b.Publish(e)
				if !slices.Equal(got, want) {
					t.Fatalf("%s went to %v, want %v", e.Data.Type(), got, want)
				}
			}
		}
	})
}

func TestOnce(t *testing.T) {
	var b bus.Bus
	var first, later log
	b.Subscribe(bus.Subscription{Once: true, Filter: func(e bus.SystemEvent) bool { return e.RequestID == "r" }}, first.take)
	b.Subscribe(bus.Subscription{Once: true}, func(e bus.SystemEvent) {
		later.take(e)
		b.Publish(say("from within"))
	})
	b.Publish(say("not that"))
	wanted := say("that")
	wanted.RequestID = "r"
	b.Publish(wanted)
	b.Publish(wanted)
	first.want(t, "that")
	later.want(t, "not that")
}

func TestOnceAmongMany(t *testing.T) {
	var b bus.Bus
	var mu sync.Mutex
	calls := 0
	for range 10 {
		b.Subscribe(bus.Subscription{Once: true, Types: []string{"text_delta"}}, func(bus.SystemEvent) {
			mu.Lock()
			defer mu.Unlock()
			calls++
		})
	}
	var publishers sync.WaitGroup
	for range 50 {
		publishers.Go(func() { b.Publish(say("x")) })
	}
	publishers.Wait()
	if calls != 10 {
		t.Errorf("ten that wanted one event each were called %d times", calls)
	}
}

func TestOnTakesATypeOrALayer(t *testing.T) {
	var b bus.Bus
	var text, turns, all, foreign []string
	bus.On(&b, func(_ bus.SystemEvent, d event.TextDelta) { text = append(text, d.Text) })
	bus.On(&b, func(_ bus.SystemEvent, d event.Turn) { turns = append(turns, d.Type()) })
	bus.On(&b, func(_ bus.SystemEvent, d event.Data) { all = append(all, d.Type()) })
	bus.On(&b, func(_ bus.SystemEvent, d event.Unknown) { foreign = append(foreign, d.Name) })
	b.Publish(say("hi"))
	b.Publish(ask("a"))
	b.Publish(bus.SystemEvent{Event: event.Event{Data: event.Unknown{Name: "weather"}}})
	for _, c := range []struct {
		got  []string
		want string
	}{{text, "hi"}, {turns, "turn_request"}, {all, "text_delta turn_request weather"}, {foreign, "weather"}} {
		if got := strings.Join(c.got, " "); got != c.want {
			t.Errorf("handed %q, want %q", got, c.want)
		}
	}
}

func TestATypeNamedTwiceIsHandedOnce(t *testing.T) {
	var b bus.Bus
	var l log
	types := []string{"text_delta", "turn_request", "text_delta"}
	stop := b.Subscribe(bus.Subscription{Types: types}, l.take)
	types[0], types[1] = "", "" // the caller's own affair
	b.Publish(say("one"))
	b.Publish(ask("two"))
	stop()
	b.Publish(say("three"))
	l.want(t, "one ?two")
}

// A handler that stops itself, or the one behind it, is obeyed within the event.
func TestStopInsideAHandler(t *testing.T) {
	var b bus.Bus
	var own, other log
	var stopOwn, stopOther func()
	stopOwn = b.Subscribe(bus.Subscription{}, func(e bus.SystemEvent) {
		own.take(e)
		stopOwn()
		stopOther()
	})
	stopOther = b.Subscribe(bus.Subscription{}, other.take)
	b.Publish(say("one"))
	b.Publish(say("two"))
	own.want(t, "one")
	other.want(t, "")
}

// Who subscribes while an event is handed out is handed the next one.
func TestSubscribeInsideAHandler(t *testing.T) {
	var b bus.Bus
	var l log
	b.Subscribe(bus.Subscription{Once: true}, func(bus.SystemEvent) { b.Subscribe(bus.Subscription{}, l.take) })
	b.Publish(say("one"))
	b.Publish(say("two"))
	l.want(t, "two")
}

// A handler, a filter and a reporter that panic hinder nobody, and it is told
// (F116).
func TestPanicsAreReported(t *testing.T) {
	var reports []string
	b := bus.Bus{Report: func(e bus.SystemEvent, problem error) {
		reports = append(reports, fmt.Sprintf("%s: %v", e.Data.Type(), problem))
		panic("and the reporter, too")
	}}
	var l log
	b.Subscribe(bus.Subscription{Once: true}, func(bus.SystemEvent) { panic("handler") })
	b.Subscribe(bus.Subscription{Filter: func(bus.SystemEvent) bool { panic("filter") }}, func(e bus.SystemEvent) {
		t.Errorf("a filter that panics let %s through", e.Data.Type())
	})
	b.Subscribe(bus.Subscription{}, l.take)
	b.Publish(say("one"))
	b.Publish(say("two"))
	l.want(t, "one two")
	const filter = "text_delta: bus: a handler panicked over text_delta: filter"
	want := []string{"text_delta: bus: a handler panicked over text_delta: handler", filter, filter}
	if !slices.Equal(reports, want) {
		t.Errorf("reported\n%s\nwant\n%s", strings.Join(reports, "\n"), strings.Join(want, "\n"))
	}
}

// A handler that ends its goroutine takes nobody else with it: what waited is
// carried on by the next who publishes.
func TestAHandlerEndsItsGoroutine(t *testing.T) {
	var b bus.Bus
	var l log
	b.Subscribe(bus.Subscription{Once: true}, func(bus.SystemEvent) {
		b.Publish(say("two"))
		runtime.Goexit()
	})
	b.Subscribe(bus.Subscription{}, l.take)
	var lost sync.WaitGroup
	lost.Go(func() { b.Publish(say("one")) })
	lost.Wait()
	b.Publish(say("three"))
	l.want(t, "two three")
}

// An event without data is its publisher's mistake; the timeline goes on.
func TestAnEventWithoutData(t *testing.T) {
	var b bus.Bus
	var l log
	b.Subscribe(bus.Subscription{}, l.take)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an event without data was published")
			}
		}()
		b.Publish(bus.SystemEvent{})
	}()
	b.Publish(say("on"))
	l.want(t, "on")
}

// A flood that one handler lets loose arrives whole and in order.
func TestAFlood(t *testing.T) {
	var b bus.Bus
	n := 0
	b.Subscribe(bus.Subscription{Types: []string{"turn_request"}}, func(bus.SystemEvent) {
		for i := range 10_000 {
			b.Publish(say(fmt.Sprint(i)))
		}
	})
	bus.On(&b, func(_ bus.SystemEvent, d event.TextDelta) {
		if d.Text != fmt.Sprint(n%10_000) {
			t.Fatalf("handed %s, want %d", d.Text, n%10_000)
		}
		n++
	})
	b.Publish(ask("a"))
	b.Publish(ask("b"))
	if n != 20_000 {
		t.Errorf("%d arrived, want 20000", n)
	}
}

// What the environment says is repeated by the agents: who does not ask for it
// hears every word once.
func TestTheEnvironmentIsForThoseWhoNameIt(t *testing.T) {
	var b bus.Bus
	var all, raw, agents log
	b.Subscribe(bus.Subscription{}, all.take)
	b.Subscribe(bus.Subscription{Source: bus.Environment}, raw.take)
	b.Subscribe(bus.Subscription{Source: bus.Agent}, agents.take)
	word := say("word")
	word.Source = bus.Environment
	b.Publish(word)
	word.Source = bus.Agent
	b.Publish(word)
	up := say("connected")
	up.Source, up.Category = bus.Environment, bus.Connection
	b.Publish(up)
	all.want(t, "word connected")
	raw.want(t, "word connected")
	agents.want(t, "word")
}
