package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
)

// identity is the name of the state that tells databases apart.
const identity = "database"

// vet looks at a database that was not closed as it should be, before anything
// is written to it. A connection that can write moves the log into the file when
// it is closed: what is wrong must be known before.
func (db *DB) vet(ctx context.Context, alone bool) error {
	logged, suspect := size(db.path+"-wal") > 0, size(db.path+damagedSuffix) > 0
	if !logged && !suspect || db.options.Network { // there is no log, and readers cannot be beside the one who writes
		return nil
	}
	conn := pool(db.path, url.Values{"mode": {"ro"}})
	err := db.judge(ctx, conn, logged && alone, suspect)
	err = errors.Join(err, conn.Close())
	if err == nil && suspect {
		err = os.Remove(db.path + damagedSuffix) // another file lies here now
	}
	return err
}

func (db *DB) judge(ctx context.Context, conn *sql.DB, logged, suspect bool) error {
	if _, err := probe(ctx, conn); err != nil {
		return err
	}
	if logged {
		if err := db.ownLog(ctx, conn); err != nil {
			return err
		}
	}
	if suspect || logged && size(db.path) <= 8<<20 { // where that takes no time
		return glance(ctx, conn)
	}
	return nil
}

// ownLog refuses a write-ahead log of another database.
func (db *DB) ownLog(ctx context.Context, conn *sql.DB) error {
	file := pool(db.path, url.Values{"mode": {"ro"}, "immutable": {"1"}}) // without the log
	mine, _ := nameOfDatabase(ctx, file)
	if err := file.Close(); err != nil || mine == "" {
		return err // a file that is not whole without its log says nothing
	}
	name, err := nameOfDatabase(ctx, conn)
	if err == nil && name != mine {
		err = fmt.Errorf("%w: %s", ErrStray, db.path+"-wal")
	}
	return err
}

func nameOfDatabase(ctx context.Context, conn *sql.DB) (string, error) {
	var name []byte
	err := conn.QueryRowContext(ctx, `SELECT substr(state, 1, 16) FROM states WHERE id = ?`, identity).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return string(name), err
}

// glance looks for damage.
func glance(ctx context.Context, conn *sql.DB) error {
	var verdict string
	if err := conn.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return nil
}

// A logbook knows which write-ahead log has the name of its database in it: in
// each there must be one transaction that says whose it is, for [DB.ownLog].
type logbook struct {
	mu     sync.Mutex
	signed salts
	told   bool // that it is swollen
}

// largestLog is how large the write-ahead log may grow before somebody is told:
// a program that reads for very long keeps it from beginning anew.
const largestLog = 64 << 20

// Swollen returns how many bytes the write-ahead log has, where that is more than
// it should and Swollen has not said so yet; else 0.
func (db *DB) Swollen() int64 { return db.swollen(largestLog) }

func (db *DB) swollen(most int64) int64 {
	db.log.mu.Lock()
	defer db.log.mu.Unlock()
	n := size(db.path + "-wal")
	if n <= most || db.log.told {
		return 0
	}
	db.log.told = true
	return n
}

// mark puts the name of the database into the write-ahead log, where that began
// anew since this was done last. After the commit done is to be called.
func (db *DB) mark(ctx context.Context, tx *sql.Tx) (done func(), err error) {
	db.log.mu.Lock()
	defer db.log.mu.Unlock()
	if now := saltsOf(db.path); db.options.Network || now != (salts{}) && now == db.log.signed {
		return func() {}, nil
	}
	// What stays as it is would not be written.
	_, err = tx.ExecContext(ctx, `UPDATE states SET state = CAST(substr(state, 1, 16) || randomblob(4) AS BLOB) WHERE id = ?`, identity)
	return func() {
		db.log.mu.Lock()
		defer db.log.mu.Unlock()
		db.log.signed = saltsOf(db.path) // of the log that this transaction may have begun
	}, err
}

// salts tell one beginning of a write-ahead log from the next.
type salts [8]byte

// saltsOf is what the log begins with; zero where there is none. SQLite keeps its
// locks on other files: this one may be opened and closed.
func saltsOf(path string) (s salts) {
	f, err := os.Open(path + "-wal")
	if err != nil {
		return s
	}
	defer f.Close()
	if _, err := f.ReadAt(s[:], 16); err != nil {
		return salts{}
	}
	return s
}

// damagedSuffix is of a file that says that damage was met: the next one who
// opens the database looks before they write.
const damagedSuffix = "-damaged"

// suspect stops all writing, here and for whoever comes next.
func (db *DB) suspect(err error) {
	db.mu.Lock()
	if db.broken == nil {
		db.broken = err
	}
	db.mu.Unlock()
	text := fmt.Sprintf("%s: %v\n", db.now().UTC().Format("2006-01-02 15:04:05"), err)
	_ = os.WriteFile(db.path+damagedSuffix, []byte(text), 0o600) // at worst the next one meets it too
}
