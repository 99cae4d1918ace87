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
	"slices"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// A Journal is where sessions are kept.
type Journal interface {
	// Events returns a session from its beginning.
	Events(ctx context.Context, session event.SessionID) ([]event.Event, error)
	// Presenter keeps what it is shown as part of the session. When it has
	// been shown a message without error, the message is kept.
	Presenter(session event.SessionID) engine.Presenter
}

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
	c := &Container{ID: id, runtime: r, agents: map[event.AgentID]*Agent{}}
	r.containers[id] = c
	return c, true
}

// Close destroys every container. It returns when all agents are at rest or
// ctx is done.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	var all []*Container
	for _, c := range r.containers {
		all = append(all, c)
	}
	clear(r.containers)
	r.mu.Unlock()
	var failed error
	for _, c := range all {
		failed = errors.Join(failed, c.destroy(ctx))
	}
	return failed
}

// A Container is an isolation boundary: the registry of agents that may know
// of each other.
type Container struct {
	ID      event.ContainerID
	runtime *Runtime

	mu     sync.Mutex
	agents map[event.AgentID]*Agent
}

// Run starts an agent in a session. The session may be new or kept already;
// it outlives the agent.
func (c *Container) Run(d Definition, session event.SessionID) *Agent {
	r := c.runtime
	scope := bus.Scope{Container: c.ID, Session: session}
	call := r.Bus.Begin(r.Now, scope, AgentRunRequest{ContainerID: c.ID, Config: d.config()})
	a := newAgent(c, d, session)
	c.mu.Lock()
	c.agents[a.ID] = a
	c.mu.Unlock()
	c.tell(bus.Lifecycle, AgentRegistered{ContainerID: c.ID, AgentID: a.ID})
	call.End(a.scope(""), AgentRunResponse{RequestID: call.ID(), ContainerID: c.ID, AgentID: a.ID, SessionID: session})
	return a
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

func (c *Container) unregister(id event.AgentID) {
	c.mu.Lock()
	delete(c.agents, id)
	c.mu.Unlock()
	c.tell(bus.Lifecycle, AgentUnregistered{ContainerID: c.ID, AgentID: id})
}

func (c *Container) destroy(ctx context.Context) error {
	var failed error
	for _, id := range c.Agents() {
		if a, err := c.Agent(id); err == nil {
			failed = errors.Join(failed, a.Destroy(ctx))
		}
	}
	c.tell(bus.Lifecycle, ContainerDestroyed{ContainerID: c.ID})
	return failed
}

func (c *Container) tell(category bus.Category, d event.Data) {
	c.runtime.Bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: c.runtime.Now(), Data: d},
		Source: bus.Container, Category: category, Intent: bus.Notifies, Scope: bus.Scope{Container: c.ID},
	})
}
