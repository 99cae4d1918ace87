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

// keeper keeps events in the journal, and tells at once when it cannot.
func (a *Agent) keeper(journal engine.Presenter) engine.Presenter {
	return engine.PresenterFunc(func(ctx context.Context, id event.AgentID, e event.Event) error {
		err := engine.Present(ctx, journal, id, e)
		if err != nil {
			a.lost(ctx, e, err)
			return err
		}
		if id := messageID(e.Data); id != "" {
			a.persisted(id)
		}
		return nil
	})
}

// lost notes that the journal did not take e, and says so once in a turn.
func (a *Agent) lost(ctx context.Context, e event.Event, err error) {
	a.mu.Lock()
	if _, ok := e.Data.(event.UserMessage); ok {
		a.unsaved = err
	}
	turn := a.turn
	told := a.warned == turn
	a.warned = turn
	a.mu.Unlock()
	if told {
		return
	}
	trouble := a.complain(bus.Session, turn, "this conversation is not being saved", err)
	_ = a.present(ctx, a.ID, trouble) // a screen that fails here fails at the next event too
}

// toldOf reports whether the turn has told that it is not being kept.
func (a *Agent) toldOf(turn string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.warned == turn
}

// wished reports whether an answer ended early because somebody wanted it to.
func wished(err error) bool {
	_, interrupted := errors.AsType[engine.Interrupt](err)
	return interrupted || errors.Is(err, engine.ErrWithdrawn) || errors.Is(err, context.Canceled)
}

// complain puts a failure on the bus.
func (a *Agent) complain(from bus.Source, turn, what string, err error) event.Event {
	e := event.Event{At: a.home.runtime.Now(), Data: event.SystemError{Message: what, Severity: "error", Details: err.Error()}}
	a.home.runtime.Bus.Publish(bus.SystemEvent{
		Event: e, Source: from, Category: bus.Error, Intent: bus.Notifies, Scope: a.scope(turn),
	})
	return e
}

func (a *Agent) persisted(message string) {
	now := a.home.runtime.Now()
	a.home.runtime.Bus.Publish(bus.SystemEvent{
		Event:  event.Event{At: now, Data: MessagePersisted{SessionID: a.Session, MessageID: message, SavedAt: event.MillisOf(now)}},
		Source: bus.Session, Category: bus.Persist, Intent: bus.Notifies, Scope: a.scope(a.current()),
	})
}

// messageID is the id of a message; other data have none.
func messageID(d event.Data) string {
	switch m := d.(type) {
	case event.UserMessage:
		return m.ID
	case event.AssistantMessage:
		return m.ID
	case event.ToolCallMessage:
		return m.ID
	case event.ToolResultMessage:
		return m.ID
	case event.ErrorMessage:
		return m.ID
	}
	return ""
}

// publish puts an engine's event on the bus, with all that the engine did not
// know.
func (a *Agent) publish(_ context.Context, _ event.AgentID, e event.Event) error {
	turn := a.current()
	if q, ok := e.Data.(event.ConversationQueued); ok {
		turn = engine.TurnID(q.MessageID) // it waits for the running turn and is not of it
	}
	a.home.runtime.Bus.Publish(bus.OfAgent(e, a.scope(turn)))
	return nil
}

// current is the id of the running turn.
func (a *Agent) current() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// present shows an event to those whom the definition names. One that fails or
// panics hinders none of the others.
func (a *Agent) present(ctx context.Context, id event.AgentID, e event.Event) error {
	var failed error
	for _, p := range a.Definition().Present {
		failed = errors.Join(failed, engine.Present(ctx, p, id, e))
	}
	return failed
}

func (a *Agent) scope(turn string) bus.Scope {
	return bus.Scope{Container: a.home.ID, Agent: a.ID, Session: a.Session, Turn: turn}
}

// text is what went wrong, or nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
