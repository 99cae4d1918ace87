package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
)

// BranchBefore is ForkBefore for another way of the same session: the two are
// one in every list, have one title and the same tags, and are deleted together.
func (db *DB) BranchBefore(ctx context.Context, from, to event.SessionID, message string) error {
	return db.fork(ctx, from, to, message, true)
}

// Branches returns the ways that a session went, the one first in which
// something was said last, and what was asked on each. Of any branch they are
// the same.
func (db *DB) Branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error) {
	all, err := db.branches(ctx, id)
	if err == nil && len(all) == 0 {
		err = ErrNotFound
	}
	return all, db.fault("branches", err)
}

func (db *DB) branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error) {
	sessions, err := db.many(ctx, `
		SELECT `+db.columns()+` FROM sessions AS s
		WHERE `+db.trunk()+` = (SELECT `+db.trunk()+` FROM sessions AS s WHERE id = ?)
		ORDER BY updated DESC, n DESC`, string(id))
	if err != nil {
		return nil, err
	}
	all := make([]engine.Branch, len(sessions))
	known := map[string]engine.Asked{} // a message is on many branches
	for i, s := range sessions {
		all[i].Session = s
		if all[i].Asked, err = db.asked(ctx, s.ID, known); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// asked are the messages of the user in a session.
func (db *DB) asked(ctx context.Context, id event.SessionID, known map[string]engine.Asked) ([]engine.Asked, error) {
	asked := []engine.Asked{}
	rows, err := db.r.QueryContext(ctx, `
		SELECT event ->> '$.data.id', type, at, event FROM events
		WHERE n BETWEEN (SELECT n << 32 FROM sessions WHERE id = ?1) AND (SELECT n << 32 | 0xffffffff FROM sessions WHERE id = ?1)
			AND type = 'user_message'
		ORDER BY n`, string(id))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var message, name string
		var at int64
		var text sql.RawBytes
		if err := rows.Scan(&message, &name, &at, &text); err != nil {
			return nil, err
		}
		a, ok := known[message]
		if !ok {
			e, err := decode(name, at, text)
			if err != nil {
				return nil, err
			}
			if m, is := e.Data.(event.UserMessage); is {
				a = engine.AskedOf(m, e.At)
				known[message] = a
			}
		}
		asked = append(asked, a)
	}
	return asked, rows.Err()
}

// trunk is the column that all branches of a session have in common.
func (db *DB) trunk() string {
	if db.schema < branchSchema {
		return "s.id"
	}
	return "s.trunk"
}

// Limits of tags.
const (
	maxTags = 50 // of a session
	maxTag  = 50 // characters of one
)

// ErrTag is of a tag that is none: it is one word, without a sign that separates
// words.
var ErrTag = errors.New("a tag is one word of at most 50 characters, without spaces and commas")

// ErrTags is of more tags than a session can have.
var ErrTags = errors.New("a session has at most 50 tags")

// TagOf is a tag as it is kept: in small letters, without the # that people put
// before one.
func TagOf(s string) (string, error) {
	s = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(s), "#"))
	bad := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	}
	if s == "" || strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.ContainsFunc(s, bad) || clip(s, maxTag) != s {
		return "", ErrTag
	}
	return s, nil
}

// Tag gives a session tags and takes others away, and returns those that it then
// has, in order. To take away what it does not have is no error.
func (db *DB) Tag(ctx context.Context, id event.SessionID, add, remove []string) ([]string, error) {
	var tags []string
	err := db.write(ctx, "tag", func(ctx context.Context, tx *sql.Tx) error {
		has, err := ask(ctx, tx, `SELECT tags FROM sessions WHERE id = ?`, string(id))
		if err != nil {
			return err
		}
		if len(has) == 0 {
			return ErrNotFound
		}
		if tags, err = tagged(strings.Fields(has[0]), add, remove); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			UPDATE sessions SET tags = ?
			WHERE trunk = (SELECT trunk FROM sessions WHERE id = ?)`, strings.Join(tags, " "), string(id))
		return err
	})
	return tags, err
}

func tagged(tags, add, remove []string) ([]string, error) {
	for _, t := range add {
		t, err := TagOf(t)
		if err != nil {
			return nil, err
		}
		tags = append(tags, t)
	}
	for _, t := range remove {
		t, err := TagOf(t)
		if err != nil {
			return nil, err
		}
		tags = slices.DeleteFunc(tags, func(has string) bool { return has == t })
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	if len(tags) > maxTags {
		return nil, ErrTags
	}
	return tags, nil
}

// Tags are all that sessions have, with how many sessions have each.
func (db *DB) Tags(ctx context.Context) (map[string]int, error) {
	count := map[string]int{}
	if db.schema < branchSchema {
		return count, nil
	}
	all, err := ask(ctx, db.r, `SELECT tags FROM sessions WHERE tags <> '' GROUP BY trunk`)
	for _, tags := range all {
		for _, t := range strings.Fields(tags) {
			count[t]++
		}
	}
	return count, db.fault("tags", err)
}
