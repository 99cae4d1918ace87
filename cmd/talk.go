package cmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"sync"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/anthropic"
	"agentx/engine/driver/guide"
	"agentx/engine/driver/openai"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
)

// A talk is a session with the agent that answers in it.
type talk struct {
	world   *world
	agent   *runtime.Agent
	session event.SessionID
	choice  config.Choice
	journal runtime.Journal
	kept    bool // in the store
	release func()
}

// shown is the id by which the session can be resumed, if it is kept.
func (t *talk) shown() event.SessionID {
	if t.kept {
		return t.session
	}
	return ""
}

// leave ends the agent; the session stays.
func (t *talk) leave(ctx context.Context) {
	_ = t.agent.Destroy(ctx) // at worst it comes to rest a little later
	t.close()
}

func (t *talk) close() {
	if t.release != nil {
		t.release()
	}
}

// open finds or begins the session that o means, and an agent to answer in it.
func (w *world) open(ctx context.Context, o options) (*talk, error) {
	w.set = o.settings()
	c, err := w.config()
	if err != nil {
		return nil, err
	}
	t := &talk{world: w, kept: c.Save && !o.noSave, session: newSessionID()}
	if o.sessionID != "" {
		t.session = event.SessionID(o.sessionID)
	}
	var past store.Session
	if t.kept {
		if past, err = w.find(ctx, o); err != nil {
			return nil, err
		}
	}
	d, choice, err := w.define(c, modelFor(o, past))
	if err != nil {
		return nil, err
	}
	t.choice = choice
	t.journal = w.memory
	if t.kept {
		if err := t.begin(ctx, o, past); err != nil {
			t.close()
			return nil, err
		}
		t.journal = w.db
	}
	t.agent = w.runtime(t.journal).Container("main").Run(d, t.session)
	return t, nil
}

// modelFor is the model that o asks for, else the one that the session used.
// Whoever has found a model since talks to it, and no longer to the guide.
func modelFor(o options, past store.Session) string {
	if o.model == "" && past.Model != "guide/guide" {
		return past.Model
	}
	return o.model
}

// begin makes the session, copies it, or goes on with it, and takes it for this
// process alone.
func (t *talk) begin(ctx context.Context, o options, past store.Session) error {
	db, err := t.world.store(ctx)
	if err != nil {
		return err
	}
	switch {
	case past.ID == "":
		err = db.Create(ctx, store.Session{ID: t.session, Title: o.title, Model: t.choice.Name(), Dir: absolute(t.world.dir)})
	case o.fork:
		err = db.Fork(ctx, past.ID, t.session)
	default:
		t.session = past.ID
	}
	if errors.Is(err, store.ErrExists) {
		return usage("there is a session %s already; to resume it: agentx -r %s", t.session, t.session)
	}
	if err != nil {
		return err
	}
	if t.release, err = db.Lock(ctx, t.session); err != nil {
		if inUse, ok := errors.AsType[*store.InUseError](err); ok {
			return &exit{code: codeStore, err: fmt.Errorf("%w; to go on in a copy add --fork-session", inUse)}
		}
		return err
	}
	if past.ID != "" && past.Model != t.choice.Name() {
		err = db.SetModel(ctx, t.session, t.choice.Name())
	}
	if past.ID != "" && o.title != "" {
		err = errors.Join(err, db.Rename(ctx, t.session, o.title))
	}
	return err
}

// find is the session that o wants resumed; none where a new one begins.
func (w *world) find(ctx context.Context, o options) (store.Session, error) {
	db, err := w.store(ctx)
	if err != nil {
		return store.Session{}, err
	}
	switch {
	case o.last:
		s, err := db.Latest(ctx, absolute(w.dir))
		if errors.Is(err, store.ErrNotFound) {
			return s, usage("there is no session of this folder yet; `agentx session list` shows those of others")
		}
		return s, err
	case o.resume != "":
		return w.named(ctx, db, o.resume)
	}
	return store.Session{}, nil
}

// named is the session that a person names: by id, the beginning of one, or
// title.
func (w *world) named(ctx context.Context, db *store.DB, ref string) (store.Session, error) {
	s, err := db.Find(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return s, usage("there is no session %s; `agentx session list` shows what there is", strconv.Quote(ref))
	}
	if many, ok := errors.AsType[*store.AmbiguousError](err); ok {
		return s, usage("%v", many)
	}
	return s, err
}

// define says what an agent is that answers with the model of that name; empty
// lets the configuration choose.
func (w *world) define(c config.Config, model string) (runtime.Definition, config.Choice, error) {
	choice, err := c.Resolve(model)
	if model != "" && errors.Is(err, config.ErrUnknown) {
		err = &exit{code: codeUsage, err: err}
	}
	if err != nil {
		return runtime.Definition{}, choice, err
	}
	system, err := readSystem(c.System)
	if err != nil {
		return runtime.Definition{}, choice, err
	}
	return runtime.Definition{
		Name: "agentx", Driver: w.driver(c, choice), Model: choice.Model, System: system,
		Options: engine.Options{MaxTokens: c.MaxTokens, Temperature: c.Temperature, Effort: c.Effort},
		Price:   pricer(c, choice),
	}, choice, nil
}

// pricer prices a model by the name that the provider reports, else by the one
// that was asked for. The guide costs nothing.
func pricer(c config.Config, choice config.Choice) engine.Pricer {
	if choice.Provider.Protocol == config.Guide {
		return func(string, event.Usage) (event.USD, bool) { return 0, true }
	}
	prices := c.Prices()
	return func(model string, u event.Usage) (event.USD, bool) {
		info, ok := prices.Lookup(choice.Provider.Name, model)
		if !ok {
			info, ok = choice.Info, choice.Known
		}
		if !ok {
			return 0, false
		}
		cost, ok := info.Cost(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens)
		return event.USD(cost), ok
	}
}

// driver speaks the provider's protocol. The key is looked for when the first
// request is made: a keyring can take its time.
func (w *world) driver(c config.Config, choice config.Choice) engine.Driver {
	if choice.Provider.Protocol == config.Guide {
		return guide.New(0)
	}
	client := sync.OnceValues(func() (engine.Driver, error) { return w.client(c, choice) })
	model := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		d, err := client()
		if err != nil {
			return func(yield func(event.Stream, error) bool) { yield(nil, err) }
		}
		return d.Receive(ctx, req)
	})
	return driver.Loop{Model: model} // models call tools that nobody has offered them, too
}

// client is a driver with its key.
func (w *world) client(c config.Config, choice config.Choice) (engine.Driver, error) {
	p := choice.Provider
	key, source, err := c.Keys().Lookup(context.Background(), p.Name)
	if err != nil {
		return nil, &engine.Fault{Code: event.CodeAuthentication, Message: err.Error(), Err: err}
	}
	w.mu.Lock()
	w.known = append(w.known, key)
	w.mu.Unlock()
	headers := http.Header{}
	for name, value := range p.Headers {
		headers.Set(name, value)
	}
	secret := wire.Secret(key.Reveal())
	transport := &wire.Client{Version: versionLine(), Idle: c.Timeout}
	switch p.Protocol {
	case config.Anthropic:
		return anthropic.Driver{Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: transport, MaxTokens: choice.Info.MaxOutput}, nil
	case config.OpenAI:
		return openai.Driver{Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: transport}, nil
	}
	return nil, &engine.Fault{Code: event.CodeConfiguration, Message: fmt.Sprintf("provider %s speaks %q, which this version does not", p.Name, p.Protocol)}
}
