package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
)

// A Session is a conversation that is kept, as a list shows it.
type Session = engine.Session

const sessionColumns = `
	s.id, s.title, s.model, s.dir, s.parent, s.created, s.updated, s.messages, s.turn <> '', s.interrupted,
	s.input, s.output, s.cache_read, s.cache_write, s.reasoning, s.cost, s.unpriced, s.cache_write_1h, s.image`

// columns are the sessionColumns of this schema: a file that is only read may
// be of an older one.
func (db *DB) columns() string {
	columns := sessionColumns
	if db.schema < imageSchema {
		columns = strings.Replace(columns, "s.image", "''", 1)
	}
	if db.schema < ledgerSchema {
		columns = strings.Replace(columns, "s.cache_write_1h", "0", 1)
	}
	return columns
}

func scanSession(scan func(...any) error, more ...any) (Session, error) {
	var s Session
	var created, updated, cost int64
	var unpriced int
	err := scan(append([]any{&s.ID, &s.Title, &s.Model, &s.Dir, &s.ParentID, &created, &updated, &s.Messages, &s.Open, &s.Interrupted,
		&s.Usage.InputTokens, &s.Usage.OutputTokens, &s.Usage.CacheReadTokens, &s.Usage.CacheWriteTokens, &s.Usage.ReasoningTokens,
		&cost, &unpriced, &s.Usage.CacheWrite1hTokens, &s.Image}, more...)...)
	s.Created, s.Updated = event.Millis(created).Time(), event.Millis(updated).Time()
	if unpriced == 0 {
		s.Cost = new(event.USD(cost))
	}
	return s, err
}

// Create makes an empty session of the id, title, model, folder, system prompt,
// parent and image of s. It is in no list before something is said in it. Of an id that there is,
// it returns ErrExists. Without a time of creation it is now.
func (db *DB) Create(ctx context.Context, s Session) error {
	return db.write(ctx, "create", func(ctx context.Context, tx *sql.Tx) error { return db.create(ctx, tx, s) })
}

func (db *DB) create(ctx context.Context, tx *sql.Tx, s Session) error {
	if s.ID == "" {
		return errors.New("a session needs an id")
	}
	if s.Created.IsZero() {
		s.Created = db.now()
	}
	res, err := tx.ExecContext(ctx, `
		INSERT INTO sessions (id, title, model, dir, parent, created, updated, image, system)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8)
		ON CONFLICT (id) DO NOTHING`,
		string(s.ID), s.Title, s.Model, s.Dir, string(s.ParentID), s.Created.UnixMilli(), string(s.Image), s.System)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); n == 0 || err != nil {
		return errors.Join(err, ErrExists)
	}
	n, err := res.LastInsertId()
	if err != nil {
		return err
	}
	return index(ctx, tx, -n, s.Title)
}

// Session returns the session that id names, or ErrNotFound.
func (db *DB) Session(ctx context.Context, id event.SessionID) (Session, error) {
	s, err := db.one(ctx, `SELECT `+db.columns()+` FROM sessions AS s WHERE id = ?`, string(id))
	if err == nil && db.schema >= systemSchema {
		err = db.r.QueryRowContext(ctx, `SELECT system FROM sessions WHERE id = ?`, string(id)).Scan(&s.System)
	}
	return s, db.fault("session", err)
}

func (db *DB) one(ctx context.Context, query string, args ...any) (Session, error) {
	s, err := scanSession(db.r.QueryRowContext(ctx, query, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return Session{}, ErrNotFound
	}
	return s, err
}

func (db *DB) many(ctx context.Context, query string, args ...any) ([]Session, error) {
	rows, err := db.r.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Session
	for rows.Next() {
		s, err := scanSession(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// Find returns the session that ref means: an id, the beginning of one, or a
// title. Where it means several, the error is an [*AmbiguousError]; where it
// means none, ErrNotFound.
func (db *DB) Find(ctx context.Context, ref string) (Session, error) {
	s, err := db.find(ctx, ref)
	return s, db.fault("find", err)
}

func (db *DB) find(ctx context.Context, ref string) (Session, error) {
	if ref == "" || len(ref) > 1000 {
		return Session{}, ErrNotFound
	}
	s, err := db.one(ctx, `SELECT `+db.columns()+` FROM sessions AS s WHERE id = ?`, ref)
	if !errors.Is(err, ErrNotFound) {
		return s, err
	}
	all, err := db.many(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE substr(id, 1, length(?1)) = ?1 COLLATE NOCASE OR title = ?1 COLLATE NOCASE
		ORDER BY updated DESC, n DESC
		LIMIT 10`, ref)
	switch {
	case err != nil:
		return Session{}, err
	case len(all) == 0:
		return Session{}, ErrNotFound
	case len(all) > 1:
		return Session{}, &AmbiguousError{Ref: ref, Candidates: all}
	}
	return all[0], nil
}

// Latest returns the session of this folder in which something was said last,
// or ErrNotFound. An empty folder is any.
func (db *DB) Latest(ctx context.Context, dir string) (Session, error) {
	s, err := db.one(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE messages > 0 AND (?1 = '' OR dir = ?1)
		ORDER BY updated DESC, n DESC
		LIMIT 1`, dir)
	return s, db.fault("latest", err)
}

// A Filter chooses sessions; for its query see [DB.Search].
type Filter = engine.SessionFilter

// Sessions returns the sessions that f chooses, those first in which something
// was said last. Those in which nothing was said are left out.
func (db *DB) Sessions(ctx context.Context, f Filter) ([]Session, error) {
	all, err := db.sessions(ctx, f)
	return all, db.fault("sessions", err)
}

func (db *DB) sessions(ctx context.Context, f Filter) ([]Session, error) {
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	where, args := []string{"messages > 0"}, []any{}
	if f.Dir != "" {
		where, args = append(where, "dir = ?"), append(args, f.Dir)
	}
	if !f.Before.IsZero() {
		where, args = append(where, "updated < ?"), append(args, f.Before.UnixMilli())
	}
	if strings.TrimSpace(f.Query) != "" {
		match := literal(f.Query)
		if match == "" {
			return nil, nil
		}
		where = append(where, `n IN (SELECT CASE WHEN rowid < 0 THEN -rowid ELSE rowid >> 32 END FROM words WHERE words MATCH ?)`)
		args = append(args, match)
	}
	all, err := db.many(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE `+strings.Join(where, " AND ")+`
		ORDER BY updated DESC, n DESC
		LIMIT ?`, append(args, f.Limit)...)
	if f.Query != "" {
		err = unless(beyond, err)
	}
	return all, err
}

// Rename gives a session a title.
func (db *DB) Rename(ctx context.Context, id event.SessionID, title string) error {
	return db.write(ctx, "rename", func(ctx context.Context, tx *sql.Tx) error {
		var n int64
		err := tx.QueryRowContext(ctx, `UPDATE sessions SET title = ? WHERE id = ? RETURNING n`, line(title), string(id)).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		return reindex(ctx, tx, -n, line(title))
	})
}

// SetModel says with which model a session goes on.
func (db *DB) SetModel(ctx context.Context, id event.SessionID, model string) error {
	return db.write(ctx, "set model", func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE sessions SET model = ? WHERE id = ?`, model, string(id))
		return found(res, err)
	})
}

// SetSystem says with which system prompt a session goes on.
func (db *DB) SetSystem(ctx context.Context, id event.SessionID, prompt string) error {
	return db.write(ctx, "set system prompt", func(ctx context.Context, tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE sessions SET system = ? WHERE id = ?`, prompt, string(id))
		return found(res, err)
	})
}

func found(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); n == 0 {
		return errors.Join(err, ErrNotFound)
	}
	return nil
}

// Delete removes a session and all that was derived from it, but for what it
// has used. One that somebody writes to is not deleted: the error is an
// [*InUseError]. Its forks stay.
func (db *DB) Delete(ctx context.Context, id event.SessionID) error {
	release, err := db.seize(ctx, id, true)
	if err != nil {
		return db.fault("delete", err)
	}
	defer release()
	err = db.write(ctx, "delete", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM drafts WHERE session = ?`, string(id)); err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, string(id))
		return found(res, err)
	})
	if err == nil {
		os.Remove(db.livePath(id))
	}
	return err
}

// line is s as one line without control characters, of at most 200 characters.
func line(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	return clip(s, 200)
}

// clip is the beginning of s, of at most n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
