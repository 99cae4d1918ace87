//go:build unix

package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"agentx/engine/event"
)

func TestFilesBelongToTheirOwnerAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := filepath.Join(t.TempDir(), "new", "folder\n with ? % # in it")
	path := filepath.Join(dir, "a b.db")
	db := open(t, path)
	begin(t, db, "Sess/../ion")
	tell(t, db, "Sess/../ion", "u", "hi", hello("m", "hello")...)
	filepath.Walk(filepath.Dir(dir), func(name string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
		return err
	})
	if problems, err := db.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is elsewhere: %v", err)
	}
}

func TestClosedIsTidy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	db.Close()
	if left := append(glob(t, path+"-wal"), glob(t, path+"-live/*")...); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := db.Rename(t.Context(), "s", "x"); !errors.Is(err, ErrClosed) {
		t.Errorf("Rename() after Close = %v, want ErrClosed", err)
	}
}

// What is not ours is refused, and no byte of it changes.
func TestForeignFilesAreRefused(t *testing.T) {
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	database := func(script string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(script); err != nil {
				t.Fatal(err)
			}
		}
	}
	newer := func(t *testing.T, path string) {
		open(t, path).Close()
		database(`PRAGMA user_version = 999; CREATE TABLE future (x)`)(t, path)
	}
	for _, c := range []struct {
		name string
		make func(*testing.T, string)
		want error
	}{
		{"a letter", text("Dear Ada,\n" + strings.Repeat("all is well here. ", 100)), ErrNotDatabase},
		{"a short letter", text("hi"), ErrNotDatabase},
		{"somebody's database", database(`CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('soup')`), ErrNotDatabase},
		{"another application", database(`PRAGMA application_id = 77; PRAGMA user_version = 1`), ErrNotDatabase},
		{"from the future", newer, ErrNewer},
		{"cut short", func(t *testing.T, path string) {
			open(t, path).Close()
			if err := os.Truncate(path, 5000); err != nil {
				t.Fatal(err)
			}
		}, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			c.make(t, path)
			before, _ := os.ReadFile(path)
			for _, readOnly := range []bool{false, true} {
				db, err := Open(t.Context(), path, Options{ReadOnly: readOnly})
				if !errors.Is(err, c.want) {
					t.Errorf("Open(read-only %v) = %v, want %v", readOnly, err, c.want)
				}
				if err == nil {
					db.Close()
				}
				if err != nil && !strings.Contains(err.Error(), path) {
					t.Errorf("%q does not name the file", err)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Errorf("the file has changed from %d bytes to %d", len(before), len(after))
			}
		})
	}
}

func TestPlacesWhereNoDatabaseCanBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		dir:                        ErrNotDatabase,
		filepath.Join(dir, "link"): ErrNotDatabase,
		"":                         nil,
		"a\x00b":                   nil,
		filepath.Join(dir, strings.Repeat("x", 5000)): nil,
	} {
		db, err := Open(t.Context(), path, Options{})
		if err == nil {
			db.Close()
			t.Errorf("Open(%.40q) succeeded", path)
		}
		if want != nil && !errors.Is(err, want) {
			t.Errorf("Open(%.40q) = %v, want %v", path, err, want)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none.db"), Options{ReadOnly: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("Open(none, read-only) = %v, want ErrNotFound", err)
	}
}

func TestAnEmptyFileIsNewAndALinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.db"), filepath.Join(dir, "link.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	db := open(t, link)
	begin(t, db, "s")
	tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	db.Close()
	db = open(t, path)
	if s, err := db.Session(t.Context(), "s"); err != nil || s.Messages != 2 {
		t.Errorf("Session() = %+v, %v", s, err)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	tell(t, db, "s", "u", "find me", hello("m", "hello")...)
	ro, err := Open(t.Context(), path, Options{ReadOnly: true}) // beside one that writes
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if hits, err := ro.Search(t.Context(), "find", 0); err != nil || len(hits) != 1 {
		t.Errorf("Search() = %v, %v", hits, err)
	}
	for name, err := range map[string]error{
		"Create":  ro.Create(t.Context(), Session{ID: "x"}),
		"Delete":  ro.Delete(t.Context(), "s"),
		"Present": ro.Presenter("s").Present(t.Context(), "", event.Event{Data: event.UserMessage{ID: "u2"}}),
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s() = %v, want ErrReadOnly", name, err)
		}
	}
}

// Fifty processes' worth of opens find one schema, made once.
func TestManyOpenAnEmptyFolderAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "a.db")
	var wg sync.WaitGroup
	dbs := make([]*DB, 50)
	for i := range dbs {
		wg.Go(func() {
			db, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			dbs[i] = db
			if err := db.Create(t.Context(), Session{ID: event.SessionID(fmt.Sprint("s", i))}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, db := range dbs {
		if db != nil {
			db.Close()
		}
	}
	db := open(t, path)
	var n int
	if err := db.r.QueryRow(`SELECT count(*) FROM sessions`).Scan(&n); err != nil || n != 50 {
		t.Errorf("%d sessions, %v; want 50", n, err)
	}
}

// A file of this version comes up to a later one, and a copy of it stays.
func TestMigrationsRunOnceAndWhole(t *testing.T) {
	now := latest()
	from := fstest.MapFS{"migrations/9001_stars.sql": {Data: []byte(`ALTER TABLE sessions ADD COLUMN starred INTEGER NOT NULL DEFAULT 0`)}}
	for _, name := range scripts(migrations) {
		script, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		from[name] = &fstest.MapFile{Data: script}
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	log, _ := db.Events(t.Context(), "s")

	from["migrations/9002_broken.sql"] = &fstest.MapFile{Data: []byte(`CREATE TABLE half (x); INSERT INTO nothing VALUES (1)`)}
	if err := db.migrate(t.Context(), from, now); err == nil {
		t.Error("migrate(broken) succeeded")
	}
	version := func() (v int) {
		db.w.QueryRow(`PRAGMA user_version`).Scan(&v)
		return v
	}
	if got := version(); got != now+1 {
		t.Errorf("after a broken second, the schema is %d, want %d", got, now+1)
	}
	var halves int
	db.w.QueryRow(`SELECT count(*) FROM sqlite_schema WHERE name = 'half'`).Scan(&halves)
	if halves != 0 {
		t.Error("half of a migration is there")
	}
	from["migrations/9002_broken.sql"].Data = []byte(`CREATE TABLE half (x)`)
	if err := db.migrate(t.Context(), from, now+1); err != nil || version() != now+2 {
		t.Errorf("migrate(mended) = %v, schema %d", err, version())
	}
	again, err := db.Events(t.Context(), "s")
	if err != nil || wire(t, again) != wire(t, log) {
		t.Errorf("the log has changed: %v", err)
	}
	copies := glob(t, strings.TrimSuffix(path, ".db")+"-v*.db")
	if len(copies) != 2 {
		t.Fatalf("copies: %v, want one of this version and one of the next", copies)
	}
	old := open(t, copies[0])
	if kept, err := old.Events(t.Context(), "s"); err != nil || wire(t, kept) != wire(t, log) {
		t.Errorf("the copy of this version has another log: %v", err)
	}
	for range 4 {
		time.Sleep(2 * time.Millisecond) // names have the time in them
		if err := db.keep(t.Context(), now+2); err != nil {
			t.Fatal(err)
		}
	}
	if copies := glob(t, strings.TrimSuffix(path, ".db")+"-v*.db"); len(copies) != 3 {
		t.Errorf("copies: %v, want three", copies)
	}
}

func TestBackupIsWholeAndOverwritesNothing(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // it goes on while the copy is made
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				tell(t, db, "s", fmt.Sprint("u", i), "hi", hello(fmt.Sprint("m", i), "hello")...)
			}
		}
	})
	dest := filepath.Join(t.TempDir(), "copy.db")
	err := db.Backup(t.Context(), dest)
	close(stop)
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(t.Context(), dest); !errors.Is(err, ErrExists) {
		t.Errorf("Backup() over a file = %v, want ErrExists", err)
	}
	whole, _ := db.Events(t.Context(), "s")
	copied, err := open(t, dest).Events(t.Context(), "s")
	if err != nil || !strings.HasPrefix(wire(t, whole), wire(t, copied)) && len(copied)%4 == 0 {
		t.Errorf("the copy, %d events, is no beginning of the log: %v", len(copied), err)
	}
}

// On a disk without room the error says so, what was there stays readable, and
// with room it goes on.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk to be had: %s", out)
	}
	defer exec.Command("umount", dir).Run()
	db, err := Open(t.Context(), filepath.Join(dir, "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin(t, db, "s")
	p := db.Presenter("s")
	say := func(i int) error {
		m := event.UserMessage{ID: fmt.Sprint("u", i), Content: event.Say(strings.Repeat("x", 20_000))}
		return p.Present(t.Context(), "", event.Event{At: time.UnixMilli(int64(i)), Data: m})
	}
	saved := 0
	for ; err == nil && saved < 1000; saved++ {
		err = say(saved)
	}
	saved--
	if !errors.Is(err, ErrDiskFull) {
		t.Fatalf("Present() = %v, want ErrDiskFull", err)
	}
	log, err := db.Events(t.Context(), "s")
	if users := strings.Count(wire(t, log), `"type":"user_message"`); err != nil || users != saved {
		t.Errorf("%d messages can be read, %v; %d were saved", users, err, saved)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=8m", dir).CombinedOutput(); err != nil {
		t.Skipf("no more room to be had: %s", out)
	}
	if err := say(saved); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// On a disk that was full before, what is there can still be read: nothing has
// to be made for that.
func TestFullDiskIsRead(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small disk to be had: %s", out)
	}
	defer exec.Command("umount", dir).Run()
	path := filepath.Join(dir, "a.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, db, "s")
	tell(t, db, "s", "u", "find me", hello("m", "hello")...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrDiskFull) {
		t.Errorf("Open() = %v, want ErrDiskFull", err)
	}
	ro, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	if hits, err := ro.Search(t.Context(), "find", 0); err != nil || len(hits) != 1 || ro.Behind() {
		t.Errorf("Search() = %v, %v, behind %v", hits, err, ro.Behind())
	}
}

func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.db")
	db := open(b, path)
	begin(b, db, "s")
	for i := range 100 {
		tell(b, db, "s", fmt.Sprint("u", i), "hi", hello(fmt.Sprint("m", i), "hello")...)
	}
	db.Close()
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		db.Close()
		b.StartTimer()
	}
}
