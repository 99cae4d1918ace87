package tui

import (
	"context"
	"slices"
	"strings"

	"agentx/tui/dialog"
	"agentx/tui/palette"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// openPalette lists every action.
func (m Model) openPalette() (Model, tea.Cmd) {
	var list []palette.Item
	for _, a := range m.table.actions {
		if a.name == "palette" || a.name == "cancel" || a.full && !m.full.on {
			continue
		}
		list = append(list, palette.Item{ID: a.name, Title: pad(a.name, 9), Detail: a.help, Hint: a.hintOf()})
	}
	return m.choose(palette.Config{Title: "Commands", Enter: "run", NoMatch: "No such command."}, list, func(m Model, _ palette.Model, out tea.Msg) (Model, tea.Cmd) {
		chosen, ok := out.(palette.Chosen)
		if !ok {
			return m, nil
		}
		m = m.close()
		if a, ok := m.table.named(chosen.ID); ok {
			return a.do(m, "")
		}
		return m, nil
	}), nil
}

func (m Model) showKeys() (Model, tea.Cmd) {
	rows := []dialog.Row{{Left: "Writing"},
		{Left: "Enter", Right: "send; while an answer runs: queue"},
		{Left: "Shift+Enter, \\Enter", Right: "new line"},
		{Left: "Alt+Enter, Ctrl+J", Right: "new line, where Shift+Enter sends"},
		{Left: "Up, Down", Right: "history; take a queued message back"},
		{Left: "Ctrl+R", Right: "search the history"},
		{Left: "Ctrl+A E U K W Y T _", Right: "as in a shell; Alt+_ redoes"},
		{Left: "Alt+B F D U L C T Y .", Right: "words, as in a shell"},
		{Left: "@", Right: "a file: Tab chooses; it goes along"},
		{Left: "!", Right: "a command: runs after a yes"},
		{Left: "Actions"},
	}
	switch {
	case m.full.focus != none:
		rows = append(readingKeys(), rows...)
	case m.full.on:
		rows = slices.Insert(rows, len(rows)-1, readingKeys()...)
	}
	for _, a := range m.table.actions {
		if len(a.keys) == 0 || a.full && !m.full.on {
			continue
		}
		keys := make([]string, len(a.keys))
		for i, k := range a.keys {
			keys[i] = spell(k)
		}
		help := a.help
		if a.empty {
			help += " (on an empty line)"
		}
		rows = append(rows, dialog.Row{Left: strings.Join(keys, ", "), Right: help})
	}
	return m.read("Keys", "", rows)
}

// readingKeys are those of the conversation, while it has them.
func readingKeys() []dialog.Row {
	return []dialog.Row{
		{Left: "Reading (Shift+Tab, a click)"},
		{Left: "Up, Down, k, j", Right: "from message to message"},
		{Left: "[, ]", Right: "from one of your messages to the next"},
		{Left: "Ctrl+D U F B E Y", Right: "scroll, as in less"},
		{Left: "Home, End, g, G", Right: "the beginning; what is said now"},
		{Left: "/, n, N", Right: "search; the place above, below"},
		{Left: "Space, Enter", Right: "fold and unfold thoughts and calls"},
		{Left: "y, c", Right: "copy the message; its code"},
		{Left: "e, r", Right: "edit what was asked; ask it again: on a branch"},
		{Left: "f", Right: "go on from there, on a branch"},
		{Left: "Esc, q, i", Right: "back to writing"},
	}
}

func (m Model) showHelp() (Model, tea.Cmd) {
	var rows []dialog.Row
	for _, a := range m.table.actions {
		if a.slash != "" {
			rows = append(rows, dialog.Row{Left: strings.TrimSpace("/" + a.slash + " " + a.args), Right: a.help})
		}
	}
	body := "A slash at the beginning of a line makes a command of it; a space before it keeps it a message."
	if _, ok := m.table.named("keys"); ok {
		body += " /keys shows the keys."
	}
	return m.read("Commands", body, rows)
}

func (m Model) cost() (Model, tea.Cmd) {
	var rows []dialog.Row
	for _, r := range m.footer.Rows() {
		if r[1] != "" {
			rows = append(rows, dialog.Row{Left: r[0], Right: r[1]})
		}
	}
	return m.read("What this session has used", "", rows)
}

func (m Model) read(title, body string, rows []dialog.Row) (Model, tea.Cmd) {
	return m.question(func(c dialog.Config) dialog.Model { return c.Text(dialog.Text{Title: title, Body: body, Rows: rows}) }, nil), nil
}

func (m Model) system(prompt string) (Model, tea.Cmd) {
	if prompt != "" {
		return m.setSystem(prompt)
	}
	ask := dialog.Prompt{Title: "System prompt", Body: "What every answer should heed. Empty: nothing.", Value: m.open.System, Empty: true}
	return m.question(func(c dialog.Config) dialog.Model { return c.Prompt(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		return m.setSystem(a.Text)
	}), nil
}

func (m Model) setSystem(prompt string) (Model, tea.Cmd) {
	return fetch(m, "change the system prompt", func(ctx context.Context, b Backend) (struct{}, error) { return struct{}{}, b.SetSystem(ctx, prompt) },
		func(m Model, _ struct{}) (Model, tea.Cmd) {
			m.open.System = prompt
			return m.say(transcript.Info, "The system prompt counts from the next message on."), nil
		})
}

func (m Model) repaint() (Model, tea.Cmd) {
	m.term.repaint()
	return m, nil
}

func (m Model) suspend() (Model, tea.Cmd) {
	t := m.term
	return m, func() tea.Msg { t.suspend(); return nil }
}

// edit opens the composer's text in the user's editor.
func (m Model) edit(string) (Model, tea.Cmd) {
	t, d := m.term, m.composer.Draft()
	return m, func() tea.Msg {
		after, err := t.edit(d.Text)
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil {
				return m.say(transcript.Failure, sentence(err, ""), "Your text is as it was."), nil
			}
			if after != d.Text {
				m.composer = m.composer.SetDraft(d.Edited(after))
			}
			return m.keepDraft()
		}}
	}
}

// quit leaves. What was written and not sent is kept on the way out.
func (m Model) quit() (Model, tea.Cmd) { return m, tea.Quit }
