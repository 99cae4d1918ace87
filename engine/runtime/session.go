package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// errSessions is why nothing can be done with sessions.
var errSessions = &engine.Fault{Code: event.CodeConfiguration, Message: "sessions are not kept here"}

func (r *Runtime) library() (Sessions, error) {
	if r.Sessions == nil {
		return nil, errSessions
	}
	return r.Sessions, nil
}

func (r *Runtime) sessionList(ctx context.Context, q SessionListRequest, out *SessionListResponse) (bus.Scope, error) {
	out.Sessions = []engine.Session{}
	l, err := r.library()
	if err != nil {
		return bus.Scope{}, err
	}
	all, err := l.Sessions(ctx, engine.SessionFilter{Query: q.Query, Dir: q.Dir, Limit: q.Limit})
	out.Sessions = append(out.Sessions, all...)
	return bus.Scope{}, kept(err)
}

// A finder knows sessions by more than their id.
type finder interface {
	Find(ctx context.Context, ref string) (engine.Session, error)
}

func (r *Runtime) sessionGet(ctx context.Context, q SessionGetRequest, out *SessionGetResponse) (_ bus.Scope, err error) {
	out.Session, err = r.session(ctx, q.SessionID)
	return bus.Scope{Session: out.Session.ID}, err
}

// session finds one by its id, the beginning of one, or its title.
func (r *Runtime) session(ctx context.Context, ref event.SessionID) (s engine.Session, err error) {
	l, err := r.library()
	if err != nil {
		return s, err
	}
	if f, ok := l.(finder); ok {
		s, err = f.Find(ctx, string(ref))
	} else {
		s, err = l.Session(ctx, ref)
	}
	return s, kept(named(err, "session", string(ref)))
}

// named says what was not found.
func named(err error, what, ref string) error {
	if errors.Is(err, engine.ErrNotFound) {
		return fmt.Errorf("%s %s: %w", what, strconv.Quote(ref), engine.ErrNotFound)
	}
	return err
}

// pageSize is the most that is read of a session at once.
const pageSize = 1000

func (r *Runtime) sessionMessages(ctx context.Context, q SessionMessagesRequest, out *SessionMessagesResponse) (bus.Scope, error) {
	out.Events = []event.Event{}
	s, err := r.session(ctx, q.SessionID)
	out.SessionID = s.ID
	if err != nil {
		return bus.Scope{}, err
	}
	if q.Limit <= 0 || q.Limit > pageSize {
		q.Limit = pageSize
	}
	events, first, err := r.Sessions.Page(ctx, s.ID, max(q.Before, 0), q.Limit)
	out.Events, out.First = append(out.Events, events...), first
	return bus.Scope{Session: s.ID}, kept(err)
}

func (r *Runtime) sessionFork(ctx context.Context, q SessionForkRequest, out *SessionForkResponse) (bus.Scope, error) {
	s, err := r.session(ctx, q.SessionID)
	if err != nil {
		return bus.Scope{Session: q.SessionID}, err
	}
	if out.SessionID = q.To; q.To == "" {
		out.SessionID = event.SessionID(r.NewID("session"))
	}
	scope := bus.Scope{Session: out.SessionID}
	fork := r.Sessions.ForkBefore
	if q.Branch {
		fork = r.Sessions.BranchBefore
	}
	if err := kept(fork(ctx, s.ID, out.SessionID, q.Before)); err != nil {
		return scope, err
	}
	r.tell(bus.Session, bus.Lifecycle, scope, SessionCreated{SessionID: out.SessionID})
	r.tell(bus.Session, bus.Action, scope, SessionForked{Original: s.ID, New: out.SessionID})
	return scope, nil
}

func (r *Runtime) sessionTree(ctx context.Context, q SessionTreeRequest, out *SessionTreeResponse) (bus.Scope, error) {
	out.Branches = []engine.Branch{}
	s, err := r.session(ctx, q.SessionID)
	out.SessionID = s.ID
	scope := bus.Scope{Session: s.ID}
	if err != nil {
		return scope, err
	}
	all, err := r.Sessions.Branches(ctx, s.ID)
	out.Branches = append(out.Branches, all...)
	return scope, kept(err)
}

func (r *Runtime) sessionRename(ctx context.Context, q SessionRenameRequest, out *SessionRenameResponse) (bus.Scope, error) {
	s, err := r.session(ctx, q.SessionID)
	out.SessionID = s.ID
	scope := bus.Scope{Session: s.ID}
	if err == nil {
		err = r.title(ctx, s.ID, q.Title)
	}
	return scope, err
}

func (r *Runtime) title(ctx context.Context, id event.SessionID, title string) error {
	if err := r.Sessions.Rename(ctx, id, title); err != nil {
		return kept(err)
	}
	r.tell(bus.Session, bus.Action, bus.Scope{Session: id}, SessionTitleUpdated{SessionID: id, Title: title})
	return nil
}

// sessionDelete deletes a session for good. One in which an agent lives is in use.
func (r *Runtime) sessionDelete(ctx context.Context, q SessionDeleteRequest, out *SessionDeleteResponse) (bus.Scope, error) {
	s, err := r.session(ctx, q.SessionID)
	out.SessionID = s.ID
	scope := bus.Scope{Session: s.ID}
	if err != nil {
		return scope, err
	}
	if err := r.Sessions.Delete(ctx, s.ID); err != nil {
		return scope, kept(err)
	}
	r.tell(bus.Session, bus.Lifecycle, scope, SessionDestroyed{SessionID: s.ID})
	return scope, nil
}

// A seat is a place in a session that nobody else has.
type seat struct {
	session event.SessionID
	release func()
	recall  event.SessionID // known until the first answer
}

// take takes the session of a request, and makes it where there is none.
func (r *Runtime) take(ctx context.Context, q AgentRunRequest) (seat, error) {
	l, err := r.library()
	if err != nil {
		return seat{}, err
	}
	s := engine.Session{ID: q.SessionID, Title: q.Title, Model: q.Config.Model, Dir: q.Dir, System: q.Config.SystemPrompt, ParentID: q.Recall}
	if s.ID == "" {
		s.ID = event.SessionID(r.NewID("session"))
	}
	past, err := l.Session(ctx, s.ID)
	if errors.Is(err, engine.ErrNotFound) {
		return r.begin(ctx, s, func() error { return l.Create(ctx, s) })
	}
	if err != nil {
		return seat{}, kept(err)
	}
	return r.resume(ctx, past, q)
}

// begin makes a session and takes it.
func (r *Runtime) begin(ctx context.Context, s engine.Session, create func() error) (seat, error) {
	if err := create(); err != nil {
		return seat{}, kept(err)
	}
	release, err := r.Sessions.Lock(ctx, s.ID)
	if err != nil {
		return seat{}, kept(err)
	}
	r.tell(bus.Session, bus.Lifecycle, bus.Scope{Session: s.ID}, SessionCreated{SessionID: s.ID, ImageID: s.Image})
	return seat{session: s.ID, release: release}, nil
}

// resume takes a session that is kept already.
func (r *Runtime) resume(ctx context.Context, s engine.Session, q AgentRunRequest) (seat, error) {
	release, err := r.Sessions.Lock(ctx, s.ID)
	if err != nil {
		return seat{}, kept(err)
	}
	if q.Config.Model != "" && q.Config.Model != s.Model {
		err = kept(r.Sessions.SetModel(ctx, s.ID, q.Config.Model))
	}
	if err == nil && q.Config.SystemPrompt != s.System {
		err = kept(r.Sessions.SetSystem(ctx, s.ID, q.Config.SystemPrompt))
	}
	if err == nil && q.Title != "" && q.Title != s.Title {
		err = r.title(ctx, s.ID, q.Title)
	}
	if err != nil {
		release()
		return seat{}, err
	}
	r.tell(bus.Session, bus.Action, bus.Scope{Session: s.ID}, SessionResumed{SessionID: s.ID})
	return seat{session: s.ID, release: release}, nil
}
