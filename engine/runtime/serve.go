package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// busy is how many commands may run at the same time, those that answer
// messages included.
const busy = 4096

var errBusy = &engine.Fault{Code: event.CodeOverloaded, Message: fmt.Sprintf("%d commands are running already", busy), Retryable: true}

// A command is a request that can be given on the bus alone.
type command struct {
	decode func(json.RawMessage) (event.Data, error)
	// begin does what must be done in the order of the requests, and returns the
	// rest, which is done on a goroutine of its own.
	begin func(r *Runtime, ctx context.Context, q event.Data) (rest func(id string) (event.Data, bus.Scope, error))
}

// on makes a command of a function.
func on[Q, A event.Data, P response[A]](do func(r *Runtime, ctx context.Context, q Q, out *A) (bus.Scope, error)) (string, command) {
	return inOrder[Q, A, P](func(r *Runtime, ctx context.Context, q Q) work[A] {
		return func(out *A) (bus.Scope, error) { return do(r, ctx, q, out) }
	})
}

// inOrder is on for what must happen in the order of the requests.
func inOrder[Q, A event.Data, P response[A]](begin func(r *Runtime, ctx context.Context, q Q) work[A]) (string, command) {
	var none Q
	return none.Type(), command{
		decode: func(b json.RawMessage) (event.Data, error) {
			var q Q
			err := json.Unmarshal(b, &q)
			return q, err
		},
		begin: func(r *Runtime, ctx context.Context, q event.Data) func(string) (event.Data, bus.Scope, error) {
			rest := begin(r, ctx, q.(Q))
			return func(id string) (event.Data, bus.Scope, error) {
				var out A
				s, err := rest(&out)
				P(&out).finish(id, err)
				return out, s, err
			}
		},
	}
}

// commands are all there are.
func commands() map[string]command {
	all := map[string]command{}
	add := func(name string, c command) { all[name] = c }
	add(on((*Runtime).containerCreate))
	add(on((*Runtime).containerGet))
	add(on((*Runtime).containerList))
	add(on((*Runtime).containerDestroy))
	add(on((*Runtime).agentRun))
	add(on((*Runtime).agentGet))
	add(on((*Runtime).agentList))
	add(on((*Runtime).agentConfigure))
	add(inOrder((*Runtime).agentReceive))
	add(inOrder((*Runtime).agentInterrupt))
	add(on((*Runtime).agentStop))
	add(on((*Runtime).agentResume))
	add(on((*Runtime).agentDestroy))
	add(on((*Runtime).imageSnapshot))
	add(on((*Runtime).imageResume))
	add(on((*Runtime).imageList))
	add(on((*Runtime).imageGet))
	add(on((*Runtime).imageDelete))
	add(on((*Runtime).sessionList))
	add(on((*Runtime).sessionGet))
	add(on((*Runtime).sessionMessages))
	add(on((*Runtime).sessionFork))
	add(on((*Runtime).sessionTree))
	add(on((*Runtime).sessionRename))
	add(on((*Runtime).sessionDelete))
	return all
}

// Serve answers the commands that come on the bus, until the runtime is closed.
// Without it the runtime is there for the methods alone.
func (r *Runtime) Serve() error {
	all := commands()
	stop, err := r.Bus.Serve(slices.Collect(maps.Keys(all)), func(e bus.SystemEvent) { r.obey(all[e.Data.Type()], e) })
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unserve = stop
	return nil
}

// obey begins a command. It is on the timeline and must not wait.
func (r *Runtime) obey(c command, e bus.SystemEvent) {
	q := e.Data
	if raw, ok := q.(event.Unknown); ok { // it comes from another process
		var err error
		if q, err = c.decode(raw.Raw); err != nil {
			r.Bus.Refuse(e, event.CodeInvalidRequest, fmt.Sprintf("%s is malformed: %v", raw.Name, err))
			return
		}
	}
	select {
	case r.places <- struct{}{}:
	default:
		r.Bus.Refuse(e, errBusy.Code, errBusy.Message)
		return
	}
	rest := c.begin(r, r.life, q)
	go func() { // ends with its work, which ends with r.life
		defer func() { <-r.places }()
		r.carryOut(e, rest)
	}()
}

// carryOut does the rest of a command and publishes the response. A panic is a
// failure like any other.
func (r *Runtime) carryOut(e bus.SystemEvent, rest func(id string) (event.Data, bus.Scope, error)) {
	defer func() {
		if v := recover(); v != nil {
			r.Bus.Refuse(e, event.CodeInternal, fmt.Sprintf("%s panicked: %v", e.Data.Type(), v))
		}
	}()
	out, s, err := rest(e.RequestID)
	r.complain(s, e.Data.Type(), err)
	r.Bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: r.Now(), Data: out},
		Source: bus.Command, Category: bus.Response, Intent: bus.Answers, Scope: s, RequestID: e.RequestID,
	})
}

func (r *Runtime) containerCreate(_ context.Context, q ContainerCreateRequest, out *ContainerCreateResponse) (bus.Scope, error) {
	s := bus.Scope{Container: q.ContainerID}
	out.ContainerID = q.ContainerID
	if q.ContainerID == "" {
		return s, invalid("a container needs an id")
	}
	c, made := r.container(q.ContainerID)
	if made {
		r.tell(bus.Container, bus.Lifecycle, s, ContainerCreated{ContainerID: q.ContainerID})
	}
	if c.ended() {
		return s, errClosed
	}
	return s, nil
}

func (r *Runtime) containerGet(_ context.Context, q ContainerGetRequest, out *ContainerGetResponse) (bus.Scope, error) {
	s := bus.Scope{Container: q.ContainerID}
	out.ContainerID, out.Agents = q.ContainerID, []event.AgentID{}
	c, err := r.known(q.ContainerID)
	if err != nil {
		return s, err
	}
	out.Agents = append(out.Agents, c.Agents()...)
	return s, nil
}

func (r *Runtime) containerList(_ context.Context, _ ContainerListRequest, out *ContainerListResponse) (bus.Scope, error) {
	out.Containers = append([]event.ContainerID{}, r.Containers()...)
	return bus.Scope{}, nil
}

func (r *Runtime) containerDestroy(ctx context.Context, q ContainerDestroyRequest, out *ContainerDestroyResponse) (bus.Scope, error) {
	s := bus.Scope{Container: q.ContainerID}
	out.ContainerID = q.ContainerID
	c, err := r.known(q.ContainerID)
	if err != nil {
		return s, err
	}
	return s, c.destroy(ctx)
}

func invalid(why string) error {
	return &engine.Fault{Code: event.CodeInvalidRequest, Message: why}
}

func (r *Runtime) agentGet(_ context.Context, q AgentGetRequest, out *AgentGetResponse) (bus.Scope, error) {
	a, err := r.agent(q.AgentID)
	if err != nil {
		return bus.Scope{Agent: q.AgentID}, err
	}
	out.Agent = a.info()
	return a.scope(""), nil
}

func (r *Runtime) agentList(_ context.Context, q AgentListRequest, out *AgentListResponse) (bus.Scope, error) {
	s := bus.Scope{Container: q.ContainerID}
	out.Agents = []AgentInfo{}
	ids := r.Containers()
	if q.ContainerID != "" {
		ids = []event.ContainerID{q.ContainerID}
	}
	for _, id := range ids {
		c, err := r.known(id)
		if err != nil {
			if q.ContainerID == "" {
				continue // it has just been destroyed
			}
			return s, err
		}
		for _, id := range c.Agents() {
			if a, err := c.Agent(id); err == nil {
				out.Agents = append(out.Agents, a.info())
			}
		}
	}
	return s, nil
}

func (r *Runtime) agentConfigure(ctx context.Context, q AgentConfigureRequest, out *AgentConfigureResponse) (bus.Scope, error) {
	out.AgentID = q.AgentID
	a, err := r.agent(q.AgentID)
	if err != nil {
		return bus.Scope{Agent: q.AgentID}, err
	}
	return a.scope(""), a.configure(ctx, q)
}

// agentReceive gives the message its place at once: those that are sent one
// after the other are answered so.
func (r *Runtime) agentReceive(ctx context.Context, q AgentReceiveRequest) work[AgentReceiveResponse] {
	a, err := r.agent(q.AgentID)
	if err == nil && blank(q.Content) {
		err = invalid("a message needs content")
	}
	if err != nil {
		return func(out *AgentReceiveResponse) (bus.Scope, error) {
			out.AgentID = q.AgentID
			return bus.Scope{Agent: q.AgentID}, err
		}
	}
	return a.receive(ctx, r.message(q))
}

// blank reports whether c says nothing: it has no parts, or none but texts of
// white space.
func blank(c event.Content) bool {
	for _, p := range c {
		if t, ok := p.(event.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return false
		}
	}
	return true
}

// message is what a request wants answered.
func (r *Runtime) message(q AgentReceiveRequest) event.UserMessage {
	m := event.UserMessage{ID: q.MessageID, Content: q.Content, Timestamp: event.MillisOf(r.Now())}
	if m.ID == "" {
		m.ID = r.NewID("msg")
	}
	return m
}

// agentInterrupt takes its turn among the messages: one that was sent before it
// is there to be stopped.
func (r *Runtime) agentInterrupt(_ context.Context, q AgentInterruptRequest) work[AgentInterruptResponse] {
	a, err := r.agent(q.AgentID)
	s := bus.Scope{Agent: q.AgentID}
	if err == nil {
		s = a.scope("")
		a.interrupt(q)
	}
	return func(out *AgentInterruptResponse) (bus.Scope, error) {
		out.AgentID = q.AgentID
		return s, err
	}
}

func (r *Runtime) agentStop(ctx context.Context, q AgentStopRequest, out *AgentStopResponse) (bus.Scope, error) {
	out.AgentID = q.AgentID
	a, err := r.agent(q.AgentID)
	if err != nil {
		return bus.Scope{Agent: q.AgentID}, err
	}
	return a.scope(""), a.shell.Stop(ctx)
}

func (r *Runtime) agentResume(_ context.Context, q AgentResumeRequest, out *AgentResumeResponse) (bus.Scope, error) {
	out.AgentID = q.AgentID
	a, err := r.agent(q.AgentID)
	if err != nil {
		return bus.Scope{Agent: q.AgentID}, err
	}
	return a.scope(""), a.shell.Resume()
}

func (r *Runtime) agentDestroy(ctx context.Context, q AgentDestroyRequest, out *AgentDestroyResponse) (bus.Scope, error) {
	out.AgentID = q.AgentID
	a, err := r.agent(q.AgentID)
	if err != nil {
		return bus.Scope{Agent: q.AgentID}, err
	}
	return a.destroy(ctx)(out)
}

// agent finds an agent wherever it is.
func (r *Runtime) agent(id event.AgentID) (*Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.agents[id]; a != nil {
		return a, nil
	}
	if r.gone.has(id) {
		return nil, fmt.Errorf("agent %q: %w", id, engine.ErrDestroyed)
	}
	return nil, fmt.Errorf("agent %q: %w", id, engine.ErrNotFound)
}

// known finds a container.
func (r *Runtime) known(id event.ContainerID) (*Container, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.containers[id]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("container %q: %w", id, engine.ErrNotFound)
}

// Containers returns the ids of the containers, sorted.
func (r *Runtime) Containers() []event.ContainerID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.containers))
}

// errDefine is why an agent cannot be run by a command.
var errDefine = errors.New("runtime: nobody here knows how to make an agent of a configuration")
