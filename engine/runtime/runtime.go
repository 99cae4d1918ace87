// Package runtime is the world an engine lives in: containers that hold
// agents, sessions that outlive them, and a bus on which all of it is told.
//
// Its methods do the work and announce it: a request event goes out before, a
// response event behind everything that the work gave rise to. The package knows
// no database and no screen; it sees a session through a [Journal], and people
// through presenters.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"
)

// ErrUnknown is the answer to a request about something that is not there.
var ErrUnknown = errors.New("runtime: unknown")

// A Config says what a runtime is made of.
type Config struct {
	Bus     *bus.Bus
	Journal Journal
	Now     func() time.Time
	NewID   func(prefix string) string // a new id, sortable by the time of its making
}

// A Runtime owns the bus and the containers.
type Runtime struct {
	Config

	mu         sync.Mutex
	containers map[event.ContainerID]*Container
	closed     bool
}

// New returns a runtime without containers.
func New(c Config) *Runtime {
	return &Runtime{Config: c, containers: map[event.ContainerID]*Container{}}
}

// Container returns the container of that id, and makes it if need be.
func (r *Runtime) Container(id event.ContainerID) *Container {
	call := r.Bus.Begin(r.Now, bus.Scope{Container: id}, ContainerCreateRequest{ContainerID: id})
	c, made := r.container(id)
	if made {
		c.tell(bus.Lifecycle, ContainerCreated{ContainerID: id})
	}
	call.End(bus.Scope{Container: id}, ContainerCreateResponse{RequestID: call.ID(), ContainerID: id})
	return c
}

func (r *Runtime) container(id event.ContainerID) (_ *Container, made bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.containers[id]; ok {
		return c, false
	}
	c := &Container{ID: id, runtime: r, agents: map[event.AgentID]*Agent{}, closed: r.closed}
	if r.closed {
		return c, false
	}
	r.containers[id] = c
	return c, true
}

// Close destroys every container. It returns when all agents are at rest or
// ctx is done. What is run afterwards is destroyed from the beginning.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	all := slices.Collect(maps.Values(r.containers))
	clear(r.containers)
	r.mu.Unlock()
	return together(all, func(c *Container) error { return c.destroy(ctx) })
}

// together does something with all of them at once, and returns when it is done.
func together[T any](all []T, do func(T) error) error {
	failed := make([]error, len(all))
	var working sync.WaitGroup
	for i, v := range all {
		working.Go(func() { failed[i] = do(v) })
	}
	working.Wait()
	return errors.Join(failed...)
}

// A Container is an isolation boundary: the registry of agents that may know
// of each other.
type Container struct {
	ID      event.ContainerID
	runtime *Runtime

	mu     sync.Mutex
	agents map[event.AgentID]*Agent
	closed bool
}

// errClosed is why an agent is destroyed from the beginning.
var errClosed = errors.New("runtime: the container is destroyed")

// Run starts an agent in a session. The session may be new or kept already;
// it outlives the agent. In a container that is destroyed the agent is, too.
func (c *Container) Run(d Definition, session event.SessionID) *Agent {
	r := c.runtime
	scope := bus.Scope{Container: c.ID, Session: session}
	call := r.Bus.Begin(r.Now, scope, AgentRunRequest{ContainerID: c.ID, Config: d.config()})
	a := newAgent(c, d, session)
	err := c.register(a)
	if err == nil {
		c.tell(bus.Lifecycle, AgentRegistered{ContainerID: c.ID, AgentID: a.ID})
	} else {
		_ = a.shell.Destroy(context.Background()) // it rests already
		a.complain(bus.Command, "", "the agent cannot run", err)
	}
	call.End(a.scope(""), AgentRunResponse{
		RequestID: call.ID(), ContainerID: c.ID, AgentID: a.ID, SessionID: session, Error: text(err),
	})
	return a
}

func (c *Container) register(a *Agent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.agents[a.ID] = a
	return nil
}

// Agent returns a running agent, or ErrUnknown.
func (c *Container) Agent(id event.AgentID) (*Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.agents[id]
	if !ok {
		return nil, fmt.Errorf("%w: agent %q", ErrUnknown, id)
	}
	return a, nil
}

// Agents returns the ids of the running agents, sorted.
func (c *Container) Agents() []event.AgentID {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []event.AgentID
	for id := range c.agents {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// unregister forgets an agent, and says so the first time.
func (c *Container) unregister(id event.AgentID) {
	c.mu.Lock()
	_, known := c.agents[id]
	delete(c.agents, id)
	c.mu.Unlock()
	if known {
		c.tell(bus.Lifecycle, AgentUnregistered{ContainerID: c.ID, AgentID: id})
	}
}

// destroy ends all agents at once: a stubborn one keeps none from its end.
func (c *Container) destroy(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	all := slices.Collect(maps.Values(c.agents))
	c.mu.Unlock()
	err := together(all, func(a *Agent) error { return a.Destroy(ctx) })
	c.tell(bus.Lifecycle, ContainerDestroyed{ContainerID: c.ID})
	return err
}

func (c *Container) tell(category bus.Category, d event.Data) {
	c.runtime.Bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: c.runtime.Now(), Data: d},
		Source: bus.Container, Category: category, Intent: bus.Notifies, Scope: bus.Scope{Container: c.ID},
	})
}
