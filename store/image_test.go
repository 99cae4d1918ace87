package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// freeze freezes a session, and thaw begins one from an image.
func freeze(t testing.TB, db *DB, from event.SessionID, im engine.Image) engine.Image {
	t.Helper()
	im, err := db.Freeze(t.Context(), from, im)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func thaw(t testing.TB, db *DB, id event.ImageID, to event.SessionID) {
	t.Helper()
	if err := db.Thaw(t.Context(), id, Session{ID: to}); err != nil {
		t.Fatal(err)
	}
}

func countOf(t testing.TB, db *DB, table string) (n int) {
	t.Helper()
	if err := db.w.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func sane(t testing.TB, db *DB) {
	t.Helper()
	if problems, err := db.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
}

// Images that begin alike share what they have in common, whoever took them;
// each that goes takes only what nobody else needs, in any order (F112).
func TestImagesShareWhatTheyHaveInCommon(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	tell(t, db, "s", "u1", "one", hello("m1", "first")...)
	a := freeze(t, db, "s", engine.Image{System: "Be kind.", Sandbox: []engine.File{{Path: "a.txt", Data: []byte("a")}}})
	tell(t, db, "s", "u2", "two", hello("m2", "second")...)
	b := freeze(t, db, "s", engine.Image{System: "Be kind.", Sandbox: []engine.File{{Path: "a.txt", Data: []byte("a")}, {Path: "b.txt", Data: []byte("b")}}})
	thaw(t, db, a.ID, "other")
	tell(t, db, "other", "u3", "three", hello("m3", "third")...)
	c := freeze(t, db, "other", engine.Image{System: "Be brief."})
	if c.Parent != a.ID || b.Parent != "" {
		t.Errorf("parents: %q, %q; want none and %s", b.Parent, c.Parent, a.ID)
	}
	if err := db.Fork(t.Context(), "other", "twin"); err != nil {
		t.Fatal(err)
	}
	if d := freeze(t, db, "twin", engine.Image{System: "Be brief."}); d.ID != c.ID || d.Session != "other" {
		t.Errorf("the fork is frozen as %s of %s, want %s of other", d.ID, d.Session, c.ID)
	}
	want := func(nodes, blobs int) {
		t.Helper()
		if n, b := countOf(t, db, "nodes"), countOf(t, db, "blobs"); n != nodes || b != blobs {
			t.Errorf("%d messages and %d blobs are kept, want %d and %d", n, b, nodes, blobs)
		}
		sane(t, db)
	}
	want(2+2+2, 2+2) // prompts, files
	for _, step := range []struct {
		gone         event.ImageID
		nodes, blobs int
	}{{a.ID, 6, 4}, {b.ID, 4, 1}, {c.ID, 0, 0}} {
		if err := db.DeleteImage(t.Context(), step.gone); err != nil {
			t.Fatal(err)
		}
		want(step.nodes, step.blobs)
	}
	if s, err := db.Session(t.Context(), "twin"); err != nil || s.Image != a.ID || s.Messages != 4 {
		t.Errorf("what was begun from an image that is gone is %+v, %v", s, err)
	}
}

// A session that was begun from an image is one like others: it is found, goes
// on, is forked before and behind where it began, and is mended (F113).
func TestAThawedSessionIsASession(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "a.db"), t.Context()
	db := open(t, path)
	begin(t, db, "s")
	tell(t, db, "s", "u1", "one apple", hello("m1", "<first>")...)
	tell(t, db, "s", "u2", "two pears", hello("m2", "second & last")...)
	spent, _ := db.Stats(ctx, time.Time{}, ByModel)
	im := freeze(t, db, "s", engine.Image{Model: "m/2"})
	thaw(t, db, im.ID, "new")
	for _, word := range []string{"apple", "first", "pears", "second"} {
		if hits, err := db.Search(ctx, word, 0); err != nil || len(hits) != 2 || hits[0].Session.ID != "new" {
			t.Errorf("Search(%s) = %v, %v; want both sessions", word, hits, err)
		}
	}
	s, err := db.Session(ctx, "new")
	if err != nil || s.Title != "one apple" || s.Model != "m/2" || s.Messages != 4 || s.Usage != (event.Usage{}) || s.Cost == nil || *s.Cost != 0 ||
		s.Open || s.Image != im.ID || s.ParentID != "" {
		t.Errorf("Session(new) = %+v, %v", s, err)
	}
	for to, before := range map[event.SessionID]string{"half": "u2", "all": "", "none": "u1"} {
		if err := db.ForkBefore(ctx, "new", to, before); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[event.SessionID]int{"half": 2, "all": 4, "none": 0} {
		log, err := db.Events(ctx, id)
		s, _ := db.Session(ctx, id)
		if err != nil || len(log) != want || s.Open || s.Interrupted || s.Image != im.ID || s.ParentID != "new" {
			t.Errorf("%s has %d events, %v, and is %+v", id, len(log), err, s)
		}
	}
	if again := freeze(t, db, "all", engine.Image{}); again.ID != im.ID || again.Created != im.Created {
		t.Errorf("frozen as it was thawed it is %s, want %s", again.ID, im.ID)
	}
	now, _ := db.Stats(ctx, time.Time{}, ByModel)
	if len(now) != 1 || now[0] != spent[0] {
		t.Errorf("Stats() = %+v, want %+v: nothing was said", now, spent)
	}

	show(t, db.Presenter("new"), event.UserMessage{ID: "u3", Content: event.Say("three")}, event.MessageStart{MessageID: "m3"}, event.TextDelta{Text: "thi"})
	if open := freeze(t, db, "new", engine.Image{}); open.ID != im.ID {
		t.Errorf("a turn that runs has been frozen: %+v", open)
	}
	db.Close()
	db = open(t, path)
	log, err := db.Events(ctx, "new")
	if err != nil || len(log) != 4+4 || log[7].Data.(event.TurnResponse).StopReason != event.StopInterrupted {
		t.Errorf("mended, it is %v\n%s", err, wire(t, log))
	}
	if done := freeze(t, db, "new", engine.Image{}); done.Length != 6 || done.Parent != im.ID {
		t.Errorf("frozen when it was mended it is %+v", done)
	}
	sane(t, db)
}

// The message that replaces a turn is in the log before that turn's end. It is
// of the turn that runs, and so in no image.
func TestAReplacedTurnIsFrozenWithoutWhatReplacesIt(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	say := func(id, text string) event.Event {
		return event.Event{At: at(1), Data: event.UserMessage{ID: id, Content: event.Say(text)}}
	}
	half := event.Event{At: at(2), Data: event.AssistantMessage{ID: "m1", Content: event.Parts{event.Text{Text: "wel"}}, Incomplete: true}}
	err := db.Append(t.Context(), "s",
		say("u1", "hello"), event.Event{At: at(1), Data: event.TurnRequest{TurnID: "turn_u1", MessageID: "u1"}},
		say("u2", "no: goodbye"), half,
		event.Event{At: at(2), Data: event.TurnResponse{TurnID: "turn_u1", MessageID: "u1"}},
		event.Event{At: at(2), Data: event.TurnRequest{TurnID: "turn_u2", MessageID: "u2"}})
	if err != nil {
		t.Fatal(err)
	}
	im, err := db.Image(t.Context(), string(freeze(t, db, "s", engine.Image{}).ID))
	if want := wire(t, []event.Event{say("u1", "hello"), half}); err != nil || wire(t, im.Messages) != want {
		t.Errorf("Messages are\n%s%v, want\n%s", wire(t, im.Messages), err, want)
	}
}

// What somebody changed beside us is told, and the rest is read all the same.
func TestAnImageThatWasChangedIsNotBelieved(t *testing.T) {
	for name, damage := range map[string]string{
		"a message":        `DROP TRIGGER nodes_never_change; UPDATE nodes SET event = replace(event, 'kind', 'mean')`,
		"no JSON":          `DROP TRIGGER nodes_never_change; UPDATE nodes SET event = '{' WHERE n = 1`,
		"an order":         `DROP TRIGGER nodes_never_change; UPDATE nodes SET hash = x'00' WHERE n = 1`,
		"a message gone":   `PRAGMA foreign_keys = 0; DELETE FROM nodes WHERE n = 1`,
		"the last gone":    `PRAGMA foreign_keys = 0; DELETE FROM nodes WHERE n = 2`,
		"the prompt":       `DROP TRIGGER blobs_never_change; UPDATE blobs SET data = x'00' WHERE n = 1`,
		"the prompt gone":  `PRAGMA foreign_keys = 0; DELETE FROM blobs WHERE n = 1`,
		"a file":           `DROP TRIGGER files_never_change; UPDATE files SET path = '../b'`,
		"a file's content": `DROP TRIGGER blobs_never_change; UPDATE blobs SET data = x'00' WHERE n = 2`,
		"tools":            `DROP TRIGGER images_never_change; UPDATE images SET tools = '["rm"]'`,
		"no tools":         `DROP TRIGGER images_never_change; UPDATE images SET tools = '["rm"'`,
		"the model":        `DROP TRIGGER images_never_change; UPDATE images SET model = 'dear/1'`,
	} {
		t.Run(name, func(t *testing.T) {
			db := fresh(t)
			begin(t, db, "s")
			tell(t, db, "s", "u1", "be kind", hello("m1", "I am kind")...)
			im := freeze(t, db, "s", engine.Image{System: "Be.", Tools: []string{"ls"}, Sandbox: []engine.File{{Path: "a", Data: []byte("a")}}})
			if _, err := db.w.Exec(damage); err != nil {
				t.Fatal(err)
			}
			if got, err := db.Image(t.Context(), string(im.ID)); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), string(im.ID)) {
				t.Errorf("Image() = %+v, %v; want ErrCorrupt and which", got, err)
			}
			if err := db.Thaw(t.Context(), im.ID, Session{ID: "new"}); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Thaw() = %v, want ErrCorrupt", err)
			}
			if _, err := db.Session(t.Context(), "new"); !errors.Is(err, ErrNotFound) {
				t.Errorf("a session was made all the same: %v", err)
			}
			if log, err := db.Events(t.Context(), "s"); err != nil || len(log) != 4 {
				t.Errorf("the session has %d events, %v", len(log), err)
			}
			if problems, err := db.Check(t.Context()); len(problems) == 0 && err == nil {
				t.Error("Check() finds nothing")
			}
		})
	}
}

func TestNoRowOfAnImageChanges(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	tell(t, db, "s", "u1", "hello", hello("m1", "hi")...)
	freeze(t, db, "s", engine.Image{Name: "mine", Sandbox: []engine.File{{Path: "a", Data: []byte("a")}}})
	for _, change := range []string{
		`UPDATE nodes SET event = '{}'`, `UPDATE blobs SET data = x''`, `UPDATE files SET mode = 1`, `UPDATE images SET created = 1`,
		`UPDATE images SET name = 'yours'`, `DELETE FROM nodes`, `DELETE FROM blobs`,
	} {
		if _, err := db.w.Exec(change); err == nil {
			t.Errorf("%s succeeds", change)
		}
	}
	sane(t, db)
}

// freezer goes on with a conversation, freezes it at every turn, and deletes
// what it froze before, until it is killed. It says what it has.
func freezer(path string) {
	ctx := context.Background()
	db, err := Open(ctx, path, Options{})
	for turn := 0; err == nil; turn++ {
		var log []event.Event
		for i := range 20 {
			id := fmt.Sprint(os.Getpid(), "-", turn, "-", i)
			log = append(log, event.Event{At: at(turn), Data: event.UserMessage{ID: "u" + id, Content: event.Say(strings.Repeat("word ", 100))}},
				event.Event{At: at(turn), Data: event.TurnRequest{TurnID: "turn_u" + id, MessageID: "u" + id}},
				event.Event{At: at(turn), Data: event.AssistantMessage{ID: "a" + id, Content: event.Parts{event.Text{Text: strings.Repeat("answer ", 100)}}}},
				event.Event{At: at(turn), Data: event.TurnResponse{TurnID: "turn_u" + id, MessageID: "u" + id}})
		}
		err = db.Append(ctx, "s", log...)
		var im engine.Image
		if err == nil {
			im, err = db.Freeze(ctx, "s", engine.Image{System: "Be kind.", Sandbox: []engine.File{{Path: "turn", Data: fmt.Append(nil, os.Getpid(), turn)}}})
		}
		fmt.Println("frozen", im.ID, im.Length)
		if err == nil && turn%3 == 2 {
			fmt.Println("going", im.ID)
			err = db.DeleteImage(ctx, im.ID)
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// A process that freezes is killed at random moments. What it has said it froze
// is whole, what it was freezing is whole or not there, and nothing else is left.
func TestKilledWhileFreezing(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	db.Close()
	var kept []string
	for round := range rounds {
		for _, l := range killAfter(t, "AGENTX_TEST_FREEZER="+path, 1+rand.IntN(8), time.Duration(rand.IntN(30_000))*time.Microsecond) {
			words := strings.Fields(l)
			switch {
			case len(words) < 2: // cut off
			case words[0] == "frozen" && len(words) == 3:
				kept = append(kept, words[1])
			case words[0] == "going":
				kept = slices.DeleteFunc(kept, func(id string) bool { return id == words[1] })
			case words[0] == "error":
				t.Fatal(l)
			}
		}
		db := open(t, path)
		sane(t, db)
		for _, id := range kept {
			if im, err := db.Image(t.Context(), id); err != nil || len(im.Messages)%40 != 0 {
				t.Errorf("round %d: Image(%s) has %d messages, %v", round, id, len(im.Messages), err)
			}
		}
		all, err := db.Images(t.Context())
		if err != nil || len(all) < len(kept) {
			t.Errorf("round %d: %d images, %v; %d were frozen", round, len(all), err, len(kept))
		}
		db.Close()
	}
	t.Logf("%d images were frozen", len(kept))
}

// What it takes to freeze and thaw a long conversation: for the first time,
// unchanged, after one more turn; and what a copy of it as one JSON text takes.
// Bytes are those handed to write(2).
func BenchmarkFreeze(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		path := filepath.Join(b.TempDir(), "a.db")
		db := open(b, path)
		long(b, db, "s", n)
		ctx := b.Context()
		turn := 0
		frozen := func(b *testing.B) engine.Image { return freeze(b, db, "s", engine.Image{System: prose[:8000]}) }
		more := func(b *testing.B) {
			turn++
			tell(b, db, "s", fmt.Sprint("v", turn), "what now", hello(fmt.Sprint("w", turn), "this")...)
		}
		forget := func(b *testing.B) {
			if all, _ := db.Images(ctx); len(all) > 0 {
				if err := db.DeleteImage(ctx, all[0].ID); err != nil {
					b.Fatal(err)
				}
			}
		}
		none := func(*testing.B) {}
		thawed := 0
		for _, bench := range []struct {
			name          string
			prepare, work func(*testing.B)
		}{
			{"first", forget, func(b *testing.B) { frozen(b) }},
			{"again", none, func(b *testing.B) { frozen(b) }},
			{"turn", more, func(b *testing.B) { frozen(b) }},
			{"naive", more, func(b *testing.B) {
				if _, err := db.w.Exec(`CREATE TABLE IF NOT EXISTS naive (id INTEGER PRIMARY KEY, log TEXT)`); err != nil {
					b.Fatal(err)
				}
				_, err := db.w.Exec(`INSERT INTO naive (log) SELECT json_group_array(event) FROM events WHERE type LIKE '%message'`)
				if err != nil {
					b.Fatal(err)
				}
			}},
			{"whole", none, func(b *testing.B) {
				if _, err := db.Image(ctx, string(frozen(b).ID)); err != nil {
					b.Fatal(err)
				}
			}},
			{"thaw", none, func(b *testing.B) {
				thawed++
				thaw(b, db, frozen(b).ID, event.SessionID(fmt.Sprint("t", thawed)))
			}},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, bench.name), func(b *testing.B) {
				var bytes int64
				for b.Loop() {
					b.StopTimer()
					bench.prepare(b)
					before, _ := written(b)
					b.StartTimer()
					bench.work(b)
					b.StopTimer()
					after, _ := written(b)
					bytes += after - before
					b.StartTimer()
				}
				b.ReportMetric(float64(bytes)/float64(b.N), "written/op")
			})
		}
	}
}

// To delete an image costs what it takes away, whatever there is beside it: no
// table is read from end to end.
func TestDeletingAnImageLooksAtNoOther(t *testing.T) {
	db := fresh(t)
	long(t, db, "s", 100)
	freeze(t, db, "s", engine.Image{})
	tell(t, db, "s", "last", "one more", hello("mlast", "yes")...)
	im := freeze(t, db, "s", engine.Image{})
	before := countOf(t, db, "nodes")
	if err := db.DeleteImage(t.Context(), im.ID); err != nil {
		t.Fatal(err)
	}
	if after := countOf(t, db, "nodes"); before-after != 2 {
		t.Errorf("%d messages went, want the 2 of the last turn", before-after)
	}
	rows, err := db.w.Query(`EXPLAIN QUERY PLAN `+dropping, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	steps := 0
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(detail, "SCAN") && detail != "SCAN gone" {
			t.Errorf("%s: reads all of it", detail)
		}
		steps++
	}
	if steps < 5 {
		t.Errorf("a plan of %d steps", steps)
	}
}
