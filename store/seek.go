package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"agentx/engine/event"
)

// Seek returns what counts the message of a session that has all words of query,
// as [DB.Search] finds them, among those from first on before the one that next
// counts: the last of them, or the first. Where there is none it is 0.
func (db *DB) Seek(ctx context.Context, session event.SessionID, query string, first, next int64, last bool) (int64, error) {
	match := literal(query)
	if match == "" || next <= first {
		return 0, nil
	}
	seq, err := db.seek(ctx, session, match, first, next-1, last)
	return seq, db.fault("seek", unless(beyond, err))
}

// seek looks through one part of the log after the other: so the index ends where
// something is found.
func (db *DB) seek(ctx context.Context, session event.SessionID, match string, first, last int64, back bool) (int64, error) {
	spans, err := db.spans(ctx, session, first, last)
	if err != nil {
		return 0, err
	}
	order := "ASC"
	if back {
		order = "DESC"
		slices.Reverse(spans)
	}
	for _, s := range spans {
		var seq int64
		err := db.r.QueryRowContext(ctx, `
			SELECT rowid & 0xffffffff FROM words
			WHERE words MATCH ? AND rowid BETWEEN ? AND ?
			ORDER BY rowid `+order+`
			LIMIT 1`, match, s.from, s.to).Scan(&seq)
		if !errors.Is(err, sql.ErrNoRows) {
			return seq, err
		}
	}
	return 0, nil
}

// A span are the keys of events that lie together.
type span struct{ from, to int64 }

// spans are where the events of a session lie, from first to last.
func (db *DB) spans(ctx context.Context, session event.SessionID, first, last int64) ([]span, error) {
	rows, err := db.r.QueryContext(ctx, `
		SELECT owner << 32 | max(first, ?2), owner << 32 | min(last, ?3)
		FROM `+db.parts()+`
		WHERE session = (SELECT n FROM sessions WHERE id = ?1) AND last >= ?2 AND first <= ?3
		ORDER BY first`, string(session), first, last)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []span
	for rows.Next() {
		var s span
		if err := rows.Scan(&s.from, &s.to); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}
