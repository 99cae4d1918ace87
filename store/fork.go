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
		begun, err := begunOf(ctx, tx, from)
		if err != nil {
			return err
		}
		begun = min(begun, end-1)
		common := int64(0)
		if branch {
			if common, err = settled(ctx, tx, from, begun, end-1); err != nil {
				return err
			}
			if err := share(ctx, tx, from, to, common); err != nil {
				return err
			}
		}
		if err := repeat(ctx, tx, from, to, common+1, end-1, int(max(0, begun-common))); err != nil {
			return err
		}
		step, err := db.step(ctx, tx, from)
		if err != nil {
			return err
		}
		return closeOpen(ctx, tx, to, step)
	})
}

// repeat copies events of a session, of which some came with an image, to the end
// of another.
func repeat(ctx context.Context, tx *sql.Tx, from, to event.SessionID, first, last int64, begun int) error {
	var events []event.Event
	var texts []string
	err := eachOf(ctx, tx, logs, from, first, last, func(e event.Event, text []byte) {
		events, texts = append(events, e), append(texts, string(text))
	})
	if err != nil {
		return err
	}
	return pour(ctx, tx, to, events, texts, begun)
}

// before returns what counts the message, or one more than the last event. It
// looks from the end: who goes another way mostly goes back a little.
func before(ctx context.Context, tx *sql.Tx, session event.SessionID, message string) (int64, error) {
	var end sql.NullInt64
	err := tx.QueryRowContext(ctx, `
		SELECT CASE ?4
			WHEN '' THEN (SELECT head + 1 FROM sessions WHERE id = ?1)
			ELSE (
				SELECT e.seq FROM `+logs+`
				WHERE e.type = 'user_message' AND e.event ->> '$.data.id' = ?4
				ORDER BY p.first DESC, e.n DESC
				LIMIT 1)
			END`, string(session), 1, endless, message).Scan(&end)
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
		texts, err := textsOf(log)
		if err != nil {
			return err
		}
		if err := pour(ctx, tx, s.ID, log, texts, 0); err != nil {
			return err
		}
		step, err := db.step(ctx, tx, s.ID)
		if err != nil {
			return err
		}
		return closeOpen(ctx, tx, s.ID, step)
	})
}

// begunOf returns how many events of a session came with its image.
func begunOf(ctx context.Context, tx *sql.Tx, session event.SessionID) (int64, error) {
	var begun int64
	err := tx.QueryRowContext(ctx, `SELECT begun FROM sessions WHERE id = ?`, string(session)).Scan(&begun)
	return begun, err
}
