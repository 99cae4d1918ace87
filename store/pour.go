package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"agentx/engine/event"
)

// A tally is what events come to, all in all.
type tally struct {
	events      int64
	messages    int
	usage       event.Usage
	cost        event.USD
	unpriced    int
	updated     int64
	title       string
	turn        string // of the message that is being answered
	interrupted *bool  // how the last turn ended
}

// count adds what an event adds to its session, but for its title.
func (t *tally) count(g growth) {
	t.messages += g.messages
	t.usage = t.usage.Add(g.usage)
	t.cost += g.cost
	t.unpriced += g.unpriced
	switch {
	case g.ended != nil && *g.ended == t.turn:
		t.turn = ""
	case g.turn != nil:
		t.turn = *g.turn
	}
	if g.interrupted != nil {
		t.interrupted = g.interrupted
	}
}

// keep adds the tally to its session.
func (t *tally) keep(ctx context.Context, tx *sql.Tx, session event.SessionID) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE sessions
		SET head = head + ?2,
			messages = messages + ?3,
			updated = max(updated, ?4),
			title = CASE title WHEN '' THEN ?5 ELSE title END,
			turn = ?6,
			interrupted = coalesce(?7, interrupted),
			input = input + ?8, output = output + ?9,
			cache_read = cache_read + ?10, cache_write = cache_write + ?11, cache_write_1h = cache_write_1h + ?12,
			reasoning = reasoning + ?13, cost = cost + ?14, unpriced = unpriced + ?15
		WHERE id = ?1`,
		string(session), t.events, t.messages, t.updated, t.title, t.turn, t.interrupted,
		t.usage.InputTokens, t.usage.OutputTokens, t.usage.CacheReadTokens, t.usage.CacheWriteTokens, t.usage.CacheWrite1hTokens,
		t.usage.ReasoningTokens, int64(t.cost), t.unpriced)
	return err
}

// pour adds a log that has been counted elsewhere to the end of a session, with
// what is derived from it: as add does event by event, but all at once. Its texts
// are the events as they are kept, so that they stay the same to the byte. The
// first events of an empty session may have come with an image: they have no
// turns.
func pour(ctx context.Context, tx *sql.Tx, session event.SessionID, events []event.Event, texts []string, begun int) error {
	if len(events) == 0 {
		return nil
	}
	t := tally{events: int64(len(events))}
	var key, head int64
	err := tx.QueryRowContext(ctx, `SELECT n, head, turn FROM sessions WHERE id = ?`, string(session)).Scan(&key, &head, &t.turn)
	if err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	words, err := tx.PrepareContext(ctx, indexing)
	if err != nil {
		return err
	}
	defer words.Close()
	heard := listener{words: words, asked: map[string]saying{}}
	for i, e := range events {
		head++
		n, at := key<<32|head, e.At.UnixMilli()
		if _, err := insert.ExecContext(ctx, n, string(session), head, e.Data.Type(), at, texts[i]); err != nil {
			return err
		}
		g := growthOf(e.Data)
		if i < begun {
			g.turn, g.interrupted = nil, nil
		}
		t.count(g)
		t.updated = max(t.updated, at)
		if t.title == "" {
			t.title = g.title
		}
		if err := heard.hear(ctx, e.Data, saying{n, g.text}, i < begun); err != nil {
			return err
		}
	}
	if begun > 0 {
		if _, err := tx.ExecContext(ctx, `UPDATE sessions SET begun = ? WHERE n = ?`, begun, key); err != nil {
			return err
		}
	}
	return t.keep(ctx, tx, session)
}

// A listener puts what is said into the index: a message of the user with the end
// of its turn, as add does, or at once where it came with an image and has none.
type listener struct {
	words *sql.Stmt
	asked map[string]saying // and not answered yet
}

func (l listener) hear(ctx context.Context, d event.Data, said saying, planted bool) error {
	switch d := d.(type) {
	case event.UserMessage:
		if !planted {
			l.asked[d.ID] = said
			return nil
		}
	case event.AssistantMessage:
	case event.TurnResponse:
		said = l.asked[d.MessageID]
		delete(l.asked, d.MessageID)
	default:
		return nil
	}
	text := indexed(said.text)
	if text == "" {
		return nil
	}
	_, err := l.words.ExecContext(ctx, said.n, text)
	return err
}

// A saying is the text of an event.
type saying struct {
	n    int64
	text string
}

// textsOf are events as they are kept.
func textsOf(log []event.Event) ([]string, error) {
	texts := make([]string, len(log))
	for i, e := range log {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	return texts, nil
}
