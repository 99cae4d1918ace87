package store_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/driver/script"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
)

// recounts is a driver that answers with all that was said before.
var recounts = engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	var said []string
	for m := range req.Messages() {
		switch m := m.(type) {
		case event.UserMessage:
			said = append(said, m.Content.Text())
		case event.AssistantMessage:
			said = append(said, "("+m.Content.Text()+")")
		}
	}
	return script.Say(event.MessageStart{MessageID: "re:" + req.Message.ID, Model: req.Model}, event.TextDelta{Text: strings.Join(said, " ")},
		event.MessageStop{StopReason: event.EndTurn}).Receive(ctx, req)
})

// branch is a runtime with a handle of its own to a database that others use too.
func branch(t *testing.T, path, name string) runtime.Client {
	t.Helper()
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ids atomic.Int64
	mint := func(prefix string) string { return fmt.Sprintf("%s_%s_%d", prefix, name, ids.Add(1)) }
	var timeline bus.Bus
	w := runtime.New(runtime.Config{
		Bus: &timeline, Journal: db, Sessions: db, Images: db, Now: time.Now, NewID: mint,
		Define: func(_ context.Context, c runtime.AgentConfig) (runtime.Definition, error) {
			return runtime.Definition{Model: c.Model, Driver: recounts}, nil
		},
	})
	if err := w.Serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(w.Close(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	c := runtime.Client{Timeline: &timeline, Now: time.Now, NewID: mint}
	if err := c.Container(t.Context(), "home"); err != nil {
		t.Fatal(err)
	}
	return c
}

// Two runtimes know of each other by the database alone. Each takes a message in
// turn and answers with all that was said; what one has frozen the other wakes;
// and while one is in a session, the other keeps out of it (F119, F121).
func TestTwoRuntimesOneDatabase(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "a.db")
	left, right := branch(t, path, "left"), branch(t, path, "right")
	say := func(c runtime.Client, agent event.AgentID, session event.SessionID, text, want string) {
		t.Helper()
		if err := c.Receive(ctx, agent, event.Say(text)); err != nil {
			t.Fatal(err)
		}
		for _, reader := range []runtime.Client{left, right} {
			events, _, err := reader.Messages(ctx, session, 0, 0)
			got := ""
			for _, e := range events {
				if m, ok := e.Data.(event.AssistantMessage); ok {
					got = m.Content.Text()
				}
			}
			if err != nil || got != want {
				t.Errorf("%s was answered with %q, %v; want %q", text, got, err, want)
			}
		}
	}
	session, want := event.SessionID("s"), ""
	for i, c := range []runtime.Client{left, right, right, left} {
		a, err := c.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", SessionID: session, Config: runtime.AgentConfig{Model: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		want = strings.TrimSpace(fmt.Sprint(want, " ", i))
		say(c, a.AgentID, session, fmt.Sprint(i), want)
		want += " (" + want + ")"
		for _, other := range []runtime.Client{left, right} {
			if _, err := other.Run(ctx, runtime.AgentRunRequest{ContainerID: "home", SessionID: session}); !errors.Is(err, engine.ErrInUse) {
				t.Errorf("a second agent in the session: %v", err)
			}
		}
		if i == 1 {
			if _, err := c.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: a.AgentID, Name: "two questions"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Destroy(ctx, a.AgentID); err != nil {
			t.Fatal(err)
		}
	}
	b, err := left.Thaw(ctx, runtime.ImageResumeRequest{ImageID: "two questions", ContainerID: "home"}) // that the other froze
	if err != nil {
		t.Fatal(err)
	}
	say(left, b.AgentID, b.SessionID, "three?", "0 (0) 1 (0 (0) 1) three?")
}
