package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Where the live file cannot be written, one event says so, the stream goes on,
// and the answer is saved when it is whole.
func TestTheLiveFileFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := fresh(t)
		begin(t, db, "s")
		p := db.Presenter("s")
		complaints := 0
		say := func(d event.Data) {
			if err := p.Present(t.Context(), "", event.Event{At: time.Now(), Data: d}); err != nil {
				complaints++
				if !strings.Contains(err.Error(), db.path) {
					t.Errorf("%v does not name the file", err)
				}
			}
		}
		began := event.MillisOf(time.Now())
		say(event.UserMessage{ID: "u", Content: event.Say("go")})
		if err := os.Mkdir(db.livePath("s"), 0o700); err != nil { // in its place
			t.Fatal(err)
		}
		say(event.MessageStart{MessageID: "m"})
		for range 10 {
			say(event.TextDelta{Text: "on and on"})
			time.Sleep(100 * time.Millisecond)
		}
		say(event.MessageStop{StopReason: event.EndTurn})
		say(event.AssistantMessage{ID: "m", Timestamp: began, Content: event.Parts{event.Text{Text: "on and on"}}})
		say(event.TurnResponse{TurnID: "turn_u", MessageID: "u"})
		if complaints != 1 {
			t.Errorf("%d events complained, want one", complaints)
		}
		if log, err := db.Events(t.Context(), "s"); err != nil || len(log) != 4 {
			t.Errorf("%d events are saved, %v; want 4", len(log), err)
		}
		os.Remove(db.livePath("s"))
		db.Close()
	})
}

// After a failed fsync nothing more is written: what the disk has is not known.
func TestADiskThatCannotBeTrusted(t *testing.T) {
	db := fresh(t)
	begin(t, db, "s")
	db.distrust(errors.New("fsync: input/output error"))
	err := db.Presenter("s").Present(t.Context(), "", event.Event{Data: event.UserMessage{ID: "u"}})
	if !errors.Is(err, ErrIO) {
		t.Errorf("Present() = %v, want ErrIO", err)
	}
	if s, err := db.Session(t.Context(), "s"); err != nil || s.Messages != 0 {
		t.Errorf("Session() = %+v, %v; what is there can be read", s, err)
	}
}

// A page that was flipped is found, and nothing is repaired.
func TestDamageIsFoundAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	long(t, db, "s", 2000)
	db.Close()
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 20 * page; i < 24*page; i++ {
		bytes[i] ^= 0xa5
	}
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err = Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	problems, err := db.Check(t.Context())
	if len(problems) == 0 && !errors.Is(err, ErrCorrupt) {
		t.Errorf("Check() = %v, %v; want damage", problems, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(bytes) {
		t.Error("the file was changed")
	}
}

// crowd leaves the database no room for another page, until it is undone.
func crowd(t *testing.T, db *DB) (undo func()) {
	t.Helper()
	set := func(n int) {
		if _, err := db.w.Exec(fmt.Sprint(`PRAGMA max_page_count = `, n)); err != nil {
			t.Fatal(err)
		}
	}
	set(1) // it cannot be less than there are
	return func() { set(1 << 30) }
}

// The disk fills up while an answer comes. What could not be saved of it is
// saved with the next message, when there is room again, be the session locked
// by somebody in this process or not.
func TestWhatIsOwedIsSavedLater(t *testing.T) {
	for _, owned := range []bool{true, false} {
		t.Run(fmt.Sprint("owned ", owned), func(t *testing.T) {
			db := fresh(t)
			begin(t, db, "s")
			if owned {
				release, err := db.Lock(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				defer release()
			}
			p, s := db.Presenter("s"), engine.State{}
			var failed []error
			say := func(data ...event.Data) {
				t.Helper()
				for i, d := range data {
					for e := range mealy.Follow(engine.Step, &s, event.Event{At: at(i), Data: d}) {
						if err := p.Present(t.Context(), "", e); err != nil {
							failed = append(failed, err)
						}
					}
				}
			}
			text := strings.Repeat("a long answer ", 2000)
			say(event.UserMessage{ID: "u1", Content: event.Say("one")}, event.MessageStart{MessageID: "m1"}, event.TextDelta{Text: text})
			room := crowd(t, db)
			say(event.MessageStop{StopReason: event.EndTurn})
			if len(failed) == 0 || !errors.Is(failed[0], ErrDiskFull) {
				t.Fatalf("it failed with %v, want ErrDiskFull", failed)
			}
			before := len(failed)
			say(event.UserMessage{ID: "no", Content: event.Say(strings.Repeat("this is not sent ", 1000))})
			if len(failed) == before {
				t.Fatal("a message was saved where there is no room")
			}
			room()
			s, failed = engine.State{}, nil
			say(event.UserMessage{ID: "u2", Content: event.Say("two")}, event.MessageStart{MessageID: "m2"}, event.TextDelta{Text: "short"}, event.MessageStop{StopReason: event.EndTurn})
			if len(failed) > 0 {
				t.Errorf("with room again: %v", failed)
			}
			log, err := db.Events(t.Context(), "s")
			var said []string
			for _, e := range log {
				switch d := e.Data.(type) {
				case event.UserMessage:
					said = append(said, d.Content.Text())
				case event.AssistantMessage:
					said = append(said, d.Content.Text())
				}
			}
			if want := []string{"one", text, "two", "short"}; err != nil || !slices.Equal(said, want) {
				t.Errorf("kept are %.40q, %v", said, err)
			}
			sane(t, db)
		})
	}
}
