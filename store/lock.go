package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentx/engine/event"
)

// A lock makes this process the only one that writes to a session. The lock
// file decides, and what is in it explains; it is never removed while somebody
// may want it.
type lock struct {
	file  *os.File
	owned bool // by a caller of Lock
	turns int  // that presenters keep it for
}

// A lease says in the lock file who has it.
type lease struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host,omitempty"`
	Since time.Time `json:"since"`
}

// Lock makes the caller the only one that writes to the session, until release
// or the end of the process. Presenters of the same DB may go on writing. Where
// somebody else has it, the error is an [*InUseError]. A turn that a writer
// left open when it died is closed.
func (db *DB) Lock(ctx context.Context, session event.SessionID) (release func(), err error) {
	release, err = db.seize(ctx, session, true)
	if err != nil {
		return nil, db.fault("lock", err)
	}
	return release, nil
}

// seize takes the lock of a session, or shares one that this DB has. Whoever is
// the first to take it mends what the last one left.
func (db *DB) seize(ctx context.Context, session event.SessionID, owned bool) (release func(), err error) {
	if err := db.writable(); err != nil {
		return nil, err
	}
	db.locking.Lock()
	defer db.locking.Unlock()
	l := db.locks[session]
	if l == nil {
		if l, err = db.take(session); err != nil {
			return nil, err
		}
		if err := db.mend(own(ctx), session); err != nil {
			return nil, errors.Join(err, l.file.Close())
		}
		if db.locks == nil {
			db.locks = map[event.SessionID]*lock{}
		}
		db.locks[session] = l
	}
	switch {
	case owned && l.owned:
		return nil, l.inUse(session)
	case owned:
		l.owned = true
	default:
		l.turns++
	}
	return sync.OnceFunc(func() { db.release(session, l, owned) }), nil
}

func (db *DB) release(session event.SessionID, l *lock, owned bool) {
	db.locking.Lock()
	defer db.locking.Unlock()
	if owned {
		l.owned = false
	} else {
		l.turns--
	}
	if !l.owned && l.turns == 0 && db.locks[session] == l {
		delete(db.locks, session)
		l.file.Close()
	}
}

// take opens the lock file and takes it, or says who has it.
func (db *DB) take(session event.SessionID) (*lock, error) {
	name := filepath.Join(db.path+"-locks", fileName(session)+".lock")
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	l := &lock{file: f}
	ok, err := flock(f, true)
	if err == nil && !ok {
		err = l.inUse(session)
	}
	if err == nil {
		err = db.sign(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// sign writes who has the lock.
func (db *DB) sign(f *os.File) error {
	host, _ := os.Hostname() // it only explains
	text, err := json.Marshal(lease{os.Getpid(), host, db.now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, '\n'), 0)
	return errors.Join(err, f.Chmod(0o600))
}

func (l *lock) inUse(session event.SessionID) *InUseError {
	var by lease
	text, err := io.ReadAll(io.NewSectionReader(l.file, 0, 4096))
	if err == nil {
		err = json.Unmarshal(text, &by)
	}
	if err != nil {
		by = lease{}
	}
	return &InUseError{Session: session, PID: by.PID, Host: by.Host, Since: by.Since}
}

// fileName is an id as a name that every file system takes: itself where it
// is plain and of small letters, else its hash.
func fileName(id event.SessionID) string {
	plain := func(r rune) bool { return r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' }
	if s := string(id); s != "" && len(s) <= 100 && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	sum := sha256.Sum256([]byte(id))
	return "x." + hex.EncodeToString(sum[:16])
}
