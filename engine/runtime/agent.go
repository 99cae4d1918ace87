package runtime

import (
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
	Driver  engine.Driver
	Model   string
	System  string // system prompt
	Options engine.Options
	Price   engine.Pricer
	Record  func(engine.Transition) // of every message to the agent; nil records nothing

	// Present are shown every event behind the journal and the bus: what is on
	// a screen has been kept.
	Present []engine.Presenter
}

func (d Definition) config() AgentConfig {
	return AgentConfig{Name: d.Name, SystemPrompt: d.System, Model: d.Model}
}

// An Agent answers messages in a session. It holds no conversation: each
// message reads the session from the journal, and the presenters write it back.
type Agent struct {
	ID      event.AgentID
	Session event.SessionID
	home    *Container
	shell   *engine.Agent
	created time.Time

	mu      sync.Mutex
	def     Definition
	running Definition // as it was when the running turn began
	turn    string     // id of the running turn
	unsaved error      // why the journal did not take the running turn's message
	warned  string     // id of the turn that has told that it is not being kept
}

func newAgent(c *Container, d Definition, session event.SessionID) *Agent {
	r := c.runtime
	a := &Agent{ID: event.AgentID(r.NewID("agent")), Session: session, home: c, created: r.Now(), def: d}
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
	r := a.home.runtime
	call := r.Bus.Begin(r.Now, a.scope(""), AgentReceiveRequest{AgentID: a.ID, Content: m.Content})
	err := a.shell.Receive(ctx, m)
	turn := engine.TurnID(m.ID)
	if err != nil && !wished(err) && !a.toldOf(turn) {
		a.complain(bus.Command, turn, "the message was not answered as it should be", err)
	}
	call.End(a.scope(turn), AgentReceiveResponse{RequestID: call.ID(), AgentID: a.ID, TurnID: turn, Error: text(err)})
	return err
}

// Interrupt stops the running answer; what came of it is kept.
func (a *Agent) Interrupt(why event.InterruptReason) {
	r := a.home.runtime
	call := r.Bus.Begin(r.Now, a.scope(""), AgentInterruptRequest{AgentID: a.ID})
	a.shell.Interrupt(why)
	call.End(a.scope(""), AgentInterruptResponse{RequestID: call.ID(), AgentID: a.ID})
}

// Destroy ends the agent and keeps its session.
func (a *Agent) Destroy(ctx context.Context) error {
	r := a.home.runtime
	call := r.Bus.Begin(r.Now, a.scope(""), AgentDestroyRequest{AgentID: a.ID})
	err := a.shell.Destroy(ctx)
	a.home.unregister(a.ID)
	if err != nil {
		a.complain(bus.Command, "", "the agent is destroyed, but has not come to rest", err)
	}
	call.End(a.scope(""), AgentDestroyResponse{RequestID: call.ID(), AgentID: a.ID, Success: err == nil, Error: text(err)})
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
	events, err := a.home.runtime.Journal.Events(context.WithoutCancel(ctx), a.Session)
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
		History: Messages(events), Message: m,
	}, nil
}

// Messages are the message events among events.
func Messages(events []event.Event) []event.Message {
	var messages []event.Message
	for _, e := range events {
		if m, ok := e.Data.(event.Message); ok {
			messages = append(messages, m)
		}
	}
	return messages
}

// ask has the driver answer, unless the message could not be kept: what is not
// saved is not sent.
func (a *Agent) ask(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	a.mu.Lock()
	driver, unsaved := a.running.Driver, a.unsaved
	a.mu.Unlock()
	if unsaved != nil {
		return func(yield func(event.Stream, error) bool) {
			yield(nil, &engine.Fault{Code: event.CodeStore, Message: "nothing was saved, so nothing was sent: " + unsaved.Error(), Err: unsaved})
		}
	}
	return driver.Receive(ctx, req)
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

// wished reports whether an answer ended early because somebody wanted it to.
func wished(err error) bool {
	_, interrupted := errors.AsType[engine.Interrupt](err)
	return interrupted || errors.Is(err, engine.ErrWithdrawn) || errors.Is(err, context.Canceled)
}

// current is the id of the running turn.
func (a *Agent) current() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}
