package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A Recovery is what [Recover] found.
type Recovery struct {
	Sound    bool // nothing was wrong: the new file is a copy
	Sessions int  // in which something was said
	Messages int
	Lost     int // events that were in the logs and could not be read
}

// Recover writes all that can be read of the database at path into a new one at
// dest, which must not exist. The old one, its write-ahead log included, stays
// as it is, and nobody else may have it open unless it is sound.
//
// What was deleted stays so, unless the list of empty pages is among what is
// damaged; then what belongs to no session is left out.
func Recover(ctx context.Context, path, dest string, o Options) (Recovery, error) {
	db := &DB{path: path, options: o}
	r, err := db.recover(ctx, dest)
	return r, db.fault("recover", err)
}

func (db *DB) recover(ctx context.Context, dest string) (r Recovery, err error) {
	if dest, err = filepath.Abs(dest); err != nil {
		return r, err
	}
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", dest, ErrExists)
		}
		return r, err
	}
	if err := db.there(); err != nil {
		return r, err
	}
	r, err = copySound(ctx, db.path, dest)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrDiskFull) || errors.Is(err, ErrPermission) {
		return r, err
	}
	leave, err := db.keepOut()
	if err != nil {
		return r, err
	}
	defer leave()
	return db.salvage(ctx, dest)
}

// copySound copies a database in which nothing is wrong.
func copySound(ctx context.Context, path, dest string) (Recovery, error) {
	db, err := Open(ctx, path, Options{ReadOnly: true})
	if err != nil {
		return Recovery{}, err
	}
	defer db.Close()
	problems, err := db.Check(ctx)
	problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.What == "mode" || p.What == "log" || p.What == "place" })
	if err == nil && (len(problems) > 0 || db.behind) {
		err = ErrCorrupt
	}
	if err == nil {
		err = db.Backup(ctx, dest)
	}
	if err != nil {
		return Recovery{}, err
	}
	r := Recovery{Sound: true}
	err = db.r.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(messages), 0) FROM sessions WHERE messages > 0`).Scan(&r.Sessions, &r.Messages)
	return r, err
}

// keepOut takes the gate for itself: what others write would change under the
// eyes of who reads pages. Where nothing can be written nobody else does.
func (db *DB) keepOut() (leave func(), err error) {
	gate, err := os.OpenFile(db.path+"-lock", os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, nil // nobody has ever opened it, or can
	}
	ok, err := flock(gate, true)
	if err == nil && !ok {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(err, gate.Close())
	}
	return func() { gate.Close() }, nil
}

// salvage makes a new database out of what the pages hold.
func (db *DB) salvage(ctx context.Context, dest string) (r Recovery, err error) {
	c, err := carve(db.path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	found, err := c.find(ctx)
	if err != nil {
		return r, err
	}
	if len(found.logs) == 0 && len(found.sessions) == 0 {
		return r, fmt.Errorf("%w: nothing of one is in it", ErrNotDatabase)
	}
	dir, err := os.MkdirTemp(filepath.Dir(dest), ".agentx-recover-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	draft := filepath.Join(dir, "copy.db")
	to, err := Open(ctx, draft, Options{Now: db.options.Now, Price: db.options.Price, Network: db.options.Network, Remote: db.options.Remote})
	if err != nil {
		return r, err
	}
	if r, err = found.into(ctx, to, db.path+"-live"); err == nil {
		err = to.sound(ctx)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return r, err
	}
	if err := persist(draft); err != nil {
		return r, err
	}
	if err := christen(draft, dest); err != nil {
		return r, err
	}
	return r, persist(filepath.Dir(dest))
}

// sound says what is wrong with a database, if anything is.
func (db *DB) sound(ctx context.Context) error {
	problems, err := db.Check(ctx)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%w: what was recovered: %v", ErrCorrupt, problems[0])
	}
	return err
}

// A find is what a carving holds of ours. Logs are remembered by their places:
// there may be more of them than memory.
type find struct {
	carving  *carving
	sessions map[int64][]any          // by n
	names    map[int64]string         // of the sessions that have a log
	logs     map[int64]map[int64]spot // by n of the session and seq
	parts    map[int64][]part         // by n of the session
	ids      map[string]int64         // of the sessions
	refuges  map[int64]refuge         // of the sessions that were recovered, by what their n was
	rows     map[string][]cell        // of the other tables
}

// A spot is a page and which of its cells.
type spot struct{ page, cell int }

// find looks through all pages.
func (c *carving) find(ctx context.Context) (find, error) {
	f := find{carving: c, sessions: map[int64][]any{}, names: map[int64]string{}, logs: map[int64]map[int64]spot{},
		parts: map[int64][]part{}, ids: map[string]int64{}, refuges: map[int64]refuge{}, rows: map[string][]cell{}}
	for n := 1; n <= c.count; n++ {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		for i, one := range c.cells(n) {
			switch table := tableOf(one); table {
			case "":
			case "sessions":
				f.sessions[one.key] = one.values
				f.ids[textAt(one.values, 1)] = one.key
			case "parts":
				session := one.values[0].(int64)
				f.parts[session] = append(f.parts[session], part{one.values[1].(int64), one.values[2].(int64), one.values[3].(int64)})
			case "events":
				session := one.key >> 32
				if f.logs[session] == nil {
					f.logs[session] = map[int64]spot{}
				}
				f.names[session] = one.values[1].(string)
				f.logs[session][one.key&0xffffffff] = spot{n, i}
			default:
				f.rows[table] = append(f.rows[table], one)
			}
		}
	}
	return f, nil
}

// glimpse is at how many pages one looks to know whose a file is: it may be any.
const glimpse = 1 << 14

// ours reports whether anything of a session can be read at the beginning.
func (c *carving) ours() bool {
	for n := 1; n <= min(c.count, glimpse); n++ {
		for _, one := range c.cells(n) {
			if table := tableOf(one); table == "sessions" || table == "events" {
				return true
			}
		}
	}
	return false
}

// tableOf tells by its shape to which table a row belongs, or "" where to none
// that is recovered. What is derived is made anew.
func tableOf(one cell) string {
	shape := shapeOf(one.values)
	if one.index {
		switch {
		case shape == "tti" && one.values[2].(int64) > 1e12: // the indexes end with a rowid, which is small
			return "drafts"
		case shape == "tb":
			return "states"
		case shape == "itii" || shape == "iti0":
			return "files"
		case shape == "iiii":
			return "parts"
		}
		return ""
	}
	switch {
	case strings.HasPrefix(shape, "0tttttiiiitiiiiiiii") && len(shape) <= 26:
		return "sessions"
	case shape == "0titit" && one.values[2] == one.key&0xffffffff:
		return "events"
	case shape == "0ttt":
		return "queue"
	case shape == "0ti":
		return "prompts"
	case (shape == "0bit" || shape == "0b0t") && len(one.values[1].([]byte)) == 32:
		return "nodes"
	case shape == "0bb" && len(one.values[1].([]byte)) == 32:
		return "blobs"
	case shape == "0tttttttiittii" || shape == "0t0tttttiittii" || shape == "0tttttttiitt0i" || shape == "0t0tttttiitt0i":
		return "images"
	case shape == "0ittttiiiiiiii" || shape == "0ittttiiiiiii0":
		return "ledger"
	case shape == "ttb":
		return "draft_files"
	}
	return ""
}

// shapeOf is a letter for each value: 0 of none, integer, real, text or blob.
func shapeOf(values []any) string {
	var b strings.Builder
	for _, v := range values {
		switch v.(type) {
		case nil:
			b.WriteByte('0')
		case int64:
			b.WriteByte('i')
		case float64:
			b.WriteByte('r')
		case string:
			b.WriteByte('t')
		default:
			b.WriteByte('b')
		}
	}
	return b.String()
}

// into writes what was found into an empty database. The streams of answers
// that were not over lie in the folder live.
func (f find) into(ctx context.Context, db *DB, live string) (r Recovery, err error) {
	keys := slices.Collect(maps.Keys(f.sessions))
	for n := range f.logs {
		if f.sessions[n] == nil {
			if !f.carving.freeKnown {
				r.Lost += len(f.logs[n]) // or they were deleted
				continue
			}
			keys = append(keys, n)
		}
	}
	slices.Sort(keys)
	for _, n := range keys {
		if err := f.restore(ctx, db, n, live, &r); err != nil {
			return r, err
		}
	}
	for _, table := range []string{"ledger", "prompts", "queue", "drafts", "draft_files", "states", "blobs", "nodes", "images", "files"} {
		if err := db.write(ctx, "recover", func(ctx context.Context, tx *sql.Tx) error { return f.fill(ctx, tx, table) }); err != nil {
			return r, err
		}
	}
	return r, db.write(ctx, "recover", sweep)
}

// restore writes one session, and closes the turn that its writer left open.
func (f find) restore(ctx context.Context, db *DB, n int64, live string, r *Recovery) error {
	lent := f.lent(n)
	log, lost := f.log(n, lastOf(lent))
	r.Lost += lost
	s := sessionOf(f.names[n], f.sessions[n], log)
	if s.ID == "" {
		return nil
	}
	err := db.write(ctx, "recover", func(ctx context.Context, tx *sql.Tx) error { return f.rewrite(ctx, tx, db, s, n, lent, log, lost == 0) })
	if errors.Is(err, ErrExists) {
		r.Lost += len(log)
		return nil
	}
	if err != nil {
		return err
	}
	if err := copyLive(filepath.Join(live, filepath.Base(db.livePath(s.ID))), db.livePath(s.ID)); err != nil {
		return err
	}
	release, err := db.seize(ctx, s.ID, false)
	if err != nil {
		return err
	}
	release()
	if kept, err := db.Session(ctx, s.ID); err == nil && kept.Messages > 0 {
		r.Sessions++
		r.Messages += kept.Messages
	}
	return nil
}

// copyLive copies a live file, as far as it would be read. There need not be one,
// and one that cannot be read is none.
func copyLive(from, to string) error {
	old, err := os.Open(from)
	if err != nil {
		return nil
	}
	defer old.Close()
	text, err := io.ReadAll(io.LimitReader(old, maxLive))
	if err != nil {
		return nil
	}
	return os.WriteFile(to, text, 0o600)
}

// rewrite writes a session: what it shared with others as it was, where that is
// whole, and its own log behind it.
func (f find) rewrite(ctx context.Context, tx *sql.Tx, db *DB, s Session, n int64, lent []part, log []event.Event, whole bool) error {
	if err := db.create(ctx, tx, s); err != nil {
		return err
	}
	row := f.sessions[n]
	shared, err := f.rejoin(ctx, tx, s, lent, intAt(row, 20))
	if err != nil {
		return err
	}
	if !shared {
		log, lent, whole = append(f.gather(lent), log...), nil, false
	}
	mended := paired(log)
	texts, err := textsOf(mended)
	if err != nil {
		return err
	}
	if err := pour(ctx, tx, s.ID, mended, texts, brought(mended, intAt(row, 20)-lastOf(lent))); err != nil {
		return err
	}
	if whole && slices.EqualFunc(mended, log, func(a, b event.Event) bool { return nameOfEvent(a.Data) == nameOfEvent(b.Data) }) {
		if err := f.settle(ctx, tx, s, n, lastOf(lent)+int64(len(log))); err != nil {
			return err
		}
	}
	if row == nil {
		return nil
	}
	_, err = tx.ExecContext(ctx, `
		UPDATE sessions
		SET updated = max(updated, ?2), begun = max(begun, min(?3, shared)), interrupted = CASE turn WHEN '' THEN interrupted ELSE ?4 END
		WHERE id = ?1`, string(s.ID), row[7], intAt(row, 20), row[11])
	return err
}

// brought is how many events of a log came with an image, if at most so many did:
// those before the first message that a turn answers.
func brought(log []event.Event, most int64) int {
	answered := map[string]bool{}
	for _, e := range log {
		if d, ok := e.Data.(event.TurnRequest); ok {
			answered[d.MessageID] = true
		}
	}
	for i, e := range log {
		if m, ok := e.Data.(event.UserMessage); int64(i) >= most || ok && answered[m.ID] {
			return i
		}
	}
	return len(log)
}

// log reads the own events of a session, those behind the first ones that it
// shares, and counts those between and before them that cannot be read.
func (f find) log(n, shared int64) (log []event.Event, lost int) {
	last := shared
	for seq := range f.logs[n] {
		last = max(last, seq)
	}
	if row := f.sessions[n]; row != nil {
		last = max(last, min(row[8].(int64), last+1<<20)) // what a page says of its fellows is not believed without bounds
	}
	log = f.between(n, shared+1, last)
	return log, int(last-shared) - len(log)
}

// between reads the own events of a session from first to last.
func (f find) between(n, first, last int64) (log []event.Event) {
	var cells []cell
	page := 0 // of which these are: most events lie beside the one before
	for _, seq := range slices.Sorted(maps.Keys(f.logs[n])) {
		at := f.logs[n][seq]
		if seq < first || seq > last {
			continue
		}
		if at.page != page {
			cells, page = f.carving.cells(at.page), at.page
		}
		if at.cell >= len(cells) {
			continue
		}
		v := cells[at.cell].values
		if e, err := decode(v[3].(string), v[4].(int64), []byte(v[5].(string))); err == nil && e.Data != nil {
			log = append(log, e)
		}
	}
	return log
}

// sessionOf is a session by its row, or by its log where that is gone.
func sessionOf(name string, row []any, log []event.Event) Session {
	if row != nil {
		return Session{
			ID: event.SessionID(row[1].(string)), Title: row[2].(string), Model: row[3].(string), Dir: row[4].(string),
			ParentID: event.SessionID(row[5].(string)), Created: event.Millis(row[6].(int64)).Time(),
			Image: event.ImageID(textAt(row, 19)), System: textAt(row, 22), Trunk: event.SessionID(textAt(row, 23)), Tags: textAt(row, 24),
		}
	}
	s := Session{ID: event.SessionID(name)}
	for _, e := range log {
		if m, ok := e.Data.(event.AssistantMessage); ok {
			s.Model = cmp.Or(s.Model, m.Model)
		}
	}
	if len(log) > 0 {
		s.Created = log[0].At
	}
	return s
}

func textAt(row []any, i int) string {
	if i < len(row) {
		s, _ := row[i].(string)
		return s
	}
	return ""
}

func intAt(row []any, i int) int64 {
	if i < len(row) {
		n, _ := row[i].(int64)
		return n
	}
	return 0
}

// paired gives every turn of a log a request and a response. Of a turn that is
// over and has lost its response only the messages stay.
func paired(log []event.Event) []event.Event {
	asked, answered := map[string]bool{}, map[string]bool{}
	content := map[string]event.Content{}
	last := ""
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.UserMessage:
			last, content[d.ID] = d.ID, d.Content
		case event.TurnResponse:
			answered[d.MessageID] = true
		}
	}
	var whole []event.Event
	done := map[string]bool{}
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.TurnRequest:
			if asked[d.MessageID] || !answered[d.MessageID] && d.MessageID != last {
				continue
			}
			asked[d.MessageID] = true
		case event.TurnResponse:
			if done[d.MessageID] {
				continue
			}
			done[d.MessageID] = true
			if !asked[d.MessageID] {
				asked[d.MessageID] = true
				whole = append(whole, event.Event{At: e.At, Data: event.TurnRequest{
					TurnID: d.TurnID, MessageID: d.MessageID, Content: content[d.MessageID], Timestamp: event.MillisOf(e.At),
				}})
			}
		}
		whole = append(whole, e)
	}
	return whole
}

// fill copies rows as they are. A row that refers to what is lost stays behind.
func (f find) fill(ctx context.Context, tx *sql.Tx, table string) error {
	rows := f.rows[table]
	slices.SortStableFunc(rows, func(a, b cell) int { return cmp.Compare(a.key, b.key) })
	for _, one := range rows {
		values := slices.Clone(one.values)
		if !one.index && table != "draft_files" {
			values[0] = one.key
		}
		if !complete(ctx, tx, table, values) {
			continue
		}
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO `+table+` VALUES (`+strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ")+`)`, values...)
		if err != nil {
			return err
		}
	}
	return nil
}

// complete reports whether all is there that a row refers to, and what has a
// hash is what it was.
func complete(ctx context.Context, tx *sql.Tx, table string, v []any) bool {
	there := func(query string, args ...any) bool {
		var ok bool
		err := tx.QueryRowContext(ctx, query, args...).Scan(&ok)
		return err == nil && ok
	}
	switch table {
	case "queue":
		return json.Valid([]byte(v[3].(string))) && there(`SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?)`, v[1])
	case "nodes":
		var above engine.Seal
		var hash []byte
		if v[2] != nil {
			if err := tx.QueryRowContext(ctx, `SELECT hash FROM nodes WHERE n = ? AND n < ?`, v[2], v[0]).Scan(&hash); err != nil {
				return false
			}
			copy(above[:], hash)
		}
		seal := above.Add([]byte(v[3].(string)))
		return string(seal[:]) == string(v[1].([]byte))
	case "blobs":
		sum := sha256.Sum256(v[2].([]byte))
		return string(sum[:]) == string(v[1].([]byte))
	case "images":
		return json.Valid([]byte(v[11].(string))) &&
			there(`SELECT EXISTS (SELECT 1 FROM blobs WHERE n = ?1) AND (?2 IS NULL OR EXISTS (SELECT 1 FROM nodes WHERE n = ?2))`, v[9], v[12])
	case "files":
		return there(`SELECT EXISTS (SELECT 1 FROM images WHERE n = ?1) AND (?2 IS NULL OR EXISTS (SELECT 1 FROM blobs WHERE n = ?2))`, v[0], v[3])
	case "states":
		return v[0] != identity // the new file is another one
	}
	return true
}

// sweep removes the images of which anything is lost, and what only they held.
func sweep(ctx context.Context, tx *sql.Tx) error {
	seals, _, err := proveNodes(ctx, tx)
	if err != nil {
		return err
	}
	images, err := imagesOf(ctx, tx, `ORDER BY i.n`)
	if err != nil {
		return err
	}
	for _, r := range images {
		if r.Sandbox, err = filesOf(ctx, tx, r.n); err != nil {
			return err
		}
		if seals[r.head.Int64].ImageID(r.Image) == r.ID {
			continue
		}
		if _, err := tx.ExecContext(ctx, `DELETE FROM images WHERE n = ?`, r.n); err != nil {
			return err
		}
	}
	for {
		res, err := tx.ExecContext(ctx, `
			DELETE FROM nodes
			WHERE n NOT IN (SELECT parent FROM nodes WHERE parent IS NOT NULL) AND n NOT IN (SELECT head FROM images WHERE head IS NOT NULL)`)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	_, err = tx.ExecContext(ctx, `
		DELETE FROM blobs
		WHERE n NOT IN (SELECT system FROM images) AND n NOT IN (SELECT blob FROM files WHERE blob IS NOT NULL)`)
	return err
}
