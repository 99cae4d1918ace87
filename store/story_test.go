package store

import (
	"context"
	"encoding/json"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"

	"github.com/google/go-cmp/cmp"
)

// script is a driver that says what it is told to.
type script []event.Stream

func (s script) Receive(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		for _, d := range s {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func open(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func fresh(t testing.TB) *DB { return open(t, filepath.Join(t.TempDir(), "a.db")) }

func begin(t testing.TB, db *DB, id event.SessionID) {
	t.Helper()
	if err := db.Create(t.Context(), Session{ID: id, Model: "m/1", Dir: "/home/ada"}); err != nil {
		t.Fatal(err)
	}
}

// tell lets the engine answer, and returns all that was shown.
func tell(t testing.TB, db *DB, session event.SessionID, id, text string, says ...event.Stream) []event.Event {
	t.Helper()
	var shown []event.Event
	at := time.UnixMilli(1_700_000_000_000).UTC()
	e := engine.Engine{
		Driver: script(says),
		Presenters: []engine.Presenter{db.Presenter(session), engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
			shown = append(shown, e)
			return nil
		})},
		Now: func() time.Time { at = at.Add(10 * time.Millisecond); return at },
	}
	if err := e.Receive(t.Context(), engine.Request{Session: session, Message: event.UserMessage{ID: id, Content: event.Say(text)}}); err != nil {
		t.Fatal(err)
	}
	return shown
}

// kept are the events of a session's log among those that were shown.
func kept(shown []event.Event) []event.Event {
	var log []event.Event
	for _, e := range shown {
		if l := event.LayerOf(e.Data); l == event.MessageLayer || l == event.TurnLayer {
			log = append(log, e)
		}
	}
	return log
}

// wire is a log as lines of JSON.
func wire(t testing.TB, log []event.Event) string {
	t.Helper()
	var all []byte
	for _, e := range log {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(all, line...), '\n')
	}
	return string(all)
}

func hello(id, text string) []event.Stream {
	return []event.Stream{
		event.MessageStart{MessageID: id, Model: "m-1"},
		event.TextDelta{Text: text},
		event.MessageDelta{Usage: event.Usage{InputTokens: 3, OutputTokens: 5}},
		event.MessageStop{StopReason: event.EndTurn},
	}
}

// What was shown is what is read, after the database was closed and opened
// (F98, F120).
func TestWhatWasShownIsWhatIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "down", "a.db")
	db := open(t, path)
	begin(t, db, "s1")
	shown := tell(t, db, "s1", "u1", "what is the weather?",
		event.MessageStart{MessageID: "m1", Model: "m-1"},
		event.ThinkingDelta{Text: "hm", Signature: "sig"},
		event.TextDelta{Text: "Let me "}, event.TextDelta{Text: "look."},
		event.ToolUseStart{ToolCallID: "c1", ToolName: "weather"},
		event.InputJSONDelta{PartialJSON: `{"city":"Köln"}`},
		event.ToolUseStop{ToolCallID: "c1"},
		event.MessageStop{StopReason: event.ToolUse},
		event.ToolResult{ToolCallID: "c1", Result: event.Output{Text: "rain\x00"}},
		event.MessageStart{MessageID: "m2", Model: "m-1"},
		event.TextDelta{Text: "Rain. 雨です。"},
		event.MessageDelta{Usage: event.Usage{InputTokens: 3, OutputTokens: 5}},
		event.MessageStop{StopReason: event.EndTurn})
	db.Close()

	db = open(t, path)
	log, err := db.Events(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wire(t, kept(shown)), wire(t, log)); diff != "" {
		t.Errorf("Events() (-shown +read)\n%s", diff)
	}
	if len(log) != 7 {
		t.Errorf("the log has %d events, want 7", len(log))
	}
	s, err := db.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "what is the weather?" || s.Messages != 3 || s.Open || s.Usage.OutputTokens != 5 || s.Cost != nil {
		t.Errorf("Session() = %+v", s)
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
