package tui

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentx/tui/dialog"
	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// shop is what there is to choose from.
type shop struct {
	models    []Choice
	providers []Provider
}

func browse(ctx context.Context, b Backend) (s shop, err error) {
	if s.models, err = b.Models(ctx); err == nil {
		s.providers, err = b.Providers(ctx)
	}
	return s, err
}

// chooseModel takes a name, or shows a list: the models first, then the
// providers that lack a key, or that can be asked what they have.
func (m Model) chooseModel(name string) (Model, tea.Cmd) {
	if name != "" {
		return m.chooseNamed(name)
	}
	return fetch(m, "list the models", browse, func(m Model, s shop) (Model, tea.Cmd) {
		slices.SortStableFunc(s.models, func(a, b Choice) int { return m.inUse(b) - m.inUse(a) })
		return m.chooseAmong("Models", s), nil
	})
}

// chooseNamed takes a model. The name of a provider that has no key, or of one that
// serves many models, leads to what is missing.
func (m Model) chooseNamed(name string) (Model, tea.Cmd) {
	if strings.Contains(name, "/") {
		return m.setModel(name)
	}
	return fetch(m, "change the model", func(ctx context.Context, b Backend) ([]Provider, error) { return b.Providers(ctx) }, func(m Model, all []Provider) (Model, tea.Cmd) {
		i := slices.IndexFunc(all, func(p Provider) bool { return p.Name == name })
		switch {
		case i >= 0 && all[i].Locked:
			return m.askKey(name), nil
		case i >= 0 && all[i].Many:
			return m.offers(name, "")
		}
		return m.setModel(name)
	})
}

// chooseAmong opens the list.
func (m Model) chooseAmong(heading string, s shop) Model {
	width := 0
	for _, c := range s.models {
		width = max(width, text.Width(c.Name))
	}
	for _, p := range s.providers {
		width = max(width, text.Width(p.Name))
	}
	var list []palette.Item
	for _, c := range s.models {
		item := palette.Item{ID: c.Name, Title: pad(c.Name, width), Detail: c.Detail}
		if m.inUse(c) > 0 {
			item.Hint = "now"
		}
		list = append(list, item)
	}
	doors := map[string]Provider{}
	for _, p := range s.providers {
		id := "provider " + p.Name // no model has a space in its name
		doors[id] = p
		item := palette.Item{ID: id, Title: pad(p.Name, width), Detail: "ask its server what it has", Hint: "more"}
		if p.Locked {
			item.Detail, item.Hint = "give it your key", "set up"
		}
		list = append(list, item)
	}
	c := palette.Config{Title: heading, Enter: "use", Empty: "No models. `agentx key set` makes some available."}
	return m.choose(c, list, func(m Model, _ palette.Model, out tea.Msg) (Model, tea.Cmd) {
		chosen, ok := out.(palette.Chosen)
		if !ok {
			return m, nil
		}
		m = m.close()
		switch p, isDoor := doors[chosen.ID]; {
		case !isDoor:
			return m.setModel(chosen.ID)
		case p.Locked:
			return m.askKey(p.Name), nil
		default:
			return m.offers(p.Name, "")
		}
	})
}

// askKey asks for a key, unseen. With it the provider is asked for its models,
// which shows whether the key works.
func (m Model) askKey(provider string) Model {
	ask := dialog.Prompt{
		Title: "Key of " + provider, Secret: true,
		Body: "Paste or type it; it is not shown. It is kept in the keyring of your system, or in a file that only you can read, and " + provider + " is asked for its models with it.",
	}
	return m.question(func(c dialog.Config) dialog.Model { return c.Prompt(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		key := strings.TrimSpace(a.Text)
		return fetch(m, "keep the key", func(ctx context.Context, b Backend) (string, error) { return b.SetKey(ctx, provider, key) }, func(m Model, where string) (Model, tea.Cmd) {
			return m.offers(provider, "The key of "+provider+" is kept in "+text.Line(where)+".")
		})
	})
}

// ErrKey is a key that a provider does not accept, where another can be given.
var ErrKey = errors.New("the key is not accepted")

// offers asks a provider's server for its models and lets one be chosen. News
// are said first. A key that is refused is asked for again.
func (m Model) offers(provider, news string) (Model, tea.Cmd) {
	if news != "" {
		m = m.say(transcript.Info, news)
	}
	m.hint.text = "Asking " + provider + " for its models …"
	m, cmd := fetch(m, "ask "+provider+" for its models", func(ctx context.Context, b Backend) (offered, error) {
		list, err := b.Offers(ctx, provider)
		return offered{list, err}, nil
	}, func(m Model, o offered) (Model, tea.Cmd) {
		m.hint = hint{}
		switch {
		case errors.Is(o.err, ErrKey):
			return m.say(transcript.Failure, sentence(o.err, "")).askKey(provider), nil
		case o.err != nil:
			return m.say(transcript.Failure, sentence(o.err, "")), nil
		case len(o.list) == 0:
			return m.say(transcript.Info, provider+" has no models yet."), nil
		}
		return m.chooseAmong("Models of "+provider, shop{models: o.list}), nil
	})
	return m, cmd
}

// offered is what a server has, or why it did not say.
type offered struct {
	list []Choice
	err  error
}

// inUse is 1 for the model that answers, which comes first in the list.
func (m Model) inUse(c Choice) int {
	if c.Name == m.open.Model.Name {
		return 1
	}
	return 0
}

func (m Model) setModel(name string) (Model, tea.Cmd) {
	return fetch(m, "change the model", func(ctx context.Context, b Backend) (Choice, error) { return b.SetModel(ctx, name) }, func(m Model, c Choice) (Model, tea.Cmd) {
		m.open.Model = c
		m.footer = m.footer.SetModel(c.Name, c.Window)
		m = m.say(transcript.Info, text.Line(c.Name)+" answers from the next message on.")
		if c.Notice != "" {
			m = m.say(transcript.Warning, text.Line(c.Notice))
		}
		return m, nil
	})
}
