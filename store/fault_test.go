package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine/event"
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
