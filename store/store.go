// Package store keeps sessions in SQLite: what was said, what it took, what
// was found in it, and what was being said when the lights went out.
//
// A session is a log of message and turn events, each written once, when it is
// complete. Everything else in the file is derived from the log in the same
// transaction. Branches of a session share what their logs have in common. An answer that is still streaming is not in SQLite: its text so
// far is appended to a small file beside the database (see [DB.Presenter]),
// because a transaction writes whole pages, and a file the bytes that are new.
//
// What is promised, in this order:
//
//	what was sent      on the disk when Present returns: before it leaves
//	streaming answer   with the kernel at most 250 ms or 4 kB after it was shown:
//	                   kill -9 loses no more than that, a power cut at most
//	                   4 kB, or 10 s where that is less
//	finished turn      on the disk with all its messages, in one transaction, when
//	                   Present of its turn_response returns; kill -9 loses
//	                   nothing of what was shown before
//
// The package knows no provider, no agent and no screen.
package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// Options say how a database is opened. The zero value is for everyday.
type Options struct {
	Now      func() time.Time                 // nil is time.Now
	Price    func(model string) engine.Pricer // prices the turns that a crash left open, by the model of their session; nil knows no price
	ReadOnly bool                             // write nothing, mend nothing; see [Open]
	Network  bool                             // open where files are not shared as on a disk of this machine: alone, with a journal that is deleted, and slower
	Remote   func(path string) bool           // whether path lies on another machine; nil asks the system
}

// A DB is a file of sessions. All its methods may be called at once. Those that
// write are not stopped half-way when their context is cancelled.
type DB struct {
	path    string
	options Options
	gate    *os.File // shared by everybody who has the database open
	w       *sql.DB  // one connection, which writes
	r       *sql.DB  // a few, which cannot
	mode    string   // with which r was opened
	behind  bool     // the write-ahead log could not be read
	schema  int      // of the file
	log     logbook  // of the one connection that writes

	mu     sync.Mutex
	closed bool
	broken error // the disk can no longer be trusted: nothing more is written
	lives  map[*live]struct{}

	locking sync.Mutex
	locks   map[event.SessionID]*lock
}

// Path returns where the database lies, without symbolic links.
func (db *DB) Path() string { return db.path }

// ReadOnly reports whether nothing can be written.
func (db *DB) ReadOnly() bool { return db.options.ReadOnly }

// Behind reports whether what was saved last could not be read: it is still in
// the write-ahead log, and nothing can be written that reading it takes.
func (db *DB) Behind() bool { return db.behind }

// Version returns the version of SQLite, such as "3.53.4".
func (db *DB) Version(ctx context.Context) (string, error) {
	var v string
	err := db.r.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&v)
	return v, db.fault("version", err)
}

// Close puts what is pending on the disk, gives up all locks, and closes the
// file. To close twice is no error.
func (db *DB) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	lives := db.lives
	db.lives = nil
	db.mu.Unlock()

	var errs []error
	for l := range lives {
		errs = append(errs, l.suspend())
	}
	errs = append(errs, db.closeSQL())
	db.locking.Lock()
	for _, l := range db.locks {
		errs = append(errs, l.file.Close())
	}
	db.locks = nil
	db.locking.Unlock()
	if db.gate != nil {
		errs = append(errs, db.gate.Close())
	}
	return db.fault("close", errors.Join(errs...))
}

// closeSQL leaves an empty write-ahead log where nobody else needs it.
func (db *DB) closeSQL() error {
	var errs []error
	if db.r != nil {
		errs = append(errs, db.r.Close())
	}
	if db.w != nil {
		// Another process may be reading; then it is the last one that does this.
		db.w.Exec(`PRAGMA busy_timeout = 50; PRAGMA wal_checkpoint(TRUNCATE)`)
		errs = append(errs, db.w.Close())
	}
	return errors.Join(errs...)
}

// step is the engine's transition with the prices of a session.
func (db *DB) step(ctx context.Context, q querier, session event.SessionID) (engine.Processor, error) {
	if db.options.Price == nil {
		return engine.Step, nil
	}
	models, err := ask(ctx, q, `SELECT model FROM sessions WHERE id = ?`, string(session))
	if err != nil || len(models) == 0 {
		return engine.Step, err
	}
	return engine.StepWith(db.options.Price(models[0])), nil
}

func (db *DB) now() time.Time {
	if db.options.Now == nil {
		return time.Now()
	}
	return db.options.Now()
}

// write runs f in a transaction of its own: all of it or nothing, and once it
// has returned without error, for good.
func (db *DB) write(ctx context.Context, op string, f func(ctx context.Context, tx *sql.Tx) error) error {
	if err := db.writable(); err != nil {
		return db.fault(op, err)
	}
	ctx = own(ctx)
	tx, err := db.w.BeginTx(ctx, nil)
	if err != nil {
		return db.fault(op, err)
	}
	signed := func() {}
	if err = f(ctx, tx); err == nil {
		signed, err = db.mark(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
		signed()
	}
	if err != nil {
		tx.Rollback()
		err = db.fault(op, err)
		switch {
		case lost(err):
			db.distrust(err)
		case damaged(err):
			db.suspect(err)
		}
	}
	return db.fault(op, err)
}

func (db *DB) writable() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	switch {
	case db.closed:
		return ErrClosed
	case db.options.ReadOnly:
		return ErrReadOnly
	}
	return db.broken
}

// distrust stops all writing for as long as the database is open.
func (db *DB) distrust(err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.broken == nil {
		db.broken = kind{ErrIO, err}
	}
}
