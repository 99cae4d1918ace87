package store

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// first copies a database that the first schema's program has written: a
// session of two turns with a tool, its fork, one that was renamed, one that
// was deleted, one whose writer died, and what lies beside sessions.
func first(t testing.TB) string {
	t.Helper()
	f, err := os.Open("testdata/v1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A database of the first version keeps everything when it is opened by this
// one, can be frozen and thawed, and its copy is as it was.
func TestADatabaseOfTheFirstVersionKeepsEverything(t *testing.T) {
	path, ctx := first(t), t.Context()
	tables := []string{"sessions", "events", "drafts", "queue", "prompts", "states"}
	ro, err := Open(ctx, path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string]string{} // that the first version knows
	for _, table := range tables {
		names, err := ask(ctx, ro.r, `SELECT group_concat(name, ', ') FROM pragma_table_info('`+table+`')`)
		if err != nil {
			t.Fatal(err)
		}
		columns[table] = strings.ReplaceAll(names[0], "state", "hex(state)")
	}
	rows := func(db *DB, table string) string { // but for those of the writer that died, which is mended
		where := map[string]string{"sessions": ` WHERE id <> 'torn'`, "events": ` WHERE session <> 'torn'`, "states": ` WHERE id <> '` + identity + `'`}[table]
		all, err := ask(ctx, db.r, `SELECT json_array(`+columns[table]+`) FROM `+table+where+` ORDER BY 1`)
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %d rows, %v", table, len(all), err)
		}
		return strings.Join(all, "\n")
	}
	before := map[string]string{}
	for _, table := range tables {
		before[table] = rows(ro, table)
	}
	if all, err := ro.Sessions(ctx, Filter{Query: "weather"}); err != nil || len(all) != 2 {
		t.Errorf("read-only, Sessions(weather) = %s, %v", ids(all), err)
	}
	if all, err := ro.Images(ctx); err != nil || len(all) != 0 {
		t.Errorf("read-only, Images() = %v, %v; it has none", all, err)
	}
	if _, err := ro.Image(ctx, "x"); !errors.Is(err, ErrNotFound) {
		t.Errorf("read-only, Image(x) = %v, want ErrNotFound", err)
	}
	if problems, err := ro.Check(ctx); len(problems) > 0 || err != nil {
		t.Errorf("read-only, Check() = %v, %v", problems, err)
	}
	spent, err := ro.Stats(ctx, time.Time{}, "")
	if err != nil || len(spent) == 0 {
		t.Errorf("read-only, Stats() = %+v, %v", spent, err)
	}
	if _, err := ro.Stats(ctx, time.Time{}, BySession); err == nil {
		t.Error("read-only, Stats(by session) knows what was not counted")
	}

	db := open(t, path)
	for _, table := range tables {
		if after := rows(db, table); after != before[table] {
			t.Errorf("%s was\n%s\nand is\n%s", table, before[table], after)
		}
	}
	ro.Close()
	if now, err := db.Stats(ctx, time.Time{}, ""); err != nil || !slices.EqualFunc(counted(now), counted(spent), same) {
		t.Errorf("Stats() was\n%+v\nand is\n%+v, %v", spent, now, err)
	}
	if s, err := db.Session(ctx, "torn"); err != nil || s.Open || !s.Interrupted {
		t.Errorf("the writer that died has left %+v, %v", s, err)
	}
	if hits, err := db.Search(ctx, "雨", 0); err != nil || len(hits) != 2 {
		t.Errorf("Search(雨) = %v, %v", hits, err)
	}
	im, err := db.Freeze(ctx, "weather", engine.Image{Name: "before"})
	if err != nil || im.Length != 7 {
		t.Fatalf("Freeze() = %+v, %v", im, err)
	}
	if err := db.Thaw(ctx, im.ID, Session{ID: "again"}); err != nil {
		t.Fatal(err)
	}
	tell(t, db, "again", "u3", "and on Sunday?", hello("m4", "Snow.")...)
	if problems, err := db.Check(ctx); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
	copies := glob(t, strings.TrimSuffix(path, ".db")+"-v1-*.db")
	if len(copies) != 1 {
		t.Fatalf("copies: %v, want one", copies)
	}
	kept, err := Open(ctx, copies[0], Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	if s, err := kept.Session(ctx, event.SessionID("torn")); err != nil || !s.Open {
		t.Errorf("in the copy, the writer that died has left %+v, %v", s, err)
	}
}

// counted are the stats in which something was counted.
func counted(all []Stat) []Stat {
	return slices.DeleteFunc(slices.Clone(all), func(s Stat) bool { return s.Usage == event.Usage{} })
}

// same leaves out the number of requests: in the first version it is that of
// turns.
func same(a, b Stat) bool {
	a.Requests, b.Requests = 0, 0
	return a == b
}
