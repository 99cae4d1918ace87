package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// unfold shows the nth thought or call from the end, all of it.
func (m Model) unfold(arg string) (Model, tea.Cmd) {
	n := 1
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			return m.say(transcript.Info, "/unfold takes a number: 1 is the last thought or call, 2 the one before it."), nil
		}
	}
	f, ok := m.transcript.Fold(n)
	switch {
	case !ok && n == 1:
		return m.say(transcript.Info, "There is no thought and no call to unfold yet."), nil
	case !ok:
		return m.say(transcript.Info, fmt.Sprintf("There is no thought or call %d from the end that is still kept.", n)), nil
	}
	title, body := transcript.Whole(f)
	return m.read(text.Line(title), body, nil)
}

// thoughts are the ways to show what a model thinks, as configuration names them.
func thoughts() []string { return []string{"folded", "always", "never"} }

func thoughtsNamed(name string) transcript.Thoughts {
	return transcript.Thoughts(max(slices.Index(thoughts(), name), 0))
}

// thinking changes how much is shown of what a model thinks.
func (m Model) thinking(how string) (Model, tea.Cmd) {
	if how == "" {
		var list []palette.Item
		for _, n := range thoughts() {
			list = append(list, palette.Item{ID: n, Title: n})
		}
		return m.choose(palette.Config{Title: "Thoughts", Enter: "use"}, list, func(m Model, _ palette.Model, out tea.Msg) (Model, tea.Cmd) {
			if chosen, ok := out.(palette.Chosen); ok {
				return m.close().thinking(chosen.ID)
			}
			return m, nil
		}), nil
	}
	if !slices.Contains(thoughts(), how) {
		return m.say(transcript.Info, "Thoughts are shown always, folded or never."), nil
	}
	m.prefs.thoughts = thoughtsNamed(how)
	m.transcript = m.transcript.SetThoughts(m.prefs.thoughts)
	return m.say(transcript.Info, map[string]string{
		"always": "Thoughts are shown whole from now on.",
		"folded": "Thoughts are folded from now on; Ctrl+O shows the last one.",
		"never":  "Thoughts are not shown from now on; Ctrl+O shows the last one all the same.",
	}[how]), nil
}

// unfoldKey is the key that shows a thought whole, where there is one to press.
func (m Model) unfoldKey() string {
	a, ok := m.table.named("unfold")
	if !ok || m.prefs.spoken {
		return ""
	}
	return strings.ToLower(a.hintOf())
}
