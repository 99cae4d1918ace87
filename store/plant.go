package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"agentx/engine/event"
)

// plant puts messages without turns at the beginning of an empty session.
func plant(ctx context.Context, tx *sql.Tx, session event.SessionID, log []event.Event) error {
	texts := make([]string, len(log))
	for i, e := range log {
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		texts[i] = string(text)
	}
	return plantTexts(ctx, tx, session, log, texts)
}

// plantTexts is plant of messages as they are kept elsewhere, so that they stay
// the same to the byte.
func plantTexts(ctx context.Context, tx *sql.Tx, session event.SessionID, log []event.Event, texts []string) error {
	if len(log) == 0 {
		return nil
	}
	var key int64
	if err := tx.QueryRowContext(ctx, `SELECT n FROM sessions WHERE id = ?`, string(session)).Scan(&key); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	var title string
	var messages int
	var updated int64
	for i, e := range log {
		seq := int64(i + 1)
		n, at := key<<32|seq, e.At.UnixMilli()
		if _, err := insert.ExecContext(ctx, n, string(session), seq, e.Data.Type(), at, texts[i]); err != nil {
			return err
		}
		g := growthOf(e.Data)
		if err := index(ctx, tx, n, g.text); err != nil {
			return err
		}
		messages, updated = messages+g.messages, max(updated, at)
		if title == "" {
			title = g.title
		}
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE sessions
		SET head = ?2, begun = ?2, messages = ?3, updated = max(updated, ?4),
			title = CASE title WHEN '' THEN ?5 ELSE title END
		WHERE n = ?1`, key, len(log), messages, updated, title)
	return err
}

// begunOf returns how many events of a session came with its image.
func begunOf(ctx context.Context, tx *sql.Tx, session event.SessionID) (int, error) {
	var begun int
	err := tx.QueryRowContext(ctx, `SELECT begun FROM sessions WHERE id = ?`, string(session)).Scan(&begun)
	return begun, err
}
