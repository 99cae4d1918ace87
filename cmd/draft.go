package cmd

import (
	"context"
	"encoding/json"
	"errors"

	"agentx/engine/event"
	"agentx/tui"
)

// SaveDraft keeps what was written and not sent.
func (d *desk) SaveDraft(ctx context.Context, in event.SessionID, draft tui.Draft) error {
	t := d.current()
	if t == nil || in == "" || d.world.shelf.forgets(in) {
		return nil
	}
	var text []byte
	if !draft.Empty() {
		text, _ = json.Marshal(draft) // strings and numbers always can be
	}
	return d.say(errors.Join(d.keepFiles(ctx, in, draft), d.world.db.SetDraft(ctx, in, string(text)))) // whoever finds the draft finds its files
}

func (d *desk) draft(ctx context.Context, id event.SessionID) (tui.Draft, error) {
	var draft tui.Draft
	text, err := d.world.db.Draft(ctx, id)
	if err != nil || text == "" {
		return draft, err
	}
	if json.Unmarshal([]byte(text), &draft) == nil {
		return draft, nil
	}
	var old struct { // before there were chips
		Text   string
		Queued []string
	}
	if json.Unmarshal([]byte(text), &old) != nil {
		return tui.Draft{Message: tui.Message{Text: text}}, nil
	}
	draft = tui.Draft{Message: tui.Message{Text: old.Text}}
	for _, s := range old.Queued {
		draft.Queued = append(draft.Queued, tui.Message{Text: s})
	}
	return draft, nil
}

// AddPrompt adds to the history of prompts.
func (d *desk) AddPrompt(ctx context.Context, text string) error {
	if t := d.current(); t == nil || !t.kept {
		return nil
	}
	return d.say(d.world.db.AddPrompt(ctx, text))
}
