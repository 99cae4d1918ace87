package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"agentx/config"
	"agentx/engine/runtime"
	"agentx/tui"
)

// Models lists what could be talked to now.
func (d *desk) Models(ctx context.Context) ([]tui.Choice, error) {
	c, err := d.world.config()
	if err != nil {
		return nil, d.say(err)
	}
	models, err := wantedModels(c, nil, false)
	if err != nil {
		return nil, d.say(err)
	}
	sortByUse(models, d.world.lastUsed(ctx))
	var list []tui.Choice
	for _, alias := range slices.Sorted(maps.Keys(c.Aliases)) {
		list = append(list, tui.Choice{Name: alias, Detail: "alias of " + c.Aliases[alias]})
	}
	for _, m := range models {
		list = append(list, tui.Choice{Name: m.Provider + "/" + m.Model, Detail: priceLine(m), Window: int64(m.Context)})
	}
	if t := d.current(); t != nil && !listedAmong(list, t.choice().Name()) {
		list = append([]tui.Choice{d.choice(t.choice())}, list...)
	}
	return append(list, tui.Choice{Name: "guide/guide", Detail: "the built-in guide, offline"}), nil
}

func listedAmong(list []tui.Choice, name string) bool {
	for _, c := range list {
		if c.Name == name {
			return true
		}
	}
	return name == "guide/guide"
}

// priceLine says what a model costs and how much it reads.
func priceLine(m listedModel) string {
	price := "price unknown"
	if m.Input != nil && m.Output != nil {
		price = fmt.Sprintf("$%s in, $%s out per million", dollars(m.Input), dollars(m.Output))
	}
	if m.Context > 0 {
		price += ", " + tokens(m.Context) + " context"
	}
	return price
}

func (d *desk) choice(c config.Choice) tui.Choice {
	return tui.Choice{Name: c.Name(), Detail: about(c), Window: int64(c.Info.Context)}
}

// about is what to know of a choice.
func about(c config.Choice) string {
	if ownMachine(c) {
		return "free, on this machine"
	}
	return priceLine(listModel(c.Info))
}

// SetModel talks to another model from the next message on.
func (d *desk) SetModel(ctx context.Context, name string) (tui.Choice, error) {
	c, err := d.world.config()
	if err != nil {
		return tui.Choice{}, d.say(err)
	}
	choice, err := choose(c, name)
	if err != nil {
		return tui.Choice{}, d.say(err)
	}
	t := d.current()
	if err := t.configure(ctx, runtime.AgentConfigureRequest{Model: choice.Name()}); err != nil {
		return tui.Choice{}, d.say(err)
	}
	t.choose(choice)
	chosen := d.choice(choice)
	chosen.Notice = choice.Doubt()
	return chosen, nil
}

// Providers lists those that need a key that is not there, after those that can
// be asked what they have.
func (d *desk) Providers(context.Context) ([]tui.Provider, error) {
	c, err := d.world.config()
	if err != nil {
		return nil, d.say(err)
	}
	ready, locked := []tui.Provider{}, []tui.Provider{}
	held, err := heldKeys(c)
	for _, p := range c.InOrder() {
		has := slices.ContainsFunc(held, func(k heldKey) bool { return k.Provider == p.Name && k.Used })
		if p.NeedsKey && !has {
			locked = append(locked, tui.Provider{Name: p.Name, Locked: true, Many: p.Default == ""})
		} else {
			ready = append(ready, tui.Provider{Name: p.Name, Many: p.Default == ""})
		}
	}
	return append(ready, locked...), d.say(err)
}

// SetKey keeps a key that was typed.
func (d *desk) SetKey(ctx context.Context, provider, key string) (string, error) {
	c, err := d.world.provider(provider)
	if err != nil {
		return "", d.say(err)
	}
	secret, err := config.NewSecret("the key that was given", key)
	if err != nil {
		return "", d.say(err)
	}
	where, err := c.Keys().Set(ctx, provider, secret)
	return where, d.say(err)
}

// refused is what a provider said of a key that can be replaced in the chat.
type refused string

func (r refused) Error() string        { return string(r) }
func (r refused) Is(target error) bool { return target == tui.ErrKey }

// Offers asks a provider's server for its models.
func (d *desk) Offers(ctx context.Context, provider string) ([]tui.Choice, error) {
	c, err := d.world.provider(provider)
	if err != nil {
		return nil, d.say(err)
	}
	o := d.world.offer(ctx, c, c.Providers[provider])
	if k := keyOf(c, o.provider); codeOf(o.err) == codeAuth && !k.command && !k.variable {
		return nil, &exit{code: codeAuth, err: refused(d.world.blame(o.provider, o.err))}
	}
	if o.err != nil {
		return nil, &exit{code: unheard(o.err), err: errors.New(d.world.failure(c, o.provider, o.err))}
	}
	var list []tui.Choice
	for _, m := range o.listed(c) {
		list = append(list, tui.Choice{Name: m.name(), Detail: priceLine(m), Window: int64(m.Context)})
	}
	return list, nil
}
