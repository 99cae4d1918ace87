package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"agentx/engine/event"
)

// Append adds an event to the end of a session. It is for logs that come from
// elsewhere, such as an import; what an agent says goes through [DB.Presenter].
func (db *DB) Append(ctx context.Context, session event.SessionID, events ...event.Event) error {
	return db.write(ctx, "append", func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range events {
			if err := add(ctx, tx, session, e, true); err != nil {
				return err
			}
		}
		return nil
	})
}

// A growth is what an event adds to its session.
type growth struct {
	messages    int
	turn        *string // the message that is being answered, from now on
	interrupted *bool
	usage       event.Usage
	cost        event.USD
	unpriced    int
	title, text string
}

func growthOf(d event.Data) growth {
	switch d := d.(type) {
	case event.UserMessage:
		text := d.Content.Text()
		return growth{messages: 1, turn: &d.ID, interrupted: new(false), title: line(clip(text, 500)), text: text}
	case event.AssistantMessage:
		return growth{messages: 1, text: d.Content.Text()}
	case event.TurnResponse:
		g := growth{turn: new(""), interrupted: new(d.StopReason == event.StopInterrupted), usage: d.Usage}
		switch {
		case d.CostUSD != nil:
			g.cost = *d.CostUSD
		case d.Usage != event.Usage{}:
			g.unpriced = 1
		}
		return g
	}
	return growth{}
}

// add writes one event and what is derived from it. A copy has been counted.
func add(ctx context.Context, tx *sql.Tx, session event.SessionID, e event.Event, counts bool) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	g := growthOf(e.Data)
	var key, head int64
	var untitled bool
	err = tx.QueryRowContext(ctx, `
		UPDATE sessions
		SET head = head + 1,
			updated = max(updated, ?2),
			messages = messages + ?3,
			turn = coalesce(?4, turn),
			interrupted = coalesce(?5, interrupted),
			input = input + ?6, output = output + ?7,
			cache_read = cache_read + ?8, cache_write = cache_write + ?9, reasoning = reasoning + ?10,
			cost = cost + ?11, unpriced = unpriced + ?12
		WHERE id = ?1
		RETURNING n, head, title = ''`,
		string(session), e.At.UnixMilli(), g.messages, g.turn, g.interrupted,
		g.usage.InputTokens, g.usage.OutputTokens, g.usage.CacheReadTokens, g.usage.CacheWriteTokens, g.usage.ReasoningTokens,
		int64(g.cost), g.unpriced).Scan(&key, &head, &untitled)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("session %q: %w", session, ErrNotFound)
	}
	if err != nil {
		return err
	}
	res, err := tx.ExecContext(ctx, `
		INSERT INTO events (session, seq, type, at, event)
		VALUES (?, ?, ?, ?, ?)`,
		string(session), head, e.Data.Type(), e.At.UnixMilli(), string(text))
	if err != nil {
		return err
	}
	n, err := res.LastInsertId()
	if err != nil {
		return err
	}
	if err := index(ctx, tx, n, g.text); err != nil {
		return err
	}
	if untitled && g.title != "" {
		if err := entitle(ctx, tx, key, g.title); err != nil {
			return err
		}
	}
	if !counts {
		return nil
	}
	return count(ctx, tx, e)
}

func entitle(ctx context.Context, tx *sql.Tx, key int64, title string) error {
	title = clip(title, 80)
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET title = ? WHERE n = ?`, title, key); err != nil {
		return err
	}
	return reindex(ctx, tx, -key, title)
}

// Events returns a session from its beginning. One that is not there, or in
// which nothing was said, has none.
func (db *DB) Events(ctx context.Context, session event.SessionID) ([]event.Event, error) {
	events, err := eventsOf(ctx, db.r, `SELECT event FROM events WHERE session = ? ORDER BY seq`, string(session))
	return events, db.fault("events", err)
}

// Tail returns the last n events of a session, and whether there are earlier
// ones.
func (db *DB) Tail(ctx context.Context, session event.SessionID, n int) ([]event.Event, bool, error) {
	events, first, err := db.Page(ctx, session, 0, n)
	return events, first > 1, err
}

// Page returns the n events of a session before the one that seq counts, or
// its last where seq is 0, oldest first, and what seq counts the first of them.
// The first event of a session is 1.
func (db *DB) Page(ctx context.Context, session event.SessionID, seq int64, n int) ([]event.Event, int64, error) {
	events, err := eventsOf(ctx, db.r, `
		SELECT event FROM events
		WHERE session = ?1 AND (?2 = 0 OR seq < ?2)
		ORDER BY seq DESC
		LIMIT ?3`, string(session), seq, n)
	if err != nil || len(events) == 0 {
		return nil, 0, db.fault("page", err)
	}
	slices.Reverse(events)
	if seq == 0 {
		err = db.r.QueryRowContext(ctx, `SELECT max(seq) + 1 FROM events WHERE session = ?`, string(session)).Scan(&seq)
	}
	return events, seq - int64(len(events)), db.fault("page", err)
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func eventsOf(ctx context.Context, q querier, query string, args ...any) ([]event.Event, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var events []event.Event
	for rows.Next() {
		var text sql.RawBytes
		var e event.Event
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%w: event %d of %d: %w", ErrCorrupt, len(events)+1, len(events)+1, err)
		}
		events = append(events, e)
	}
	return events, rows.Err()
}
