package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"agentx/engine/event"
)

// A Stat is what requests took together.
type Stat struct {
	Day      string          // such as "2006-01-02", UTC; empty where it is of several
	Model    string          // as provider/model; empty where it is of several
	Session  event.SessionID // empty where it is of several, or nobody knows
	Title    string          // of the session; empty where that is gone
	Requests int
	Usage    event.Usage
	Cost     event.USD // of the requests whose price is known
	Unpriced int       // requests whose price is not
}

// By is what stats are told by.
type By string

const (
	ByDay     By = "day"
	ByModel   By = "model"
	BySession By = "session"
)

// Stats returns what was used since a day, by days the last first, by models in
// their order, by sessions the last used first. Sessions that were deleted are in
// it; what a fork repeats is not. A day is one in UTC, as it is for providers.
func (db *DB) Stats(ctx context.Context, since time.Time, by By) ([]Stat, error) {
	if db.schema < ledgerSchema && by == BySession {
		return nil, db.fault("stats", errors.New("an older version wrote this file, which counted by day and model only"))
	}
	stats, err := db.stats(ctx, since, by)
	return stats, db.fault("stats", err)
}

func (db *DB) stats(ctx context.Context, since time.Time, by By) ([]Stat, error) {
	query := `
		SELECT iif(?2 = 'model', '', day), iif(?2 = 'day', '', model), '', '', sum(requests),
			sum(input), sum(output), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(reasoning), sum(cost), sum(unpriced)
		FROM usage
		WHERE day >= ?1
		GROUP BY 1, 2
		ORDER BY 1 DESC, 2`
	switch {
	case by == BySession:
		query = `
			SELECT '', '', l.session, coalesce(s.title, ''), sum(l.requests),
				sum(l.input), sum(l.output), sum(l.cache_read), sum(l.cache_write), sum(l.cache_write_1h), sum(l.reasoning),
				coalesce(sum(l.cost), 0), sum(iif(l.cost IS NULL, l.requests, 0))
			FROM ledger AS l LEFT JOIN sessions AS s ON s.id = l.session
			WHERE ?1 = '' OR l.at >= unixepoch(?1) * 1000
			GROUP BY l.session
			ORDER BY max(l.at) DESC, max(l.n) DESC`
	case db.schema < ledgerSchema:
		query = strings.NewReplacer("requests", "turns", "sum(cache_write_1h)", "0").Replace(query)
	}
	rows, err := db.r.QueryContext(ctx, query, day(since), string(by))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var stats []Stat
	for rows.Next() {
		var s Stat
		if err := rows.Scan(&s.Day, &s.Model, &s.Session, &s.Title, &s.Requests, &s.Usage.InputTokens, &s.Usage.OutputTokens,
			&s.Usage.CacheReadTokens, &s.Usage.CacheWriteTokens, &s.Usage.CacheWrite1hTokens, &s.Usage.ReasoningTokens, &s.Cost, &s.Unpriced); err != nil {
			return nil, err
		}
		stats = append(stats, s)
	}
	return stats, rows.Err()
}

// Spent returns what was used since the beginning of a day in UTC.
func (db *DB) Spent(ctx context.Context, since time.Time) (cost event.USD, unpriced int, err error) {
	err = db.r.QueryRowContext(ctx, `
		SELECT coalesce(sum(cost), 0), coalesce(sum(unpriced), 0)
		FROM usage
		WHERE day >= ?`, day(since)).Scan(&cost, &unpriced)
	return cost, unpriced, db.fault("spent", err)
}

// SpentIn returns what was used in a session, without what it has from another
// of which it is a fork.
func (db *DB) SpentIn(ctx context.Context, session event.SessionID) (cost event.USD, unpriced int, err error) {
	err = db.r.QueryRowContext(ctx, `
		SELECT coalesce(sum(cost), 0), coalesce(sum(iif(cost IS NULL, requests, 0)), 0)
		FROM ledger
		WHERE session = ?`, string(session)).Scan(&cost, &unpriced)
	return cost, unpriced, db.fault("spent in", err)
}

// Booked reports whether what a turn has used is among what was spent. It is
// once the turn has ended.
func (db *DB) Booked(ctx context.Context, session event.SessionID, turn string) (bool, error) {
	var booked bool
	err := db.r.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM ledger WHERE session = ? AND turn = ?)`, string(session), turn).Scan(&booked)
	return booked, db.fault("booked", err)
}

// day is of a time what usage counts by.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// book puts down what a turn has used, a row for each request. The model is the
// session's, of which the provider is taken.
func book(ctx context.Context, tx *sql.Tx, session event.SessionID, model string, at time.Time, r event.TurnResponse) error {
	for _, x := range expenses(at, r) {
		u := x.Usage
		_, err := tx.ExecContext(ctx, `
			INSERT INTO ledger (at, session, turn, message, model, requests, input, output, cache_read, cache_write, cache_write_1h, reasoning, cost)
			VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)`,
			int64(x.Timestamp), string(session), r.TurnID, x.MessageID, qualified(model, x.Model),
			u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.CacheWrite1hTokens, u.ReasoningTokens, (*int64)(x.CostUSD))
		if err != nil {
			return err
		}
	}
	return nil
}

// expenses are the requests of a turn. One that does not say them, or others
// than it has added up, counts as one.
func expenses(at time.Time, r event.TurnResponse) []event.Expense {
	var usage event.Usage
	var cost event.USD
	known := true
	for _, x := range r.Requests {
		usage = usage.Add(x.Usage)
		if x.CostUSD != nil {
			cost += *x.CostUSD
		}
		known = known && x.CostUSD != nil
	}
	if usage == r.Usage && known == (r.CostUSD != nil) && (!known || cost == *r.CostUSD) {
		return r.Requests
	}
	if r.Usage == (event.Usage{}) {
		return nil
	}
	return []event.Expense{{Model: r.Model, Usage: r.Usage, CostUSD: r.CostUSD, Timestamp: event.MillisOf(at)}}
}

// qualified is the model that answered, behind the provider of the one that was
// asked for.
func qualified(asked, model string) string {
	provider, _, ok := strings.Cut(asked, "/")
	if !ok || model == "" {
		return model
	}
	return provider + "/" + model
}
