package runtime

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// A Definition says what an agent is, before there is one.
type Definition struct {
	Name    string
	About   string // what it is for, in a sentence
	Driver  engine.Driver
	Model   string
	System  string // system prompt
	Options engine.Options
	Price   engine.Pricer
	Record  func(engine.Transition) // of every message to the agent; nil records nothing

	// Present are shown every event behind the journal and the bus: what is on
	// a screen has been kept.
	Present []engine.Presenter

	// Open gives the agent a sandbox, and tell to that for what happens in it.
	// Nil is none.
	Open func(ctx context.Context, agent event.AgentID, tell func(event.Data)) (Sandbox, error)
}

// config is what a command would say of the agent.
func (d Definition) config() AgentConfig {
	return AgentConfig{
		Name: d.Name, Description: d.About, SystemPrompt: d.System, Model: d.Model,
		MaxTokens: d.Options.MaxTokens, Temperature: d.Options.Temperature, Effort: d.Options.Effort,
	}
}

// A Sandbox is where an agent works: a directory, and what tools do in it.
type Sandbox interface {
	// Changes are what is other than it was when the sandbox was opened.
	Changes(ctx context.Context) ([]engine.File, error)
	Apply(ctx context.Context, changes []engine.File) error
	Close() error
}

// An Agent answers messages in a session, which is the journal's: each message
// reads there what it does not know yet, and the presenters write back. What the
// agent knows is only what it need not read again.
type Agent struct {
	ID      event.AgentID
	Session event.SessionID
	home    *Container
	shell   *engine.Agent
	created time.Time
	sandbox Sandbox // nil where it has none
	release func()  // gives the session up; nil where it is the caller's

	recall event.SessionID // until there is an answer; read and changed where a message begins, one at a time
	past   past            // likewise

	mu      sync.Mutex
	named   AgentConfig // as commands know the agent
	def     Definition
	running Definition // as it was when the running turn began
	turn    string     // id of the running turn
	unsaved error      // why the journal did not take the running turn's message
	warned  string     // id of the turn that has told that it is not being kept

	saved string // id of the message that the journal has just kept; used where events are shown, one at a time
}

func newAgent(c *Container, d Definition, session event.SessionID) *Agent {
	r := c.runtime
	a := &Agent{ID: event.AgentID(r.NewID("agent")), Session: session, home: c, created: r.Now(), named: d.config(), def: d}
	a.shell = engine.NewAgent(engine.AgentConfig{
		ID: a.ID, Created: a.created,
		Engine: engine.Engine{
			Driver:     engine.DriverFunc(a.ask),
			Presenters: []engine.Presenter{a.keeper(r.Journal.Presenter(session)), engine.PresenterFunc(a.publish), engine.PresenterFunc(a.present)},
			Now:        r.Now,
			Price:      a.price,
			Record:     d.Record,
		},
		Request: a.request,
		NewID:   func() string { return r.NewID("msg") },
	})
	return a
}

// Receive answers a message, after those that came before it. It returns when
// the answer has ended; the error says what became of it. A message that could
// not be kept is not sent.
func (a *Agent) Receive(ctx context.Context, content event.Content) error {
	return a.ReceiveMessage(ctx, event.UserMessage{
		ID: a.home.runtime.NewID("msg"), Content: content, Timestamp: event.MillisOf(a.home.runtime.Now()),
	})
}

// ReceiveMessage is Receive with a message whose id the caller has chosen.
func (a *Agent) ReceiveMessage(ctx context.Context, m event.UserMessage) error {
	_, err := announce(a.home.runtime, a.scope(""), AgentReceiveRequest{AgentID: a.ID, Content: m.Content, MessageID: m.ID},
		func(out *AgentReceiveResponse) (bus.Scope, error) { return a.receive(ctx, m)(out) })
	return err
}

// receive gives the message its place; the rest answers it.
func (a *Agent) receive(ctx context.Context, m event.UserMessage) work[AgentReceiveResponse] {
	turn := engine.TurnID(m.ID)
	answer, err := a.shell.Enter(ctx, m)
	return func(out *AgentReceiveResponse) (bus.Scope, error) {
		out.AgentID, out.TurnID = a.ID, turn
		if err == nil {
			err = answer()
		}
		if err != nil && a.toldOf(turn) {
			err = told{err}
		}
		return a.scope(turn), err
	}
}

// Interrupt stops the running answer; what came of it is kept.
func (a *Agent) Interrupt(why event.InterruptReason) {
	q := AgentInterruptRequest{AgentID: a.ID, Reason: why}
	_, _ = announce(a.home.runtime, a.scope(""), q, func(out *AgentInterruptResponse) (bus.Scope, error) {
		out.AgentID = a.ID
		a.interrupt(q)
		return a.scope(""), nil
	})
}

func (a *Agent) interrupt(q AgentInterruptRequest) {
	why := cmp.Or(q.Reason, event.ByUser)
	if q.MessageID == "" {
		a.shell.Interrupt(why)
		return
	}
	a.shell.Cancel(q.MessageID, why)
}

// Stop interrupts the agent and has it refuse what comes, until it is resumed.
func (a *Agent) Stop(ctx context.Context) error {
	_, err := announce(a.home.runtime, a.scope(""), AgentStopRequest{AgentID: a.ID}, func(out *AgentStopResponse) (bus.Scope, error) {
		out.AgentID = a.ID
		return a.scope(""), a.shell.Stop(ctx)
	})
	return err
}

// Resume has a stopped agent go on.
func (a *Agent) Resume() error {
	_, err := announce(a.home.runtime, a.scope(""), AgentResumeRequest{AgentID: a.ID}, func(out *AgentResumeResponse) (bus.Scope, error) {
		out.AgentID = a.ID
		return a.scope(""), a.shell.Resume()
	})
	return err
}

// Destroy ends the agent and keeps its session.
func (a *Agent) Destroy(ctx context.Context) error {
	_, err := announce(a.home.runtime, a.scope(""), AgentDestroyRequest{AgentID: a.ID}, a.destroy(ctx))
	return err
}

func (a *Agent) destroy(ctx context.Context) work[AgentDestroyResponse] {
	return func(out *AgentDestroyResponse) (bus.Scope, error) {
		err := a.shell.Destroy(ctx)
		if first := a.home.unregister(a); first {
			err = errors.Join(err, a.leave())
		}
		out.AgentID, out.Success = a.ID, err == nil
		return a.scope(""), err
	}
}

// leave gives up what the agent had for itself.
func (a *Agent) leave() (err error) {
	if a.sandbox != nil {
		err = a.sandbox.Close()
	}
	if a.release != nil {
		a.release()
	}
	return err
}

// Shell returns the engine's agent inside: its queue, its handlers, its phase.
func (a *Agent) Shell() *engine.Agent { return a.shell }

// Definition returns what the agent is.
func (a *Agent) Definition() Definition {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.def
}

// Config is what commands know of the agent.
func (a *Agent) Config() AgentConfig {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.named
}

// configure changes the agent by a command, from the next message on.
func (a *Agent) configure(ctx context.Context, q AgentConfigureRequest) error {
	r := a.home.runtime
	c := a.Config()
	if q.Model != "" {
		c.Model = q.Model
	}
	if q.System != nil {
		c.SystemPrompt = *q.System
	}
	d, err := r.define(ctx, c)
	if err != nil {
		return err
	}
	if q.Model != "" && r.Sessions != nil {
		err = kept(r.Sessions.SetModel(ctx, a.Session, q.Model))
	}
	if err == nil && q.System != nil && r.Sessions != nil {
		err = kept(r.Sessions.SetSystem(ctx, a.Session, *q.System))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.named = c
	a.def.Driver, a.def.Model, a.def.System, a.def.Options, a.def.Price = d.Driver, d.Model, d.System, d.Options, d.Price
	return err
}

func (a *Agent) info() AgentInfo {
	life := "running"
	switch {
	case a.shell.Destroyed():
		life = "destroyed"
	case a.shell.Stopped():
		life = "stopped"
	}
	return AgentInfo{
		ContainerID: a.home.ID, AgentID: a.ID, SessionID: a.Session, Config: a.Config(),
		Life: life, Phase: a.shell.Phase().String(), Queued: len(a.shell.Queue()), Created: event.MillisOf(a.created),
	}
}

// Redefine changes what the agent is from the next message on, and at once to
// whom its events are presented. It is not called from within change.
func (a *Agent) Redefine(change func(*Definition)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.def)
}

// request completes the request for a message from the journal. An interrupt
// does not hinder the reading: the message is then kept, as interrupted.
func (a *Agent) request(ctx context.Context, m event.UserMessage) (engine.Request, error) {
	history, err := a.history(context.WithoutCancel(ctx))
	if err != nil {
		return engine.Request{}, &engine.Fault{Code: event.CodeStore, Message: "the session could not be read: " + err.Error(), Err: err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn, a.unsaved, a.running = engine.TurnID(m.ID), nil, a.def
	d := a.running
	return engine.Request{
		Agent: a.ID, Session: a.Session, Created: a.created,
		Model: d.Model, System: d.System, Options: d.Options,
		History: history, Message: m,
	}, nil
}

// history is what was said in the session, and before its first answer what was
// said in the one that it recalls.
func (a *Agent) history(ctx context.Context) ([]event.Message, error) {
	journal := a.home.runtime.Journal
	now, err := a.past.read(ctx, journal, a.Session)
	if err != nil {
		return nil, err
	}
	a.past = now.kept()
	if a.recall == "" || answered(now.messages) {
		a.recall = ""
		return now.history(), nil
	}
	before, err := past{}.read(ctx, journal, a.recall)
	return append(before.history(), now.messages...), err
}

// ask has the driver answer, unless the message could not be kept: what is not
// saved is not sent.
func (a *Agent) ask(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	a.mu.Lock()
	driver, unsaved := a.running.Driver, a.unsaved
	a.mu.Unlock()
	if unsaved != nil {
		return func(yield func(event.Stream, error) bool) {
			yield(nil, &engine.Fault{Code: event.CodeStore, Message: "nothing was saved, so nothing was sent: " + a.home.runtime.words(unsaved), Err: unsaved})
		}
	}
	return a.environment(ctx, driver, req)
}

func (a *Agent) price(model string, u event.Usage) (event.USD, bool) {
	a.mu.Lock()
	price := a.running.Price
	a.mu.Unlock()
	if price == nil {
		return 0, false
	}
	return price(model, u)
}

// current is the id of the running turn.
func (a *Agent) current() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}
