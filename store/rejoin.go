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

// settle remembers where a session has come to lie, of which nothing was lost.
func (f find) settle(ctx context.Context, tx *sql.Tx, s Session, n, head int64) error {
	r := refuge{head: head, trunk: cmp.Or(s.Trunk, s.ID)}
	err := tx.QueryRowContext(ctx, `SELECT n FROM sessions WHERE id = ?`, string(s.ID)).Scan(&r.n)
	f.refuges[n] = r
	return err
}

// safe are parts where their owners have come to lie, or false where one of those
// is not what it was: then the branch gets a copy of what is left.
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

// gather reads what lies in parts.
func (f find) gather(parts []part) (log []event.Event) {
	for _, p := range parts {
		log = append(log, f.between(p.owner, p.first, p.last)...)
	}
	return log
}

// rejoin makes what a session shared the beginning of it again, and reports
// whether that can be: not where an owner has lost anything, or a turn would be
// open. The first so many events came with an image.
func (f find) rejoin(ctx context.Context, tx *sql.Tx, s Session, lent []part, begun int64) (bool, error) {
	moved, ok := f.safe(lent, s.Trunk)
	if !ok || len(moved) == 0 {
		return ok, nil
	}
	if err := lay(ctx, tx, s.ID, moved); err != nil {
		return false, err
	}
	last := lastOf(moved)
	end, err := settled(ctx, tx, s.ID, begun, last)
	if err != nil {
		return false, err
	}
	if end != last {
		return false, lay(ctx, tx, s.ID, nil)
	}
	t, err := tallyOf(ctx, tx, s.ID, 1, last)
	if err != nil {
		return false, err
	}
	return true, t.begin(ctx, tx, s.ID)
}

// lay puts parts before the own one of a session that is empty.
func lay(ctx context.Context, tx *sql.Tx, session event.SessionID, parts []part) error {
	var key int64
	err := tx.QueryRowContext(ctx, `
		UPDATE sessions SET shared = ?2 WHERE id = ?1
		RETURNING n`, string(session), lastOf(parts)).Scan(&key)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM parts WHERE session = ?`, key); err != nil {
		return err
	}
	for _, p := range append(slices.Clip(parts), part{lastOf(parts) + 1, endless, key}) {
		if _, err := tx.ExecContext(ctx, `INSERT INTO parts VALUES (?, ?, ?, ?)`, key, p.first, p.last, p.owner); err != nil {
			return err
		}
	}
	return nil
}
