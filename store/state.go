package store

import (
	"context"
	"database/sql"
	"errors"
)

// States keeps bytes under names: a mealy.Store that outlives the process.
type States struct{ db *DB }

// States returns the states in the database.
func (db *DB) States() States { return States{db} }

// Get returns what is kept under id, or false where nothing is.
func (s States) Get(ctx context.Context, id string) ([]byte, bool, error) {
	var state []byte
	err := s.db.r.QueryRowContext(ctx, `SELECT state FROM states WHERE id = ?`, id).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return state, err == nil, s.db.fault("get state", err)
}

// Set keeps state under id.
func (s States) Set(ctx context.Context, id string, state []byte) error {
	if state == nil {
		state = []byte{}
	}
	return s.db.write(ctx, "set state", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO states VALUES (?1, ?2)
			ON CONFLICT (id) DO UPDATE SET state = ?2`, id, state)
		return err
	})
}

// Delete forgets id. To forget what is not there is no error.
func (s States) Delete(ctx context.Context, id string) error {
	return s.db.write(ctx, "delete state", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM states WHERE id = ?`, id)
		return err
	})
}

// Has reports whether something is kept under id.
func (s States) Has(ctx context.Context, id string) (bool, error) {
	var has bool
	err := s.db.r.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM states WHERE id = ?)`, id).Scan(&has)
	return has, s.db.fault("has state", err)
}

// List returns the ids that begin with prefix, in order.
func (s States) List(ctx context.Context, prefix string) ([]string, error) {
	var ids []string
	err := s.db.texts(ctx, func(id []byte) error {
		ids = append(ids, string(id))
		return nil
	}, `SELECT id FROM states WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id`, prefix)
	return ids, s.db.fault("list states", err)
}
