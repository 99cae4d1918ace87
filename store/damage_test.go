package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// lived makes a database that has seen something of everything, and returns its
// path, its bytes, and the log of each session.
func lived(t testing.TB) (path string, bytes []byte, logs map[event.SessionID]string) {
	t.Helper()
	path, logs = filepath.Join(t.TempDir(), "a.db"), map[event.SessionID]string{}
	db, ctx := open(t, path), t.Context()
	for i := range 6 {
		id := event.SessionID(fmt.Sprint("s", i))
		begin(t, db, id)
		for n := range 4 {
			tell(t, db, id, fmt.Sprint("u", n), fmt.Sprint("question ", n, " of ", id), hello(fmt.Sprint("m", n), strings.Repeat(fmt.Sprint("word", n, " "), 10+1200*(n%2)))...)
		}
	}
	if _, err := db.Freeze(ctx, "s1", engine.Image{Name: "frozen", System: "be brief"}); err != nil {
		t.Fatal(err)
	}
	begin(t, db, "gone")
	tell(t, db, "gone", "u", "nobody shall read this again", hello("m", strings.Repeat("a secret ", 2000))...)
	for _, b := range []struct{ from, to, before string }{{"s5", "s5b", "u2"}, {"s5b", "s5c", ""}, {"s5c", "s5d", ""}} {
		if err := db.BranchBefore(ctx, event.SessionID(b.from), event.SessionID(b.to), b.before); err != nil {
			t.Fatal(err)
		}
		tell(t, db, event.SessionID(b.to), "v"+b.to, "and on "+b.to, hello("m"+b.to, "branch")...)
	}
	_, err := db.Tag(ctx, "s2", []string{"kept"}, nil)
	if err := errors.Join(
		err,
		db.Delete(ctx, "gone"),
		db.SetDraft(ctx, "s3", "half a thought"),
		db.Queue(ctx, "s3", event.UserMessage{ID: "q", Content: event.Say("later")}),
		db.Rename(ctx, "s4", "another title"),
		db.States().Set(ctx, "mine", []byte("kept")),
	); err != nil {
		t.Fatal(err)
	}
	for _, id := range []event.SessionID{"s0", "s1", "s2", "s3", "s4", "s5", "s5b", "s5c", "s5d"} {
		log, err := db.Events(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		logs[id] = wire(t, log)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, bytes, logs
}

// rescue recovers the database at path into a new one beside it.
func rescue(t testing.TB, path string) (*DB, Recovery) {
	t.Helper()
	dest := filepath.Join(t.TempDir(), "new.db")
	r, err := Recover(t.Context(), path, dest, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dest), r
}

// Out of a sound database comes all of it, be it copied, or read page by page as
// though it were damaged.
func TestAllOfASoundDatabaseIsRecovered(t *testing.T) {
	path, _, logs := lived(t)
	paged := filepath.Join(t.TempDir(), "paged.db")
	from := &DB{path: path}
	if _, err := from.salvage(t.Context(), paged); err != nil {
		t.Fatal(err)
	}
	copied, r := rescue(t, path)
	if !r.Sound || r.Sessions != 9 || r.Messages != 48+6+8+10 || r.Lost != 0 {
		t.Errorf("Recover() = %+v", r)
	}
	before := map[By]string{}
	for _, db := range []*DB{copied, open(t, paged)} {
		ctx := t.Context()
		for id, want := range logs {
			if log, err := db.Events(ctx, id); err != nil || wire(t, log) != want {
				t.Errorf("the log of %s is another: %v", id, err)
			}
		}
		if s, err := db.Session(ctx, "s4"); err != nil || s.Title != "another title" {
			t.Errorf("s4 is called %q, %v", s.Title, err)
		}
		if s, _ := db.Session(ctx, "s2"); s.Tags != "kept" || s.Dir != "/home/ada" || s.Messages != 8 {
			t.Errorf("s2 is %+v", s)
		}
		if _, err := db.Session(ctx, "gone"); !errors.Is(err, ErrNotFound) {
			t.Errorf("what was deleted is back: %v", err)
		}
		if hits, err := db.Search(ctx, "word3", 100); err != nil || len(hits) != 6 {
			t.Errorf("Search() = %d hits, %v", len(hits), err)
		}
		if hits, _ := db.Search(ctx, "secret", 100); len(hits) != 0 {
			t.Errorf("what was deleted is found: %v", hits)
		}
		if im, err := db.Image(ctx, "frozen"); err != nil || im.System != "be brief" || len(im.Messages) != 8 {
			t.Errorf("the image is %+v, %v", im, err)
		}
		if d, err := db.Draft(ctx, "s3"); err != nil || d != "half a thought" {
			t.Errorf("the draft is %q, %v", d, err)
		}
		if q, err := db.Queued(ctx, "s3"); err != nil || len(q) != 1 {
			t.Errorf("the queue is %v, %v", q, err)
		}
		if b, ok, err := db.States().Get(ctx, "mine"); err != nil || !ok || string(b) != "kept" {
			t.Errorf("the state is %q, %v", b, err)
		}
		for _, by := range []By{ByDay, ByModel} {
			stats, err := db.Stats(ctx, db.now().AddDate(-10, 0, 0), by)
			got := fmt.Sprint(stats)
			if err != nil || before[by] != "" && got != before[by] || len(stats) == 0 {
				t.Errorf("by %s it took %s, %v; before %s", by, got, err, before[by])
			}
			before[by] = got
		}
		sane(t, db)
	}
}

// Whichever page is flipped: it is found, with its table and number; nothing is
// written to the file, by nobody; and all that lies on other pages is recovered.
func TestAnyPageIsLost(t *testing.T) {
	path, bytes, logs := lived(t)
	pages := len(bytes) / page
	c, err := carve(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	some := rand.IntN(4)
	for n := range pages {
		if table := firstTable(c.cells(n + 1)); n%4 != some && table != "sessions" && table != "parts" {
			continue
		}
		bent := append([]byte(nil), bytes...)
		for i := n * page; i < (n+1)*page; i++ {
			bent[i] ^= 0xa5
		}
		judgeDamage(t, path, fmt.Sprint("page ", n+1), bent, logs, 12) // at most the rows of a page
	}
}

func firstTable(cells []cell) string {
	if len(cells) == 0 {
		return ""
	}
	return tableOf(cells[0])
}

// So it is with a file that was cut, but for what is behind the cut.
func TestAFileIsCut(t *testing.T) {
	path, bytes, logs := lived(t)
	for _, left := range []float64{0.95, 0.7, 0.4} {
		judgeDamage(t, path, fmt.Sprint("cut to ", left), bytes[:int(left*float64(len(bytes)))], logs, len(logs)*16)
	}
}

func judgeDamage(t *testing.T, path, what string, bent []byte, logs map[event.SessionID]string, most int) {
	t.Helper()
	ctx := t.Context()
	for _, name := range glob(t, path+"-*") {
		os.RemoveAll(name)
	}
	if err := os.WriteFile(path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	ro, err := Open(ctx, path, Options{ReadOnly: true})
	var problems []Problem
	if err == nil {
		problems, err = ro.Check(ctx)
		ro.Close()
	}
	known := false
	for _, p := range problems {
		known = known || p.What == "integrity"
	}
	if !known && !errors.Is(err, ErrCorrupt) {
		if len(problems) == 0 && err == nil && strings.HasPrefix(what, "page") {
			return // an empty page: nothing is lost
		}
		t.Errorf("%s: Check() = %v, %v; want damage", what, problems, err)
	}
	dest := filepath.Join(t.TempDir(), "new.db")
	r, err := Recover(ctx, path, dest, Options{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(bent) {
		t.Errorf("%s: the damaged file was changed", what)
	}
	db, err := Open(ctx, dest, Options{})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer db.Close()
	lost := map[string]bool{} // what branches share is lost once
	for id, want := range logs {
		log, err := db.Events(ctx, id)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		got := wire(t, log)
		for line := range strings.Lines(want) {
			if !strings.Contains(got, line) {
				lost[string(id[:2])+line] = true
			}
		}
	}
	if len(lost) > most {
		t.Errorf("%s: %d events are lost, want at most %d (%+v)", what, len(lost), most, r)
	}
	if hits, _ := db.Search(ctx, "secret", 9); len(hits) > 0 {
		t.Errorf("%s: what was deleted is back", what)
	}
	sane(t, db)
}

// Whatever bytes a file has, to read it page by page ends, and without a panic.
func FuzzCarve(f *testing.F) {
	bytes, err := os.ReadFile(first(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes[:2*page], []byte{})
	f.Add(bytes[3*page:5*page], bytes[:page])
	f.Fuzz(func(t *testing.T, file, log []byte) {
		path := filepath.Join(t.TempDir(), "a.db")
		if err := errors.Join(os.WriteFile(path, file, 0o600), os.WriteFile(path+"-wal", log, 0o600)); err != nil {
			t.Fatal(err)
		}
		c, err := carve(path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.close()
		found, err := c.find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for n := range found.logs {
			found.log(n, lastOf(found.lent(n)))
		}
	})
}

// What is not a database at all is not made into one, and nothing is written
// over.
func TestNothingIsRecoveredOfNothing(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	path, dest := filepath.Join(dir, "noise"), filepath.Join(dir, "new.db")
	if err := os.WriteFile(path, noise, 0o600); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]error{path: ErrNotDatabase, dir: ErrNotDatabase, filepath.Join(dir, "none"): ErrNotFound} {
		if _, err := Recover(ctx, from, dest, Options{}); !errors.Is(err, want) {
			t.Errorf("Recover(%s) = %v, want %v", from, err, want)
		}
	}
	if _, err := Recover(ctx, path, path, Options{}); !errors.Is(err, ErrExists) {
		t.Errorf("Recover() over a file = %v, want ErrExists", err)
	}
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	if left := glob(t, filepath.Join(dir, ".agentx*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Without a log that is there nothing is recovered, for the newest would be
// missing; nor where the user has had enough; and a name that was taken meanwhile
// stays with whoever took it.
func TestARecoveryThatCannotBeWhole(t *testing.T) {
	path, _, _ := lived(t)
	dest := filepath.Join(t.TempDir(), "new.db")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Recover(stopped, path, dest, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Recover() = %v, want that it was stopped", err)
	}
	if err := errors.Join(os.RemoveAll(path+"-wal"), os.Symlink(path+"-wal", path+"-wal")); err != nil {
		t.Skip(err)
	}
	if _, err := Recover(t.Context(), path, dest, Options{}); err == nil {
		t.Error("Recover() without the log that is there = nil, want an error")
	}
	if _, err := os.Lstat(dest); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	if err := os.WriteFile(dest, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := christen(path, dest); !errors.Is(err, ErrExists) {
		t.Errorf("christen() over a file = %v, want ErrExists", err)
	}
	if text, err := os.ReadFile(dest); string(text) != "mine" {
		t.Errorf("what came there meanwhile is %d bytes, %v", len(text), err)
	}
}

// crashed returns the bytes of a database and of its write-ahead log, as a
// power cut leaves them.
func crashed(t *testing.T, word string) (file, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.db")
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin(t, db, event.SessionID(word))
	tell(t, db, event.SessionID(word), "u", word, hello("m", strings.Repeat(word+" ", 2000))...)
	file, err = os.ReadFile(path)
	if err == nil {
		log, err = os.ReadFile(path + "-wal")
	}
	if err != nil || len(log) == 0 {
		t.Fatalf("no log: %v", err)
	}
	return file, log
}

// What lies beside the file is not what belongs there: the log is gone, is that
// of another database or of an older copy of this one, and what the readers
// share is garbage. The last state without it opens, or it is refused; the file
// never takes anything of it.
func TestWhatLiesBesideIsNotItsOwn(t *testing.T) {
	mine, log := crashed(t, "mine")
	_, other := crashed(t, "other")
	saved := func(t *testing.T, path string) {
		db := open(t, path)
		if s, err := db.Session(t.Context(), "mine"); err != nil || s.Messages != 2 {
			t.Errorf("Session() = %+v, %v", s, err)
		}
		sane(t, db)
	}
	refused := func(t *testing.T, path string) {
		before, _ := os.ReadFile(path)
		for range 2 {
			if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrStray) && !errors.Is(err, ErrCorrupt) {
				t.Errorf("Open() = %v, want that the log is refused", err)
			}
		}
		ro, err := Open(t.Context(), path, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := ro.Sessions(t.Context(), Filter{Query: "other"}); err != nil || len(all) > 0 || !ro.Behind() {
			t.Errorf("read-only it shows %v, %v", all, err)
		}
		ro.Close()
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Error("the file was changed")
		}
	}
	for name, c := range map[string]struct {
		log, shm []byte
		judge    func(*testing.T, string)
	}{
		"its own":         {log, nil, saved},
		"garbage beside":  {log, []byte(strings.Repeat("garbage!", 4096)), saved},
		"gone":            {nil, nil, func(t *testing.T, path string) { sane(t, open(t, path)) }},
		"another's":       {other, nil, refused},
		"another's, both": {other, []byte(strings.Repeat("garbage!", 4096)), refused},
		"garbage":         {[]byte(strings.Repeat("garbage!", 4096)), nil, func(t *testing.T, path string) { sane(t, open(t, path)) }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			for suffix, bytes := range map[string][]byte{"": mine, "-wal": c.log, "-shm": c.shm} {
				if bytes == nil {
					continue
				}
				if err := os.WriteFile(path+suffix, bytes, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.judge(t, path)
		})
	}
	t.Run("of an older copy", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		db := open(t, path)
		begin(t, db, "mine")
		tell(t, db, "mine", "u", "one", hello("m", "one")...)
		old := filepath.Join(t.TempDir(), "old.db")
		if err := db.Backup(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		tell(t, db, "mine", "u2", "two", hello("m2", strings.Repeat("two ", 5000))...)
		log, err := os.ReadFile(path + "-wal")
		if err == nil {
			err = os.WriteFile(old+"-wal", log, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		refused(t, old)
	})
}

// Whoever meets damage while they write stops writing, and the next one looks
// before they begin. A sound file in its place is written to.
func TestDamageIsRemembered(t *testing.T) {
	path, sound, _ := lived(t)
	db := open(t, path)
	var root int
	if err := db.r.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = 'events'`).Scan(&root); err != nil {
		t.Fatal(err)
	}
	db.Close()
	bent := append([]byte(nil), sound...)
	for i := (root - 1) * page; i < root*page; i++ {
		bent[i] ^= 0xa5
	}
	if err := os.WriteFile(path, bent, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, db, "new")
	say := func() error {
		return db.Presenter("new").Present(context.Background(), "", event.Event{At: at(0), Data: event.UserMessage{ID: "u", Content: event.Say("hi")}})
	}
	if err := say(); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("Present() = %v, want ErrCorrupt", err)
	}
	if err := db.SetDraft(t.Context(), "new", "x"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("SetDraft() = %v: it goes on writing", err)
	}
	db.Close()
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Open() = %v, want that it is refused", err)
	}
	ro, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := ro.Sessions(t.Context(), Filter{}); err != nil || len(all) != 6 {
		t.Errorf("read-only, Sessions() = %v, %v", ids(all), err)
	}
	ro.Close()
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	sane(t, open(t, path))
	if left := glob(t, path+damagedSuffix); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Somebody reads for very long while much is written: the log cannot begin anew
// and grows. That is told once, by a check too, and the log is short again when
// they have gone.
func TestALongReader(t *testing.T) {
	const most = 1 << 20
	db := fresh(t)
	begin(t, db, "s")
	if _, err := db.w.Exec(fmt.Sprint(`PRAGMA journal_size_limit = `, most)); err != nil {
		t.Fatal(err)
	}
	other := open(t, db.path)
	tx, err := other.r.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var n int
	if err := tx.QueryRow(`SELECT count(*) FROM events`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	tell(t, db, "s", "u0", "hi", hello("m0", "short")...)
	if got := db.swollen(most); got != 0 {
		t.Errorf("swollen() = %d of a short log", got)
	}
	for i := 1; size(db.path+"-wal") <= 6<<20; i++ { // behind 4 MB a checkpoint is due
		tell(t, db, "s", fmt.Sprint("u", i), "hi", hello(fmt.Sprint("m", i), strings.Repeat("on and on ", 20_000))...)
	}
	if first, second := db.swollen(most), db.swollen(most); first <= most || second != 0 {
		t.Errorf("it is told of %d and then of %d bytes", first, second)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // one to bring all into the file, and one to begin the log anew
		tell(t, db, "s", fmt.Sprint("v", i), "hi", hello(fmt.Sprint("w", i), "short")...)
	}
	if got := size(db.path + "-wal"); got > most {
		t.Errorf("with the reader gone the log has %d bytes", got)
	}
	sane(t, db)
}

// On a network file system nothing is made or opened without consent; with it
// there is no log that others would have to share, and one alone is let in. What
// was written there opens here, and the other way round.
func TestRefusedOnANetwork(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), t.Context()
	far := func(string) bool { return true }
	if _, err := Open(ctx, path, Options{Remote: far}); !errors.Is(err, ErrNetwork) {
		t.Errorf("Open() = %v, want ErrNetwork", err)
	}
	if left := glob(t, path); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
	db := open(t, path) // as a disk of this machine
	begin(t, db, "s")
	tell(t, db, "s", "u", "hi", hello("m", "hello")...)
	db.Close()
	ro, err := Open(ctx, path, Options{Remote: far, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := ro.Check(ctx); err != nil || len(problems) != 1 || problems[0].What != "place" {
		t.Errorf("Check() = %v, %v; want that it tells of the place", problems, err)
	}
	ro.Close()
	db, err = Open(ctx, path, Options{Remote: far, Network: true})
	if err != nil {
		t.Fatal(err)
	}
	tell(t, db, "s", "u2", "hi", hello("m2", "hello")...)
	var mode string
	if err := db.w.QueryRow(`PRAGMA journal_mode`).Scan(&mode); err != nil || mode != "delete" {
		t.Errorf("the journal is %s, %v", mode, err)
	}
	if left := glob(t, path+"-wal"); len(left) > 0 {
		t.Errorf("%v is there", left)
	}
	second := &DB{path: path, options: Options{Remote: far, Network: true}}
	if _, err := second.peep(ctx); !errors.Is(second.fault("open", err), ErrBusy) {
		t.Errorf("somebody else gets in: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for consent, want := range map[bool]error{false: ErrNetwork, true: nil} {
		lone := &DB{path: path, options: Options{Remote: far, Network: consent}}
		if _, err := lone.salvage(ctx, filepath.Join(t.TempDir(), "new.db")); !errors.Is(err, want) {
			t.Errorf("with consent %v salvage() = %v, want %v", consent, err, want)
		}
	}
	db = open(t, path)
	if s, err := db.Session(ctx, "s"); err != nil || s.Messages != 4 {
		t.Errorf("Session() = %+v, %v", s, err)
	}
	sane(t, db)
}

// peep tries to read without patience.
func (db *DB) peep(ctx context.Context) (int, error) {
	conn, err := sql.Open("sqlite", "file:"+db.path+"?mode=ro&_pragma=busy_timeout(1)")
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	return probe(ctx, conn)
}

// A lock file that names a living process, but is held by none, is of somebody
// whose number another has now: it is taken, and what they left is closed, once.
func TestALeaseThatNobodyHolds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	show(t, db.Presenter("s"), event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "half"})
	db.Close()
	lease := fmt.Sprintf(`{"pid":%d,"host":"elsewhere","since":"2020-01-01T00:00:00Z"}`, os.Getppid())
	if err := os.WriteFile(filepath.Join(path+"-locks", "s.lock"), []byte(lease), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		db := open(t, path)
		release, err := db.Lock(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		release()
		log, err := db.Events(t.Context(), "s")
		if err != nil || strings.Count(wire(t, log), `"type":"turn_response"`) != 1 || !strings.Contains(wire(t, log), "half") {
			t.Errorf("the log is %s, %v", wire(t, log), err)
		}
		db.Close()
	}
}

// Whoever presses Esc two hundred times a second interrupts reading, and never a
// write or a checkpoint.
func TestAStormOfCancellations(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	p := db.Presenter("s")
	for turn := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // ends at once
			for range rand.IntN(2000) {
				runtime.Gosched()
			}
			cancel()
		}()
		var s engine.State
		for _, d := range []event.Data{
			event.UserMessage{ID: fmt.Sprint("u", turn), Content: event.Say("question")},
			event.MessageStart{MessageID: fmt.Sprint("m", turn)},
			event.TextDelta{Text: strings.Repeat("answer ", 3000)},
			event.MessageStop{StopReason: event.EndTurn},
		} {
			for e := range mealy.Follow(engine.Step, &s, event.Event{At: at(turn), Data: d}) {
				if err := p.Present(ctx, "", e); err != nil {
					t.Fatalf("turn %d: %v", turn, err)
				}
			}
			_, _ = db.Search(ctx, "answer", 3) // may be cut short
		}
		cancel()
	}
	if log, err := db.Events(t.Context(), "s"); err != nil || len(log) != 160 {
		t.Errorf("%d events, %v; want 160", len(log), err)
	}
	sane(t, db)
}
