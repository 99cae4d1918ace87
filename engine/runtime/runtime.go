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

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// A Config says what a runtime is made of.
type Config struct {
	Bus     *bus.Bus
	Journal Journal
	Now     func() time.Time
	NewID   func(prefix string) string // a new id, sortable by the time of its making
	Words   func(error) string         // an error of the journal for people; nil is Error

	// What commands need beside, and methods do not.
	Sessions Sessions
	Images   Images
	Define   func(context.Context, AgentConfig) (Definition, error) // what an agent of that configuration is
}

// A Runtime owns the bus and the containers.
type Runtime struct {
	Config

	life   context.Context // of the commands; ends with the runtime
	end    context.CancelCauseFunc
	places chan struct{} // one for each command that runs

	mu         sync.Mutex
	containers map[event.ContainerID]*Container
	agents     map[event.AgentID]*Agent // of all containers
	gone       obituary
	unserve    func()
	closed     bool
}

// New returns a runtime without containers.
func New(c Config) *Runtime {
	life, end := context.WithCancelCause(context.Background())
	return &Runtime{
		Config: c, life: life, end: end, places: make(chan struct{}, busy),
		containers: map[event.ContainerID]*Container{}, agents: map[event.AgentID]*Agent{},
	}
}

// Container returns the container of that id, and makes it if need be.
func (r *Runtime) Container(id event.ContainerID) *Container {
	var c *Container
	_, _ = announce(r, bus.Scope{Container: id}, ContainerCreateRequest{ContainerID: id}, func(out *ContainerCreateResponse) (bus.Scope, error) {
		out.ContainerID = id
		var made bool
		if c, made = r.container(id); made {
			r.tell(bus.Container, bus.Lifecycle, bus.Scope{Container: id}, ContainerCreated{ContainerID: id})
		}
		return bus.Scope{Container: id}, nil
	})
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
	unserve := r.unserve
	r.unserve = nil
	r.mu.Unlock()
	if unserve != nil {
		unserve()
	}
	err := together(all, func(c *Container) error { return c.destroy(ctx) })
	r.end(errClosed)
	return err
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
	var a *Agent
	scope := bus.Scope{Container: c.ID, Session: session}
	q := AgentRunRequest{ContainerID: c.ID, Config: d.config(), SessionID: session}
	_, _ = announce(c.runtime, scope, q, func(out *AgentRunResponse) (_ bus.Scope, err error) {
		a, err = c.seat(context.Background(), d, d.config(), seat{session: session}, nil)
		*out = AgentRunResponse{ContainerID: c.ID, AgentID: a.ID, SessionID: session}
		return a.scope(""), err
	})
	return a
}

// agentRun is Run by a command.
func (r *Runtime) agentRun(ctx context.Context, q AgentRunRequest, out *AgentRunResponse) (bus.Scope, error) {
	out.ContainerID, out.SessionID = q.ContainerID, q.SessionID
	s := bus.Scope{Container: q.ContainerID, Session: q.SessionID}
	c, err := r.known(q.ContainerID)
	if err != nil {
		return s, err
	}
	d, err := r.define(ctx, q.Config)
	if err != nil {
		return s, err
	}
	place, err := r.take(ctx, q)
	if err != nil {
		return s, err
	}
	place.recall = q.Recall
	a, err := c.seat(ctx, d, q.Config, place, nil)
	out.AgentID, out.SessionID = a.ID, a.Session
	return a.scope(""), err
}

// define says what an agent of that configuration is.
func (r *Runtime) define(ctx context.Context, c AgentConfig) (Definition, error) {
	if r.Define == nil {
		return Definition{}, errDefine
	}
	return r.Define(ctx, c)
}

// seat makes an agent and registers it. Where that cannot be it is destroyed,
// and its place given up.
func (c *Container) seat(ctx context.Context, d Definition, config AgentConfig, place seat, changes []engine.File) (*Agent, error) {
	a := newAgent(c, d, place.session)
	a.named, a.release, a.recall = config, place.release, place.recall
	err := a.furnish(ctx, changes)
	if err == nil {
		err = c.register(a)
	}
	if err != nil {
		_ = a.shell.Destroy(context.Background()) // it rests already
		return a, errors.Join(err, a.leave())
	}
	c.runtime.tell(bus.Container, bus.Lifecycle, bus.Scope{Container: c.ID, Agent: a.ID, Session: a.Session}, AgentRegistered{ContainerID: c.ID, AgentID: a.ID})
	return a, nil
}

// furnish opens the agent's sandbox, and brings it to where it was frozen.
func (a *Agent) furnish(ctx context.Context, changes []engine.File) (err error) {
	if a.def.Open == nil {
		return nil
	}
	if a.sandbox, err = a.def.Open(ctx, a.ID, a.work); err != nil || len(changes) == 0 {
		return err
	}
	return a.sandbox.Apply(ctx, changes)
}

// work tells what happens in the sandbox.
func (a *Agent) work(d event.Data) {
	category := bus.Workdir
	if c, ok := d.(interface{ Category() string }); ok {
		category = bus.Category(c.Category())
	}
	a.home.runtime.tell(bus.Sandbox, category, a.scope(a.current()), d)
}

func (c *Container) register(a *Agent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.agents[a.ID] = a
	c.runtime.mu.Lock()
	defer c.runtime.mu.Unlock()
	c.runtime.agents[a.ID] = a
	return nil
}

// ended reports whether the container is destroyed.
func (c *Container) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Agent returns a running agent, or [engine.ErrNotFound].
func (c *Container) Agent(id event.AgentID) (*Agent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.agents[id]
	if !ok {
		return nil, fmt.Errorf("agent %q: %w", id, engine.ErrNotFound)
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
func (c *Container) unregister(a *Agent) (first bool) {
	c.mu.Lock()
	_, first = c.agents[a.ID]
	delete(c.agents, a.ID)
	c.runtime.mu.Lock()
	delete(c.runtime.agents, a.ID)
	if first {
		c.runtime.gone.add(a.ID)
	}
	c.runtime.mu.Unlock()
	c.mu.Unlock()
	if first {
		c.runtime.tell(bus.Container, bus.Lifecycle, bus.Scope{Container: c.ID, Agent: a.ID, Session: a.Session}, AgentUnregistered{ContainerID: c.ID, AgentID: a.ID})
	}
	return first
}

// destroy ends all agents at once: a stubborn one keeps none from its end.
func (c *Container) destroy(ctx context.Context) error {
	c.mu.Lock()
	gone := c.closed
	c.closed = true
	all := slices.Collect(maps.Values(c.agents))
	c.mu.Unlock()
	err := together(all, func(a *Agent) error { return a.Destroy(ctx) })
	if !gone {
		c.forget()
		c.runtime.tell(bus.Container, bus.Lifecycle, bus.Scope{Container: c.ID}, ContainerDestroyed{ContainerID: c.ID})
	}
	return err
}

// forget takes the container out of the runtime; another may have its id then.
func (c *Container) forget() {
	c.runtime.mu.Lock()
	defer c.runtime.mu.Unlock()
	delete(c.runtime.containers, c.ID)
}
