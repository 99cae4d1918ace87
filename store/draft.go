package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"agentx/engine/event"
)

// Draft returns what is being written in a session and was not sent, or an
// empty text. The empty session is the one that does not exist yet.
func (db *DB) Draft(ctx context.Context, session event.SessionID) (string, error) {
	var text string
	err := db.r.QueryRowContext(ctx, `SELECT text FROM drafts WHERE session = ?`, string(session)).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return text, db.fault("draft", err)
}

// SetDraft keeps what is being written. An empty text forgets it.
func (db *DB) SetDraft(ctx context.Context, session event.SessionID, text string) error {
	return db.write(ctx, "set draft", func(ctx context.Context, tx *sql.Tx) error {
		if text == "" {
			_, err := tx.ExecContext(ctx, `DELETE FROM drafts WHERE session = ?`, string(session))
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO drafts VALUES (?1, ?2, ?3)
			ON CONFLICT (session) DO UPDATE SET text = ?2, at = ?3`,
			string(session), text, db.now().UnixMilli())
		return err
	})
}

// sent forgets what waited to become m: the draft, which of a new session was
// written before there was one, and the place in the queue.
func sent(ctx context.Context, tx *sql.Tx, session event.SessionID, m event.UserMessage) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM drafts
		WHERE session = ?1 OR session = '' AND (SELECT head FROM sessions WHERE id = ?1) = 0`, string(session))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM queue WHERE session = ? AND id = ?`, string(session), m.ID)
	return err
}

// Queue keeps a message that waits for the running turn. It waits until it is
// presented, or taken back with Unqueue; a message of the same id takes its
// place.
func (db *DB) Queue(ctx context.Context, session event.SessionID, m event.UserMessage) error {
	text, err := json.Marshal(m)
	if err != nil {
		return db.fault("queue", err)
	}
	return db.write(ctx, "queue", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO queue (session, id, message)
			SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ?1)
			ON CONFLICT (session, id) DO UPDATE SET message = ?3`,
			string(session), m.ID, string(text))
		return err
	})
}

// Unqueue takes a message back. To take back what does not wait is no error.
func (db *DB) Unqueue(ctx context.Context, session event.SessionID, id string) error {
	return db.write(ctx, "unqueue", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM queue WHERE session = ? AND id = ?`, string(session), id)
		return err
	})
}

// Queued returns the messages that wait, first come first.
func (db *DB) Queued(ctx context.Context, session event.SessionID) ([]event.UserMessage, error) {
	var all []event.UserMessage
	err := db.texts(ctx, func(text []byte) error {
		var m event.UserMessage
		err := json.Unmarshal(text, &m)
		all = append(all, m)
		return err
	}, `SELECT message FROM queue WHERE session = ? ORDER BY n`, string(session))
	return all, db.fault("queued", err)
}

// maxPrompts is how many prompts are kept.
const maxPrompts = 5000

// AddPrompt keeps what was typed. The same as the one before is not kept twice.
func (db *DB) AddPrompt(ctx context.Context, text string) error {
	return db.write(ctx, "add prompt", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO prompts (text, at)
			SELECT ?1, ?2
			WHERE ?1 <> '' AND ?1 IS NOT (SELECT text FROM prompts ORDER BY n DESC LIMIT 1)`, text, db.now().UnixMilli())
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM prompts WHERE n <= (SELECT max(n) FROM prompts) - ?`, maxPrompts)
		return err
	})
}

// Prompts returns what was typed last, latest first, at most limit of it.
func (db *DB) Prompts(ctx context.Context, limit int) ([]string, error) {
	var all []string
	err := db.texts(ctx, func(text []byte) error {
		all = append(all, string(text))
		return nil
	}, `SELECT text FROM prompts ORDER BY n DESC LIMIT ?`, limit)
	return all, db.fault("prompts", err)
}

// texts calls f with the one column of every row.
func (db *DB) texts(ctx context.Context, f func([]byte) error, query string, args ...any) error {
	rows, err := db.r.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.RawBytes
		if err := rows.Scan(&text); err != nil {
			return err
		}
		if err := f(text); err != nil {
			return err
		}
	}
	return rows.Err()
}
