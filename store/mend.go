package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// mendAll closes what writers left open that have died. Those who live hold
// the lock of their session. A session that cannot be mended does not keep the
// others from being read: who wants to write to it will be told.
func (db *DB) mendAll(ctx context.Context) error {
	ids, err := db.torn(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if release, err := db.seize(ctx, id, false); err == nil {
			release()
		}
	}
	return nil
}

// torn are the sessions with a live file, and those of the last thousand with
// an open turn. An older one is mended when somebody goes on with it.
func (db *DB) torn(ctx context.Context) ([]event.SessionID, error) {
	rows, err := db.w.QueryContext(ctx, `
		SELECT id FROM (SELECT id, turn FROM sessions ORDER BY n DESC LIMIT 1000)
		WHERE turn <> ''`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []event.SessionID
	for rows.Next() {
		var id event.SessionID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(db.path + "-live")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".log") {
			continue
		}
		head, _, err := readLive(filepath.Join(db.path+"-live", e.Name()))
		if err == nil && head.Session != "" && !slices.Contains(ids, head.Session) {
			ids = append(ids, head.Session)
		}
	}
	return ids, nil
}

// mend closes the turn that a writer of the session left open, with what came
// of the answer. The session's lock is held.
func (db *DB) mend(ctx context.Context, session event.SessionID) error {
	head, stream, err := readLive(db.livePath(session))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left := err == nil
	var turn string
	err = db.w.QueryRowContext(ctx, `SELECT turn FROM sessions WHERE id = ?`, string(session)).Scan(&turn)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if turn != "" {
		if head.Session != session {
			stream = nil
		}
		err = db.write(ctx, "mend", func(ctx context.Context, tx *sql.Tx) error {
			step, err := db.step(ctx, tx, session)
			if err != nil {
				return err
			}
			return mend(ctx, tx, session, head.Head, stream, step, true)
		})
		if err != nil {
			return err
		}
	}
	if left {
		return os.Remove(db.livePath(session))
	}
	return nil
}

// mend adds to the log what its open turn lacks. The stream is the message that
// began when the log's head was at head.
func mend(ctx context.Context, tx *sql.Tx, session event.SessionID, head int64, stream []event.Event, step engine.Processor, counts bool) error {
	began, err := seqOf(ctx, tx, logs, session, "user_message")
	if err != nil || began == 0 {
		return err
	}
	log, err := eventsOf(ctx, tx, logs, session, began, endless)
	if err != nil {
		return err
	}
	last, err := seqOf(ctx, tx, logs, session, "assistant_message", "user_message", "error_message", "turn_response")
	if err != nil {
		return err
	}
	if last > head {
		stream = nil // it is in the log
	}
	for _, e := range lack(log, stream, step) {
		if err := add(ctx, tx, session, e, counts); err != nil {
			return err
		}
	}
	return nil
}

// lack returns what the log of a turn lacks to be closed, when after it there
// came what stream says, and then nothing more: the engine's own answer to an
// interruption, without what is in the log already.
func lack(log, stream []event.Event, step engine.Processor) []event.Event {
	var s engine.State
	known := map[string]bool{}
	for _, e := range log {
		known[nameOfEvent(e.Data)] = true
	}
	recall(&s, step, log)
	stream = append(slices.Clip(stream), unfinished(log, stream)...)
	at := log[len(log)-1].At
	if n := len(stream); n > 0 && stream[n-1].At.After(at) {
		at = stream[n-1].At
	}

	var missing []event.Event
	asked := log[0].Data.(event.UserMessage).ID
	if !known[event.TurnRequest{}.Type()+" "+asked] {
		for e := range mealy.Follow(step, new(engine.State), log[0]) {
			if _, ok := e.Data.(event.Turn); ok {
				missing = append(missing, e)
			}
		}
	}
	stream = append(stream, event.Event{At: at, Data: event.Interrupted{Reason: event.BySystem}})
	for _, in := range stream {
		if !s.Open() {
			break // the answer had ended, but for the commit
		}
		for e := range mealy.Follow(step, &s, in) {
			if layer := event.LayerOf(e.Data); (layer == event.MessageLayer || layer == event.TurnLayer) && !known[nameOfEvent(e.Data)] {
				missing = append(missing, e)
			}
		}
	}
	return missing
}

// nameOfEvent tells the events of a turn from each other.
func nameOfEvent(d event.Data) string {
	switch d := d.(type) {
	case event.AssistantMessage:
		return d.Type() + " " + d.ID + " " + d.Content.Text()
	case event.ToolCallMessage:
		return d.Type() + " " + d.ID
	case event.TurnRequest:
		return d.Type() + " " + d.MessageID
	case event.TurnResponse:
		return d.Type() + " " + d.MessageID
	}
	return d.Type()
}

// recall brings the state to where the log's whole messages leave it. The end
// of a turn that was replaced stands behind the message that replaced it.
func recall(s *engine.State, step engine.Processor, log []event.Event) {
	asked := log[0].Data.(event.UserMessage).ID
	take := func(e event.Event) { *s, _ = step(*s, e) }
	take(log[0])
	for _, e := range log[1:] {
		m, ok := e.Data.(event.AssistantMessage)
		if !ok || m.ParentID != "" && m.ParentID != asked {
			continue
		}
		began := m.Timestamp.Time()
		take(event.Event{At: began, Data: event.MessageStart{MessageID: m.ID, Model: m.Model}})
		if len(m.Content) > 0 {
			take(event.Event{At: began, Data: event.TextDelta{}}) // the first token came by then
		}
		if m.Usage != nil {
			take(event.Event{At: e.At, Data: event.MessageDelta{Usage: *m.Usage}})
		}
		for _, call := range calls(log, m.ID) {
			take(call)
		}
		take(event.Event{At: e.At, Data: event.MessageStop{StopReason: event.ToolUse}})
		take(e)
	}
}

// calls are the tool calls of a message.
func calls(log []event.Event, message string) []event.Event {
	var all []event.Event
	for _, e := range log {
		if c, ok := e.Data.(event.ToolCallMessage); ok && c.ParentID == message {
			all = append(all, e)
		}
	}
	return all
}

// unfinished are the pieces of tool calls that are in the log, but neither in a
// message of it nor in the stream: what a power cut takes from a live file.
func unfinished(log, stream []event.Event) []event.Event {
	streamed := map[string]bool{}
	open := ""
	for _, e := range stream {
		switch d := e.Data.(type) {
		case event.MessageStart:
			open = d.MessageID
		case event.ToolUseStop:
			streamed[d.ToolCallID] = true
		}
	}
	whole := map[string]bool{}
	for _, e := range log {
		if m, ok := e.Data.(event.AssistantMessage); ok {
			whole[m.ID] = true
		}
	}
	var pieces []event.Event
	for _, e := range log {
		c, ok := e.Data.(event.ToolCallMessage)
		if !ok || whole[c.ParentID] || streamed[c.ToolCall.ID] {
			continue
		}
		piece := func(d event.Data) { pieces = append(pieces, event.Event{At: e.At, Data: d}) }
		if open != c.ParentID {
			open = c.ParentID
			piece(event.MessageStart{MessageID: c.ParentID})
		}
		piece(event.ToolUseStart{ToolCallID: c.ToolCall.ID, ToolName: c.ToolCall.Name})
		piece(event.ToolUseStop{ToolCallID: c.ToolCall.ID, Input: c.ToolCall.Input})
	}
	return pieces
}
