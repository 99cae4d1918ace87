package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// A Library keeps sessions: what is said in them, and what follows from it.
type Library interface {
	Events(ctx context.Context, session event.SessionID) ([]event.Event, error)
	Messages(ctx context.Context, session event.SessionID, seq int64) (said []event.Message, last int64, err error)
	Presenter(session event.SessionID) engine.Presenter

	Create(ctx context.Context, s engine.Session) error
	Session(ctx context.Context, id event.SessionID) (engine.Session, error)
	Sessions(ctx context.Context, f engine.SessionFilter) ([]engine.Session, error)
	Page(ctx context.Context, id event.SessionID, seq int64, n int) ([]event.Event, int64, error)
	ForkBefore(ctx context.Context, from, to event.SessionID, message string) error
	BranchBefore(ctx context.Context, from, to event.SessionID, message string) error
	Branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error)
	Rename(ctx context.Context, id event.SessionID, title string) error
	SetModel(ctx context.Context, id event.SessionID, model string) error
	SetSystem(ctx context.Context, id event.SessionID, prompt string) error
	Delete(ctx context.Context, id event.SessionID) error
	Lock(ctx context.Context, id event.SessionID) (release func(), err error)
}

// TestSessions puts a library through what everybody promises who keeps
// sessions. Open makes an empty one.
func TestSessions(t *testing.T, open func() Library) {
	for name, story := range map[string]func(*testing.T, shelf){
		"an empty session is there, and in no list":     anEmptySession,
		"what is not there is not found":                nothingThere,
		"what was said is kept, with what it took":      saidAndKept,
		"a session is read in pages":                    inPages,
		"what was said is read on from any event":       readOn,
		"a list is chosen and in order":                 chosenInOrder,
		"a fork goes its own way":                       ownWay,
		"branches are one session, and all stay":        oneSession,
		"a session is called after what was asked":      calledAfter,
		"a fork of a running turn is closed":            closedFork,
		"a session is renamed, remodelled and gone":     renamedAndGone,
		"a session that is locked is one's own":         lockedOnce,
		"many sessions are written at once":             manyAtOnce,
		"what was read stays as it was":                 readStays,
		"a message that replaces a turn leaves it open": replacedTurn,
	} {
		t.Run(name, func(t *testing.T) { story(t, shelf{open(), t}) })
	}
}

// A shelf is a library in a test.
type shelf struct {
	Library
	t testing.TB
}

// day is when the kits' conversations happen; a library's own clock is later.
var day = time.UnixMilli(1_700_000_000_000).UTC()

func (s shelf) must(errs ...error) {
	s.t.Helper()
	if err := errors.Join(errs...); err != nil {
		s.t.Fatal(err)
	}
}

func (s shelf) want(what string, err, is error) {
	s.t.Helper()
	if !errors.Is(err, is) {
		s.t.Errorf("%s: %v, want %v", what, err, is)
	}
}

// begin makes a session in the folder /home, which is as old as the kits' day.
func (s shelf) begin(id event.SessionID) {
	s.t.Helper()
	s.must(s.Create(s.t.Context(), engine.Session{ID: id, Model: "m/1", Dir: "/home", Created: day}))
}

// present shows the journal of a session what follows from data, from a second
// of the day on.
func (s shelf) present(id event.SessionID, second int, data ...event.Data) []event.Event {
	s.t.Helper()
	var state engine.State
	var shown []event.Event
	p := s.Presenter(id)
	price := func(model string, u event.Usage) (event.USD, bool) { return event.USD(u.OutputTokens), model != "dear" }
	for i, d := range data {
		at := day.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Millisecond)
		for e := range mealy.Follow(engine.StepWith(price), &state, event.Event{At: at, Data: d}) {
			s.must(p.Present(s.t.Context(), "a", e))
			shown = append(shown, e)
		}
	}
	return shown
}

// talk is one turn: a question, a tool, an answer of 5 tokens.
func (s shelf) talk(id event.SessionID, second int, asked, answered string) []event.Event {
	s.t.Helper()
	n := fmt.Sprint(second)
	return s.present(id, second,
		event.UserMessage{ID: "u" + n, Content: event.Say(asked)},
		event.MessageStart{MessageID: "m" + n, Model: "cheap"},
		event.ToolUseStart{ToolCallID: "c" + n, ToolName: "look"},
		event.InputJSONDelta{PartialJSON: `{"at": "<here>"}`},
		event.ToolUseStop{},
		event.MessageDelta{Usage: event.Usage{InputTokens: 1, OutputTokens: 2}},
		event.MessageStop{StopReason: event.ToolUse},
		event.ToolResult{ToolCallID: "c" + n, Result: event.Output{Text: "seen"}},
		event.MessageStart{MessageID: "n" + n, Model: "cheap"},
		event.TextDelta{Text: answered},
		event.MessageDelta{Usage: event.Usage{InputTokens: 2, OutputTokens: 3}},
		event.MessageStop{StopReason: event.EndTurn})
}

// layers are the events of some layers.
func layers(events []event.Event, which ...event.Layer) []event.Event {
	var all []event.Event
	for _, e := range events {
		for _, l := range which {
			if event.LayerOf(e.Data) == l {
				all = append(all, e)
			}
		}
	}
	return all
}

// text is a log as lines of JSON.
func (s shelf) text(log []event.Event) string {
	s.t.Helper()
	var b strings.Builder
	for _, e := range log {
		line, err := json.Marshal(e)
		s.must(err)
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// log returns a session as lines.
func (s shelf) log(id event.SessionID) string {
	s.t.Helper()
	log, err := s.Events(s.t.Context(), id)
	s.must(err)
	return s.text(log)
}

func (s shelf) session(id event.SessionID) engine.Session {
	s.t.Helper()
	one, err := s.Session(s.t.Context(), id)
	s.must(err)
	return one
}

// ids are the sessions that a filter chooses.
func (s shelf) ids(f engine.SessionFilter) string {
	s.t.Helper()
	all, err := s.Sessions(s.t.Context(), f)
	s.must(err)
	var ids []string
	for _, one := range all {
		ids = append(ids, string(one.ID))
	}
	return strings.Join(ids, " ")
}

func anEmptySession(t *testing.T, s shelf) {
	s.must(s.Create(t.Context(), engine.Session{ID: "s", Title: "A title", Model: "m/1", Dir: "/home", ParentID: "p", Created: day}))
	got := s.session("s")
	want := engine.Session{ID: "s", Title: "A title", Model: "m/1", Dir: "/home", ParentID: "p", Trunk: "s", Created: day, Updated: day}
	if got.Cost != nil && *got.Cost == 0 {
		got.Cost = nil // nothing was spent, by either word
	}
	if got != want {
		t.Errorf("Session() = %+v, want %+v", got, want)
	}
	if ids, log := s.ids(engine.SessionFilter{}), s.log("s"); ids != "" || log != "" {
		t.Errorf("Sessions() = %q, Events() = %q; want none", ids, log)
	}
	if page, first, err := s.Page(t.Context(), "s", 0, 10); len(page) != 0 || first != 1 || err != nil {
		t.Errorf("Page() = %v, %d, %v", page, first, err)
	}
	s.want("Create(again)", s.Create(t.Context(), engine.Session{ID: "s"}), engine.ErrExists)
	if err := s.Create(t.Context(), engine.Session{}); err == nil {
		t.Error("a session without an id is created")
	}
	before := time.Now().Add(-time.Minute)
	s.must(s.Create(t.Context(), engine.Session{ID: "now"}))
	if at := s.session("now").Created; at.Before(before) {
		t.Errorf("created without a time it is of %s", at)
	}
}

func nothingThere(t *testing.T, s shelf) {
	ctx := t.Context()
	s.begin("s")
	s.talk("s", 1, "hello", "hi")
	_, err := s.Session(ctx, "x")
	s.want("Session", err, engine.ErrNotFound)
	for _, seq := range []int64{0, 1, 5} {
		_, _, err = s.Page(ctx, "x", seq, 3)
		s.want(fmt.Sprintf("Page(%d)", seq), err, engine.ErrNotFound)
	}
	s.want("Rename", s.Rename(ctx, "x", "y"), engine.ErrNotFound)
	s.want("SetModel", s.SetModel(ctx, "x", "y"), engine.ErrNotFound)
	s.want("SetSystem", s.SetSystem(ctx, "x", "y"), engine.ErrNotFound)
	s.want("Delete", s.Delete(ctx, "x"), engine.ErrNotFound)
	s.want("ForkBefore(from nowhere)", s.ForkBefore(ctx, "x", "y", ""), engine.ErrNotFound)
	s.want("ForkBefore(no message)", s.ForkBefore(ctx, "s", "y", "u9"), engine.ErrNotFound)
	s.want("ForkBefore(a message of the assistant)", s.ForkBefore(ctx, "s", "y", "n1"), engine.ErrNotFound)
	s.want("BranchBefore(from nowhere)", s.BranchBefore(ctx, "x", "y", ""), engine.ErrNotFound)
	s.want("BranchBefore(no message)", s.BranchBefore(ctx, "s", "y", "u9"), engine.ErrNotFound)
	_, err = s.Branches(ctx, "x")
	s.want("Branches", err, engine.ErrNotFound)
	_, err = s.Session(ctx, "y")
	s.want("what was not forked", err, engine.ErrNotFound)
	if log := s.log("x"); log != "" {
		t.Errorf("Events() = %q", log)
	}
}

func saidAndKept(t *testing.T, s shelf) {
	s.begin("s")
	s.begin("other")
	shown := s.talk("s", 1, "How are\nyou?", "Fine, and <you>?")
	if got, want := s.log("s"), s.text(layers(shown, event.MessageLayer, event.TurnLayer)); got != want {
		t.Errorf("Events() are\n%swant\n%s", got, want)
	}
	got := s.session("s")
	if got.Title != "How are you?" || got.Messages != 3 || got.Usage != (event.Usage{InputTokens: 3, OutputTokens: 5}) ||
		got.Cost == nil || *got.Cost != 5 || got.Open || got.Interrupted || !got.Updated.After(day) {
		t.Errorf("Session() = %+v", got)
	}
	s.present("s", 2, event.UserMessage{ID: "u2", Content: event.Say("Go on")})
	if !s.session("s").Open {
		t.Error("a turn runs, and the session is not open")
	}
	s.present("other", 2,
		event.UserMessage{ID: "u2", Content: event.Say("Go on")}, event.MessageStart{MessageID: "m", Model: "dear"}, event.TextDelta{Text: "on and"},
		event.MessageDelta{Usage: event.Usage{OutputTokens: 1}}, event.Interrupted{Reason: event.ByUser})
	if got := s.session("other"); !got.Interrupted || got.Open || got.Cost != nil {
		t.Errorf("interrupted at an unknown price, Session() = %+v", got)
	}
	s.begin("uncounted")
	s.present("uncounted", 3, event.UserMessage{ID: "u3", Content: event.Say("For how much?")},
		event.MessageStart{MessageID: "m", Model: "cheap"}, event.TextDelta{Text: "I do not count"}, event.MessageStop{StopReason: event.EndTurn})
	if got := s.session("uncounted"); got.Cost != nil || got.Usage != (event.Usage{}) {
		t.Errorf("asked of who counts nothing, Session() = %+v", got)
	}
	s.must(s.Delete(t.Context(), "uncounted"))
	if ids := s.ids(engine.SessionFilter{}); ids != "other s" && ids != "s other" {
		t.Errorf("Sessions() = %q", ids)
	}
}

func inPages(t *testing.T, s shelf) {
	s.begin("s")
	for i := range 3 {
		s.talk("s", i, "hello", "hi")
	}
	log, err := s.Events(t.Context(), "s")
	s.must(err)
	for _, n := range []int{1, 4, len(log), 1000} {
		var all []event.Event
		for seq := int64(0); seq != 1; {
			page, first, err := s.Page(t.Context(), "s", seq, n)
			s.must(err)
			if len(page) == 0 || len(page) > n {
				t.Fatalf("Page(%d, %d) has %d events", seq, n, len(page))
			}
			all, seq = append(page[:len(page):len(page)], all...), first
		}
		if s.text(all) != s.text(log) {
			t.Errorf("in pages of %d the session is\n%s", n, s.text(all))
		}
	}
	for _, odd := range []struct {
		seq  int64
		n    int
		want int
	}{{0, 0, 0}, {0, -1, 0}, {1, 5, 0}, {3, math.MaxInt, 2}, {1 << 40, 2, 2}} {
		if page, _, err := s.Page(t.Context(), "s", odd.seq, odd.n); err != nil || len(page) != odd.want {
			t.Errorf("Page(%d, %d) has %d events, %v; want %d", odd.seq, odd.n, len(page), err, odd.want)
		}
	}
}

func readOn(t *testing.T, s shelf) {
	if said, last, err := s.Messages(t.Context(), "nobody", 0); len(said) != 0 || last != 0 || err != nil {
		t.Errorf("a session that is not there: %v, %d, %v", said, last, err)
	}
	s.begin("s")
	s.talk("s", 1, "hello", "hi")
	s.must(s.BranchBefore(t.Context(), "s", "b", ""))
	for _, id := range []event.SessionID{"s", "b"} {
		s.talk(id, 2, "and in "+string(id), "yes")
		log, err := s.Events(t.Context(), id)
		s.must(err)
		for seq := -1; seq <= len(log)+1; seq++ {
			said, last, err := s.Messages(t.Context(), id, int64(seq))
			s.must(err)
			var want []event.Event
			for _, e := range log[min(max(seq, 0), len(log)):] {
				if _, ok := e.Data.(event.Message); ok {
					want = append(want, event.Event{Data: e.Data})
				}
			}
			var got []event.Event
			for _, m := range said {
				got = append(got, event.Event{Data: m})
			}
			if s.text(got) != s.text(want) || last != int64(len(log)) {
				t.Errorf("behind event %d of %s, of which the last is %d, was said\n%swant\n%s", seq, id, last, s.text(got), s.text(want))
			}
		}
	}
}

func chosenInOrder(t *testing.T, s shelf) {
	s.begin("a")
	s.must(s.Create(t.Context(), engine.Session{ID: "b", Dir: "/elsewhere", Created: day}))
	s.begin("c")
	s.begin("empty")
	s.talk("a", 10, "a red apple", "indeed")
	s.talk("b", 20, "a green pear", "quite")
	s.talk("c", 30, "red and green", "both")
	s.talk("a", 40, "one more", "yes")
	for _, tale := range []struct {
		what string
		f    engine.SessionFilter
		want string
	}{
		{"all", engine.SessionFilter{}, "a c b"},
		{"two", engine.SessionFilter{Limit: 2}, "a c"},
		{"of a folder", engine.SessionFilter{Dir: "/home"}, "a c"},
		{"of another", engine.SessionFilter{Dir: "/"}, ""},
		{"old", engine.SessionFilter{Before: day.Add(35 * time.Second)}, "c b"},
		{"with a word", engine.SessionFilter{Query: "GREEN"}, "c b"},
		{"with two words of one message", engine.SessionFilter{Query: "red green"}, "c"},
		{"with the beginning of a word", engine.SessionFilter{Query: "red app"}, "a"},
		{"with an answer's word", engine.SessionFilter{Query: "quite"}, "b"},
		{"with nothing that is a word", engine.SessionFilter{Query: "\"*("}, ""},
		{"with all of it", engine.SessionFilter{Query: "green", Dir: "/home", Before: day.Add(time.Hour), Limit: 5}, "c"},
	} {
		if got := s.ids(tale.f); got != tale.want {
			t.Errorf("%s: %q, want %q", tale.what, got, tale.want)
		}
	}
}

func ownWay(t *testing.T, s shelf) {
	ctx := t.Context()
	s.begin("s")
	s.talk("s", 1, "one", "first")
	half := s.log("s")
	s.talk("s", 2, "two", "second")
	whole := s.log("s")
	s.must(s.ForkBefore(ctx, "s", "whole", ""), s.ForkBefore(ctx, "s", "half", "u2"), s.ForkBefore(ctx, "s", "none", "u1"))
	s.talk("half", 3, "three", "third")
	if s.log("s") != whole || s.log("whole") != whole || s.log("none") != "" || !strings.HasPrefix(s.log("half"), half) {
		t.Errorf("the session is\n%s, its forks\n%s\n%s\n%s", s.log("s"), s.log("whole"), s.log("half"), s.log("none"))
	}
	if got := s.session("half"); got.ParentID != "s" || got.Title != "one" || got.Model != "m/1" || got.Dir != "/home" || got.Messages != 6 || got.Usage.OutputTokens != 10 || got.Open {
		t.Errorf("Session(half) = %+v", got)
	}
	s.want("a fork onto another", s.ForkBefore(ctx, "s", "half", ""), engine.ErrExists)
	s.must(s.Delete(ctx, "s"))
	if s.log("whole") != whole {
		t.Error("the fork has gone with its parent")
	}
}

func oneSession(t *testing.T, s shelf) {
	ctx := t.Context()
	s.begin("s")
	s.talk("s", 1, "one", "first")
	s.talk("s", 2, "two", "second")
	whole := s.log("s")
	s.must(s.BranchBefore(ctx, "s", "b", "u2"))
	s.talk("b", 3, "two, but shorter", "third")
	s.must(s.BranchBefore(ctx, "b", "c", "u1"), s.ForkBefore(ctx, "b", "copy", "")) // c has nothing yet
	if s.log("s") != whole {
		t.Errorf("the first way has become\n%s", s.log("s"))
	}
	for _, id := range []event.SessionID{"s", "b", "c"} {
		if got := s.session(id); got.Trunk != "s" || got.Branches != 2 {
			t.Errorf("Session(%s) = %+v, want a branch of s, of 2", id, got)
		}
	}
	if got := s.session("copy"); got.Trunk != "copy" || got.Branches != 1 {
		t.Errorf("Session(copy) = %+v, want one by itself", got)
	}
	for _, tale := range []struct{ query, want string }{{"", "copy b"}, {"second", "s"}, {"one", "copy b"}, {"shorter", "copy b"}} {
		if got := s.ids(engine.SessionFilter{Query: tale.query}); got != tale.want && got != strings.Replace(tale.want, "copy b", "b copy", 1) {
			t.Errorf("Sessions(%q) = %q, want %q", tale.query, got, tale.want)
		}
	}
	if got := s.ids(engine.SessionFilter{Before: day.Add(2500 * time.Millisecond)}); got != "" {
		t.Errorf("a branch was used since, and %q is old", got)
	}
	for _, id := range []event.SessionID{"s", "b", "c"} {
		all, err := s.Branches(ctx, id)
		s.must(err)
		var drawn []string
		for _, row := range engine.Grow(all).Rows("b") {
			drawn = append(drawn, fmt.Sprint(row.Lead, row.Text, row.Ends))
		}
		if got, want := strings.Join(drawn, "\n"), "one[]\n├─ two[s]\ntwo, but shorter[b]"; got != want {
			t.Errorf("the tree of %s is\n%s\nwant\n%s", id, got, want)
		}
	}
	s.must(s.Rename(ctx, "b", "Called so"))
	if got := s.session("s").Title + ", " + s.session("copy").Title; got != "Called so, one" {
		t.Errorf("renamed on one branch, the session and its copy are %q", got)
	}
	release, err := s.Lock(ctx, "s")
	s.must(err)
	s.want("Delete(while another branch is locked)", s.Delete(ctx, "b"), engine.ErrInUse)
	release()
	s.must(s.Delete(ctx, "b"))
	if got := s.ids(engine.SessionFilter{}); got != "copy" || s.log("s")+s.log("b") != "" {
		t.Errorf("deleted, %q is left", got)
	}
	s.must(s.Delete(ctx, "copy"))
}

func calledAfter(t *testing.T, s shelf) {
	file := event.Text{Text: "<file name=\"notes.txt\">\nsecret words\n</file>"}
	for i, tale := range []struct {
		said event.Content
		want string
	}{
		{event.Content{event.Text{Text: "What is this?"}, file}, "What is this?"},
		{event.Content{file, event.Text{Text: "What is that?"}}, "What is that?"},
		{event.Content{file, event.File{Filename: "plan.pdf"}}, "notes.txt, plan.pdf"},
		{event.Say("And this?\n\n<stdin>\nlines\n</stdin>"), "And this?"},
		{event.Say("\n```go\nfunc main() {}\n```\n# Why does\nthis fail?\n\nA long explanation."), "Why does this fail?"},
		{event.Say("```\nx := 1\n```"), "x := 1"},
		{event.Say("~~~\nopen"), "open"},
		{event.Say("<filed under F> and <file"), "<filed under F> and <file"},
		{event.Say("Hi\n\nWhat is a monad?"), "Hi What is a monad?"},
		{event.Say(strings.Repeat("ä ", 100)), strings.Repeat("ä ", 39) + "ä…"},
		{event.Say("Why is " + strings.Repeat("so ", 20) + "much, of all one may do?"), "Why is " + strings.Repeat("so ", 20) + "much, of all…"},
		{event.Say(strings.Repeat("ä", 81)), strings.Repeat("ä", 79) + "…"},
		{event.Say(strings.Repeat("ä", 80)), strings.Repeat("ä", 80)},
		{nil, ""},
	} {
		id := event.SessionID(fmt.Sprint("s", i))
		s.begin(id)
		s.present(id, 1, event.UserMessage{ID: "u", Content: tale.said})
		if got := s.session(id).Title; got != tale.want {
			t.Errorf("%q is called %q, want %q", tale.said, got, tale.want)
		}
	}
}

func closedFork(t *testing.T, s shelf) {
	s.begin("s")
	s.talk("s", 1, "one", "first")
	s.present("s", 2, event.UserMessage{ID: "u2", Content: event.Say("go")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "on and"})
	s.must(s.ForkBefore(t.Context(), "s", "f", ""))
	log, err := s.Events(t.Context(), "f")
	s.must(err)
	open := map[string]int{}
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.TurnRequest:
			open[d.TurnID]++
		case event.TurnResponse:
			open[d.TurnID]--
		}
	}
	if open["turn_u1"] != 0 || open["turn_u2"] != 0 || len(open) != 2 {
		t.Errorf("turns that were asked and not answered: %v", open)
	}
	if got := s.session("f"); got.Open || !got.Interrupted {
		t.Errorf("the fork is %+v", got)
	}
	if !s.session("s").Open {
		t.Error("the turn was closed where it runs")
	}
}

func renamedAndGone(t *testing.T, s shelf) {
	ctx := t.Context()
	s.begin("s")
	s.talk("s", 1, "hello", "hi")
	s.must(s.Rename(ctx, "s", " A\x1b\n title "), s.SetModel(ctx, "s", "m/2"), s.SetSystem(ctx, "s", "Be\nbrief."))
	if got := s.session("s"); got.Title != "A title" || got.Model != "m/2" || got.System != "Be\nbrief." {
		t.Errorf("Session() = %+v", got)
	}
	if ids := s.ids(engine.SessionFilter{Query: "title"}); ids != "s" {
		t.Errorf("by its title %q is found", ids)
	}
	s.must(s.Delete(ctx, "s"))
	if ids := s.ids(engine.SessionFilter{Query: "hello"}) + s.ids(engine.SessionFilter{}); ids != "" || s.log("s") != "" {
		t.Errorf("deleted, %q is listed and says %q", ids, s.log("s"))
	}
	s.want("Delete(again)", s.Delete(ctx, "s"), engine.ErrNotFound)
	s.begin("s")
	if s.log("s") != "" {
		t.Error("a new session of an old id has its log")
	}
}

func lockedOnce(t *testing.T, s shelf) {
	ctx := t.Context()
	s.begin("s")
	s.begin("other")
	release, err := s.Lock(ctx, "s")
	s.must(err)
	_, err = s.Lock(ctx, "s")
	s.want("Lock(again)", err, engine.ErrInUse)
	s.want("Delete(locked)", s.Delete(ctx, "s"), engine.ErrInUse)
	free, err := s.Lock(ctx, "other")
	s.must(err)
	s.talk("s", 1, "mine", "yours") // who has the lock writes
	release()
	again, err := s.Lock(ctx, "s")
	s.must(err)
	release() // twice, which is once
	_, err = s.Lock(ctx, "s")
	s.want("Lock() when somebody else has it by now", err, engine.ErrInUse)
	again()
	free()
	s.must(s.Delete(ctx, "s"))
}

func manyAtOnce(t *testing.T, s shelf) {
	var all sync.WaitGroup
	for i := range 8 {
		id := event.SessionID(fmt.Sprint("s", i))
		s.begin(id)
		all.Go(func() { // ends with its turns
			for turn := range 3 {
				s.talk(id, turn, "hello", "hi")
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if got := s.session(event.SessionID(fmt.Sprint("s", i))); got.Messages != 9 || got.Open {
			t.Errorf("session %d is %+v", i, got)
		}
	}
}

func readStays(t *testing.T, s shelf) {
	s.begin("s")
	s.talk("s", 1, "hello", "hi")
	early, err := s.Events(t.Context(), "s")
	s.must(err)
	was := s.text(early)
	page, _, err := s.Page(t.Context(), "s", 0, 2)
	s.must(err)
	_ = append(early, event.Event{Data: event.ErrorMessage{ID: "not said"}})
	_ = append(page, event.Event{Data: event.ErrorMessage{ID: "not said"}})
	s.talk("s", 2, "more", "and more")
	if s.text(early) != was {
		t.Error("what was read has changed")
	}
	if log := s.log("s"); !strings.HasPrefix(log, was) || strings.Contains(log, "not said") {
		t.Errorf("the session has become\n%s", log)
	}
}

func replacedTurn(t *testing.T, s shelf) {
	s.begin("s")
	s.present("s", 1,
		event.UserMessage{ID: "u1", Content: event.Say("one")}, event.MessageStart{MessageID: "m1"}, event.TextDelta{Text: "fir"},
		event.UserMessage{ID: "u2", Content: event.Say("no: two")})
	if !s.session("s").Open {
		t.Error("the message that replaced a turn is not being answered")
	}
}
