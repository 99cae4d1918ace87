package cmd

import (
	"context"
	"sync"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
)

// A keeper keeps sessions and images.
type keeper interface {
	runtime.Journal
	runtime.Sessions
	runtime.Images
}

var (
	_ keeper = (*store.DB)(nil)
	_ keeper = (*runtime.Memory)(nil)
	_ keeper = (*shelf)(nil)
)

// A shelf keeps sessions in the database, but for those that are told not to
// be kept: they are forgotten with the program.
type shelf struct {
	open   func(context.Context) (*store.DB, error)
	memory runtime.Memory

	mu      sync.Mutex
	unkept  map[event.SessionID]bool
	journal *store.DB // once it was opened
}

// forget says that a session that is to be made shall not be kept.
func (s *shelf) forget(id event.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unkept == nil {
		s.unkept = map[event.SessionID]bool{}
	}
	s.unkept[id] = true
}

func (s *shelf) forgets(id event.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unkept[id]
}

// db opens the database when it is first needed.
func (s *shelf) db(ctx context.Context) (*store.DB, error) {
	db, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = db
	return db, nil
}

// of is where a session lies.
func (s *shelf) of(ctx context.Context, id event.SessionID) (keeper, error) {
	if s.forgets(id) {
		return &s.memory, nil
	}
	return s.db(ctx)
}

// Messages returns what was said in a session behind an event.
func (s *shelf) Messages(ctx context.Context, id event.SessionID, seq int64) ([]event.Message, int64, error) {
	k, err := s.of(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	return k.Messages(ctx, id, seq)
}

// Presenter keeps what it is shown. Whoever is asked for it has made or found
// the session, so the database is open.
func (s *shelf) Presenter(id event.SessionID) engine.Presenter {
	if s.forgets(id) {
		return s.memory.Presenter(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.Presenter(id)
}

func (s *shelf) Create(ctx context.Context, one engine.Session) error {
	k, err := s.of(ctx, one.ID)
	if err != nil {
		return err
	}
	return k.Create(ctx, one)
}

func (s *shelf) Session(ctx context.Context, id event.SessionID) (engine.Session, error) {
	k, err := s.of(ctx, id)
	if err != nil {
		return engine.Session{}, err
	}
	return k.Session(ctx, id)
}

// Find is Session by the beginning of an id, too, or by a title.
func (s *shelf) Find(ctx context.Context, ref string) (engine.Session, error) {
	if id := event.SessionID(ref); s.forgets(id) {
		return s.memory.Session(ctx, id)
	}
	db, err := s.db(ctx)
	if err != nil {
		return engine.Session{}, err
	}
	return db.Find(ctx, ref)
}

func (s *shelf) Sessions(ctx context.Context, f engine.SessionFilter) ([]engine.Session, error) {
	db, err := s.db(ctx)
	if err != nil {
		return nil, err
	}
	return db.Sessions(ctx, f)
}

func (s *shelf) Page(ctx context.Context, id event.SessionID, seq int64, n int) ([]event.Event, int64, error) {
	k, err := s.of(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	return k.Page(ctx, id, seq, n)
}

// ForkBefore copies a session: a copy of what is not kept is not kept either.
func (s *shelf) ForkBefore(ctx context.Context, from, to event.SessionID, message string) error {
	k, err := s.of(ctx, from)
	if err != nil {
		return err
	}
	if s.forgets(from) {
		s.forget(to)
	}
	return k.ForkBefore(ctx, from, to, message)
}

// BranchBefore is ForkBefore for another way of the same session.
func (s *shelf) BranchBefore(ctx context.Context, from, to event.SessionID, message string) error {
	k, err := s.of(ctx, from)
	if err != nil {
		return err
	}
	if s.forgets(from) {
		s.forget(to)
	}
	return k.BranchBefore(ctx, from, to, message)
}

func (s *shelf) Branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error) {
	k, err := s.of(ctx, id)
	if err != nil {
		return nil, err
	}
	return k.Branches(ctx, id)
}

func (s *shelf) Rename(ctx context.Context, id event.SessionID, title string) error {
	k, err := s.of(ctx, id)
	if err != nil {
		return err
	}
	return k.Rename(ctx, id, title)
}

func (s *shelf) SetModel(ctx context.Context, id event.SessionID, model string) error {
	k, err := s.of(ctx, id)
	if err != nil {
		return err
	}
	return k.SetModel(ctx, id, model)
}

func (s *shelf) SetSystem(ctx context.Context, id event.SessionID, prompt string) error {
	k, err := s.of(ctx, id)
	if err != nil {
		return err
	}
	return k.SetSystem(ctx, id, prompt)
}

func (s *shelf) Delete(ctx context.Context, id event.SessionID) error {
	k, err := s.of(ctx, id)
	if err != nil {
		return err
	}
	return k.Delete(ctx, id)
}

func (s *shelf) Lock(ctx context.Context, id event.SessionID) (func(), error) {
	k, err := s.of(ctx, id)
	if err != nil {
		return nil, err
	}
	return k.Lock(ctx, id)
}

// Freeze makes an image. What is not kept cannot be frozen either.
func (s *shelf) Freeze(ctx context.Context, from event.SessionID, im engine.Image) (engine.Image, error) {
	if s.forgets(from) {
		return im, &engine.Fault{Code: event.CodeConfiguration, Message: "this conversation is not kept, so there is nothing to freeze"}
	}
	db, err := s.db(ctx)
	if err != nil {
		return im, err
	}
	return db.Freeze(ctx, from, im)
}

func (s *shelf) Images(ctx context.Context) ([]engine.Image, error) {
	db, err := s.db(ctx)
	if err != nil {
		return nil, err
	}
	return db.Images(ctx)
}

func (s *shelf) Image(ctx context.Context, ref string) (engine.Image, error) {
	db, err := s.db(ctx)
	if err != nil {
		return engine.Image{}, err
	}
	return db.Image(ctx, ref)
}

func (s *shelf) Thaw(ctx context.Context, id event.ImageID, to engine.Session) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	return db.Thaw(ctx, id, to)
}

func (s *shelf) DeleteImage(ctx context.Context, id event.ImageID) error {
	db, err := s.db(ctx)
	if err != nil {
		return err
	}
	return db.DeleteImage(ctx, id)
}
