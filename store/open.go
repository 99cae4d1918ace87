package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// application marks a database as ours: "agtx".
const application = 0x61677478

// Open opens the database at path, makes it and its folder if need be, brings
// its schema up to date, and closes the turns of sessions whose writer died.
//
// Read-only it does none of this. Where nothing can be written at all it then
// reads the file as it is, without what may still be in its write-ahead log:
// see [DB.Behind].
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	db := &DB{path: path, options: o, lives: map[*live]struct{}{}}
	open := db.open
	if o.ReadOnly {
		open = db.read
	}
	if err := open(ctx); err != nil {
		if beheaded(db.path, err) {
			err = kind{ErrCorrupt, errors.New("page 1 cannot be read")}
		}
		err = db.fault("open", err)
		db.Close()
		return nil, err
	}
	return db, nil
}

// beheaded reports whether what SQLite takes for no database is one of ours whose
// first page is gone.
func beheaded(path string, err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	if !ok || s.Code() != sqliteNotADB {
		return false
	}
	c, err := carve(path)
	if err != nil {
		return false
	}
	defer c.close()
	return c.ours()
}

func (db *DB) open(ctx context.Context) error {
	if err := db.settle(); err != nil {
		return err
	}
	if db.remote() && !db.options.Network {
		return ErrNetwork
	}
	alone, err := db.enter(ctx)
	if err != nil {
		return err
	}
	if err := create(db.path); err != nil {
		return err
	}
	if err := private(db.path, db.path+"-wal", db.path+"-shm"); err != nil {
		return err
	}
	if err := db.vet(ctx, alone); err != nil {
		return err
	}
	if err := db.connect(ctx); err != nil {
		return err
	}
	if err := db.upgrade(ctx, alone); err != nil {
		return err
	}
	if err := db.mendAll(ctx); err != nil {
		return err
	}
	_, err = flock(db.gate, false)
	return err
}

// read opens what is there, and nothing but reads it.
func (db *DB) read(ctx context.Context) error {
	if err := db.there(); err != nil {
		return err
	}
	err := db.peek(ctx, "mode=ro")
	if err == nil && size(db.path+"-wal") > 0 {
		err = db.ownLog(ctx, db.r)
	}
	if unshared(err) && !crowded(db.path) || errors.Is(err, ErrStray) {
		err = db.peek(ctx, "mode=ro&immutable=1")
		db.behind = size(db.path+"-wal") > 0
	}
	if damaged(err) && size(db.path+"-wal") > 0 && db.peek(ctx, "mode=ro&immutable=1") == nil {
		db.behind, err = true, nil
	}
	if damaged(err) {
		again := db.peek(ctx, "mode=ro&_pragma=writable_schema(1)") // a file that was cut is read as far as it goes
		if again == nil {
			err = nil
		}
	}
	return err
}

// there refuses what is no file.
func (db *DB) there() error {
	if err := db.resolve(); err != nil {
		return missing(err)
	}
	info, err := os.Stat(db.path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: it is no file", ErrNotDatabase)
	}
	return missing(err)
}

// peek opens the readers, and refuses what this version cannot read.
func (db *DB) peek(ctx context.Context, mode string) error {
	if db.r != nil {
		db.r.Close()
	}
	db.r = db.readers(mode)
	return db.inspect(ctx, db.r)
}

// unshared reports whether err says that the file which the readers of a
// write-ahead log share cannot be made: its folder is closed, or the disk full.
func unshared(err error) bool {
	s, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	kind := s.Code() & 0xff
	return kind == sqliteCantOpen || kind == sqliteReadOnly || s.Code() == sqliteIOErrShmSize
}

// inspect refuses what this version cannot read.
func (db *DB) inspect(ctx context.Context, conn *sql.DB) error {
	v, err := probe(ctx, conn)
	if err != nil {
		return err
	}
	if v == 0 {
		return kind{ErrNotDatabase, ErrEmpty} // whoever writes makes one of it
	}
	db.schema = v
	return nil
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return kind{ErrNotFound, err}
	}
	return err
}

// settle finds or makes the folder, and follows links, so that everybody means
// the same files beside the database.
func (db *DB) settle() error {
	if db.path == "" || strings.ContainsRune(db.path, 0) {
		return fmt.Errorf("%q is no path", db.path)
	}
	if err := os.MkdirAll(filepath.Dir(db.path), 0o700); err != nil {
		return err
	}
	if err := db.resolve(); err != nil {
		return err
	}
	info, err := os.Stat(db.path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no file", ErrNotDatabase)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range []string{db.path + "-locks", db.path + "-live"} {
		if err := folder(dir); err != nil {
			return err
		}
	}
	return nil
}

func (db *DB) resolve() error {
	path, err := filepath.Abs(db.path)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if info, lerr := os.Lstat(path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 { // and not made by somebody else just now
			return fmt.Errorf("%w: it is a link that leads nowhere", ErrNotDatabase)
		}
		dir, derr := filepath.EvalSymlinks(filepath.Dir(path))
		real, err = filepath.Join(dir, filepath.Base(path)), derr
	}
	if err != nil {
		return err
	}
	db.path = real
	return nil
}

// folder makes dir for its owner alone, whatever the umask.
func folder(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// create makes the file for its owner alone: SQLite gives the files beside it
// the same mode. One that exists is not even opened: to close it would drop
// the locks that SQLite holds on it in this process.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// private takes the files from everybody but their owner.
func private(paths ...string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// remote reports whether the database lies on another machine.
func (db *DB) remote() bool {
	if db.options.Remote != nil {
		return db.options.Remote(db.path)
	}
	return remote(db.path)
}

// enter takes the gate: alone where nobody else has the database open, else
// together with them, once whoever is alone has let them in.
func (db *DB) enter(ctx context.Context) (alone bool, err error) {
	db.gate, err = os.OpenFile(db.path+"-lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	if err := private(db.gate.Name()); err != nil {
		return false, err
	}
	if err := lockable(db.gate); err != nil {
		return false, kind{ErrLocks, err}
	}
	if alone, err = flock(db.gate, true); alone || err != nil {
		return alone, err
	}
	return false, db.wait(ctx, false)
}

// patience is how long an opener waits for those who migrate or mend.
const patience = 10 * time.Second

// wait waits for the gate.
func (db *DB) wait(ctx context.Context, exclusive bool) error {
	end := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		ok, err := flock(db.gate, exclusive)
		if ok || err != nil {
			return err
		}
		if time.Now().After(end) {
			return ErrBusy
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// connect opens the connections. What cannot be ours is refused before
// anything is written, be it the mode of the journal.
func (db *DB) connect(ctx context.Context) error {
	pragmas := []string{"foreign_keys(1)", "synchronous(FULL)", "wal_autocheckpoint(1000)", "journal_size_limit(67108864)", "temp_store(MEMORY)"}
	if db.options.Network {
		pragmas = append(pragmas, "locking_mode(EXCLUSIVE)")
	}
	db.w = pool(db.path, url.Values{"_txlock": {"immediate"}}, pragmas...)
	db.w.SetMaxOpenConns(1)
	if _, err := probe(ctx, db.w); err != nil {
		return err
	}
	if err := db.journal(ctx); err != nil {
		return err
	}
	if db.options.Network {
		db.r = db.w // nobody else may open it
		return nil
	}
	db.r = db.readers("mode=rw")
	return nil
}

// readers opens connections that cannot write. The mode is as in a URI.
func (db *DB) readers(mode string) *sql.DB {
	db.mode = mode
	how, err := url.ParseQuery(mode)
	if err != nil {
		panic(err) // there are three
	}
	return pool(db.path, how, "query_only(1)")
}

// pool opens connections to path that all have the same pragmas.
func pool(path string, how url.Values, pragmas ...string) *sql.DB {
	for _, p := range append([]string{"busy_timeout(5000)", "trusted_schema(0)", "cell_size_check(1)"}, pragmas...) {
		how.Add("_pragma", p)
	}
	name := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: how.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		panic(err) // the driver is linked in
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	return db
}

// journal chooses the write-ahead log, and believes it when it reads it back.
func (db *DB) journal(ctx context.Context) error {
	want := "wal"
	if db.options.Network {
		want = "delete"
	}
	var mode string
	if err := db.w.QueryRowContext(ctx, `PRAGMA journal_mode = `+want).Scan(&mode); err != nil {
		return err
	}
	if mode != want {
		return fmt.Errorf("journal mode is %s, not %s", mode, want)
	}
	return nil
}

// probe returns the version of the schema, 0 of an empty file. Of a database
// that is not ours, or too new, it returns why.
func probe(ctx context.Context, conn *sql.DB) (int, error) {
	var owner, version, things int
	var lib string
	err := conn.QueryRowContext(ctx, `
		SELECT a.application_id, v.user_version, (SELECT count(*) FROM sqlite_schema), sqlite_version()
		FROM pragma_application_id AS a, pragma_user_version AS v`).Scan(&owner, &version, &things, &lib)
	switch {
	case err != nil:
		return 0, err
	case !sound(lib):
		return 0, fmt.Errorf("%w: %s", ErrOldSQLite, lib)
	case owner == 0 && version == 0 && things == 0:
		return 0, nil
	case owner != application:
		return 0, ErrNotDatabase
	case version > latest():
		return 0, fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewer, version, latest())
	}
	return version, nil
}

// sound reports whether SQLite is at least 3.51.3: before, a write-ahead log
// that was reset could corrupt the file.
func sound(version string) bool {
	var a, b, c int
	fmt.Sscanf(version, "%d.%d.%d", &a, &b, &c)
	return a*1_000_000+b*1_000+c >= 3_051_003
}
