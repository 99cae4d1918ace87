package store

import (
	"context"
	"database/sql"
	"errors"

	"agentx/engine"
	"agentx/engine/event"
)

// Fork makes the session to of all that was said in from, which stays as it is.
// A turn that is running there is broken off here.
func (db *DB) Fork(ctx context.Context, from, to event.SessionID) error {
	return db.ForkBefore(ctx, from, to, "")
}

// ForkBefore is Fork of what was said before a message of the user. Where from
// has no such message the error is ErrNotFound; an empty id means the end.
func (db *DB) ForkBefore(ctx context.Context, from, to event.SessionID, message string) error {
	return db.fork(ctx, from, to, message, false)
}

func (db *DB) fork(ctx context.Context, from, to event.SessionID, message string, branch bool) error {
	return db.write(ctx, "fork", func(ctx context.Context, tx *sql.Tx) error {
		end, err := before(ctx, tx, from, message)
		if err != nil {
			return err
		}
		if err := db.twin(ctx, tx, from, to, branch); err != nil {
			return err
		}
		if end == 1 {
			return nil
		}
		log, err := eventsOf(ctx, tx, from, 1, end-1)
		if err != nil {
			return err
		}
		begun, err := begunOf(ctx, tx, from)
		if err != nil {
			return err
		}
		begun = min(begun, len(log))
		if err := plant(ctx, tx, to, log[:begun]); err != nil {
			return err
		}
		for _, e := range log[begun:] {
			if err := add(ctx, tx, to, e, false); err != nil {
				return err
			}
		}
		step, err := db.step(ctx, tx, from)
		if err != nil {
			return err
		}
		return closeOpen(ctx, tx, to, step)
	})
}

// before returns what counts the message, or one more than the last event.
func before(ctx context.Context, tx *sql.Tx, session event.SessionID, message string) (int64, error) {
	var end sql.NullInt64
	err := tx.QueryRowContext(ctx, `
		SELECT CASE ?2
			WHEN '' THEN (SELECT head + 1 FROM sessions WHERE id = ?1)
			ELSE (
				SELECT min(seq) FROM events
				WHERE n BETWEEN (SELECT n << 32 FROM sessions WHERE id = ?1) AND (SELECT n << 32 | 0xffffffff FROM sessions WHERE id = ?1)
					AND type = 'user_message' AND event ->> '$.data.id' = ?2)
			END`, string(session), message).Scan(&end)
	if err == nil && !end.Valid {
		err = ErrNotFound
	}
	return end.Int64, err
}

func (db *DB) twin(ctx context.Context, tx *sql.Tx, from, to event.SessionID, branch bool) error {
	s := Session{ID: to, ParentID: from}
	err := tx.QueryRowContext(ctx, `SELECT title, model, dir, image, system, trunk, tags FROM sessions WHERE id = ?`, string(from)).
		Scan(&s.Title, &s.Model, &s.Dir, &s.Image, &s.System, &s.Trunk, &s.Tags)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	if !branch {
		s.Trunk = to
	}
	return db.create(ctx, tx, s)
}

// closeOpen closes a turn whose writer is not among us.
func closeOpen(ctx context.Context, tx *sql.Tx, session event.SessionID, step engine.Processor) error {
	var turn string
	var head int64
	if err := tx.QueryRowContext(ctx, `SELECT turn, head FROM sessions WHERE id = ?`, string(session)).Scan(&turn, &head); err != nil || turn == "" {
		return err
	}
	return mend(ctx, tx, session, head, nil, step, false)
}

// Import makes a session of a log that comes from elsewhere: all of it, or
// nothing. What was used there is not counted as used here; a turn that its log
// leaves open is broken off.
func (db *DB) Import(ctx context.Context, s Session, log []event.Event) error {
	return db.write(ctx, "import", func(ctx context.Context, tx *sql.Tx) error {
		s.Trunk, s.ParentID = "", ""
		if err := db.create(ctx, tx, s); err != nil {
			return err
		}
		for _, e := range log {
			if err := add(ctx, tx, s.ID, e, false); err != nil {
				return err
			}
		}
		step, err := db.step(ctx, tx, s.ID)
		if err != nil {
			return err
		}
		return closeOpen(ctx, tx, s.ID, step)
	})
}
