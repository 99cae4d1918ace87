package cmd

import (
	"context"
	"errors"
	"slices"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/tui"
)

// lastQuestion is the last message of the user in a session.
func (d *desk) lastQuestion(ctx context.Context, t *talk) (event.UserMessage, error) {
	events, err := t.events(ctx)
	if err != nil {
		return event.UserMessage{}, err
	}
	for i := len(events) - 1; i >= 0; i-- {
		if m, ok := events[i].Data.(event.UserMessage); ok {
			return m, nil
		}
	}
	return event.UserMessage{}, errors.New("there is no message to answer yet")
}

// Asked is a message of the user, by its id or as the nth from the end.
func (d *desk) Asked(ctx context.Context, n int, id string) (tui.Asked, error) {
	t := d.current()
	session := t.session
	if id != "" {
		b, _, err := d.holder(ctx, t, id)
		if err != nil {
			return tui.Asked{}, d.say(err)
		}
		session = b
	}
	a, err := lookUp(ctx, t.client, session, n, id)
	return a, d.say(err)
}

// lookUp looks for a message from the end, page by page.
func lookUp(ctx context.Context, c runtime.Client, session event.SessionID, n int, id string) (tui.Asked, error) {
	for before := int64(0); ; {
		page, first, err := c.Messages(ctx, session, before, 200)
		if err != nil {
			return tui.Asked{}, err
		}
		for _, e := range slices.Backward(page) {
			m, ok := e.Data.(event.UserMessage)
			if !ok {
				continue
			}
			n--
			if m.ID == id || id == "" && n == 0 {
				return tui.Asked{ID: m.ID, Content: m.Content}, nil
			}
		}
		if first <= 1 || len(page) == 0 {
			return tui.Asked{}, errors.New("there is no such message of yours")
		}
		before = first
	}
}

// holder is a branch on which a message was asked, the open one where it can be,
// and the message that was asked next there, if one was.
func (d *desk) holder(ctx context.Context, t *talk, message string) (branch event.SessionID, next string, err error) {
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return "", "", err
	}
	slices.SortStableFunc(all, func(a, b engine.Branch) int { return first(b, t.session) - first(a, t.session) })
	for _, b := range all {
		for i, a := range b.Asked {
			if a.ID != message {
				continue
			}
			if i+1 < len(b.Asked) {
				next = b.Asked[i+1].ID
			}
			return b.Session.ID, next, nil
		}
	}
	return "", "", errors.New("there is no such message in this session")
}

func first(b engine.Branch, id event.SessionID) int {
	if b.Session.ID == id {
		return 1
	}
	return 0
}

// Branch turns to another way of the open session, as it was before a message.
func (d *desk) Branch(ctx context.Context, before string) (tui.Opened, error) {
	t := d.current()
	to, err := t.client.Branch(ctx, t.session, before)
	if errors.Is(err, engine.ErrNotFound) { // it was asked on another branch; to find out which is to read them all
		var from event.SessionID
		if from, _, err = d.holder(ctx, t, before); err == nil {
			to, err = t.client.Branch(ctx, from, before)
		}
	}
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.goTo(ctx, t, to)
}

// goTo turns to another branch, with the model and the system prompt of this.
func (d *desk) goTo(ctx context.Context, t *talk, to event.SessionID) (tui.Opened, error) {
	return d.turnTo(ctx, options{at: to, noSave: !t.kept, model: t.choice().Name(), system: t.prompt()})
}

// Tree is drawn for the open branch.
func (d *desk) Tree(ctx context.Context) ([]tui.Twig, error) {
	t := d.current()
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return nil, d.say(err)
	}
	var twigs []tui.Twig
	for _, r := range engine.Grow(all).Rows(t.session) {
		twigs = append(twigs, tui.Twig{ID: r.ID, At: r.At.Time(), Lead: r.Lead, Text: r.Text, Ends: len(r.Ends), On: r.On, Here: r.Here})
	}
	return twigs, nil
}

// Climb goes on behind a message: on a branch that ends there, or on a new one.
func (d *desk) Climb(ctx context.Context, message string) (tui.Opened, error) {
	t := d.current()
	all, err := t.client.Branches(ctx, t.session)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	for _, r := range engine.Grow(all).Rows(t.session) {
		switch {
		case r.ID != message:
		case slices.Contains(r.Ends, t.session):
			o, err := d.opened(ctx, t)
			return o, d.say(err)
		case len(r.Ends) > 0:
			return d.goTo(ctx, t, r.Ends[0])
		}
	}
	from, next, err := d.holder(ctx, t, message)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	to, err := t.client.Branch(ctx, from, next)
	if err != nil {
		return tui.Opened{}, d.say(err)
	}
	return d.goTo(ctx, t, to)
}
