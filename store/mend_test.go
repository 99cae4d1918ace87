package store

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"pgregory.net/rapid"
)

// turn is a turn with tools, of every kind of event that a driver sends.
var turn = []event.Data{
	event.UserMessage{ID: "u", Content: event.Say("question")},
	event.MessageStart{MessageID: "a", Model: "m-1"},
	event.MessageDelta{Usage: event.Usage{InputTokens: 7}},
	event.ThinkingDelta{Text: "let me "},
	event.ThinkingDelta{Text: "see", Signature: "sig"},
	event.TextDelta{Text: "I look"},
	event.ToolUseStart{ToolCallID: "c1", ToolName: "look"},
	event.InputJSONDelta{PartialJSON: `{"a`},
	event.InputJSONDelta{PartialJSON: `t":1}`},
	event.ToolUseStop{ToolCallID: "c1"},
	event.ToolUseStart{ToolCallID: "c2", ToolName: "touch"},
	event.ToolUseStop{ToolCallID: "c2", Input: []byte(`{}`)},
	event.MessageDelta{Usage: event.Usage{OutputTokens: 5}},
	event.MessageStop{StopReason: event.ToolUse},
	event.ToolResult{ToolCallID: "c1", Result: event.Output{Text: "seen"}},
	event.ToolResult{ToolCallID: "c2", Result: event.Output{Text: "felt"}, IsError: true},
	event.MessageStart{MessageID: "b", Model: "m-1"},
	event.TextDelta{Text: "So "},
	event.TextDelta{Text: "it is."},
	event.MessageDelta{Usage: event.Usage{OutputTokens: 3}},
	event.MessageStop{StopReason: event.EndTurn},
}

func at(i int) time.Time { return time.UnixMilli(1_700_000_000_000 + 10*int64(i)).UTC() }

// played is what is shown of the first n inputs of the turn.
func played(n int, s *engine.State) []event.Event {
	var shown []event.Event
	for i, d := range turn[:n] {
		for e := range mealy.Follow(engine.Step, s, event.Event{At: at(i), Data: d}) {
			shown = append(shown, e)
		}
	}
	return shown
}

// Wherever the process dies, the log that the next one finds is the one that an
// interruption at this place would have left. Time and counts too (F8).
func TestADeathIsAnInterruption(t *testing.T) {
	for n := 1; n <= len(turn); n++ {
		var s engine.State
		shown := played(n, &s)
		follows := len(shown) - len(played(n-1, new(engine.State)))
		if _, ok := turn[n-1].(event.ToolResult); ok {
			follows-- // what was not shown as a message is not there
		}
		for cut := range follows {
			died(t, n, shown[:len(shown)-cut], s)
		}
	}
}

func died(t *testing.T, n int, shown []event.Event, s engine.State) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path)
		begin(t, db, "s")
		p := db.Presenter("s")
		for _, e := range shown {
			if err := p.Present(t.Context(), "", e); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(250 * time.Millisecond)
		db.Close()
	})
	want := kept(played(n, new(engine.State)))
	if s.Open() {
		for e := range mealy.Follow(engine.Step, &s, event.Event{At: at(n - 1), Data: event.Interrupted{Reason: event.BySystem}}) {
			want = append(want, kept([]event.Event{e})...)
		}
	}
	db := open(t, path)
	log, err := db.Events(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if got := wire(t, log); comparable(got) != comparable(wire(t, want)) {
		t.Errorf("dead after %d inputs, at %s:\n%s\nwant\n%s", n, shown[len(shown)-1].Data.Type(), got, wire(t, want))
	}
	if problems, err := db.Check(t.Context()); len(problems) > 0 || err != nil {
		t.Errorf("Check() = %v, %v", problems, err)
	}
	before := wire(t, log)
	db.Close()
	db = open(t, path)
	if log, _ := db.Events(t.Context(), "s"); wire(t, log) != before {
		t.Error("the second start mends what the first has mended")
	}
	db.Close()
}

// comparable leaves out what a log does not know of a message that is whole:
// when its first token came.
func comparable(lines string) string {
	return regexp.MustCompile(`"timeToFirstTokenMs":[^,]*`).ReplaceAllString(lines, "")
}

// A live file that does not belong to the end of its log is not taken for it.
func TestAnOldLiveFileIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	p := db.Presenter("s")
	show(t, p, event.UserMessage{ID: "u", Content: event.Say("go")}, event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "old text"})
	db.Close()
	live := glob(t, path+"-live/*")
	old, err := os.ReadFile(live[0])
	if err != nil {
		t.Fatal(err)
	}
	db = open(t, path) // folds it
	p = db.Presenter("s")
	show(t, p, event.UserMessage{ID: "u2", Content: event.Say("go on")})
	db.Close()
	if err := os.WriteFile(live[0], old, 0o600); err != nil {
		t.Fatal(err)
	}
	log, _ := open(t, path).Events(t.Context(), "s")
	if n := strings.Count(wire(t, log), "old text"); n != 1 {
		t.Errorf("the old text is in the log %d times\n%s", n, wire(t, log))
	}
}

// Whatever bytes a live file has, and wherever it is cut, it is read without a
// panic, as far as it proves itself.
func TestTornLiveFiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &live{head: liveHead{Session: "s", At: 1000, Message: "m"}, ended: true}
		l.frame(kindHeader, at(0), []byte(`{"session":"s"}`))
		var want strings.Builder
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			piece := rapid.String().Draw(t, "piece")
			want.WriteString(piece)
			l.grow(rapid.SampledFrom([]byte{kindText, kindThinking}).Draw(t, "kind"), at(1), piece)
		}
		l.seal()
		whole := string(l.pending)
		read := func(s string) string {
			_, events := parseLive(strings.NewReader(s))
			var b strings.Builder
			for _, e := range events {
				switch d := e.Data.(type) {
				case event.TextDelta:
					b.WriteString(d.Text)
				case event.ThinkingDelta:
					b.WriteString(d.Text)
				}
			}
			return b.String()
		}
		if got := read(whole); got != want.String() {
			t.Fatalf("read %q, want %q", got, want.String())
		}
		if got := read(whole[:rapid.IntRange(0, len(whole)).Draw(t, "cut")]); !strings.HasPrefix(want.String(), got) {
			t.Fatalf("read %q of a torn one, want a beginning of %q", got, want.String())
		}
		bent := []byte(whole)
		bent[rapid.IntRange(0, len(bent)-1).Draw(t, "bent")] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		if got := read(string(bent)); !strings.HasPrefix(want.String(), got) {
			t.Fatalf("read %q of a bent one, want a beginning of %q", got, want.String())
		}
	})
}

func FuzzLive(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00H\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		head, events := parseLive(strings.NewReader(string(b)))
		if head.Session == "" && len(events) > 0 {
			t.Error("events without a session")
		}
	})
}

// A message replaces the turn that runs, and then the writer dies: each turn is
// closed once, and what came of the second answer is kept.
func TestAReplacedTurnIsMended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	begin(t, db, "s")
	p, s := db.Presenter("s"), engine.State{}
	for i, d := range []event.Data{
		event.UserMessage{ID: "u1", Content: event.Say("one")}, event.MessageStart{MessageID: "m1"}, event.TextDelta{Text: "fir"},
		event.UserMessage{ID: "u2", Content: event.Say("no: two")}, event.MessageStart{MessageID: "m2"}, event.TextDelta{Text: "sec"},
	} {
		for e := range mealy.Follow(engine.Step, &s, event.Event{At: at(i), Data: d}) {
			if err := p.Present(t.Context(), "", e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s, _ := db.Session(t.Context(), "s"); !s.Open {
		t.Error("the second turn is not open")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, path)
	log, err := db.Events(t.Context(), "s")
	var got []string
	for _, e := range log {
		switch d := e.Data.(type) {
		case event.AssistantMessage:
			got = append(got, d.Content.Text())
		default:
			got = append(got, nameOfEvent(d))
		}
	}
	want := "user_message turn_request u1 user_message fir turn_response u1 turn_request u2 sec turn_response u2"
	if strings.Join(got, " ") != want || err != nil {
		t.Errorf("the log is %q, %v; want %q", strings.Join(got, " "), err, want)
	}
	sane(t, db)
}
