package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentx/engine/event"
	"agentx/store"
	"agentx/tui"
	"agentx/tui/text"
)

// Tag gives a session tags, and takes those away that have a minus before them.
func (d *desk) Tag(ctx context.Context, id event.SessionID, tags []string) ([]string, error) {
	if d.world.shelf.forgets(id) {
		return nil, errors.New("this conversation is not kept, and has no tags")
	}
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	var add, remove []string
	for _, t := range tags {
		if t, off := strings.CutPrefix(t, "-"); off {
			remove = append(remove, t)
		} else {
			add = append(add, strings.TrimPrefix(t, "+"))
		}
	}
	has, err := db.Tag(ctx, id, add, remove)
	return has, d.say(err)
}

// Sessions lists what fits the query.
func (d *desk) Sessions(ctx context.Context, query string) ([]tui.Session, error) {
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	tag, words := tagIn(query)
	if words == "" {
		all, err := db.Sessions(ctx, store.Filter{Limit: 200, Tag: tag})
		var list []tui.Session
		for _, s := range all {
			one := session(s)
			if tag != "" {
				one.Snippets = []string{"#" + strings.Join(one.Tags, " #")}
			}
			list = append(list, one)
		}
		return list, d.say(err)
	}
	hits, err := db.Search(ctx, words, 200)
	hits = slices.DeleteFunc(hits, func(h store.Hit) bool { return tag != "" && !slices.Contains(strings.Fields(h.Session.Tags), tag) })
	return found(hits), d.say(err)
}

// tagIn is the tag that a query asks for, as tag:work, and its other words.
func tagIn(query string) (tag, words string) {
	var rest []string
	for _, w := range strings.Fields(query) {
		if t, ok := strings.CutPrefix(strings.ToLower(w), "tag:"); ok {
			tag = strings.TrimPrefix(t, "#")
		} else {
			rest = append(rest, w)
		}
	}
	return tag, strings.Join(rest, " ")
}

// found are the sessions of hits, each once, with where the words were said.
func found(hits []store.Hit) []tui.Session {
	var list []tui.Session
	at := map[event.SessionID]int{}
	for _, h := range hits {
		i, known := at[h.Session.ID]
		if !known {
			i = len(list)
			at[h.Session.ID] = i
			list = append(list, session(h.Session))
		}
		if h.Seq > 0 && len(list[i].Snippets) < 3 {
			list[i].Snippets = append(list[i].Snippets, h.Snippet)
		}
	}
	return list
}

// Glance shows the last question and how its answer begins.
func (d *desk) Glance(ctx context.Context, id event.SessionID) ([]string, error) {
	db, err := d.world.store(ctx)
	if err != nil {
		return nil, d.say(err)
	}
	events, _, err := db.Tail(ctx, id, 20)
	if err != nil {
		return nil, d.say(err)
	}
	var lines []string
	for _, e := range events {
		switch m := e.Data.(type) {
		case event.UserMessage:
			lines = []string{"› " + strings.Join(strings.Fields(text.Truncate(m.Content.Text(), 500)), " ")}
		case event.AssistantMessage:
			lines = append(lines, beginning(m.Content.Text(), 5)...)
		}
	}
	return lines, nil
}

// beginning is the first n lines of s that are not blank.
func beginning(s string, n int) []string {
	var lines []string
	for line := range strings.Lines(s) {
		if len(lines) == n {
			break
		}
		if strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
	}
	return lines
}

// Rename gives a session another title.
func (d *desk) Rename(ctx context.Context, id event.SessionID, title string) error {
	if t := d.current(); t != nil && t.session == id && !t.kept {
		return errors.New("this conversation is not kept, and has no title")
	}
	c, err := d.world.client(ctx)
	if err != nil {
		return d.say(err)
	}
	return d.say(c.Rename(ctx, id, title))
}

// Delete deletes a session for good.
func (d *desk) Delete(ctx context.Context, id event.SessionID) error {
	if t := d.current(); t != nil && t.session == id {
		return errors.New("this session is open; turn to another one first")
	}
	c, err := d.world.client(ctx)
	if err != nil {
		return d.say(err)
	}
	return d.say(c.DeleteSession(ctx, id))
}
