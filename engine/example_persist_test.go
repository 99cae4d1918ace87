package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"agentx/engine"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

// keeping writes what is worth keeping, one line each: whole messages and turns.
// Deltas and states can be derived again; messages are never written twice.
func keeping(w io.Writer) engine.Presenter {
	return engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		switch e.Data.(type) {
		case event.Message, event.Turn:
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			_, err = w.Write(append(line, '\n'))
			return err
		}
		return nil
	})
}

// remembered reads what has been said.
func remembered(r io.Reader) (said []event.Message, err error) {
	for lines := json.NewDecoder(r); ; {
		var e event.Event
		switch err := lines.Decode(&e); {
		case errors.Is(err, io.EOF):
			return said, nil
		case err != nil:
			return nil, err
		}
		if m, ok := e.Data.(event.Message); ok {
			said = append(said, m)
		}
	}
}

// An elephant repeats the first thing that it was ever told.
func elephant(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	first := ""
	for m := range req.Messages() {
		if u, ok := m.(event.UserMessage); ok {
			first = u.Content.Text()
			break
		}
	}
	return script.Say(
		event.MessageStart{MessageID: "re_" + req.Message.ID, Model: "elephant-1"},
		event.TextDelta{Text: "You said: " + first},
		event.MessageStop{StopReason: event.EndTurn},
	).Receive(ctx, req)
}

// ask answers one message of the conversation that the file holds.
func ask(file string, m event.UserMessage) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	history, err := remembered(f)
	if err != nil {
		return err
	}
	e := engine.Engine{Driver: engine.DriverFunc(elephant), Presenters: []engine.Presenter{keeping(f)}}
	return e.Receive(context.Background(), engine.Request{History: history, Message: m})
}

// Nobody holds the conversation: every question reads it from its file, and a
// presenter writes it back. The next may be answered by another process
// (F5, F25).
func ExamplePresenter_persist() {
	dir, err := os.MkdirTemp("", "agentx")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "session.jsonl")
	for i, text := range []string{"I like peanuts.", "What do I like?"} {
		if err := ask(file, event.UserMessage{ID: fmt.Sprint("u", i+1), Content: event.Say(text)}); err != nil {
			fmt.Println(err)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	said, err := remembered(f)
	for _, m := range said {
		switch m := m.(type) {
		case event.UserMessage:
			fmt.Println(m.ID, "asks:  ", m.Content.Text())
		case event.AssistantMessage:
			fmt.Println(m.ParentID, "answer:", m.Content.Text())
		}
	}
	fmt.Println(err)
	// Output:
	// u1 asks:   I like peanuts.
	// u1 answer: You said: I like peanuts.
	// u2 asks:   What do I like?
	// u2 answer: You said: I like peanuts.
	// <nil>
}
