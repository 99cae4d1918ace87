package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// scripts are the migrations in order; PRAGMA user_version counts those that a
// file has seen.
func scripts(from fs.FS) []string {
	names, _ := fs.Glob(from, "migrations/*.sql") // the pattern is good
	return names
}

// The versions of the schema that first had images, a ledger, a system prompt
// for each session, branches, files of drafts, and logs in parts.
const (
	imageSchema  = 2
	ledgerSchema = 3
	systemSchema = 4
	branchSchema = 5
	fileSchema   = 6
	partSchema   = 8
)

func latest() int { return len(scripts(migrations)) }

// upgrade brings the schema up to date. Only who is alone may do that.
func (db *DB) upgrade(ctx context.Context, alone bool) error {
	db.schema = latest()
	done, err := probe(ctx, db.w)
	if err != nil || done == latest() {
		return err
	}
	if !alone {
		if err := db.wait(ctx, true); err != nil {
			return err
		}
		if done, err = probe(ctx, db.w); err != nil {
			return err
		}
	}
	return db.migrate(ctx, migrations, done)
}

// migrate runs the scripts that the file has not seen, each in a transaction.
// What exists is copied first.
func (db *DB) migrate(ctx context.Context, from fs.FS, done int) error {
	names := scripts(from)
	if done >= len(names) {
		return nil
	}
	if done > 0 {
		if err := db.keep(ctx, done); err != nil {
			return fmt.Errorf("backup before a migration: %w", err)
		}
	}
	for i, name := range names[done:] {
		script, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if err := db.run(ctx, string(script), done+i+1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err := db.w.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`) // the next commits begin with a short log
	return err
}

// run runs one script. A file has it whole, with its number, or not at all.
func (db *DB) run(ctx context.Context, script string, version int) error {
	return db.write(ctx, "migrate", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`%s; PRAGMA application_id = %d; PRAGMA user_version = %d`, script, application, version))
		if err != nil {
			return err
		}
		return intact(ctx, tx)
	})
}

func intact(ctx context.Context, tx *sql.Tx) error {
	var table string
	err := tx.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: rows of %s refer to nothing", ErrCorrupt, table)
}

// keep copies the database to name-vN-time.db, and drops all but three copies.
func (db *DB) keep(ctx context.Context, version int) error {
	need := 2 * size(db.path)
	if free, ok := space(db.path); ok && free < need {
		return fmt.Errorf("%w: %d bytes are needed, %d are free", ErrDiskFull, need, free)
	}
	stem := strings.TrimSuffix(db.path, filepath.Ext(db.path))
	dest := fmt.Sprintf("%s-v%d-%s.db", stem, version, db.now().UTC().Format("20060102T150405.000"))
	if err := db.Backup(ctx, dest); err != nil {
		return err
	}
	return prune(stem)
}

func prune(stem string) error {
	entries, err := os.ReadDir(filepath.Dir(stem))
	if err != nil {
		return err
	}
	var old []os.FileInfo
	for _, e := range entries {
		if ok, _ := filepath.Match("-v[0-9]*-[0-9]*T[0-9]*.db", strings.TrimPrefix(e.Name(), filepath.Base(stem))); !ok {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			old = append(old, info)
		}
	}
	slices.SortFunc(old, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, info := range old[min(3, len(old)):] {
		if err := os.Remove(filepath.Join(filepath.Dir(stem), info.Name())); err != nil {
			return err
		}
	}
	return nil
}
