package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"

	"agentx/config"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
)

// A talk is a session with the agent that answers in it.
type talk struct {
	world   *world
	agent   *runtime.Agent
	session event.SessionID
	journal runtime.Journal
	kept    bool // in the store
	release func()

	mu     sync.Mutex
	chosen config.Choice // may be changed while others ask for it
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
	t.choose(choice)
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
		err = db.Create(ctx, store.Session{ID: t.session, Title: o.title, Model: t.choice().Name(), Dir: absolute(t.world.dir)})
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
	if past.ID != "" && past.Model != t.choice().Name() {
		err = db.SetModel(ctx, t.session, t.choice().Name())
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

// absolute is a path as the database knows it.
func absolute(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	return path
}
