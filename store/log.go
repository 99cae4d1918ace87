package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentx/engine"
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
	ended       *string // the message that no longer is; another may be by now
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
		return growth{messages: 1, turn: &d.ID, interrupted: new(false), title: engine.TitleOf(d.Content), text: text}
	case event.AssistantMessage:
		return growth{messages: 1, text: d.Content.Text()}
	case event.TurnResponse:
		g := growth{ended: &d.MessageID, interrupted: new(d.StopReason == event.StopInterrupted), usage: d.Usage}
		switch {
		case d.CostUSD != nil:
			g.cost = *d.CostUSD
		case d.Unpriced():
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
	var model string
	var untitled bool
	err = tx.QueryRowContext(ctx, `
		UPDATE sessions
		SET head = head + 1,
			updated = max(updated, ?2),
			messages = messages + ?3,
			turn = CASE turn WHEN ?13 THEN '' ELSE coalesce(?4, turn) END,
			interrupted = coalesce(?5, interrupted),
			input = input + ?6, output = output + ?7,
			cache_read = cache_read + ?8, cache_write = cache_write + ?9, reasoning = reasoning + ?10,
			cost = cost + ?11, unpriced = unpriced + ?12, cache_write_1h = cache_write_1h + ?14
		WHERE id = ?1
		RETURNING n, head, model, title = ''`,
		string(session), e.At.UnixMilli(), g.messages, g.turn, g.interrupted,
		g.usage.InputTokens, g.usage.OutputTokens, g.usage.CacheReadTokens, g.usage.CacheWriteTokens, g.usage.ReasoningTokens,
		int64(g.cost), g.unpriced, g.ended, g.usage.CacheWrite1hTokens).Scan(&key, &head, &model, &untitled)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("session %q: %w", session, ErrNotFound)
	}
	if err != nil {
		return err
	}
	n := key<<32 | head
	_, err = tx.ExecContext(ctx, `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)`,
		n, string(session), head, e.Data.Type(), e.At.UnixMilli(), string(text))
	if err != nil {
		return err
	}
	if untitled && g.title != "" {
		// Its words are those of the message: they need no place in the index.
		if _, err := tx.ExecContext(ctx, `UPDATE sessions SET title = ? WHERE n = ?`, g.title, key); err != nil {
			return err
		}
	}
	switch d := e.Data.(type) {
	case event.AssistantMessage:
		return index(ctx, tx, n, g.text)
	case event.TurnResponse:
		if err := indexAsked(ctx, tx, key, d.MessageID); err != nil || !counts {
			return err
		}
		return book(ctx, tx, session, model, e.At, d)
	}
	return nil
}

// indexAsked adds the message that a turn answered to the words. With the
// answer it costs a quarter of what it costs alone, and searching for what is
// being answered can wait. A branch shares no turn that is open: what is answered
// in it was asked in it.
func indexAsked(ctx context.Context, tx *sql.Tx, key int64, message string) error {
	var n int64
	var e event.Event
	var text []byte
	err := tx.QueryRowContext(ctx, `
		SELECT n, event FROM events
		WHERE n BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff AND type = 'user_message' AND event ->> '$.data.id' = ?2
		ORDER BY n DESC
		LIMIT 1`, key, message).Scan(&n, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return err
	}
	return reindex(ctx, tx, n, growthOf(e.Data).text)
}

// Events returns a session from its beginning. One that is not there, or in
// which nothing was said, has none.
func (db *DB) Events(ctx context.Context, session event.SessionID) ([]event.Event, error) {
	events, err := eventsOf(ctx, db.r, db.logs(), session, 1, endless)
	return events, db.fault("events", err)
}

// Messages returns what was said in a session behind the event that seq counts,
// and what counts the last event there is. A session that is not there has none,
// and 0.
func (db *DB) Messages(ctx context.Context, session event.SessionID, seq int64) (said []event.Message, last int64, err error) {
	err = db.r.QueryRowContext(ctx, `SELECT head FROM sessions WHERE id = ?`, string(session)).Scan(&last)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, 0, nil
	case err == nil && seq < last:
		err = eachOf(ctx, db.r, db.logs()+` WHERE e.type GLOB '*_message'`, session, max(seq, 0)+1, last, func(e event.Event, _ []byte) {
			if m, ok := e.Data.(event.Message); ok {
				said = append(said, m)
			}
		})
	}
	if err != nil {
		return nil, 0, db.fault("messages", err)
	}
	return said, last, nil
}

// Tail returns the last n events of a session, and whether there are earlier
// ones. A session that is not there has none.
func (db *DB) Tail(ctx context.Context, session event.SessionID, n int) ([]event.Event, bool, error) {
	events, first, err := db.Page(ctx, session, 0, n)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	return events, first > 1, err
}

// Page returns the n events of a session before the one that seq counts, or
// its last where seq is 0, oldest first, and what seq counts the first of them.
// The first event of a session is 1. Where there is no such session the error
// is ErrNotFound.
func (db *DB) Page(ctx context.Context, session event.SessionID, seq int64, n int) ([]event.Event, int64, error) {
	events, first, err := db.page(ctx, session, seq, n)
	return events, first, db.fault("page", err)
}

func (db *DB) page(ctx context.Context, session event.SessionID, seq int64, n int) ([]event.Event, int64, error) {
	var end int64
	err := db.r.QueryRowContext(ctx, `SELECT head + 1 FROM sessions WHERE id = ?`, string(session)).Scan(&end)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, ErrNotFound
	}
	if err != nil {
		return nil, 0, err
	}
	if seq > 0 {
		end = min(seq, end)
	}
	first := max(1, end-int64(max(0, n)))
	if first >= end {
		return nil, end, nil
	}
	events, err := eventsOf(ctx, db.r, db.logs(), session, first, end-1)
	return events, first, err
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// eventsOf returns the events from first to last. The logs are those of the schema.
func eventsOf(ctx context.Context, q querier, logs string, session event.SessionID, first, last int64) (events []event.Event, err error) {
	err = eachOf(ctx, q, logs, session, first, last, func(e event.Event, _ []byte) { events = append(events, e) })
	if err != nil {
		return nil, err
	}
	return events, nil
}

// eachOf calls f with the events from first to last, each also as it is kept.
func eachOf(ctx context.Context, q querier, logs string, session event.SessionID, first, last int64, f func(e event.Event, text []byte)) error {
	rows, err := q.QueryContext(ctx, `
		SELECT e.seq, e.type, e.at, e.event FROM `+logs+`
		ORDER BY p.first, e.n`, string(session), first, last)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var seq, at int64
		var name string
		var text sql.RawBytes
		if err := rows.Scan(&seq, &name, &at, &text); err != nil {
			return err
		}
		e, err := decode(name, at, text)
		if err != nil {
			return fmt.Errorf("%w: event %d of session %q: %w", ErrCorrupt, seq, session, err)
		}
		f(e, text)
	}
	return rows.Err()
}

// decode reads an event. Its envelope repeats what the columns say, and is not
// read twice where it looks as we write it.
func decode(name string, at int64, text []byte) (e event.Event, err error) {
	head := `{"type":"` + name + `","timestamp":` + strconv.FormatInt(at, 10) + `,"data":`
	data, ok := bytes.CutPrefix(text, []byte(head))
	if !ok || !bytes.HasSuffix(data, []byte("}")) {
		err = json.Unmarshal(text, &e)
		return e, err
	}
	e.At = event.Millis(at).Time()
	e.Data, err = event.UnmarshalData(name, data[:len(data)-1])
	return e, err
}

// seqOf returns the seq of the last event of one of the types, or 0.
func seqOf(ctx context.Context, tx *sql.Tx, logs string, session event.SessionID, types ...string) (int64, error) {
	var seq int64
	err := tx.QueryRowContext(ctx, `
		SELECT e.seq FROM `+logs+`
		WHERE instr(?4, ' ' || e.type || ' ')
		ORDER BY p.first DESC, e.n DESC
		LIMIT 1`, string(session), 1, endless, " "+strings.Join(types, " ")+" ").Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return seq, err
}
