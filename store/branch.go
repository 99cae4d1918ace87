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
// What was said before they share: nothing is copied but a turn that is open, so
// that it costs the same however much that is.
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
	spans := make([][]span, len(sessions))
	own := map[int64][]asked{} // by whose they are: what many branches share is read once
	for i, s := range sessions {
		all[i].Session = s
		if spans[i], err = db.spans(ctx, s.ID, 1, endless); err != nil {
			return nil, err
		}
		if n := len(spans[i]); n > 0 { // the last is its own
			last := spans[i][n-1]
			if own[last.from>>32], err = db.asked(ctx, last); err != nil {
				return nil, err
			}
		}
	}
	for i := range all {
		all[i].Asked = []engine.Asked{}
		for _, s := range spans[i] {
			for _, a := range own[s.from>>32] {
				if a.n <= s.to { // what is shared of a part is its beginning
					all[i].Asked = append(all[i].Asked, a.Asked)
				}
			}
		}
	}
	return all, nil
}

// An asked is a message of the user, by its event.
type asked struct {
	n int64
	engine.Asked
}

// asked are the messages of the user among events.
func (db *DB) asked(ctx context.Context, s span) ([]asked, error) {
	rows, err := db.r.QueryContext(ctx, `
		SELECT n, at, event FROM events
		WHERE n BETWEEN ? AND ? AND type = 'user_message'
		ORDER BY n`, s.from, s.to)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []asked
	for rows.Next() {
		var n, at int64
		var text sql.RawBytes
		if err := rows.Scan(&n, &at, &text); err != nil {
			return nil, err
		}
		e, err := decode(event.UserMessage{}.Type(), at, text)
		if err != nil {
			return nil, err
		}
		if m, ok := e.Data.(event.UserMessage); ok {
			all = append(all, asked{n, engine.AskedOf(m, e.At)})
		}
	}
	return all, rows.Err()
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
