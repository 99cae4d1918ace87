package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Presenter returns who saves a session. When it has been shown a user's
// message without error, that is on the disk, with the turn's request, and its
// draft and its place in the queue are gone. When it has been shown the end of
// the turn, so is the turn.
//
// While an answer streams, its text is appended to a file in the folder
// *-live, whether or not more of it comes. What goes wrong with that is the
// error of the next event, once; the answer itself is still saved when it is
// whole. The message that ends a turn is whole in this file when it has been
// shown, and moves to the log in one transaction with the turn's end.
//
// From the user's message to the end of the turn the session is locked: where
// somebody else writes to it, the error is an [*InUseError] and nothing was
// saved.
//
// What cannot be saved of a turn, after its message, is owed: it is saved with
// the next event that can be.
func (db *DB) Presenter(session event.SessionID) engine.Presenter {
	return &presenter{db: db, session: session}
}

type presenter struct {
	db      *DB
	session event.SessionID

	mu      sync.Mutex
	release func()        // of the turn's lock; nil between turns
	asked   string        // the message that is being answered
	request string        // the turn_request as JSON, when it was saved with its message
	live    *live         // of the message that is streaming; nil between messages
	ended   bool          // the turn: only its messages and its response are to come
	last    []event.Event // messages that end the turn; they are whole in the live file
	owed    []event.Event // what could not be saved of a turn
	debtor  string        // the message that it answers
	refused string        // a message that could not be saved: so is nothing that answers it,
	why     error         // for the same reason
}

// Present keeps e if it is to be kept.
func (p *presenter) Present(ctx context.Context, _ event.AgentID, e event.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.db.fault("save", p.present(ctx, e))
}

func (p *presenter) present(ctx context.Context, e event.Event) error {
	if p.refused != "" && answers(e.Data) == p.refused {
		return p.why
	}
	switch d := e.Data.(type) {
	case event.UserMessage:
		err := p.open(ctx, e, d.ID)
		if p.refused, p.why = "", err; err != nil {
			p.refused = d.ID
		}
		return err
	case event.MessageStart:
		return p.begin(ctx, e, d)
	case event.TextDelta, event.ThinkingDelta, event.ToolUseStart, event.InputJSONDelta, event.ToolUseStop, event.MessageDelta:
		return p.add(e)
	case event.MessageStop:
		p.ended = d.StopReason.Final()
		return p.add(e)
	case event.ErrorReceived, event.Interrupted:
		p.ended = true
		return p.add(e)
	case event.AssistantMessage:
		if p.hold(e) {
			return nil
		}
		return errors.Join(p.keep(ctx, e), p.settle(d))
	case event.ErrorMessage:
		if p.hold(e) {
			return nil
		}
		return p.keep(ctx, e)
	case event.ToolCallMessage:
		return errors.Join(p.flush(), p.keep(ctx, e))
	case event.TurnRequest:
		return p.confirm(ctx, e)
	case event.TurnResponse:
		return p.close(ctx, e, d.MessageID)
	case event.Message, event.Turn:
		return p.keep(ctx, e)
	}
	return nil
}

// answers is the message of the user to which d belongs, where it says so.
func answers(d event.Data) string {
	switch d := d.(type) {
	case event.TurnRequest:
		return d.MessageID
	case event.TurnResponse:
		return d.MessageID
	case event.AssistantMessage:
		return d.ParentID
	case event.ErrorMessage:
		return d.ParentID
	}
	return ""
}

// open begins a turn. A turn that this presenter still has open is over, and
// the engine says so next.
func (p *presenter) open(ctx context.Context, e event.Event, message string) error {
	before := p.asked
	p.asked = message
	if p.release != nil {
		err := p.save(ctx, e)
		if err != nil {
			p.asked = before
		}
		return err
	}
	release, err := p.db.seize(ctx, p.session, false)
	if err != nil {
		p.asked = "" // nothing of it will be owed
		return err
	}
	p.release = release
	request, err := p.foresee(e)
	if err == nil {
		err = p.save(ctx, append([]event.Event{e}, request...)...)
	}
	if err != nil {
		p.release, p.request, p.asked = nil, "", ""
		release()
	}
	return err
}

// foresee returns the turn's request that follows from the message, so that one
// commit saves both.
func (p *presenter) foresee(message event.Event) ([]event.Event, error) {
	for e := range mealy.Follow(engine.Step, new(engine.State), message) {
		if _, ok := e.Data.(event.TurnRequest); ok {
			text, err := json.Marshal(e)
			p.request = string(text)
			return []event.Event{e}, err
		}
	}
	return nil, nil
}

// confirm saves a turn's request that was not foreseen.
func (p *presenter) confirm(ctx context.Context, e event.Event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if p.request == string(text) {
		p.request = ""
		return nil
	}
	return p.keep(ctx, e)
}

// keep saves events, or owes them: they are saved with the next that can be.
func (p *presenter) keep(ctx context.Context, events ...event.Event) error {
	err := p.save(ctx, events...)
	if err != nil && p.asked != "" {
		if p.debtor != p.asked {
			p.owed = nil
		}
		p.owed, p.debtor = append(p.owed, events...), p.asked
	}
	return err
}

// save puts complete events on the disk, behind those that are owed. Between
// turns it takes the lock for as long as that takes.
func (p *presenter) save(ctx context.Context, events ...event.Event) error {
	if p.release == nil {
		release, err := p.db.seize(ctx, p.session, false)
		if err != nil {
			return err
		}
		defer release()
	}
	err := p.db.write(ctx, "save", func(ctx context.Context, tx *sql.Tx) error {
		owed, err := p.due(ctx, tx)
		if err != nil {
			return err
		}
		for _, e := range append(owed, events...) {
			if m, ok := e.Data.(event.UserMessage); ok {
				if err := sent(ctx, tx, p.session, m); err != nil {
					return err
				}
			}
			if err := add(ctx, tx, p.session, e, true); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		p.owed = nil
	}
	return err
}

// due is what is owed, unless somebody has closed its turn meanwhile.
func (p *presenter) due(ctx context.Context, tx *sql.Tx) ([]event.Event, error) {
	if len(p.owed) == 0 {
		return nil, nil
	}
	var turn string
	err := tx.QueryRowContext(ctx, `SELECT turn FROM sessions WHERE id = ?`, string(p.session)).Scan(&turn)
	if err != nil || turn == "" || turn != p.debtor {
		return nil, err
	}
	return slices.Clip(p.owed), nil
}

// begin starts to keep what streams. The message before, if it broke off, is
// shown behind this event, and kept then.
func (p *presenter) begin(ctx context.Context, e event.Event, start event.MessageStart) error {
	if p.release == nil {
		return nil // a message of no turn: it is saved when it is whole
	}
	var err error
	if p.live != nil {
		err = p.live.drop()
	}
	var head int64
	if serr := p.db.w.QueryRowContext(own(ctx), `SELECT head FROM sessions WHERE id = ?`, string(p.session)).Scan(&head); serr != nil {
		return errors.Join(err, serr)
	}
	p.live = p.db.begin(p.session, head, e, start)
	return err
}

func (p *presenter) add(e event.Event) error {
	if p.live == nil {
		return nil
	}
	return p.live.add(e)
}

// hold keeps the last messages of a turn for its response, if all that they are
// made of is in the live file.
func (p *presenter) hold(e event.Event) bool {
	if !p.ended || p.live == nil || !p.live.whole() {
		return false
	}
	p.last = append(p.last, e)
	return true
}

// flush writes down a call before it can have an effect.
func (p *presenter) flush() error {
	if p.live == nil {
		return nil
	}
	return p.live.flush()
}

// settle forgets the stream of a message that is in the log.
func (p *presenter) settle(m event.AssistantMessage) error {
	if p.live == nil || p.live.head.Message != m.ID || p.live.head.At != m.Timestamp {
		return nil
	}
	l := p.live
	p.live = nil
	return l.drop()
}

// close ends the turn, whether or not its end can be saved. The lock stays with
// a turn that has replaced it.
func (p *presenter) close(ctx context.Context, e event.Event, message string) error {
	err := p.keep(ctx, append(p.last, e)...)
	if p.live != nil && err == nil {
		err = p.live.drop()
	} else if p.live != nil {
		err = errors.Join(err, p.live.suspend())
	}
	p.live, p.request, p.last, p.ended = nil, "", nil, false
	if p.release != nil && message == p.asked {
		p.release()
		p.release = nil
	}
	return err
}
