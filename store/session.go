package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/event"
)

// A Session is a conversation that is kept, as a list shows it.
type Session = engine.Session

const sessionColumns = `
	s.id, s.title, s.model, s.dir, s.parent, s.created, s.updated, s.messages, s.turn <> '', s.interrupted,
	s.input, s.output, s.cache_read, s.cache_write, s.reasoning, s.cost, s.unpriced, s.cache_write_1h, s.image, s.trunk, s.tags,
	(SELECT count(*) FROM sessions AS b WHERE b.trunk = s.trunk AND b.messages > 0)`

// columns are the sessionColumns of this schema: a file that is only read may
// be of an older one.
func (db *DB) columns() string {
	columns := sessionColumns
	if db.schema < imageSchema {
		columns = strings.Replace(columns, "s.image", "''", 1)
	}
	if db.schema < branchSchema {
		before, _, _ := strings.Cut(columns, "s.trunk")
		columns = before + "s.id, '', s.messages > 0"
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
		&cost, &unpriced, &s.Usage.CacheWrite1hTokens, &s.Image, &s.Trunk, &s.Tags, &s.Branches}, more...)...)
	s.Created, s.Updated = event.Millis(created).Time(), event.Millis(updated).Time()
	if unpriced == 0 {
		s.Cost = new(event.USD(cost))
	}
	return s, err
}

// Create makes an empty session of the id, title, model, folder, system prompt,
// parent, trunk, tags and image of s. It is in no list before something is said in it. Of an id that there is,
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
		INSERT INTO sessions (id, title, model, dir, parent, created, updated, image, system, trunk, tags)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?8, ?9, ?10)
		ON CONFLICT (id) DO NOTHING`,
		string(s.ID), s.Title, s.Model, s.Dir, string(s.ParentID), s.Created.UnixMilli(), string(s.Image), s.System,
		cmp.Or(string(s.Trunk), string(s.ID)), s.Tags)
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
	if _, err := tx.ExecContext(ctx, `INSERT INTO parts VALUES (?1, 1, ?2, ?1)`, n, endless); err != nil {
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
// title; where it is none of these, the beginning of a title, and then words in
// one. Of the branches of a session a title means the last used. Where ref
// means several, the error is an [*AmbiguousError]; where it means none,
// ErrNotFound.
func (db *DB) Find(ctx context.Context, ref string) (Session, error) {
	s, err := db.find(ctx, ref, true)
	return s, db.fault("find", err)
}

// FindExactly is Find of an id, the beginning of one, or a whole title: for what
// cannot be undone.
func (db *DB) FindExactly(ctx context.Context, ref string) (Session, error) {
	s, err := db.find(ctx, ref, false)
	return s, db.fault("find", err)
}

func (db *DB) find(ctx context.Context, ref string, guess bool) (Session, error) {
	if ref == "" || len(ref) > 1000 {
		return Session{}, ErrNotFound
	}
	s, err := db.one(ctx, `SELECT `+db.columns()+` FROM sessions AS s WHERE id = ?`, ref)
	if !errors.Is(err, ErrNotFound) {
		return s, err
	}
	all, err := db.many(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE substr(id, 1, length(?1)) = ?1 COLLATE NOCASE OR title = ?1 COLLATE NOCASE AND n IN (
			SELECT n FROM (
				SELECT n, row_number() OVER (PARTITION BY `+db.trunk()+` ORDER BY updated DESC, n DESC) AS place
				FROM sessions AS s
				WHERE title = ?1 COLLATE NOCASE)
			WHERE place = 1)
		ORDER BY updated DESC, n DESC
		LIMIT 10`, ref)
	if err == nil && len(all) == 0 && guess {
		all, err = db.guess(ctx, ref)
	}
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

// guess returns the sessions whose titles begin with ref, or else those in whose
// titles it stands at the beginning of a word, at most 10.
func (db *DB) guess(ctx context.Context, ref string) ([]Session, error) {
	ref = strings.ToLower(line(ref))
	if ref == "" {
		return nil, nil
	}
	all, err := db.sessions(ctx, Filter{Limit: math.MaxInt32})
	var begin, hold []Session
	for _, s := range all {
		title := strings.ToLower(s.Title)
		if strings.HasPrefix(title, ref) {
			begin = append(begin, s)
		} else if holds(title, ref) {
			hold = append(hold, s)
		}
	}
	if len(begin) > 0 {
		hold = begin
	}
	return hold[:min(len(hold), 10)], err
}

// holds reports whether ref stands in title at the beginning of a word.
func holds(title, ref string) bool {
	for i := 0; ; {
		at := strings.Index(title[i:], ref)
		if at < 0 {
			return false
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(title[:i])
		if i == 0 || !wordly(before) {
			return true
		}
		_, n := utf8.DecodeRuneInString(title[i:])
		i += n
	}
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
	where, args, ok := db.choose(f)
	if !ok {
		return nil, nil
	}
	before := int64(math.MaxInt64)
	if !f.Before.IsZero() {
		before = f.Before.UnixMilli()
	}
	all, err := db.many(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE updated < ? AND n IN (
			SELECT n FROM (
				SELECT n, row_number() OVER (PARTITION BY `+db.trunk()+` ORDER BY updated DESC, n DESC) AS place
				FROM sessions AS s
				WHERE `+where+`)
			WHERE place = 1)
		ORDER BY updated DESC, n DESC
		LIMIT ?`, append(append([]any{before}, args...), f.Limit)...)
	if f.Query != "" {
		err = unless(beyond, err)
	}
	return all, err
}

// choose is what a filter asks of each branch, or false where none can be it.
func (db *DB) choose(f Filter) (string, []any, bool) {
	where, args := []string{"messages > 0"}, []any{}
	if f.Dir != "" {
		where, args = append(where, "dir = ?"), append(args, f.Dir)
	}
	if f.Tag != "" {
		if db.schema < branchSchema {
			return "", nil, false
		}
		where, args = append(where, "instr(' ' || tags || ' ', ' ' || ? || ' ')"), append(args, f.Tag)
	}
	if strings.TrimSpace(f.Query) != "" {
		match := literal(f.Query)
		if match == "" {
			return "", nil, false
		}
		where = append(where, `n IN (SELECT said FROM (`+db.found()+`))`)
		args = append(args, match)
	}
	return strings.Join(where, " AND "), args, true
}

// Rename gives a session a title, on all its branches.
func (db *DB) Rename(ctx context.Context, id event.SessionID, title string) error {
	return db.write(ctx, "rename", func(ctx context.Context, tx *sql.Tx) error {
		title = line(title)
		branches, err := ask(ctx, tx, `
			UPDATE sessions SET title = ?
			WHERE trunk = (SELECT trunk FROM sessions WHERE id = ?)
			RETURNING n`, title, string(id))
		if err == nil && len(branches) == 0 {
			err = ErrNotFound
		}
		for _, n := range branches {
			n, _ := strconv.ParseInt(n, 10, 64) // a key is a number
			err = errors.Join(err, reindex(ctx, tx, -n, title))
		}
		return err
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

// Delete removes a session with all its branches, and what was derived from
// them but for what they have used. One that somebody writes to is not deleted:
// the error is an [*InUseError]. Its forks stay.
func (db *DB) Delete(ctx context.Context, id event.SessionID) error {
	err := db.writable()
	if err != nil {
		return db.fault("delete", err)
	}
	branches, err := family(ctx, db.r, id)
	if err != nil {
		return db.fault("delete", err)
	}
	for _, b := range branches {
		release, err := db.seize(ctx, b, true)
		if err != nil {
			return db.fault("delete", err)
		}
		defer release()
	}
	err = db.write(ctx, "delete", func(ctx context.Context, tx *sql.Tx) error {
		if now, err := family(ctx, tx, id); err != nil || !slices.Equal(now, branches) {
			return cmp.Or(err, error(&InUseError{Session: id})) // another branch was begun meanwhile
		}
		for _, b := range branches {
			if _, err := tx.ExecContext(ctx, `DELETE FROM drafts WHERE session = ?1; DELETE FROM draft_files WHERE session = ?1`, string(b)); err != nil {
				return err
			}
			res, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, string(b))
			if err := found(res, err); err != nil {
				return err
			}
		}
		return nil
	})
	for _, b := range branches {
		if err == nil {
			os.Remove(db.livePath(b))
		}
	}
	return err
}

// family are the ids of all branches of a session, the youngest first.
func family(ctx context.Context, q querier, id event.SessionID) ([]event.SessionID, error) {
	names, err := ask(ctx, q, `
		SELECT id FROM sessions
		WHERE trunk = (SELECT trunk FROM sessions WHERE id = ?)
		ORDER BY n DESC`, string(id))
	if err == nil && len(names) == 0 {
		err = ErrNotFound
	}
	var all []event.SessionID
	for _, name := range names {
		all = append(all, event.SessionID(name))
	}
	return all, err
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
