package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"agentx/engine/event"
)

// A part is what one session owns of a log.
type part struct{ first, last, owner int64 }

// A refuge is where the own events of a recovered session lie as they lay: up to
// its head, branches can share them as before.
type refuge struct {
	n, head int64
	trunk   event.SessionID
}

// lent are the parts before the own one of a session's log. Where the rows that
// say so are not all there, its own row says how much of the log it is that it
// left. Where that is gone too there are none: then what was shared is in the
// logs of others alone.
func (f find) lent(n int64) []part {
	parts := slices.Clone(f.parts[n])
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.first, b.first) })
	parts = slices.Compact(parts)
	if last := len(parts) - 1; last >= 0 && parts[last] == (part{parts[last].first, endless, n}) && seamless(parts) {
		return parts[:last]
	}
	row := f.sessions[n]
	shared := intAt(row, 25)
	from, known := f.ids[textAt(row, 5)]
	if !known || from >= n || shared < 1 || shared > endless {
		return nil
	}
	begun := f.lent(from)
	return shorten(append(begun, part{lastOf(begun) + 1, endless, from}), shared)
}

// seamless reports whether each part begins where the one before it ends.
func seamless(parts []part) bool {
	next := int64(1)
	for _, p := range parts {
		if p.first != next || p.last < p.first {
			return false
		}
		next = p.last + 1
	}
	return true
}

// shorten are the parts up to an event.
func shorten(parts []part, last int64) []part {
	var short []part
	for _, p := range parts {
		if p.first <= last {
			short = append(short, part{p.first, min(p.last, last), p.owner})
		}
	}
	return short
}

func lastOf(parts []part) int64 {
	if len(parts) == 0 {
		return 0
	}
	return parts[len(parts)-1].last
}

// safe are the parts where their owners lie now, or false where one of them is not
// what it was: then the branch gets a copy of what is left.
func (f find) safe(parts []part, trunk event.SessionID) ([]part, bool) {
	moved := slices.Clone(parts)
	for i, p := range parts {
		r, ok := f.refuges[p.owner]
		if !ok || r.trunk != trunk || r.head < p.last {
			return nil, false
		}
		moved[i].owner = r.n
	}
	return moved, true
}

// rejoin makes parts of others the beginning of a session that is empty, unless a
// turn is open behind them. The first so many events came with an image.
func rejoin(ctx context.Context, tx *sql.Tx, session event.SessionID, parts []part, begun int64) (bool, error) {
	if len(parts) == 0 {
		return true, nil
	}
	var key int64
	if err := tx.QueryRowContext(ctx, `SELECT n FROM sessions WHERE id = ?`, string(session)).Scan(&key); err != nil {
		return false, err
	}
	lay := func(parts []part) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM parts WHERE session = ?1; UPDATE sessions SET shared = ?2 WHERE n = ?1`, key, lastOf(parts))
		for _, p := range append(slices.Clip(parts), part{lastOf(parts) + 1, endless, key}) {
			if err == nil {
				_, err = tx.ExecContext(ctx, `INSERT INTO parts VALUES (?, ?, ?, ?)`, key, p.first, p.last, p.owner)
			}
		}
		return err
	}
	if err := lay(parts); err != nil {
		return false, err
	}
	last := lastOf(parts)
	if end, err := settled(ctx, tx, session, begun, last); err != nil || end != last {
		if err == nil {
			err = lay(nil)
		}
		return false, err
	}
	t, err := tallyOf(ctx, tx, session, 1, last)
	if err != nil {
		return false, err
	}
	return true, t.begin(ctx, tx, session)
}
