package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Backup writes a copy of the database to dest, which must not exist. The copy
// is one moment of it, whoever writes meanwhile; it is checked before it gets
// its name.
func (db *DB) Backup(ctx context.Context, dest string) error {
	return db.fault("backup", db.backup(ctx, dest))
}

func (db *DB) backup(ctx context.Context, dest string) (err error) {
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s: %w", dest, ErrExists)
		}
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(dest), ".agentx-backup-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	draft := filepath.Join(dir, "copy.db")
	if err := create(draft); err != nil {
		return err
	}
	if err := db.copy(ctx, draft); err != nil {
		return err
	}
	if err := rename(ctx, draft); err != nil {
		return err
	}
	if err := verify(ctx, draft); err != nil {
		return err
	}
	if err := persist(draft); err != nil {
		return err
	}
	if err := christen(draft, dest); err != nil {
		return err
	}
	return persist(filepath.Dir(dest))
}

// copy needs a connection of its own: those of the pool may not write at all.
func (db *DB) copy(ctx context.Context, dest string) error {
	if db.options.Network {
		_, err := db.w.ExecContext(ctx, `VACUUM INTO ?`, dest)
		return err
	}
	conn := pool(db.path, url.Values{"mode": {"ro"}})
	_, err := conn.ExecContext(ctx, `VACUUM INTO ?`, dest)
	return errors.Join(err, conn.Close())
}

// rename makes a copy another database than the one it was copied from: the
// write-ahead log of that one is not its own.
func rename(ctx context.Context, path string) error {
	conn := pool(path, url.Values{"mode": {"rw"}})
	_, err := conn.ExecContext(ctx, `UPDATE states SET state = randomblob(16) WHERE id = ?`, identity)
	return errors.Join(err, conn.Close())
}

func verify(ctx context.Context, path string) error {
	conn := pool(path, url.Values{"mode": {"ro"}})
	defer conn.Close()
	var verdict string
	if err := conn.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", ErrCorrupt, verdict)
	}
	return nil
}

// christen gives a file its name, but not over what came there meanwhile.
func christen(draft, dest string) error {
	err := os.Link(draft, dest)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", dest, ErrExists)
	}
	if err != nil { // not every file system has links
		return os.Rename(draft, dest)
	}
	return nil
}

// persist brings a file or a folder to the disk. Not every system can do that
// for a folder.
func persist(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	if info, serr := f.Stat(); serr == nil && info.IsDir() {
		err = nil
	}
	return errors.Join(err, f.Close())
}
