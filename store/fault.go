package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentx/engine"
	"agentx/engine/event"

	"modernc.org/sqlite"
)

// What a caller may ask an error of this package about, with errors.Is.
var (
	ErrNotFound    = engine.ErrNotFound
	ErrExists      = engine.ErrExists
	ErrNotDatabase = errors.New("not a database of agentx")
	ErrEmpty       = errors.New("nothing is in it yet")
	ErrNewer       = errors.New("made by a newer agentx; nothing was changed")
	ErrDiskFull    = errors.New("the disk is full")
	ErrReadOnly    = errors.New("read-only")
	ErrPermission  = errors.New("not permitted")
	ErrCorrupt     = errors.New("damaged")
	ErrStray       = errors.New("the write-ahead log belongs to another database")
	ErrIO          = errors.New("disk I/O error")
	ErrBusy        = errors.New("held by another process")
	ErrCrowded     = errors.New("too many open files")
	ErrNetwork     = errors.New("on a network file system, where SQLite cannot be trusted")
	ErrUnshared    = errors.New("files cannot be shared between programs here")
	ErrLocks       = errors.New("files cannot be locked here")
	ErrClosed      = errors.New("closed")
	ErrOldSQLite   = errors.New("this SQLite has a fault in its write-ahead log")
)

// An Error is a failure of the store. It says of which file, and wraps one of
// the errors above where it is known what kind of failure it is.
type Error struct {
	Op   string // what was being done, such as "open" or "append"
	Path string // of the database
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("store: %s: %s: %v", e.Path, e.Op, e.Err) }
func (e *Error) Unwrap() error { return e.Err }

// An InUseError says that somebody else writes to the session.
type InUseError struct {
	Session event.SessionID
	PID     int       // 0 where it is not known
	Host    string    // empty where it is not known
	Since   time.Time // zero where it is not known
}

func (e *InUseError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("session %s is in use", e.Session)
	}
	return fmt.Sprintf("session %s is in use by process %d since %s", e.Session, e.PID, e.Since.Format(time.DateTime))
}

// Is reports whether target is [ErrBusy] or [engine.ErrInUse].
func (e *InUseError) Is(target error) bool { return target == ErrBusy || target == engine.ErrInUse }

// An AmbiguousError says that a reference means several sessions.
type AmbiguousError struct {
	Ref        string
	Candidates []Session // newest first, at most 10
}

func (e *AmbiguousError) Error() string {
	ids := make([]string, len(e.Candidates))
	for i, s := range e.Candidates {
		ids[i] = string(s.ID)
		if title := line(s.Title); title != "" {
			ids[i] += " (" + clip(title, 40) + ")"
		}
	}
	return fmt.Sprintf("%q means several sessions: %s", e.Ref, strings.Join(ids, ", "))
}

// fault is err as an [Error] of this database, nil where err is nil.
func (db *DB) fault(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{Op: op, Path: db.path, Err: classify(db.path, err)}
}

// A kind wraps a cause under the name by which callers know it.
type kind struct{ name, cause error }

func (k kind) Error() string   { return fmt.Sprintf("%v: %v", k.name, k.cause) }
func (k kind) Unwrap() []error { return []error{k.name, k.cause} }

// classify says what kind of failure err is.
func classify(path string, err error) error {
	if s, ok := errors.AsType[*sqlite.Error](err); ok {
		if name := nameOf(path, s.Code()); name != nil {
			return kind{name, err}
		}
		return err
	}
	for _, k := range []struct{ is, name error }{
		{syscall.ENOSPC, ErrDiskFull},
		{syscall.EDQUOT, ErrDiskFull},
		{syscall.EROFS, ErrReadOnly},
		{syscall.EIO, ErrIO},
		{syscall.EMFILE, ErrCrowded},
		{syscall.ENFILE, ErrCrowded},
		{fs.ErrPermission, ErrPermission},
	} {
		if errors.Is(err, k.is) && !errors.Is(err, k.name) {
			return kind{k.name, err}
		}
	}
	return err
}

// Result codes of SQLite. The low byte is the kind.
const (
	sqliteError    = 1
	sqlitePerm     = 3
	sqliteBusy     = 5
	sqliteReadOnly = 8
	sqliteIOErr    = 10
	sqliteCorrupt  = 11
	sqliteFull     = 13
	sqliteCantOpen = 14
	sqliteNotADB   = 26

	sqliteIOErrFsync   = sqliteIOErr | 4<<8
	sqliteIOErrRdLock  = sqliteIOErr | 9<<8
	sqliteIOErrLock    = sqliteIOErr | 15<<8
	sqliteIOErrShmOpen = sqliteIOErr | 18<<8
	sqliteIOErrShmLock = sqliteIOErr | 20<<8
	sqliteIOErrShmMap  = sqliteIOErr | 21<<8
	sqliteIOErrShmSize = sqliteIOErr | 19<<8 // 4874: no room for the -shm file
)

func nameOf(path string, code int) error {
	switch code & 0xff {
	case sqliteFull:
		return ErrDiskFull
	case sqliteIOErr, sqliteCantOpen:
		if crowded(path) {
			return ErrCrowded
		}
		if (code == sqliteIOErrShmSize || code&0xff == sqliteIOErr) && full(path) {
			return ErrDiskFull
		}
		switch code {
		case sqliteIOErrShmOpen, sqliteIOErrShmLock, sqliteIOErrShmMap:
			return ErrUnshared
		case sqliteIOErrRdLock, sqliteIOErrLock:
			return ErrLocks
		}
		if code&0xff == sqliteIOErr {
			return ErrIO
		}
	case sqliteReadOnly:
		return ErrReadOnly
	case sqlitePerm:
		return ErrPermission
	case sqliteBusy:
		return ErrBusy
	case sqliteCorrupt:
		return ErrCorrupt
	case sqliteNotADB:
		return ErrNotDatabase
	}
	return nil
}

// crowded reports whether the files that SQLite opens at once (database, log,
// their index, and the folder to sync it) are more than may still be opened.
// SQLite keeps the reason to itself, so they are opened again: not its own files,
// for to close one of these would let go of the locks that this process has on it.
func crowded(path string) bool {
	for range 4 {
		f, err := os.Open(filepath.Dir(path))
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return true
		}
		if err == nil {
			defer f.Close()
		}
	}
	return false
}

// lost reports whether err leaves it unknown what is on the disk. After a
// failed fsync the kernel may have dropped what was not written, so nothing
// that is written afterwards can be trusted.
func lost(err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	return ok && s.Code() == sqliteIOErrFsync
}

// damaged reports whether SQLite has met a page that cannot be.
func damaged(err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	return ok && s.Code()&0xff == sqliteCorrupt
}

// own is a context for work that must not stop half-way: whoever interrupts an
// answer does not interrupt its saving.
func own(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
