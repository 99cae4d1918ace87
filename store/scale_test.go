package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentx/engine/event"
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

// A session of 100,000 messages is resumed by its end, in a fraction of what
// reading it all takes.
func TestResumeOfALongSession(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 messages")
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	long(t, db, "s", 100_000)
	db.Close()

	clock := time.Now()
	lap := func(what string) time.Duration {
		took := time.Since(clock)
		t.Logf("%-10s %v", what, took.Round(10*time.Microsecond))
		clock = time.Now()
		return took
	}
	db = open(t, path)
	tail, more, err := db.Tail(t.Context(), "s", 200)
	if took := lap("open, tail"); err != nil || len(tail) != 200 || !more || took > 300*time.Millisecond {
		t.Errorf("Tail() = %d events, %v, %v in %v; want 200 in 300 ms", len(tail), more, err, took)
	}
	hits, err := db.Search(t.Context(), "subject7 matt", 10)
	if took := lap("search"); err != nil || len(hits) != 1 || took > time.Second {
		t.Errorf("Search() = %d hits, %v in %v", len(hits), err, took)
	}
	hits, err = db.Search(t.Context(), "m", 10)
	if took := lap("search m"); err != nil || len(hits) != 1 || took > time.Second {
		t.Errorf("Search(in every message) = %d hits, %v in %v", len(hits), err, took)
	}
	all, err := db.Events(t.Context(), "s")
	if lap("events"); err != nil || len(all) != 200_000 {
		t.Errorf("Events() = %d, %v", len(all), err)
	}
	tell(t, db, "s", "last", "one more", hello("mlast", "yes")...)
	lap("one turn")
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
