package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/engine/sandbox"

	"github.com/google/go-cmp/cmp"
)

// A workshop gives each agent a folder of its own, and a driver that works there:
// it writes what it is told under the name that comes first, and says what else
// there is.
type workshop struct {
	t *testing.T

	mu   sync.Mutex
	work map[event.AgentID]*sandbox.Workdir
	tell map[event.AgentID]func(event.Data)
}

func (s *workshop) open(_ context.Context, id event.AgentID, tell func(event.Data)) (runtime.Sandbox, error) {
	w, err := sandbox.Open(s.t.TempDir(), sandbox.Options{Tell: tell, Baseline: &sandbox.Manifest{}})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work[id], s.tell[id] = w, tell
	return w, nil
}

func (s *workshop) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	s.mu.Lock()
	w := s.work[req.Agent]
	s.mu.Unlock()
	name, text, _ := strings.Cut(req.Message.Content.Text(), " ")
	err := w.Write(ctx, name, []byte(text))
	entries, listed := w.List(ctx, ".")
	var there []string
	for _, e := range entries {
		b, err := w.Read(ctx, e.Name)
		there = append(there, fmt.Sprintf("%s=%s", e.Name, b))
		listed = errors.Join(listed, err)
	}
	if err = errors.Join(err, listed); err != nil {
		return func(yield func(event.Stream, error) bool) { yield(nil, err) }
	}
	return say(strings.Join(there, " ")).Receive(ctx, req)
}

func furnished(t *testing.T) (*world, runtime.Client, *workshop) {
	w, c := serve(t)
	s := &workshop{t: t, work: map[event.AgentID]*sandbox.Workdir{}, tell: map[event.AgentID]func(event.Data){}}
	w.Config.Define = func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
		return runtime.Definition{Name: c.Name, Model: c.Model, Driver: s, Open: s.open}, nil
	}
	return w, c, s
}

// frozen is the image that an agent is frozen to, whole.
func frozen(t *testing.T, c runtime.Client, agent event.AgentID) engine.Image {
	t.Helper()
	im, err := c.Snapshot(t.Context(), runtime.ImageSnapshotRequest{AgentID: agent})
	if err == nil {
		im, err = c.Image(t.Context(), string(im.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// An agent is an engine, a session and a sandbox: what it does in its folder is
// told as part of its turn, frozen with what was said, and there again for who
// wakes from the image; then each has a folder of its own (F97, F102).
func TestAWorkDirectoryIsFrozenToo(t *testing.T) {
	w, c, s := furnished(t)
	ctx := t.Context()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	w.since()
	if err := c.Receive(ctx, a.AgentID, event.Say("plan.md think")); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, line := range w.since() {
		if strings.HasPrefix(line, "sandbox/") {
			told = append(told, line)
		}
	}
	scope := fmt.Sprintf(" home,%s,%s,turn_msg1", a.AgentID, a.SessionID)
	want := []string{
		"sandbox/workdir/notification file_written" + scope,
		"sandbox/workdir/notification directory_list_result" + scope,
		"sandbox/workdir/notification file_read_result" + scope,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	im := frozen(t, c, a.AgentID)
	if len(im.Sandbox) != 1 || im.Sandbox[0].Path != "plan.md" || string(im.Sandbox[0].Data) != "think" {
		t.Fatalf("frozen %+v", im.Sandbox)
	}
	b, err := c.Thaw(ctx, runtime.ImageResumeRequest{ImageID: im.ID})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Receive(ctx, b.AgentID, event.Say("more.md write")), c.Receive(ctx, a.AgentID, event.Say("plan.md think again"))); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[event.SessionID]string{b.SessionID: "more.md=write plan.md=think", a.SessionID: "plan.md=think again"} {
		if got := last(t, c, session); got != want {
			t.Errorf("in its folder there is %q, want %q", got, want)
		}
	}
	if next := frozen(t, c, b.AgentID); len(next.Sandbox) != 2 || next.Parent != im.ID {
		t.Errorf("an image of what came of an image has %d files of 2, and the parent %q", len(next.Sandbox), next.Parent)
	}
	if err := c.Destroy(ctx, a.AgentID); err != nil {
		t.Error(err)
	}
	if err := s.work[a.AgentID].Write(ctx, "late", nil); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("in the folder of an agent that is gone: %v", err)
	}
	w.since()
}

// One day in a house shows every source and every category that the envelope
// knows, each event with the intent that it has and with whose it is
// (F92, F103).
func TestWhereEventsComeFrom(t *testing.T) {
	w, c, s := furnished(t)
	ctx := t.Context()
	seen := map[string]bool{}
	see := func(e bus.SystemEvent) {
		w.mu.Lock()
		defer w.mu.Unlock()
		seen[string(e.Source)+"/"+string(e.Category)] = true
		intent := bus.Notifies
		switch e.Category {
		case bus.Request:
			intent = bus.Asks
		case bus.Response:
			intent = bus.Answers
		}
		if e.Intent != intent {
			t.Errorf("%s is a %s", e.Data.Type(), e.Intent)
		}
		if own := e.Source == bus.Agent || e.Source == bus.Sandbox || e.Source == bus.Environment; own && (e.Scope.Container == "" || e.Scope.Agent == "" || e.Scope.Session == "") {
			t.Errorf("%s does not say whose it is: %+v", e.Data.Type(), e.Scope)
		}
		if joined := e.Source == bus.Command; joined != (e.RequestID != "") {
			t.Errorf("%s of %s has the request %q", e.Data.Type(), e.Source, e.RequestID)
		}
	}
	w.Bus.Subscribe(bus.Subscription{}, see)
	w.Bus.Subscribe(bus.Subscription{Source: bus.Environment}, see)

	err := c.Container(ctx, "shed")
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}, ContainerID: "shed"})
	s.tell[a.AgentID](sandbox.MCPServerConnected{ServerName: "files", ToolCount: 3})
	err = errors.Join(err, c.Receive(ctx, a.AgentID, event.Say("plan.md think")), c.Rename(ctx, a.SessionID, "A day"), c.Destroy(ctx, a.AgentID))
	if err != nil {
		t.Error(err)
	}
	want := strings.Fields(`agent/message agent/state agent/stream agent/turn command/request command/response container/lifecycle
		environment/connection environment/stream sandbox/mcp sandbox/workdir session/action session/lifecycle session/persist`)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
