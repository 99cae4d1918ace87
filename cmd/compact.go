package cmd

import (
	"context"
	"errors"
	"strings"

	"agentx/tui"
)

// Compact turns to a session that is to begin with a summary of the open one.
func (d *desk) Compact(ctx context.Context, focus string) (tui.Opened, string, error) {
	t := d.current()
	last, err := d.lastQuestion(ctx, t)
	if err != nil || len(last.Content) == 0 {
		return tui.Opened{}, "", d.say(errors.Join(err, errors.New("there is nothing to sum up yet")))
	}
	o := options{recall: t.session, noSave: !t.kept, model: t.choice().Name(), system: t.prompt(), title: d.titleOf(ctx, t)}
	opened, err := d.turnTo(ctx, o)
	opened.Notice = "What follows knows a summary of the conversation above. The whole of it stays in session " + shortID(t.session) + "; /sessions goes back to it."
	return opened, summaryPrompt(focus), err
}

// titleOf is what the open session is called; empty where nobody can say.
func (d *desk) titleOf(ctx context.Context, t *talk) string {
	s, err := t.client.Session(ctx, string(t.session))
	if err != nil {
		return ""
	}
	return s.Title
}

// summaryPrompt asks for a summary that a conversation can go on with.
func summaryPrompt(focus string) string {
	ask := "Summarise our conversation so far, so that we can go on with your summary alone. " +
		"Keep what was asked, what was decided and why, facts, names, numbers, file names and code that still matter, and what is open. " +
		"Leave out greetings and detours. Write the summary only."
	if focus = strings.TrimSpace(focus); focus != "" {
		ask += " Pay most attention to: " + focus
	}
	return ask
}
