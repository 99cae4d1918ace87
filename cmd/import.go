package cmd

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/store"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

// Limits of what is imported at once.
const (
	maxImportLine = 64 << 20
	maxImport     = 1 << 30
	maxImported   = 1_000_000 // events
)

func sessionImport(w *world) *cobra.Command {
	var title string
	var fresh, asJSON bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Make a session of what `session export --format json` or -o stream-json has written; - is stdin",
		Args: exactly("a file, or - for stdin"),
		RunE: func(c *cobra.Command, args []string) error {
			s, events, err := w.imported(args[0])
			if err != nil {
				return err
			}
			s.Title = cmp.Or(title, s.Title)
			if fresh || s.ID == "" {
				s.ID = newSessionID()
			}
			return w.importSession(c.Context(), s, events, asJSON)
		},
	}
	c.Flags().StringVarP(&title, "name", "n", "", "`TITLE` of the session")
	c.Flags().BoolVar(&fresh, "new-id", false, "give it another ID than it had")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (w *world) importSession(ctx context.Context, s store.Session, events []event.Event, asJSON bool) error {
	db, err := w.store(ctx)
	if err != nil {
		return err
	}
	err = db.Import(ctx, s, events)
	if errors.Is(err, engine.ErrExists) {
		return usage("there is a session %s already; --new-id imports it beside that", s.ID)
	}
	if err != nil {
		return err
	}
	if asJSON {
		if s, err = db.Session(ctx, s.ID); err != nil {
			return err
		}
		return writeLine(w.stdout, list(s, ""))
	}
	_, err = fmt.Fprintln(w.stdout, s.ID)
	return err
}

// imported reads a session from a file, or from stdin.
func (w *world) imported(name string) (store.Session, []event.Event, error) {
	in, what := w.stdin, "stdin"
	if name != "-" {
		f, err := openRegular(name)
		if err != nil {
			return store.Session{}, nil, usage("%v", err)
		}
		defer f.Close()
		in, what = f, text.Line(name)
	} else if isTerminal(in) {
		return store.Session{}, nil, usage("what to import comes on stdin, and that is a terminal: agentx session import FILE")
	}
	s, events, err := readSession(in)
	if err != nil && !errors.Is(err, os.ErrClosed) {
		err = usage("%s cannot be imported: %v", what, err)
	}
	return s, events, err
}

// readSession reads lines of JSON: a head, and events. Of these, what a session
// is made of is kept: messages and turns.
func readSession(in io.Reader) (s store.Session, events []event.Event, err error) {
	limited := &io.LimitedReader{R: in, N: maxImport}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxImportLine)
	n := 0
	for lines.Scan() {
		line := lines.Bytes()
		if n++; n == 1 {
			line = []byte(strings.TrimPrefix(string(line), "\ufeff"))
			if s, err = headOf(line); err != nil {
				return s, nil, err
			}
			continue
		}
		if strings.TrimSpace(string(line)) == "" {
			continue
		}
		e, ok, err := lineOf(line)
		if err != nil {
			return s, nil, fmt.Errorf("line %d: %w", n, err)
		}
		if ok {
			events = append(events, e)
		}
		if len(events) > maxImported {
			return s, nil, fmt.Errorf("it has more than %d messages and turns", maxImported)
		}
	}
	switch {
	case lines.Err() != nil:
		return s, nil, fmt.Errorf("line %d: %w", n+1, lines.Err())
	case limited.N <= 0:
		return s, nil, fmt.Errorf("it is larger than %d MB", maxImport>>20)
	case len(events) == 0:
		return s, nil, errors.New("nothing is said in it")
	}
	if s.Created.IsZero() {
		s.Created = events[0].At
	}
	return s, events, nil
}

// headOf reads the first line: of an export or of a stream.
func headOf(line []byte) (store.Session, error) {
	var head struct {
		Type      string          `json:"type"`
		ID        event.SessionID `json:"id"`
		SessionID event.SessionID `json:"session_id"`
		Title     string          `json:"title"`
		Model     string          `json:"model"`
		Dir       string          `json:"dir"`
		Cwd       string          `json:"cwd"`
		Created   time.Time       `json:"created"`
		Tags      []string        `json:"tags"`
	}
	err := json.Unmarshal(line, &head)
	if err != nil || head.Type != "session" && head.Type != "init" {
		return store.Session{}, errors.New("it is neither an export as JSON nor the output of -o stream-json")
	}
	s := store.Session{
		ID: cmp.Or(head.ID, head.SessionID), Title: engine.OneLine(head.Title, 200), Model: engine.OneLine(head.Model, 200),
		Dir: cmp.Or(head.Dir, head.Cwd), Created: head.Created,
	}
	if len(s.ID) > 200 || engine.OneLine(string(s.ID), 200) != string(s.ID) {
		return s, errors.New("the ID of its session is none")
	}
	for _, t := range head.Tags {
		if t, err = store.TagOf(t); err == nil {
			s.Tags = strings.TrimSpace(s.Tags + " " + t)
		}
	}
	return s, nil
}

// lineOf reads an event, or false where no session keeps it.
func lineOf(line []byte) (event.Event, bool, error) {
	var of struct {
		Type   string `json:"type"`
		Source string `json:"source"` // of a stream
	}
	if err := json.Unmarshal(line, &of); err != nil {
		return event.Event{}, false, errors.New("it is no JSON")
	}
	if of.Type == "result" || of.Source != "" && of.Source != "agent" {
		return event.Event{}, false, nil
	}
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return e, false, err
	}
	layer := event.LayerOf(e.Data)
	return e, layer == event.MessageLayer || layer == event.TurnLayer, nil
}
