package cmd

import (
	"context"
	"slices"
	"strings"

	"agentx/engine/event"
)

// Page returns a part of a session.
func (d *desk) Page(ctx context.Context, in event.SessionID, first int64, n int) ([]event.Event, error) {
	t, err := d.at(ctx, in)
	if err != nil {
		return nil, d.say(err)
	}
	var events []event.Event
	from := int64(1)
	if t.kept {
		events, from, err = d.world.db.Page(ctx, in, first+int64(n), n)
	} else {
		events, err = t.events(ctx)
	}
	events = events[min(max(first-from, 0), int64(len(events))):]
	return events[:min(n, len(events))], d.say(err)
}

// Find finds words in a part of a session.
func (d *desk) Find(ctx context.Context, in event.SessionID, query string, first, next int64, last bool) (int64, error) {
	if d.world.shelf.forgets(in) {
		t, err := d.at(ctx, in)
		if err != nil {
			return 0, d.say(err)
		}
		events, err := t.events(ctx)
		return sought(events, query, first, next, last), d.say(err)
	}
	db, err := d.world.store(ctx)
	if err != nil {
		return 0, d.say(err)
	}
	seq, err := db.Seek(ctx, in, query, first, next, last)
	return seq, d.say(err)
}

// sought counts the first event, or the last, from first on and before next in
// which all words of a query are said; 0 where there is none.
func sought(events []event.Event, query string, first, next int64, last bool) int64 {
	words := strings.Fields(strings.ToLower(query))
	var found int64
	for seq := max(first, 1); seq < min(next, int64(len(events))+1); seq++ {
		says := strings.ToLower(saying(events[seq-1].Data))
		if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(says, w) }) {
			continue
		}
		if found = seq; !last {
			break
		}
	}
	return found
}

// saying is what an event says to a reader.
func saying(d event.Data) string {
	switch d := d.(type) {
	case event.UserMessage:
		return d.Content.Text()
	case event.AssistantMessage:
		return d.Content.Thinking() + " " + d.Content.Text()
	case event.ToolResultMessage:
		return d.ToolResult.Output.String()
	}
	return ""
}
