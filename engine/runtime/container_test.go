package runtime_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// Containers by commands: to make one twice is to find it, each knows its own
// agents, and who destroys one ends these and no others. Their sessions stay,
// and the name is free again (F96, F107).
func TestContainersByCommands(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	if err := errors.Join(c.Container(ctx, "shed"), c.Container(ctx, "shed")); err != nil {
		t.Fatal(err)
	}
	if got := w.types("container/"); got != "container_created container_created" { // home, and one shed
		t.Errorf("told %s", got)
	}
	var shed []event.AgentID
	var session event.SessionID
	for range 2 {
		a := run(t, c, runtime.AgentRunRequest{ContainerID: "shed", Config: runtime.AgentConfig{Model: "m"}})
		shed, session = append(shed, a.AgentID), a.SessionID
		if err := c.Receive(ctx, a.AgentID, event.Say("hello")); err != nil {
			t.Error(err)
		}
	}
	home := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	list, err := runtime.Ask[runtime.ContainerListResponse](ctx, c, runtime.ContainerListRequest{})
	if err != nil || fmt.Sprint(list.Containers) != "[home shed]" {
		t.Errorf("there are %v, %v", list.Containers, err)
	}
	get, err := runtime.Ask[runtime.ContainerGetResponse](ctx, c, runtime.ContainerGetRequest{ContainerID: "shed"})
	slices.Sort(shed)
	if err != nil || !slices.Equal(get.Agents, shed) {
		t.Errorf("in the shed there are %v, %v; want %v", get.Agents, err, shed)
	}
	for container, want := range map[event.ContainerID]int{"shed": 2, "home": 1, "": 3} {
		if all, err := c.Agents(ctx, container); err != nil || len(all) != want {
			t.Errorf("in %q there are %+v, %v; want %d", container, all, err, want)
		}
	}
	w.since()
	if _, err := runtime.Ask[runtime.ContainerDestroyResponse](ctx, c, runtime.ContainerDestroyRequest{ContainerID: "shed"}); err != nil {
		t.Error(err)
	}
	if got := w.types("container/"); got != "agent_unregistered agent_unregistered container_destroyed" {
		t.Errorf("told %s", got)
	}
	if err := c.Receive(ctx, shed[0], event.Say("hello?")); !errors.Is(err, engine.ErrDestroyed) {
		t.Errorf("an agent of a container that is gone: %v", err)
	}
	if _, err := runtime.Ask[runtime.ContainerGetResponse](ctx, c, runtime.ContainerGetRequest{ContainerID: "shed"}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a container that is gone: %v", err)
	}
	if err := c.Container(ctx, "shed"); err != nil {
		t.Errorf("the name is not free again: %v", err)
	}
	again := run(t, c, runtime.AgentRunRequest{ContainerID: "shed", SessionID: session, Config: runtime.AgentConfig{Model: "m"}})
	if err := errors.Join(c.Receive(ctx, again.AgentID, event.Say("again")), c.Receive(ctx, home.AgentID, event.Say("hello"))); err != nil {
		t.Error(err)
	}
	if got := last(t, c, session); got != "m[hello? m[hello?]! again?]" {
		t.Errorf("the session that stayed says %q", got)
	}
	w.since()
}

// A client reads a long session from its end, a page at a time, and has then
// read all of it, each event once (F98).
func TestPagesOfASession(t *testing.T) {
	w, c := serve(t)
	ctx := t.Context()
	a := run(t, c, runtime.AgentRunRequest{Config: runtime.AgentConfig{Model: "m"}})
	for _, text := range []string{"one", "two", "three"} {
		if err := c.Receive(ctx, a.AgentID, event.Say(text)); err != nil {
			t.Fatal(err)
		}
	}
	types := func(events []event.Event) []string {
		var names []string
		for _, e := range events {
			names = append(names, e.Data.Type())
		}
		return names
	}
	whole, first, err := c.Messages(ctx, a.SessionID, 0, 0)
	if err != nil || first != 1 || len(whole) != 12 {
		t.Fatalf("%d events from %d on: %v", len(whole), first, err)
	}
	for _, size := range []int{1, 5, 12, 100} {
		var read []string
		for before, pages := int64(0), 0; before != 1; pages++ {
			page, first, err := c.Messages(ctx, a.SessionID, before, size)
			if err != nil || len(page) == 0 || len(page) > size || pages > 12 {
				t.Fatalf("page %d of %d has %d events: %v", pages, size, len(page), err)
			}
			read, before = append(types(page), read...), first
		}
		if got, want := strings.Join(read, " "), strings.Join(types(whole), " "); got != want {
			t.Errorf("in pages of %d it is\n%s\nwant\n%s", size, got, want)
		}
	}
	w.since()
}
