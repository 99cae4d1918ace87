package store

import (
	"context"
	"database/sql"
	"errors"

	"agentx/engine/event"
)

// endless is what counts the last event of the part that a session goes on with.
const endless int64 = 1<<32 - 1

// parts is the table that says of what each log is made, or what it would be in
// a file of an older schema, where every log is all its own.
func (db *DB) parts() string {
	if db.schema < partSchema {
		return "(SELECT n AS session, 1 AS first, 0xffffffff AS last, n AS owner FROM sessions)"
	}
	return "parts"
}

// logs are the events e, in parts p, of the session ?1 from ?2 to ?3. In the order
// of p.first, e.n they need not be sorted.
func (db *DB) logs() string { return db.parts() + inParts }

const (
	inParts = ` AS p CROSS JOIN events AS e
		ON p.session = (SELECT n FROM sessions WHERE id = ?1)
			AND e.n BETWEEN p.owner << 32 | max(p.first, ?2) AND p.owner << 32 | min(p.last, ?3)`

	logs = "parts" + inParts // of the latest schema, which every transaction that writes has
)

// settled returns the last event up to which, of the first last, a branch can
// share the log of a session: behind it no turn is open. A turn that is open
// there is copied, for the branch closes it in its own way; so is one that was
// replaced, whose response stands behind the message that replaced it. The events
// that came with an image have no turns.
func settled(ctx context.Context, tx *sql.Tx, session event.SessionID, begun, last int64) (int64, error) {
	for last > begun {
		asked, closed, err := asking(ctx, tx, session, begun+1, last)
		if err != nil || asked == 0 || closed {
			return last, err
		}
		last = asked - 1
	}
	return last, nil
}

// asking returns the last message of the user between two events, or 0, and
// whether its turn has been closed by then.
func asking(ctx context.Context, tx *sql.Tx, session event.SessionID, first, last int64) (asked int64, closed bool, err error) {
	var message string
	err = tx.QueryRowContext(ctx, `
		SELECT e.seq, e.event ->> '$.data.id' FROM `+logs+`
		WHERE e.type = 'user_message'
		ORDER BY p.first DESC, e.n DESC
		LIMIT 1`, string(session), first, last).Scan(&asked, &message)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	err = tx.QueryRowContext(ctx, `
		SELECT EXISTS (
			SELECT 1 FROM `+logs+`
			WHERE e.type = 'turn_response' AND e.event ->> '$.data.messageId' = ?4)`, string(session), asked, last, message).Scan(&closed)
	return asked, closed, err
}

// share makes the first events of a branch the beginning of another, which is
// empty. They must be settled. What it costs does not depend on how long that is:
// what is counted of it is known of the whole, and is counted from the nearer end.
func share(ctx context.Context, tx *sql.Tx, from, to event.SessionID, last int64) error {
	if last == 0 {
		return nil
	}
	if err := lend(ctx, tx, from, to, last); err != nil {
		return err
	}
	t, err := tallyTo(ctx, tx, from, last)
	if err != nil {
		return err
	}
	if t.updated, err = lastSaid(ctx, tx, from, to); err != nil {
		return err
	}
	return t.begin(ctx, tx, to)
}

// begin gives the tally of what a session shares to it, with how that ends, and
// the title that it has.
func (t *tally) begin(ctx context.Context, tx *sql.Tx, session event.SessionID) (err error) {
	if t.interrupted, err = brokenOff(ctx, tx, session); err != nil {
		return err
	}
	if t.title, err = titleOf(ctx, tx, session); err != nil {
		return err
	}
	return t.keep(ctx, tx, session)
}

// lend puts the parts of a log up to an event before the own part of another.
func lend(ctx context.Context, tx *sql.Tx, from, to event.SessionID, last int64) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM parts WHERE session = (SELECT n FROM sessions WHERE id = ?2);
		INSERT INTO parts
		SELECT t.n, p.first, min(p.last, ?3), p.owner
		FROM sessions AS t, sessions AS f JOIN parts AS p ON p.session = f.n
		WHERE t.id = ?2 AND f.id = ?1 AND p.first <= ?3;
		INSERT INTO parts
		SELECT n, ?3 + 1, ?4, n
		FROM sessions
		WHERE id = ?2;
		UPDATE sessions
		SET shared = ?3, begun = min(?3, (SELECT begun FROM sessions WHERE id = ?1))
		WHERE id = ?2`, string(from), string(to), last, endless)
	return err
}

// tallyTo counts the first events of a log: those, or what comes behind them,
// which then is taken from what is known of all.
func tallyTo(ctx context.Context, tx *sql.Tx, session event.SessionID, last int64) (tally, error) {
	all := tally{}
	err := tx.QueryRowContext(ctx, `
		SELECT head, messages, input, output, cache_read, cache_write, cache_write_1h, reasoning, cost, unpriced
		FROM sessions
		WHERE id = ?`, string(session)).Scan(&all.events, &all.messages,
		&all.usage.InputTokens, &all.usage.OutputTokens, &all.usage.CacheReadTokens, &all.usage.CacheWriteTokens,
		&all.usage.CacheWrite1hTokens, &all.usage.ReasoningTokens, &all.cost, &all.unpriced)
	if err != nil {
		return tally{}, err
	}
	if last <= all.events/2 {
		return tallyOf(ctx, tx, session, 1, last)
	}
	behind, err := tallyOf(ctx, tx, session, last+1, all.events)
	return tally{
		events: last, messages: all.messages - behind.messages,
		usage: all.usage.Sub(behind.usage), cost: all.cost - behind.cost, unpriced: all.unpriced - behind.unpriced,
	}, err
}

// tallyOf counts events of a log.
func tallyOf(ctx context.Context, tx *sql.Tx, session event.SessionID, first, last int64) (t tally, err error) {
	t.events = last - first + 1
	rows, err := tx.QueryContext(ctx, `
		SELECT e.type, e.at, iif(e.type = 'turn_response', e.event, '')
		FROM `+logs+`
		WHERE e.type IN ('user_message', 'assistant_message', 'turn_response')`, string(session), first, last)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var at int64
		var text sql.RawBytes
		if err := rows.Scan(&name, &at, &text); err != nil {
			return t, err
		}
		if len(text) == 0 {
			t.messages++
			continue
		}
		e, err := decode(name, at, text)
		if err != nil {
			return t, err
		}
		t.count(growthOf(e.Data))
	}
	return t, rows.Err()
}

// brokenOff reports whether the last turn of a log was interrupted.
func brokenOff(ctx context.Context, tx *sql.Tx, session event.SessionID) (*bool, error) {
	var name string
	var at int64
	var text []byte
	err := tx.QueryRowContext(ctx, `
		SELECT e.type, e.at, e.event FROM `+logs+`
		WHERE e.type IN ('user_message', 'turn_response')
		ORDER BY p.first DESC, e.n DESC
		LIMIT 1`, string(session), 1, endless).Scan(&name, &at, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := decode(name, at, text)
	return growthOf(e.Data).interrupted, err
}

// titleOf is what a session is called that has no name: after the first message
// that says one.
func titleOf(ctx context.Context, tx *sql.Tx, session event.SessionID) (string, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT e.type, e.at, e.event FROM `+logs+`
		WHERE e.type = 'user_message' AND EXISTS (SELECT 1 FROM sessions WHERE id = ?1 AND title = '')
		ORDER BY p.first, e.n`, string(session), 1, endless)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var at int64
		var text sql.RawBytes
		if err := rows.Scan(&name, &at, &text); err != nil {
			return "", err
		}
		e, err := decode(name, at, text)
		if title := growthOf(e.Data).title; err != nil || title != "" {
			return title, err
		}
	}
	return "", rows.Err()
}

// lastSaid is when the last thing in a new branch was said, if that is later than
// now: only then did the clock go back, and all of it must be looked at.
func lastSaid(ctx context.Context, tx *sql.Tx, from, to event.SessionID) (at int64, err error) {
	err = tx.QueryRowContext(ctx, `
		SELECT iif(
			(SELECT updated FROM sessions WHERE id = ?4) <= (SELECT updated FROM sessions WHERE id = ?1), 0,
			(SELECT max(e.at) FROM `+logs+`))`, string(to), 1, endless, string(from)).Scan(&at)
	return at, err
}
