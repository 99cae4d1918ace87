package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// long makes a session of n messages in one transaction.
func long(t testing.TB, db *DB, id event.SessionID, n int) {
	t.Helper()
	begin(t, db, id)
	err := db.write(t.Context(), "fill", func(ctx context.Context, tx *sql.Tx) error {
		for i := range n / 2 {
			when, message := at(i), fmt.Sprint("u", i)
			text := fmt.Sprintf("message %d is about subject%d and matters little", i, i%1000)
			for _, d := range []event.Data{
				event.UserMessage{ID: message, Content: event.Say(text), Timestamp: event.MillisOf(when)},
				event.TurnRequest{TurnID: "turn_" + message, MessageID: message, Content: event.Say(text)},
				event.AssistantMessage{ID: "a" + message, Content: event.Parts{event.Text{Text: strings.Repeat(text+"; ", 5)}}},
				event.TurnResponse{TurnID: "turn_" + message, MessageID: message},
			} {
				if err := add(ctx, tx, id, event.Event{At: when, Data: d}, true); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A long session is resumed by its end, searched, and gone on with.
func TestResumeOfALongSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	long(t, db, "s", 2_000)
	db.Close()

	db = open(t, path)
	tail, more, err := db.Tail(t.Context(), "s", 200)
	if err != nil || len(tail) != 200 || !more {
		t.Errorf("Tail() = %d events, %v, %v; want 200 and more before them", len(tail), more, err)
	}
	for _, query := range []string{"subject7 matt", "m"} {
		if hits, err := db.Search(t.Context(), query, 10); err != nil || len(hits) != 1 {
			t.Errorf("Search(%q) = %d hits, %v; want the one session", query, len(hits), err)
		}
	}
	if all, err := db.Events(t.Context(), "s"); err != nil || len(all) != 4_000 {
		t.Errorf("Events() = %d, %v", len(all), err)
	}
	tell(t, db, "s", "last", "one more", hello("mlast", "yes")...)
}

// What it takes to come back to a short and to a long session: opening it at
// its end, searching it, and beside them reading all of it.
func BenchmarkResume(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		path := filepath.Join(b.TempDir(), "a.db")
		db := open(b, path)
		long(b, db, "s", n)
		db.Close()
		ctx := b.Context()
		for name, read := range map[string]func(*DB) error{
			"tail":   func(db *DB) error { _, _, err := db.Tail(ctx, "s", 200); return err },
			"search": func(db *DB) error { _, err := db.Search(ctx, "subject7 matt", 10); return err },
			"all":    func(db *DB) error { _, err := db.Events(ctx, "s"); return err },
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					db, err := Open(ctx, path, Options{})
					if err != nil {
						b.Fatal(err)
					}
					if err := read(db); err != nil {
						b.Fatal(err)
					}
					db.Close()
				}
			})
		}
	}
}

// A turn at the end of a long session, and the same where the log is one JSON
// text that is written anew, which is what a file of messages does.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("after=%d/ours", n), func(b *testing.B) {
			db := fresh(b)
			long(b, db, "s", n)
			for i := 0; b.Loop(); i++ {
				tell(b, db, "s", fmt.Sprint("v", i), "what now", hello(fmt.Sprint("m", i), "this")...)
			}
		})
		b.Run(fmt.Sprintf("after=%d/naive", n), func(b *testing.B) {
			db := fresh(b)
			long(b, db, "s", n)
			log, err := db.Events(b.Context(), "s")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := db.w.Exec(`CREATE TABLE naive (id INTEGER PRIMARY KEY, log TEXT)`); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for range 2 { // commits of a turn
					log = append(log, event.Event{Data: event.UserMessage{ID: "v", Content: event.Say("what now")}})
					text, err := json.Marshal(log)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := db.w.Exec(`INSERT INTO naive VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET log = ?1`, string(text)); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// A short message at the end of a long session, to an agent that has lived there
// for a while, and to one that has to read all of it first.
func BenchmarkMessage(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		db := fresh(b)
		long(b, db, "s", n)
		minted := 0
		mint := func(prefix string) string { minted++; return fmt.Sprint(prefix, minted) }
		r := runtime.New(runtime.Config{Bus: &bus.Bus{}, Journal: db, Now: time.Now, NewID: mint})
		d := runtime.Definition{Driver: engine.DriverFunc(func(_ context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
			if len(req.History) < n {
				b.Fatalf("asked with %d of %d messages", len(req.History), n)
			}
			id := mint("m")
			return func(yield func(event.Stream, error) bool) {
				_ = yield(event.MessageStart{MessageID: id}, nil) && yield(event.TextDelta{Text: "yes"}, nil) &&
					yield(event.MessageStop{StopReason: event.EndTurn}, nil)
			}
		})}
		settled := r.Container("c").Run(d, "s")
		for name, a := range map[string]func() *runtime.Agent{
			"known": func() *runtime.Agent { return settled },
			"anew":  func() *runtime.Agent { return r.Container("c").Run(d, "s") },
		} {
			b.Run(fmt.Sprintf("after=%d/%s", n, name), func(b *testing.B) {
				if err := settled.Receive(b.Context(), event.Say("hello")); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := a().Receive(b.Context(), event.Say("now?")); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// What a delta costs who streams.
func BenchmarkDelta(b *testing.B) {
	db := fresh(b)
	begin(b, db, "s")
	p := db.Presenter("s")
	show(b, p, event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m"})
	e := event.Event{At: at(1), Data: event.TextDelta{Text: "four"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Present(b.Context(), "", e); err != nil {
			b.Fatal(err)
		}
	}
}

// A branch at the end of a short and of a long session, as /retry makes one, and
// the same where it is a copy. It is taken away again, or the file would grow.
func BenchmarkBranch(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		for name, fork := range map[string]func(*DB, context.Context, event.SessionID, event.SessionID, string) error{
			"ours": (*DB).BranchBefore, "naive": (*DB).ForkBefore,
		} {
			b.Run(fmt.Sprintf("after=%d/%s", n, name), func(b *testing.B) {
				db := fresh(b)
				long(b, db, "s", n)
				last := fmt.Sprint("u", n/2-1)
				for b.Loop() {
					if err := fork(db, b.Context(), "s", "b", last); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					if _, err := db.w.Exec(`DELETE FROM sessions WHERE id = 'b'`); err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
				}
			})
		}
	}
}
