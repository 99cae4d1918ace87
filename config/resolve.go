package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Choice is the model that answers, and who serves it.
type Choice struct {
	Provider Provider
	Model    string    // as the provider calls it
	Info     ModelInfo // prices and window; what is unknown is zero
	Known    bool      // the price table or the user's file lists the model
	Near     []string  // names like it where it is not known, for a warning
	Why      string    // a word on how it was chosen, such as a variable's name
}

// Name is the choice as provider/model.
func (c Choice) Name() string { return c.Provider.Name + "/" + c.Model }

// Resolve finds the model that name means: an alias, provider/model, a provider, a model's bare name, or that of its kind, such as sonnet. "" is the configured model,
// else the first provider whose key is set, else the guide. It looks at no keyring and no network.
func (c Config) Resolve(name string) (Choice, error) {
	why := "--model"
	if name = strings.TrimSpace(name); name == "" {
		name, why = strings.TrimSpace(c.Model), c.Origin("model").String()
	}
	if name == "" {
		return c.automatic()
	}
	name, err := c.unalias(name)
	if err != nil {
		return Choice{}, err
	}
	if err := line(name); err != nil || len(name) > 300 {
		return Choice{}, &Error{Where: "model", Err: errors.Join(errors.New("this is no name of a model"), err)}
	}
	choice, err := c.named(name)
	if err != nil {
		return Choice{}, err
	}
	choice.Why = why
	return c.complete(choice)
}

// unalias follows aliases; one may name another, but not in a circle.
func (c Config) unalias(name string) (string, error) {
	for range 9 {
		next, ok := c.Aliases[name]
		if !ok {
			return name, nil
		}
		name = strings.TrimSpace(next)
	}
	return "", &Error{Where: "aliases", Err: fmt.Errorf("%q leads back to itself", name)}
}

// automatic is the first provider that could answer, or the guide.
func (c Config) automatic() (Choice, error) {
	stored, err := c.Keys().Stored()
	if err != nil {
		return Choice{}, err
	}
	for _, p := range c.InOrder() {
		why, ok := c.available(p, stored)
		if !ok || p.Default == "" && p.broken == nil {
			continue
		}
		return c.complete(Choice{Provider: p, Model: p.Default, Why: why})
	}
	return Choice{Provider: guide(), Model: "guide", Known: true, Why: "no key is set"}, nil
}

// available says whether p could answer and by what: a key, or a base URL for which the user has taken the trouble.
func (c Config) available(p Provider, stored []string) (why string, ok bool) {
	switch name := p.keyVariable(c.env); {
	case p.broken != nil:
		return p.urlEnv, true // chosen, it says what is wrong with it
	case name != "":
		return name, true
	case len(p.KeyCommand) > 0:
		return "key_command", true
	case slices.Contains(stored, p.Name):
		return "stored key", true
	case p.Custom() && (p.urlFrom == p.urlEnv || !p.NeedsKey):
		return p.urlFrom, true
	}
	return "", false
}

// Available lists the providers that could answer now, in the order of choice.
func (c Config) Available() ([]Provider, error) {
	stored, err := c.Keys().Stored()
	return slices.DeleteFunc(c.InOrder(), func(p Provider) bool {
		_, ok := c.available(p, stored)
		return !ok
	}), err
}

// named is the choice that a name means which is no alias.
func (c Config) named(name string) (Choice, error) {
	if name == "guide" || name == "guide/guide" {
		return Choice{Provider: guide(), Model: "guide"}, nil
	}
	if provider, model, ok := strings.Cut(name, "/"); ok {
		if p, found := c.Providers[provider]; found && model != "" {
			return Choice{Provider: p, Model: model}, nil
		}
	}
	if p, ok := c.Providers[name]; ok {
		if p.Default == "" {
			return Choice{}, &Error{Where: "model", Err: fmt.Errorf("%s serves many models: name one, as in %s/NAME, or set providers.%s.default_model", name, name, name)}
		}
		return Choice{Provider: p, Model: p.Default}, nil
	}
	return c.bare(name)
}

// bare finds who serves a model: an available provider before one without a key, a listed model before the newest of a kind that is called
// so, and that before one of an open server. Of several open servers none is guessed.
func (c Config) bare(name string) (Choice, error) {
	available, err := c.Available()
	if err != nil {
		return Choice{}, err
	}
	for _, providers := range [][]Provider{available, c.InOrder()} {
		for _, p := range providers {
			if slices.Contains(p.Models, name) {
				return Choice{Provider: p, Model: name}, nil
			}
			if _, ok := find(p.Name, name); ok && p.prices {
				return Choice{Provider: p, Model: name}, nil
			}
		}
		var open []Provider
		for _, p := range providers {
			if id, ok := resold(p.Name, name); ok && p.prices {
				return Choice{Provider: p, Model: id}, nil
			}
			if p.open() {
				open = append(open, p)
			}
		}
		if choice, err := nickname(name, providers); !errors.Is(err, ErrUnknown) {
			return choice, err
		}
		switch len(open) {
		case 0:
		case 1:
			return Choice{Provider: open[0], Model: name, Near: c.slip(name)}, nil
		default:
			return Choice{}, severalServe(name, open)
		}
	}
	hint := meant(name, c.names(name))
	if provider, model, ok := strings.Cut(name, "/"); ok && hint == "" {
		if near := Nearest(provider, slices.Sorted(maps.Keys(c.Providers))); len(near) > 0 {
			hint = fmt.Sprintf(" (did you mean %s/%s?)", near[0], clip(model))
		}
	}
	if hint == "" {
		hint = "; `agentx model list --all` shows those that are known"
	}
	return Choice{}, &Error{Where: "model", Err: fmt.Errorf("%w model %q%s", ErrUnknown, clip(name), hint)}
}

// slip is what a name may have meant whose part before the slash is a letter away from a provider.
func (c Config) slip(name string) []string {
	typed, model, ok := strings.Cut(name, "/")
	if !ok || len(typed) < 4 {
		return nil
	}
	for _, p := range c.InOrder() {
		if distance(strings.ToLower(typed), p.Name) == 1 {
			return []string{p.Name + "/" + clip(model)}
		}
	}
	return nil
}

// severalServe is why a bare name is not enough: a prompt must not go to a server that was not meant.
func severalServe(name string, open []Provider) error {
	var full []string
	for _, p := range open {
		full = append(full, p.Name+"/"+clip(name))
	}
	return &Error{Where: "model", Err: fmt.Errorf("%w model %q; which server has it: %s?", ErrUnknown, clip(name), strings.Join(full, ", "))}
}

// resold is the id of a model at a provider that puts the maker's name before it, as in openai/gpt-4o.
func resold(provider, model string) (id string, ok bool) {
	for at := search(provider + "\t"); at < len(priceTable); {
		line := lineAt(at)
		id, ours := strings.CutPrefix(line, provider+"\t")
		if !ours {
			return "", false
		}
		if id, _, _ = strings.Cut(id, "\t"); id[strings.LastIndexByte(id, '/')+1:] == model {
			return id, true
		}
		at += len(line) + 1
	}
	return "", false
}

// open says that the user has pointed p at a server whose models nobody has listed.
func (p Provider) open() bool { return p.Custom() && len(p.Models) == 0 }

// listed says that the user or the price table lists the models of p.
func (p Provider) listed() bool { return !p.open() && (p.prices || len(p.Models) > 0) }

// names are the names that a mistyped one may have meant, with a provider where it had one, the newest of a kind first: all, or those of
// the provider that it names.
func (c Config) names(typed string) []string {
	provider, _, slash := strings.Cut(typed, "/")
	_, hasProvider := c.Providers[provider]
	names := slices.Sorted(maps.Keys(c.Aliases))
	if !hasProvider {
		names = append(names, slices.Sorted(maps.Keys(c.Providers))...)
	}
	for _, p := range c.InOrder() {
		if hasProvider && p.Name != provider {
			continue
		}
		for _, model := range p.Models {
			if slash {
				model = p.Name + "/" + model
			}
			names = append(names, model)
		}
	}
	listed := len(names)
	for m := range (Prices{}).All() {
		switch {
		case hasProvider && m.Provider != provider:
		case slash:
			names = append(names, m.Provider+"/"+m.ID)
		case !strings.ContainsAny(m.ID, "/:~"): // what a reseller calls it is no name that is typed alone
			names = append(names, m.ID)
		}
	}
	slices.Reverse(names[listed:]) // what is new has the higher number
	if !hasProvider {
		names = append(names, slices.Sorted(maps.Keys(nicknames()))...)
	}
	return names
}

// complete checks where the choice would be sent and adds what is known about it.
func (c Config) complete(choice Choice) (Choice, error) {
	p := choice.Provider
	if p.broken != nil {
		return Choice{}, p.broken
	}
	if p.NeedsKey || p.keyVariable(c.env) != "" || len(p.KeyCommand) > 0 {
		if err := p.checkTransport(); err != nil {
			return Choice{}, err
		}
	}
	choice.Info, choice.Known = c.info(p, choice.Model)
	choice.Known = choice.Known || p.Protocol == Guide || slices.Contains(p.Models, choice.Model)
	if !choice.Known && p.listed() {
		choice.Near = Nearest(choice.Name(), c.names(choice.Name()))
	}
	return choice, nil
}

// info is what is known about a model of p. A server on this machine has the windows of the table, but not its prices.
func (c Config) info(p Provider, model string) (ModelInfo, bool) {
	if p.prices && p.Custom() && local(p.BaseURL) {
		info, ok := Prices{}.Lookup(p.Name, model)
		info.Input, info.Output, info.CacheRead, info.CacheWrite, info.CacheWrite1h, info.Tiers = Price{}, Price{}, Price{}, Price{}, Price{}, nil
		return c.Prices().overridden(info, ok)
	}
	return c.Prices().Lookup(p.Name, model)
}
