package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A speech is what a session is frozen as.
type speech struct {
	session event.SessionID
	model   string
	image   event.ImageID // from which the session was begun
	links   []link
}

// A link is a message of the log, and the seal of all up to it.
type link struct {
	n    int64 // of the event
	seal engine.Seal
}

func (s speech) seal() engine.Seal {
	if len(s.links) == 0 {
		return engine.Seal{}
	}
	return s.links[len(s.links)-1].seal
}

// speech reads and seals the messages of a session up to the end of its last
// finished turn. The message that replaced this turn is in the log before that
// end; it belongs to the next.
func (db *DB) speech(ctx context.Context, session event.SessionID) (speech, error) {
	s := speech{session: session}
	err := db.look(ctx, func(tx *sql.Tx) error {
		var begun, asked int64
		var running bool
		err := tx.QueryRowContext(ctx, `SELECT begun, turn <> '', model, image FROM sessions WHERE id = ?`, string(session)).
			Scan(&begun, &running, &s.model, &s.image)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		end, err := seqOf(ctx, tx, db.logs(), session, "turn_response")
		if err != nil {
			return err
		}
		if running {
			if asked, err = seqOf(ctx, tx, db.logs(), session, "user_message"); err != nil {
				return err
			}
		}
		s.links, err = linksOf(ctx, tx, db.logs(), session, max(end, begun), asked)
		return err
	})
	return s, err
}

// linksOf seals the messages up to an event, without another.
func linksOf(ctx context.Context, tx *sql.Tx, logs string, session event.SessionID, last, without int64) ([]link, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT e.n, e.event FROM `+logs+`
		WHERE e.seq <> ?4
			AND e.type IN ('user_message', 'assistant_message', 'tool_call_message', 'tool_result_message', 'error_message')
		ORDER BY p.first, e.n`, string(session), 1, last, without)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var links []link
	var l link
	for rows.Next() {
		var text sql.RawBytes
		if err := rows.Scan(&l.n, &text); err != nil {
			return nil, err
		}
		l.seal = l.seal.Add(text)
		links = append(links, l)
	}
	return links, rows.Err()
}

// keepNodes writes the messages that no image has yet, and returns the last.
func keepNodes(ctx context.Context, tx *sql.Tx, s speech) (head sql.NullInt64, err error) {
	known, head, err := common(ctx, tx, s.links)
	if err != nil {
		return head, err
	}
	insert, err := tx.PrepareContext(ctx, `
		INSERT INTO nodes (hash, parent, event)
		SELECT ?1, ?2, event FROM events
		WHERE n = ?3 AND EXISTS (SELECT 1 FROM sessions WHERE id = ?4)`)
	if err != nil {
		return head, err
	}
	defer insert.Close()
	for _, l := range s.links[known:] {
		res, err := insert.ExecContext(ctx, l.seal[:], head, l.n, string(s.session))
		if err := found(res, err); err != nil {
			return head, err // it was deleted meanwhile
		}
		head.Valid = true
		if head.Int64, err = res.LastInsertId(); err != nil {
			return head, err
		}
	}
	return head, nil
}

// common returns how many of the links are nodes, and the last of those. Where
// one is, so are all before it: halving finds the border.
func common(ctx context.Context, tx *sql.Tx, links []link) (known int, last sql.NullInt64, err error) {
	low, high := 0, len(links)
	for low < high {
		middle := int(uint(low+high+1) / 2)
		var n int64
		err := tx.QueryRowContext(ctx, `SELECT n FROM nodes WHERE hash = ?`, links[middle-1].seal[:]).Scan(&n)
		switch {
		case err == nil:
			low, last = middle, sql.NullInt64{Int64: n, Valid: true}
		case errors.Is(err, sql.ErrNoRows):
			high = middle - 1
		default:
			return 0, last, err
		}
	}
	return low, last, nil
}

// nodesOf returns the messages up to head, oldest first, as events and as they
// are kept, and their seal.
func nodesOf(ctx context.Context, tx *sql.Tx, head sql.NullInt64) (events []event.Event, texts []string, seal engine.Seal, err error) {
	rows, err := tx.QueryContext(ctx, `
		WITH RECURSIVE chain (n, parent) AS (
			SELECT n, parent FROM nodes WHERE n = ?
			UNION ALL
			SELECT p.n, p.parent FROM chain JOIN nodes AS p ON p.n = chain.parent)
		SELECT hash, event FROM nodes
		WHERE n IN (SELECT n FROM chain)
		ORDER BY n`, head)
	if err != nil {
		return nil, nil, seal, err
	}
	defer rows.Close()
	for rows.Next() {
		var hash sql.RawBytes
		var text string
		if err := rows.Scan(&hash, &text); err != nil {
			return nil, nil, seal, err
		}
		seal = seal.Add([]byte(text))
		var e event.Event
		if e, err = parse([]byte(text)); err == nil && string(hash) != string(seal[:]) {
			err = errors.New("it is not what was frozen")
		}
		if err != nil {
			return nil, nil, seal, fmt.Errorf("%w: message %d: %w", ErrCorrupt, len(events)+1, err)
		}
		events, texts = append(events, e), append(texts, text)
	}
	return events, texts, seal, rows.Err()
}

// parse reads an event of which nothing is known beside its text.
func parse(text []byte) (event.Event, error) {
	head, _, _ := bytes.Cut(text[:min(len(text), 100)], []byte(`,"data":`))
	name, time, _ := strings.Cut(strings.TrimPrefix(string(head), `{"type":"`), `","timestamp":`)
	at, _ := strconv.ParseInt(time, 10, 64) // decode believes neither
	return decode(name, at, text)
}

// dropNodes removes a message, and those before it, that nothing needs.
func dropNodes(ctx context.Context, tx *sql.Tx, head int64) error {
	_, err := tx.ExecContext(ctx, dropping, head)
	return err
}

const dropping = `
	WITH RECURSIVE gone (n, parent) AS (
		SELECT n, parent FROM nodes
		WHERE n = ?
			AND NOT EXISTS (SELECT 1 FROM nodes AS c WHERE c.parent = nodes.n)
			AND NOT EXISTS (SELECT 1 FROM images WHERE head = nodes.n)
		UNION ALL
		SELECT p.n, p.parent FROM gone JOIN nodes AS p ON p.n = gone.parent
		WHERE NOT EXISTS (SELECT 1 FROM nodes AS c WHERE c.parent = p.n AND c.n <> gone.n)
			AND NOT EXISTS (SELECT 1 FROM images WHERE head = p.n))
	DELETE FROM nodes WHERE n IN (SELECT n FROM gone)`

// keepBlob writes bytes that are not there yet, and returns which they are.
func keepBlob(ctx context.Context, tx *sql.Tx, data []byte) (n int64, err error) {
	hash := sha256.Sum256(data)
	err = tx.QueryRowContext(ctx, `SELECT n FROM blobs WHERE hash = ?`, hash[:]).Scan(&n)
	if !errors.Is(err, sql.ErrNoRows) {
		return n, err
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO blobs (hash, data) VALUES (?, ?)`, hash[:], append([]byte{}, data...))
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}
