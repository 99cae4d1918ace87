package runtime

import (
	"context"

	"agentx/engine"
	"agentx/engine/event"
)

// A Journal is where sessions are kept.
type Journal interface {
	// Messages returns what was said in a session behind the event that seq
	// counts, which for the first is 1, and what counts the last event there is.
	// A session that is not there has none, and 0.
	Messages(ctx context.Context, session event.SessionID, seq int64) (said []event.Message, last int64, err error)
	// Presenter keeps what it is shown as part of the session. When it has
	// been shown a message without error, the message is kept.
	Presenter(session event.SessionID) engine.Presenter
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

// Sessions is what a runtime asks of whoever keeps sessions. What is not there
// is [engine.ErrNotFound], what is there already [engine.ErrExists].
type Sessions interface {
	// Create makes an empty session. It is in no list before something is said.
	Create(ctx context.Context, s engine.Session) error
	Session(ctx context.Context, id event.SessionID) (engine.Session, error)
	// Sessions are those that f chooses, the last in which something was said first.
	Sessions(ctx context.Context, f engine.SessionFilter) ([]engine.Session, error)
	// Page returns the n events before the one that seq counts, or the last
	// where seq is 0, oldest first, and what seq counts the first of them. The
	// first event of a session is 1.
	Page(ctx context.Context, id event.SessionID, seq int64, n int) ([]event.Event, int64, error)
	// ForkBefore makes the session to of what was said before a message; an
	// empty message means all.
	ForkBefore(ctx context.Context, from, to event.SessionID, message string) error
	// BranchBefore is ForkBefore for another way of the same session: in lists the
	// two are one, and what is done to one is done to both.
	BranchBefore(ctx context.Context, from, to event.SessionID, message string) error
	// Branches are the ways that a session went, the last used first. Of any
	// branch they are the same.
	Branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error)
	Rename(ctx context.Context, id event.SessionID, title string) error
	SetModel(ctx context.Context, id event.SessionID, model string) error
	SetSystem(ctx context.Context, id event.SessionID, prompt string) error
	Delete(ctx context.Context, id event.SessionID) error
	// Lock makes the caller the only one that writes to the session, until
	// release. Where somebody else has it, the error is [engine.ErrInUse].
	Lock(ctx context.Context, id event.SessionID) (release func(), err error)
}

// Images is what a runtime asks of whoever keeps images.
type Images interface {
	// Freeze keeps what was said in a session, up to the end of its last
	// finished turn, and what im says beside it. It returns the image with its
	// id; what was frozen before costs nothing and keeps its time. A name that
	// another image has is [engine.ErrExists].
	Freeze(ctx context.Context, from event.SessionID, im engine.Image) (engine.Image, error)
	// Images are all, the newest first, without messages and files.
	Images(ctx context.Context) ([]engine.Image, error)
	// Image returns the one that ref means, whole: an id, the beginning of one,
	// or a name.
	Image(ctx context.Context, ref string) (engine.Image, error)
	// Thaw makes a session of what an image holds. Its id, title, folder and system
	// prompt are those of to.
	Thaw(ctx context.Context, id event.ImageID, to engine.Session) error
	DeleteImage(ctx context.Context, id event.ImageID) error
}
