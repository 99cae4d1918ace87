package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
)

// A talk is a session with the agent that answers in it, as a client of the
// runtime knows them.
type talk struct {
	world   *world
	client  runtime.Client
	agent   event.AgentID
	session event.SessionID
	began   time.Time
	kept    bool // in the store
	unkept  unkept
	other   *config.Choice // that answers where the chosen one cannot

	mu     sync.Mutex
	runs   int           // answers that are arriving
	chosen config.Choice // may be changed while others ask for it
	system string
}

// choice is the model that answers from the next message on.
func (t *talk) choice() config.Choice {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chosen
}

func (t *talk) choose(c config.Choice) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chosen = c
}

// running notes that an answer is arriving, until done is called.
func (t *talk) running() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.runs--
	}
}

// busy reports whether an answer is arriving.
func (t *talk) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs > 0
}

// shown is the id by which the session can be resumed, if it is kept.
func (t *talk) shown() event.SessionID {
	if t.kept {
		return t.session
	}
	return ""
}

// prompt is the system prompt.
func (t *talk) prompt() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.system
}

// configure changes what answers from the next message on.
func (t *talk) configure(ctx context.Context, q runtime.AgentConfigureRequest) error {
	q.AgentID = t.agent
	return t.client.Configure(ctx, q)
}

// leave ends the agent; the session stays.
func (t *talk) leave(ctx context.Context) {
	_ = t.client.Destroy(ctx, t.agent) // at worst it comes to rest a little later
}

// events are all that was said.
func (t *talk) events(ctx context.Context) ([]event.Event, error) {
	var all []event.Event
	for before := int64(0); ; {
		page, first, err := t.client.Messages(ctx, t.session, before, 0)
		if err != nil {
			return nil, err
		}
		all = append(page[:len(page):len(page)], all...)
		if first <= 1 || len(page) == 0 {
			return all, nil
		}
		before = first
	}
}

// home is the container of a program's own conversations.
const home = "main"

// open finds or begins the session that o means, and has an agent answer in it.
func (w *world) open(ctx context.Context, o options) (*talk, error) {
	c, err := w.config()
	if err != nil {
		return nil, err
	}
	t := &talk{world: w, kept: c.Save && !o.noSave, began: w.now()}
	var past store.Session
	if t.kept {
		if past, err = w.find(ctx, o); err != nil {
			return nil, err
		}
	}
	if t.client, err = w.client(ctx); err != nil {
		return nil, err
	}
	if o.at != "" {
		if past, err = t.client.Session(ctx, string(o.at)); err != nil {
			return nil, err
		}
	}
	var from engine.Image
	if o.image != "" {
		if from, err = w.imageOf(ctx, t.client, o.image); err != nil {
			return nil, err
		}
		past.Model = from.Model
	}
	choice, err := choose(c, modelFor(o, past))
	if err != nil {
		return nil, err
	}
	if t.other, err = w.fallback(c, o.fallback); err != nil {
		return nil, err
	}
	if t.system, err = w.systemFor(ctx, o, past, c.System); err != nil {
		return nil, err
	}
	t.choose(choice)
	q := runtime.AgentRunRequest{
		ContainerID: home, SessionID: past.ID, Title: o.title, Dir: absolute(w.dir), Recall: o.recall,
		Config: runtime.AgentConfig{
			Name: "agentx", Model: choice.Name(), SystemPrompt: t.system,
			MaxTokens: c.MaxTokens, Temperature: c.Temperature, Effort: c.Effort, Fallback: o.fallback,
		},
	}
	if q.Config.Schema, err = readSchema(o.schema); err != nil {
		return nil, err
	}
	if o.image != "" {
		return t, t.thaw(ctx, q, from, o)
	}
	return t, t.begin(ctx, q, o)
}

// thaw has an agent answer in a session that begins with what an image holds.
func (t *talk) thaw(ctx context.Context, q runtime.AgentRunRequest, from engine.Image, o options) error {
	if o.system == "" && !o.gave("system") {
		q.Config.SystemPrompt = from.System
	}
	t.system = q.Config.SystemPrompt
	running, err := t.client.Thaw(ctx, runtime.ImageResumeRequest{
		ImageID: from.ID, ContainerID: home, Title: q.Title, Dir: q.Dir, Config: q.Config,
	})
	t.agent, t.session = running.AgentID, running.SessionID
	return err
}

// begin has an agent answer in the session: a new one, a copy, or the past one.
func (t *talk) begin(ctx context.Context, q runtime.AgentRunRequest, o options) (err error) {
	switch {
	case q.SessionID != "" && o.fork:
		if q.SessionID, err = t.copied(ctx, q.SessionID, event.SessionID(o.sessionID)); err != nil {
			return err
		}
	case q.SessionID == "":
		if q.SessionID, err = t.fresh(ctx, o); err != nil {
			return err
		}
	}
	running, err := t.client.Run(ctx, q)
	if inUse, ok := errors.AsType[*store.InUseError](err); ok {
		return &exit{code: codeStore, err: fmt.Errorf("%w; to go on in a copy add --fork-session", inUse)}
	}
	t.agent, t.session = running.AgentID, running.SessionID
	return err
}

// systemFor is the system prompt that o asks for, else that of the session, else
// the one for all.
func (w *world) systemFor(ctx context.Context, o options, past store.Session, common string) (string, error) {
	if o.system == "" && !o.gave("system") && past.ID != "" && !o.noSave {
		s, err := w.db.Session(ctx, past.ID)
		if err != nil || s.System != "" {
			return s.System, err
		}
	}
	return readSystem(cmp.Or(o.system, common))
}

// modelFor is the model that o asks for, else the one that the session used.
// Whoever has found a model since talks to it, and no longer to the guide.
func modelFor(o options, past store.Session) string {
	if o.model == "" && past.Model != "guide/guide" {
		return past.Model
	}
	return o.model
}

// copied copies a session; to may be empty.
func (t *talk) copied(ctx context.Context, from, to event.SessionID) (event.SessionID, error) {
	a, err := runtime.Ask[runtime.SessionForkResponse](ctx, t.client, runtime.SessionForkRequest{SessionID: from, To: to})
	if errors.Is(err, engine.ErrExists) {
		err = usage("there is a session %s already; to resume it: agentx -r %s", to, to)
	}
	return a.SessionID, err
}

// fresh is the id of a new session.
func (t *talk) fresh(ctx context.Context, o options) (event.SessionID, error) {
	id := newSessionID()
	if o.sessionID != "" {
		id = event.SessionID(o.sessionID)
	}
	if !t.kept {
		t.world.shelf.forget(id)
		return id, nil
	}
	if o.sessionID == "" {
		return id, nil
	}
	_, err := t.world.db.Session(ctx, id)
	switch {
	case err == nil:
		return "", usage("there is a session %s already; to resume it: agentx -r %s", id, id)
	case errors.Is(err, store.ErrNotFound):
		err = nil
	}
	return id, err
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

// named is the session that a person names: by id, the beginning of one, title,
// or what of a title means one session and no other.
func (w *world) named(ctx context.Context, db *store.DB, ref string) (store.Session, error) {
	s, err := db.Find(ctx, ref)
	return s, w.unnamed(err, ref)
}

// namedExactly is named for what cannot be undone: a part of a title is no name.
func (w *world) namedExactly(ctx context.Context, db *store.DB, ref string) (store.Session, error) {
	s, err := db.FindExactly(ctx, ref)
	return s, w.unnamed(err, ref)
}

// unnamed says of a name that it means no session, or several.
func (w *world) unnamed(err error, ref string) error {
	if errors.Is(err, store.ErrNotFound) {
		return usage("there is no session %s; `agentx session list` shows what there is", strconv.Quote(ref))
	}
	if many, ok := errors.AsType[*store.AmbiguousError](err); ok {
		return usage("%v", many)
	}
	return err
}

// absolute is a path as the database knows it.
func absolute(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	return path
}
