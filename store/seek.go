package store

import (
	"context"
	"database/sql"
	"errors"

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
	order := "ASC"
	if last {
		order = "DESC"
	}
	var seq int64
	err := db.r.QueryRowContext(ctx, `
		SELECT rowid & 0xffffffff FROM words
		WHERE words MATCH ?1
			AND rowid BETWEEN (SELECT n << 32 | ?3 FROM sessions WHERE id = ?2) AND (SELECT n << 32 | ?4 FROM sessions WHERE id = ?2)
		ORDER BY rowid `+order+`
		LIMIT 1`, match, string(session), first, next-1).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return seq, db.fault("seek", unless(beyond, err))
}
