package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// serve is a world in which everything is done by commands. Models that are
// called slow think for a minute.
func serve(t *testing.T) (*world, runtime.Client) {
	t.Helper()
	var memory runtime.Memory
	var ids atomic.Int64
	w := open(t, &memory)
	w.Config.Sessions, w.Config.Images = &memory, &memory
	w.Config.Define = func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
		d := runtime.Definition{Name: c.Name, Model: c.Model, System: c.SystemPrompt, Driver: witness}
		switch c.Model {
		case "slow":
			d.Driver = script.Driver{Speed: 1, Steps: []script.Step{
				{Event: event.MessageStart{MessageID: "slow"}}, {Event: event.TextDelta{Text: "Well"}},
				{After: time.Minute, Event: event.MessageStop{StopReason: event.EndTurn}},
			}}
		case "nothing":
			return d, &engine.Fault{Code: event.CodeConfiguration, Message: "there is no such model"}
		}
		return d, nil
	}
	if err := w.Serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	c := runtime.Client{Timeline: w.Bus, Now: w.Now, NewID: func(prefix string) string { return fmt.Sprint(prefix, ids.Add(1)) }}
	if err := c.Container(t.Context(), "home"); err != nil {
		t.Fatal(err)
	}
	return w, c
}

func run(t *testing.T, c runtime.Client, q runtime.AgentRunRequest) runtime.AgentRunResponse {
	t.Helper()
	if q.ContainerID == "" {
		q.ContainerID = "home"
	}
	a, err := c.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// last is the last thing that was answered in a session.
func last(t *testing.T, c runtime.Client, s event.SessionID) string {
	t.Helper()
	events, _, err := c.Messages(t.Context(), s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(events) {
		if m, ok := e.Data.(event.AssistantMessage); ok {
			return m.Content.Text()
		}
	}
	return ""
}

// A whole life by commands alone, as a client sees it that knows nothing but
// the timeline (F89, F99, F100, F108, F111).
func TestALifeByCommands(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	w.since()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Name: "a", Model: "m", SystemPrompt: "!"}, Title: "First"})
	w.want(`
command/request/request agent_run_request ,,, req_2
session/lifecycle/notification session_created ,,session_1,
container/lifecycle/notification agent_registered home,agent_2,session_1,
command/response/result agent_run_response home,agent_2,session_1, req_2`)
	var shown []string
	stop := c.Follow(a.AgentID, engine.PresenterFunc(func(_ context.Context, id event.AgentID, e event.Event) error {
		if m, ok := e.Data.(event.Message); ok && id == a.AgentID {
			shown = append(shown, word(m))
		}
		return nil
	}))
	if err := c.Receive(ctx, a.AgentID, event.Say("one")); err != nil {
		t.Error(err)
	}
	stop()
	if got := strings.Join(shown, " "); got != "one? m![one?]!" {
		t.Errorf("shown %q", got)
	}
	info, err := c.Agent(ctx, a.AgentID)
	if err != nil || info.Life != "running" || info.Phase != "idle" || info.SessionID != a.SessionID || info.Config.Name != "a" {
		t.Errorf("the agent is %+v, %v", info, err)
	}
	system := "?"
	if err := c.Configure(ctx, runtime.AgentConfigureRequest{AgentID: a.AgentID, Model: "n", System: &system}); err != nil {
		t.Error(err)
	}
	if err := c.Receive(ctx, a.AgentID, event.Say("two")); err != nil {
		t.Error(err)
	}
	if got := last(t, c, a.SessionID); got != "n?[one? m![one?]! two?]" {
		t.Errorf("reconfigured it says %q", got)
	}
	s, err := c.Session(ctx, string(a.SessionID))
	if err != nil || s.Model != "n" || s.Title != "First" || s.Messages != 4 {
		t.Errorf("the session is %+v, %v", s, err)
	}
	if err := errors.Join(c.Destroy(ctx, a.AgentID), c.Rename(ctx, a.SessionID, "Renamed")); err != nil {
		t.Error(err)
	}

	// The session outlives its agent, and another takes it up.
	b := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}, SessionID: a.SessionID})
	if b.SessionID != a.SessionID || b.AgentID == a.AgentID {
		t.Errorf("resumed as %+v", b)
	}
	if _, err := c.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", SessionID: a.SessionID}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("two agents in one session: %v", err)
	}
	if err := c.DeleteSession(ctx, a.SessionID); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("deleted while an agent lives in it: %v", err)
	}
	fork, err := c.Fork(ctx, a.SessionID, "")
	if err != nil {
		t.Error(err)
	}
	all, err := c.Sessions(ctx, runtime.SessionListRequest{})
	if err != nil || len(all) != 2 {
		t.Errorf("sessions %v, %v", all, err)
	}
	if err := errors.Join(c.Destroy(ctx, b.AgentID), c.DeleteSession(ctx, a.SessionID), c.DeleteSession(ctx, fork)); err != nil {
		t.Error(err)
	}
	if got := w.types("session/"); got != "message_persisted message_persisted message_persisted message_persisted session_title_updated session_resumed session_created session_forked session_destroyed session_destroyed" {
		t.Errorf("told of sessions: %s", got)
	}
	if err := c.Receive(ctx, b.AgentID, event.Say("still?")); !errors.Is(err, engine.ErrDestroyed) {
		t.Errorf("a destroyed agent: %v", err)
	}
	if _, err := c.Session(ctx, string(fork)); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a deleted session: %v", err)
	}
}

// A session that recalls another knows it until it has its first answer, which
// is where a summary comes in.
func TestRecall(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	if err := c.Receive(ctx, a.AgentID, event.Say("one")); err != nil {
		t.Fatal(err)
	}
	b := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}, Recall: a.SessionID})
	if err := c.Receive(ctx, b.AgentID, event.Say("sum")); err != nil {
		t.Fatal(err)
	}
	if got := last(t, c, b.SessionID); got != "m[one? m[one?]! sum?]" {
		t.Errorf("the first message was asked as %q", got)
	}
	if err := c.Receive(ctx, b.AgentID, event.Say("on")); err != nil {
		t.Fatal(err)
	}
	if got := last(t, c, b.SessionID); got != "m[sum? m[one? m[one?]! sum?]! on?]" {
		t.Errorf("the second message was asked as %q", got)
	}
	if s, err := c.Session(ctx, string(b.SessionID)); err != nil || s.ParentID != a.SessionID {
		t.Errorf("the session is %+v, %v", s, err)
	}
	w.since()
}

// An image is frozen once; what is begun from it goes its own way, and the
// model knows all that was said before (F112, F113).
func TestImages(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Name: "a", Model: "m", SystemPrompt: "!"}})
	if err := c.Receive(ctx, a.AgentID, event.Say("one")); err != nil {
		t.Fatal(err)
	}
	im, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID, Name: "base", Description: "where all begins"})
	if err != nil || im.ID == "" || im.Length != 2 || im.System != "!" || im.Model != "m" || im.Container != "home" || im.Agent != a.AgentID {
		t.Fatalf("frozen %+v, %v", im, err)
	}
	again, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID})
	if err != nil || again.ID != im.ID {
		t.Errorf("the same conversation is another image: %v, %v", again.ID, err)
	}
	var begun []runtime.ImageResumeResponse
	for _, ref := range []event.ImageID{im.ID, "base"} {
		b, err := c.Thaw(ctx, runtime.ImageResumeRequest{ImageID: ref})
		if err != nil {
			t.Fatal(err)
		}
		begun = append(begun, b)
	}
	if err := errors.Join(c.Receive(ctx, begun[0].AgentID, event.Say("left")), c.Receive(ctx, begun[1].AgentID, event.Say("right")), c.Receive(ctx, a.AgentID, event.Say("on"))); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[event.SessionID]string{
		begun[0].SessionID: "m![one? m![one?]! left?]",
		begun[1].SessionID: "m![one? m![one?]! right?]",
		a.SessionID:        "m![one? m![one?]! on?]",
	} {
		if got := last(t, c, s); got != want {
			t.Errorf("the model was told %q, want %q", got, want)
		}
	}
	next, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{SessionID: begun[0].SessionID})
	if err != nil || next.Parent != im.ID || next.ID == im.ID {
		t.Errorf("an image of what came of an image: %+v, %v", next, err)
	}
	if all, err := c.Images(ctx); err != nil || len(all) != 2 || all[0].Messages != nil {
		t.Errorf("images %+v, %v", all, err)
	}
	if whole, err := c.Image(ctx, "base"); err != nil || len(whole.Messages) != 2 {
		t.Errorf("the image holds %v, %v", whole.Messages, err)
	}
	if id, err := c.DeleteImage(ctx, "base"); err != nil || id != im.ID {
		t.Errorf("deleted %q, %v", id, err)
	}
	if _, err := c.Thaw(ctx, runtime.ImageResumeRequest{ImageID: im.ID}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a deleted image: %v", err)
	}
	if err := c.Receive(ctx, begun[0].AgentID, event.Say("still")); err != nil {
		t.Errorf("a session whose image is gone: %v", err)
	}
	w.since()
}

// A handy driver has tools, as a loop has.
type handy struct{ engine.Driver }

func (handy) ToolNames() []string { return []string{"read_file", "write_file"} }

// An image says which tools there were, and is another where they are others.
func TestAnImageKnowsItsTools(t *testing.T) {
	var timeline bus.Bus
	var memory runtime.Memory
	tools := true
	world := runtime.New(runtime.Config{
		Bus: &timeline, Journal: &memory, Sessions: &memory, Images: &memory, Now: time.Now, NewID: minted(),
		Define: func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
			d := runtime.Definition{Model: c.Model, Driver: engine.DriverFunc(counting)}
			if tools {
				d.Driver = handy{d.Driver}
			}
			return d, nil
		},
	})
	if err := world.Serve(); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	c := runtime.Client{Timeline: &timeline, Now: time.Now, NewID: minted()}
	if err := c.Container(ctx, "home"); err != nil {
		t.Fatal(err)
	}
	var ids []event.ImageID
	var session event.SessionID
	for _, want := range []string{"[read_file write_file]", "[]"} {
		a, err := c.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", SessionID: session, Config: runtime.AgentConfig{Model: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		if session == "" {
			if err := c.Receive(ctx, a.AgentID, event.Say("one")); err != nil {
				t.Fatal(err)
			}
		}
		im, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID})
		if got := fmt.Sprint(im.Tools); err != nil || got != want {
			t.Errorf("tools %s, %v, want %s", got, err, want)
		}
		ids, session, tools = append(ids, im.ID), a.SessionID, false
		if err := c.Destroy(ctx, a.AgentID); err != nil {
			t.Fatal(err)
		}
	}
	if ids[0] == ids[1] {
		t.Error("with and without tools it is the same image")
	}
	if err := world.Close(ctx); err != nil {
		t.Error(err)
	}
}

// minted numbers what is made.
func minted() func(string) string {
	var n atomic.Int64
	return func(prefix string) string { return fmt.Sprint(prefix, "_", n.Add(1)) }
}

// What cannot be is answered with an error that says what, and told as a
// system_error; the others are unhindered (F86).
func TestCommandsThatCannotBe(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	ask := func(request event.Data) string {
		w.since()
		e, err := w.Bus.Request(ctx, bus.SystemEvent{Event: event.Event{Data: request}})
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var wire struct {
			Type string
			Data struct{ Error, ErrorCode string }
		}
		if err := json.Unmarshal(line, &wire); err != nil {
			t.Fatal(err)
		}
		if told := w.types("command/error"); (told == "system_error") != (wire.Data.Error != "") {
			t.Errorf("%s: error %q, told %q", request.Type(), wire.Data.Error, told)
		}
		return wire.Type + " " + wire.Data.ErrorCode + ": " + wire.Data.Error
	}
	raw := func(name, data string) event.Data { return event.Unknown{Name: name, Raw: json.RawMessage(data)} }
	var got []string
	for _, request := range []event.Data{
		raw("agent_fly_request", `{}`),
		raw("agent_run_request", `{"containerId":7}`),
		raw("agent_run_request", `[`),
		raw("agent_run_request", `{"containerId":"nowhere"}`),
		raw("agent_run_request", `{"containerId":"home","config":{"model":"nothing"}}`),
		raw("agent_receive_request", `{"agentId":"nobody","content":"hello?"}`),
		raw("agent_receive_request", `{"agentId":"nobody"}`),
		raw("agent_interrupt_request", `{"agentId":"nobody"}`),
		raw("agent_destroy_request", `null`),
		raw("container_create_request", `{}`),
		raw("container_destroy_request", `{"containerId":"nowhere"}`),
		raw("session_get_request", `{"sessionId":"x"}`),
		raw("session_messages_request", `{"sessionId":"x","before":-3,"limit":-4}`),
		raw("session_fork_request", `{"sessionId":"x"}`),
		raw("image_resume_request", `{"imageId":"x"}`),
		raw("image_delete_request", `{"imageId":"x"}`),
		raw("image_snapshot_request", `{"agentId":"x"}`),
		raw("image_snapshot_request", `{}`),
	} {
		got = append(got, ask(request))
	}
	want := `
agent_fly_response invalid_request: nobody answers a request of type "agent_fly_request"
agent_run_response invalid_request: agent_run_request is malformed: json: cannot unmarshal number into Go struct field AgentRunRequest.containerId of type event.ContainerID
agent_run_response invalid_request: agent_run_request is malformed: unexpected end of JSON input
agent_run_response not_found: container "nowhere": not found
agent_run_response configuration: there is no such model
agent_receive_response not_found: agent "nobody": not found
agent_receive_response not_found: agent "nobody": not found
agent_interrupt_response not_found: agent "nobody": not found
agent_destroy_response not_found: agent "": not found
container_create_response invalid_request: a container needs an id
container_destroy_response not_found: container "nowhere": not found
session_get_response not_found: session "x": not found
session_messages_response not_found: session "x": not found
session_fork_response not_found: session "x": not found
image_resume_response not_found: image "x": not found
image_delete_response not_found: image "x": not found
image_snapshot_response not_found: agent "x": not found
image_snapshot_response not_found: session "": not found`
	if diff := cmp.Diff(strings.Split(want[1:], "\n"), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	for _, content := range []string{``, `,"content":""`, `,"content":" \n\t"`, `,"content":[]`, `,"content":[{"type":"text","text":""}]`} {
		got := ask(raw("agent_receive_request", `{"agentId":"`+string(a.AgentID)+`"`+content+`}`))
		if got != "agent_receive_response invalid_request: a message needs content" {
			t.Errorf("a message with %q: %s", content, got)
		}
	}
	picture := event.Content{event.Text{}, event.Image{MediaType: "image/png", Data: []byte("png")}}
	for _, content := range []event.Content{event.Say("hello"), picture} {
		if err := c.Receive(ctx, a.AgentID, content); err != nil {
			t.Errorf("the others: %v", err)
		}
	}
}

// Whoever is in another process has the lines alone: what goes out and what
// comes back is JSON, and the errors are the same (F114, F115).
func TestAClientElsewhere(t *testing.T) {
	w, c := serve(t)
	c.Timeline = wire{t, w.Bus}
	ctx := t.Context()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	var heard []string
	defer c.Follow(a.AgentID, engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		if m, ok := e.Data.(event.AssistantMessage); ok {
			heard = append(heard, word(m))
		}
		return nil
	}))()
	if err := c.Receive(ctx, a.AgentID, event.Say("one")); err != nil || strings.Join(heard, " ") != "m[one?]!" {
		t.Errorf("heard %v, %v", heard, err)
	}
	im, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID, Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := c.Image(ctx, string(im.ID)); err != nil || len(whole.Messages) != 2 || whole.Messages[0].Data.Type() != "user_message" {
		t.Errorf("the image holds %+v, %v", whole, err)
	}
	_, err = c.Session(ctx, "nowhere")
	if f, ok := errors.AsType[*engine.Fault](err); !ok || !errors.Is(err, engine.ErrNotFound) || f.Code != event.CodeNotFound {
		t.Errorf("the error is %#v", err)
	}
	if err := c.Stop(ctx, a.AgentID); err != nil {
		t.Error(err)
	}
	if err := c.Receive(ctx, a.AgentID, event.Say("two")); !errors.Is(err, engine.ErrStopped) {
		t.Errorf("a stopped agent: %v", err)
	}
	if err := c.Resume(ctx, a.AgentID); err != nil {
		t.Error(err)
	}
	if err := c.Receive(ctx, a.AgentID, event.Say("three")); err != nil {
		t.Error(err)
	}
}

// A wire is a timeline at the other end of one: all that passes is lines.
type wire struct {
	t   *testing.T
	bus *bus.Bus
}

func (w wire) over(e bus.SystemEvent) (back bus.SystemEvent) {
	line, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(line, &back)
	}
	if err != nil {
		w.t.Error(err)
	}
	return back
}

func (w wire) Request(ctx context.Context, e bus.SystemEvent) (bus.SystemEvent, error) {
	e.Category, e.Source, e.Intent = bus.Request, bus.Command, bus.Asks
	back, err := w.bus.Request(ctx, w.over(e))
	if err != nil {
		return back, err
	}
	return w.over(back), nil
}

func (w wire) Subscribe(s bus.Subscription, f func(bus.SystemEvent)) func() {
	wanted := s.Filter
	s.Filter, s.Once = nil, false
	return w.bus.Subscribe(s, func(e bus.SystemEvent) {
		if e = w.over(e); wanted == nil || wanted(e) {
			f(e)
		}
	})
}

// Who gives up elsewhere stops the answer here, for the reason that it had.
func TestGivingUpElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := serve(t)
		c.Timeline = wire{t, w.Bus}
		a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "slow"}})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, engine.Interrupt(event.ByTimeout))
		defer cancel()
		if err := c.Receive(ctx, a.AgentID, event.Say("well?")); !errors.Is(err, engine.Interrupt(event.ByTimeout)) {
			t.Errorf("ended with %v", err)
		}
		if got := last(t, c, a.SessionID); got != "Well" {
			t.Errorf("what came is %q", got)
		}
	})
}

// Messages that are sent one after the other are answered so, whoever waits for
// them; a client that gives up interrupts its own message and no other (F109).
func TestReceiveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, c := serve(t)
		a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "slow"}})
		w.since()
		var asking sync.WaitGroup
		ended := make([]error, 3)
		impatient, give := context.WithCancelCause(t.Context())
		for i, ctx := range []context.Context{t.Context(), impatient, t.Context()} {
			asking.Go(func() { ended[i] = c.Receive(ctx, a.AgentID, event.Say(fmt.Sprint(i))) })
			synctest.Wait()
		}
		if info, err := c.Agent(t.Context(), a.AgentID); err != nil || info.Queued != 2 || info.Phase != "responding" {
			t.Errorf("the agent is %+v, %v", info, err)
		}
		give(engine.Interrupt(event.ByTimeout))
		asking.Wait()
		if ended[0] != nil || ended[2] != nil || !errors.Is(ended[1], engine.Interrupt(event.ByTimeout)) {
			t.Errorf("ended with %v", ended)
		}
		events, _, err := c.Messages(t.Context(), a.SessionID, 0, 0)
		var said []string
		for _, m := range runtime.Messages(events) {
			said = append(said, word(m))
		}
		if got := strings.Join(said, " "); err != nil || got != "0? Well! 2? Well!" {
			t.Errorf("said %q, %v", got, err)
		}
		err = c.Receive(impatient, a.AgentID, event.Say("late"))
		if !errors.Is(err, engine.Interrupt(event.ByTimeout)) {
			t.Errorf("who had given up before: %v", err)
		}
	})
}

// Many clients give every command at once; each gets its own response
// (F110, F111).
func TestACrowdOfClients(t *testing.T) {
	w, c := serve(t)
	var crowd sync.WaitGroup
	for i := range 50 {
		crowd.Go(func() {
			a, err := c.Run(t.Context(), runtime.AgentRunRequest{ContainerID: "home", Config: runtime.AgentConfig{Model: fmt.Sprint("m", i)}})
			if err != nil {
				t.Error(err)
				return
			}
			err = errors.Join(
				c.Receive(t.Context(), a.AgentID, event.Say("hi")),
				c.Interrupt(t.Context(), a.AgentID, event.ByUser),
				c.Stop(t.Context(), a.AgentID), c.Resume(t.Context(), a.AgentID), c.Destroy(t.Context(), a.AgentID),
			)
			if err != nil {
				t.Error(err)
			}
			if got := last(t, c, a.SessionID); got != fmt.Sprintf("m%d[hi?]", i) {
				t.Errorf("%d heard %q", i, got)
			}
		})
	}
	crowd.Wait()
	if all, err := c.Agents(t.Context(), ""); err != nil || len(all) != 0 {
		t.Errorf("still there: %v, %v", all, err)
	}
	w.since()
}

// The environment is told as it is met: when it answers, when it is tried
// again, when it ends; and what it says to those who ask for that (F104, F105).
func TestTheEnvironment(t *testing.T) {
	w := open(t, &runtime.Memory{})
	var raw []string
	stop := w.Bus.Subscribe(bus.Subscription{Source: bus.Environment}, func(e bus.SystemEvent) { raw = append(raw, e.Data.Type()) })
	driver := script.Say(event.Retrying{Attempt: 1, MaxAttempts: 3, DelayMs: 10, Reason: "busy"},
		event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"}, event.MessageStop{StopReason: event.EndTurn})
	a := w.Container("c").Run(runtime.Definition{Driver: driver}, "s")
	if err := a.Receive(t.Context(), event.Say("hello")); err != nil {
		t.Error(err)
	}
	if got := strings.Join(raw, " "); got != "reconnecting retrying connected message_start text_delta message_stop disconnected" {
		t.Errorf("heard of the environment: %s", got)
	}
	stop()
	n := len(raw)
	if err := a.Receive(t.Context(), event.Say("again")); err == nil && len(raw) != n {
		t.Error("it is still heard")
	}
}
