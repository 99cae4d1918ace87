package tui

import (
	"context"
	"strings"

	"agentx/tui/markdown"
	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/theme"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// theme changes the theme, for this chat at once and for those to come; without a
// name it shows a list.
func (m Model) theme(name string) (Model, tea.Cmd) {
	if name == "" {
		return m.chooseTheme()
	}
	return m.takeOn(name, m.prefs)
}

// takeOn wears a theme and keeps the choice. What was worn is worn again where
// there is no such theme.
func (m Model) takeOn(name string, was prefs) (Model, tea.Cmd) {
	ctx, p := m.ctx, m.prefs
	return m, func() tea.Msg {
		f, ground, err := p.family(name)
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil {
				return m.changeBack(was).say(transcript.Failure, sentence(err, ""), "The theme is as it was."), nil
			}
			m, cmd := m.wear(name, f, ground)
			return m, tea.Batch(cmd, keepTheme(ctx, p.wardrobe, name))
		}}
	}
}

// tryOn wears a theme for as long as the list's mark is on it.
func (m Model) tryOn(name string) (Model, tea.Cmd) {
	p := m.prefs
	return m, func() tea.Msg {
		f, ground, err := p.family(name)
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil || m.overlays.tried() != name {
				return m, nil
			}
			return m.wear(name, f, ground)
		}}
	}
}

func (m Model) wear(name string, f theme.Family, ground string) (Model, tea.Cmd) {
	m.prefs = m.prefs.wear(f, ground)
	m.prefs.worn = name
	if m.prefs.auto {
		m.term.ask()
	}
	return m.dress(), m.prefs.wait()
}

// changeBack wears again what was worn.
func (m Model) changeBack(was prefs) Model {
	m.prefs.theme, m.prefs.dress, m.prefs.worn = was.theme, was.dress, was.worn
	m.prefs.auto, m.prefs.waiting = was.auto, was.waiting
	return m.dress()
}

// keepTheme keeps the choice for the chats to come, and says how to where it cannot.
func keepTheme(ctx context.Context, w Wardrobe, name string) tea.Cmd {
	if w == nil {
		return nil
	}
	return func() tea.Msg {
		where, err := w.Keep(ctx, name)
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil {
				return m.say(transcript.Warning, "The theme counts for this chat only: "+strings.TrimRight(err.Error(), ".")+".", "theme = \""+text.Line(name)+"\" in config.toml keeps it."), nil
			}
			return m.say(transcript.Info, "Kept in "+text.Line(where)+"."), nil
		}}
	}
}

// chooseTheme lists the themes. The one under the mark is worn while it is there.
func (m Model) chooseTheme() (Model, tea.Cmd) {
	ctx, w := m.ctx, m.prefs.wardrobe
	return m, func() tea.Msg {
		names, err := []string{"auto", "dark", "light", "plain"}, error(nil)
		if w != nil {
			names, err = w.Themes(ctx)
		}
		return result{func(m Model) (Model, tea.Cmd) {
			if err != nil {
				m = m.say(transcript.Failure, sentence(err, ""))
			}
			return m.fitting(names), nil
		}}
	}
}

// fitting opens the list of themes.
func (m Model) fitting(names []string) Model {
	width := 0
	for _, n := range names {
		width = max(width, text.Width(n))
	}
	var list []palette.Item
	for _, n := range names {
		item := palette.Item{ID: n, Title: pad(n, width+1), Detail: about(n)}
		if n == m.prefs.worn {
			item.Hint = "now"
		}
		list = append(list, item)
	}
	was := m.prefs
	m = m.choose(palette.Config{Title: "Theme", Enter: "use"}, list, func(m Model, _ palette.Model, out tea.Msg) (Model, tea.Cmd) {
		if chosen, ok := out.(palette.Chosen); ok {
			return m.close().takeOn(chosen.ID, was)
		}
		return m, nil
	})
	top := m.overlays.top()
	top.list = new(top.list.Select(m.prefs.worn))
	if !m.prefs.spoken {
		top.tries, top.leaves, top.draws = Model.tryOn, func(m Model) (Model, tea.Cmd) { return m.changeBack(was), nil }, sample
	}
	m.overlays = m.overlays.replace(top).draw(m.prefs, m.width)
	return m.fit()
}

// about says what is special about a theme.
func about(name string) string {
	switch name {
	case "auto":
		return "dark or light, as the terminal is"
	case "plain":
		return "no colours"
	}
	return ""
}

// sample is a little of all that a theme colours.
func sample(p prefs, width int) []string {
	th := p.theme
	mark := func(fair, ascii string) string {
		if p.ascii {
			return ascii
		}
		return fair
	}
	lines := []string{th.User.Render(mark("›", ">")) + " " + th.UserText.Render("What do you look like?"), ""}
	said := "**So**, with `code` and [links](https://go.dev).\n\n```go\nfunc f(n int) string { return \"text\" } // 42\n```"
	for i, l := range markdown.Render(said, max(width-2, 1), *th) {
		lead := "  "
		if i == 0 {
			lead = th.Agent.Render(mark("●", "*")) + " "
		}
		lines = append(lines, lead+l)
	}
	states := []string{th.Success.Render(mark("✓", "+") + " done"), th.Warning.Render("! warning"), th.Error.Render(mark("✗", "x") + " failure"), th.Tool.Render("tool"), th.Thinking.Render("thought")}
	return append(lines, "", "  "+strings.Join(states, "  "), "")
}
