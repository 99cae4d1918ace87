package store

import (
	"context"
	"database/sql"
	"time"

	"agentx/engine/event"
)

// A Stat is what was used on one day with one model.
type Stat struct {
	Day      string // such as "2006-01-02", UTC
	Model    string // empty where a turn ended before one answered
	Turns    int
	Calls    int // of tools
	Usage    event.Usage
	Cost     event.USD // of the turns whose price is known
	Unpriced int       // turns whose price is not
}

// Stats returns what was used since a day, latest first. Sessions that were
// deleted are in it, what a fork repeats is not.
func (db *DB) Stats(ctx context.Context, since time.Time) ([]Stat, error) {
	stats, err := db.stats(ctx, since)
	return stats, db.fault("stats", err)
}

func (db *DB) stats(ctx context.Context, since time.Time) ([]Stat, error) {
	rows, err := db.r.QueryContext(ctx, `
		SELECT day, model, turns, calls, input, output, cache_read, cache_write, reasoning, cost, unpriced
		FROM usage
		WHERE day >= ?
		ORDER BY day DESC, model`, day(since))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var stats []Stat
	for rows.Next() {
		var s Stat
		if err := rows.Scan(&s.Day, &s.Model, &s.Turns, &s.Calls, &s.Usage.InputTokens, &s.Usage.OutputTokens,
			&s.Usage.CacheReadTokens, &s.Usage.CacheWriteTokens, &s.Usage.ReasoningTokens, &s.Cost, &s.Unpriced); err != nil {
			return nil, err
		}
		stats = append(stats, s)
	}
	return stats, rows.Err()
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// count adds a turn to the day on which it ended.
func count(ctx context.Context, tx *sql.Tx, at time.Time, r event.TurnResponse) error {
	g := growthOf(r)
	_, err := tx.ExecContext(ctx, `
		INSERT INTO usage VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
		ON CONFLICT (day, model) DO UPDATE
		SET turns = turns + 1, calls = calls + ?3,
			input = input + ?4, output = output + ?5,
			cache_read = cache_read + ?6, cache_write = cache_write + ?7, reasoning = reasoning + ?8,
			cost = cost + ?9, unpriced = unpriced + ?10`,
		day(at), r.Model, r.ToolCalls, r.Usage.InputTokens, r.Usage.OutputTokens,
		r.Usage.CacheReadTokens, r.Usage.CacheWriteTokens, r.Usage.ReasoningTokens, int64(g.cost), g.unpriced)
	return err
}
