//go:build unix

package cmd

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentx/engine/event"
	"agentx/store"
)

// What keys of the full screen send.
const (
	altT   = "\x1bt"
	pgUp   = "\x1b[5~"
	toHome = "\x1b[H"
	toEnd  = "\x1b[F"
)

// full waits for the other screen to be shown, or not.
func (w *window) full(want bool) {
	w.t.Helper()
	w.until(fmt.Sprint("the full screen: ", want), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.emu.IsAltScreen() == want && w.book.modes[1000] == want
	})
}

// To the full screen and back while an answer comes: each word is there once.
func TestChatFullScreen(t *testing.T) {
	h := newHouse(t)
	w := h.open(80, 16, nil, "-m", "openai/slow", "count")
	w.sees("word20.")
	w.types(altT)
	w.full(true)
	w.sees("word280.")
	w.types(pgUp)
	w.sees("End to the latest")
	w.types(toEnd)
	h.gate <- struct{}{}
	w.sees("word300.", "Ask anything")
	w.types(altT)
	w.full(false)
	w.sees("word300.", "Ask anything")
	w.ready()
	all := w.all()
	for n := 1; n <= 300; n++ {
		if got := strings.Count(all, fmt.Sprintf("word%d.", n)); got != 1 {
			t.Fatalf("word%d. is there %d times, want once:\n%s", n, got, all)
		}
	}
	w.leaves()
}

// Who comes back to a long session looks at its beginning, and finds in the middle
// of it what was never on the screen.
func TestChatFullScreenPages(t *testing.T) {
	h := newHouse(t)
	h.remembers("Long", 500)
	w := h.open(80, 20, nil, "-r", "Long", "--fullscreen", "-m", "openai/echo")
	w.full(true)
	w.sees("question499 of many")
	w.types(toHome)
	w.sees("question0 of many")
	w.types(toEnd)
	w.sees("question499 of many", "Ask anything")
	w.says("/find question141")
	w.sees("▎question141 of many")
	w.types(esc)
	w.signal(syscall.SIGTERM)
	w.ends(128 + int(syscall.SIGTERM))
	w.restored()
}

// Another holds the sessions and does not let go. What was written meanwhile is
// printed when the chat ends, as it was written.
func TestChatWrittenInVain(t *testing.T) {
	for way, flags := range inlineAndFull {
		t.Run(way, func(t *testing.T) {
			h := newHouse(t)
			h.remembers("Old", 1)
			db, err := sql.Open("sqlite", filepath.Join(h.home, ".local/share/agentx/agentx.db")+"?_pragma=locking_mode(EXCLUSIVE)&_txlock=exclusive")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			held, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = held.Rollback() }()
			w := h.open(80, 24, nil, append(flags, "-m", "openai/echo")...)
			w.sees("Opening your sessions")
			w.says("a question that waits")
			w.sees("Ask anything")
			w.types(pasteBegin + strings.Repeat("one of many lines\n", 30) + pasteEnd)
			w.sees("pasted 30 lines")
			w.types("and half a w")
			w.sees("and half a w")
			w.signal(syscall.SIGTERM)
			w.ends(128 + int(syscall.SIGTERM))
			w.reads("neither sent nor kept", "a question that waits", strings.Repeat("one of many lines ", 30)+"and half a w")
			w.restored()
		})
	}
}

// remembers puts a session of so many questions and answers into the database.
func (h *house) remembers(title string, n int) {
	h.t.Helper()
	path := filepath.Join(h.home, ".local/share/agentx/agentx.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	db, err := store.Open(h.t.Context(), path, store.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	var events []event.Event
	for i := range n {
		id := fmt.Sprint("u", i)
		for _, d := range []event.Data{
			event.UserMessage{ID: id, Content: event.Say(fmt.Sprintf("question%d of many", i))},
			event.AssistantMessage{ID: fmt.Sprint("a", i), Content: event.Parts{event.Text{Text: fmt.Sprintf("answer%d", i)}}, StopReason: event.EndTurn},
			event.TurnResponse{MessageID: id},
		} {
			events = append(events, event.Event{At: time.Now(), Data: d})
		}
	}
	s := store.Session{ID: "01990000-0000-7000-8000-000000000001", Title: title, Dir: h.dir}
	if err := errors.Join(db.Create(h.t.Context(), s), db.Append(h.t.Context(), s.ID, events...)); err != nil {
		h.t.Fatal(err)
	}
}
