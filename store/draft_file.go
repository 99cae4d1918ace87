package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"agentx/engine/event"
)

// KeepFiles keeps the files that go with a draft, by their paths, and forgets
// all others of the session. Data is asked for those that are not kept yet; what
// it has not got is not kept.
func (db *DB) KeepFiles(ctx context.Context, session event.SessionID, paths []string, data func(path string) ([]byte, bool)) error {
	list, err := json.Marshal(append([]string{}, paths...)) // never null, which is in no list
	if err != nil {
		return db.fault("keep files", err)
	}
	return db.write(ctx, "keep files", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM draft_files
			WHERE session = ?1 AND path NOT IN (SELECT value FROM json_each(?2))`, string(session), string(list))
		if err != nil {
			return err
		}
		for _, path := range paths {
			var kept bool
			err := tx.QueryRowContext(ctx, `
				SELECT EXISTS (SELECT 1 FROM draft_files WHERE session = ? AND path = ?)`, string(session), path).Scan(&kept)
			if err != nil {
				return err
			}
			b, ok := []byte(nil), false
			if !kept {
				b, ok = data(path)
			}
			if !ok {
				continue
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO draft_files VALUES (?, ?, ?)`, string(session), path, append([]byte{}, b...)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DraftFile returns a file that KeepFiles has kept; false where it has not.
func (db *DB) DraftFile(ctx context.Context, session event.SessionID, path string) ([]byte, bool, error) {
	if db.schema < fileSchema {
		return nil, false, nil
	}
	var data []byte
	err := db.r.QueryRowContext(ctx, `SELECT data FROM draft_files WHERE session = ? AND path = ?`, string(session), path).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return data, err == nil, db.fault("draft file", err)
}
