package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver/ollama"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
	"agentx/tui/text"
)

// liveLimit is how long one provider may take to say what it has, its key
// included.
const liveLimit = 15 * time.Second

// maxOffered is how many models of one server are shown, and longestModel how
// many bytes the name of one may have.
const (
	maxOffered   = 5000
	longestModel = 200
)

// An offer is what a provider's server says that it has, or why it does not.
type offer struct {
	provider config.Provider
	models   []offered
	left     int // models that are left out: their names cannot be shown, or they are too many
	took     time.Duration
	err      error
}

// offered is a model as a server tells of it.
type offered struct {
	id, name  string
	context   int      // tokens; 0 is unknown
	abilities []string // in the server's own words; nil where it does not say
}

// offers asks providers for their models, all at once, and returns what each
// said in the order in which they were given.
func (w *world) offers(ctx context.Context, c config.Config, providers []config.Provider) []offer {
	all := make([]offer, len(providers))
	var asked sync.WaitGroup
	for i, p := range providers {
		asked.Go(func() { all[i] = w.offer(ctx, c, p) }) // ends at its limit
	}
	asked.Wait()
	return all
}

// offer asks one provider for its models.
func (w *world) offer(ctx context.Context, c config.Config, p config.Provider) offer {
	began := w.now()
	inner, cancel := limited(ctx, p)
	defer cancel()
	models, err := w.modelsOf(inner, c, p)
	if len(models) > 0 && ctx.Err() == nil {
		err = nil // the names are there, only not all about them
	}
	o := offer{provider: p, took: w.now().Sub(began), err: err}
	o.models, o.left = w.presentable(models)
	return o
}

// limited is ctx for no longer than a provider may take.
func limited(ctx context.Context, p config.Provider) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, liveLimit, &engine.Fault{
		Code: event.CodeTimeout, Message: fmt.Sprintf("%s did not answer within %v", p.Name, liveLimit), Retryable: true,
	})
}

// modelsOf asks the provider's driver.
func (w *world) modelsOf(ctx context.Context, c config.Config, p config.Provider) ([]offered, error) {
	if err := usable(c, p); err != nil {
		return nil, err
	}
	d, err := (&caller{world: w, config: c, choice: config.Choice{Provider: p}}).driver(ctx)
	if err != nil {
		return nil, err
	}
	var all []offered
	switch d := d.(type) {
	case interface {
		Models(context.Context) ([]wire.Model, error)
	}:
		models, err := d.Models(ctx)
		for _, m := range models {
			all = append(all, offered{id: m.ID, name: m.Name})
		}
		return all, err
	case interface {
		Models(context.Context) ([]ollama.Model, error)
	}:
		models, err := d.Models(ctx)
		for _, m := range models {
			name := strings.TrimSpace(m.Parameters + " " + m.Quantization)
			all = append(all, offered{id: m.ID, name: name, context: m.Context, abilities: m.Capabilities})
		}
		return all, err
	}
	return nil, &engine.Fault{Code: event.CodeConfiguration, Message: fmt.Sprintf("%s (protocol %s) has no list of models", p.Name, p.Protocol)}
}

// liveModels puts what the servers say in the place of what the table says of
// them. Who does not answer is told of, and keeps the table's. It fails where
// nobody answers that was to be asked.
func (w *world) liveModels(ctx context.Context, c config.Config, only string, known []listedModel) ([]listedModel, error) {
	providers, chance, err := asked(c, only)
	if err != nil {
		return nil, err
	}
	offers := w.offers(ctx, c, slices.Concat(providers, chance))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var live []listedModel
	var failed error
	var absent []string
	answered := map[string]bool{}
	for i, o := range offers {
		switch {
		case o.err == nil:
			answered[o.provider.Name] = true
			live = append(live, o.listed(c)...)
			if o.left > 0 {
				w.note("%s: %d more models are left out, whose names cannot be used or which are too many", o.provider.Name, o.left)
			}
		case i >= len(providers) && !w.flags.verbose:
			absent = append(absent, o.provider.Name)
		default:
			w.warn("%s", w.failure(c, o.provider, o.err))
			if i < len(providers) && failed == nil {
				failed = o.err
			}
		}
	}
	if len(absent) > 0 {
		w.note("no server of these answers on this machine: %s", strings.Join(absent, ", "))
	}
	if failed != nil && len(answered) == 0 {
		return nil, &exit{code: unheard(failed), err: failed, quiet: true}
	}
	for _, m := range known {
		if !answered[m.Provider] {
			live = append(live, m)
		}
	}
	return live, nil
}

// asked are the providers to ask for their models: the one that is named, else
// those that could answer now and, by chance, the servers that may run on this
// machine.
func asked(c config.Config, only string) (providers, chance []config.Provider, err error) {
	if only != "" {
		return []config.Provider{c.Providers[only]}, nil, nil
	}
	if providers, err = c.Available(); err != nil {
		return nil, nil, err
	}
	ready := map[string]bool{}
	for _, p := range providers {
		ready[p.Name] = true
	}
	for _, p := range c.InOrder() {
		if !ready[p.Name] && unasked(p) {
			chance = append(chance, p)
		}
	}
	return providers, chance, nil
}

// unasked says that p is a server that may run on this machine, and of which
// the user has said nothing.
func unasked(p config.Provider) bool { return p.BuiltIn && !p.NeedsKey && !p.Custom() }

// listed are the offered models with what the table knows of them.
func (o offer) listed(c config.Config) []listedModel {
	var models []listedModel
	for _, m := range o.models {
		info, _ := c.About(o.provider, m.id)
		models = append(models, m.over(listModel(info)))
	}
	return models
}

// over is what is known of a model, with what its server says.
func (m offered) over(l listedModel) listedModel {
	l.From, l.Abilities = fromServer, m.abilities
	if m.name != "" {
		l.Name = m.name
	}
	if m.context > 0 && l.Context == 0 {
		l.Context = m.context
	}
	l.Images = l.Images || slices.Contains(m.abilities, "vision")
	l.Reasoning = l.Reasoning || slices.Contains(m.abilities, "thinking")
	return l
}

// usable says what is wrong with a provider's settings. One whose address cannot
// be read is not asked at another.
func usable(c config.Config, p config.Provider) error {
	_, err := c.Resolve(p.Name + "/" + cmp.Or(p.Default, "model"))
	return err
}

// presentable are models in the order of their names, each once. A name that
// nobody could type or that shows a key, and what is too much, is left out.
func (w *world) presentable(models []offered) (shown []offered, left int) {
	slices.SortStableFunc(models, func(a, b offered) int { return cmp.Compare(a.id, b.id) })
	models = slices.CompactFunc(models, func(a, b offered) bool { return a.id == b.id })
	for _, m := range models {
		if len(shown) == maxOffered || !w.typable(m.id) {
			left++
			continue
		}
		m.name = w.clean(m.name, longestModel)
		var abilities []string
		for _, a := range m.abilities[:min(len(m.abilities), 20)] {
			abilities = append(abilities, w.clean(a, 40))
		}
		m.abilities = abilities
		shown = append(shown, m)
	}
	return shown, left
}

// typable says that a name from outside can stand behind -m.
func (w *world) typable(name string) bool {
	return name != "" && len(name) <= longestModel && name == strings.Join(strings.Fields(name), " ") && name == w.clean(name, 2*longestModel)
}

// clean is text from outside as one line of so many columns, without keys.
func (w *world) clean(s string, columns int) string {
	for _, key := range w.secrets() {
		if k := key.Reveal(); len(k) >= 6 && strings.Contains(s, k) {
			return "[redacted]"
		}
	}
	return text.Truncate(text.Line(s), columns)
}

// find is where a model is among those that are offered, by its name or by the
// one that an omitted tag stands for, or -1.
func (o offer) find(model string) int {
	return slices.IndexFunc(o.models, func(m offered) bool { return m.id == model || m.id == model+":latest" })
}

// failure is why a provider does not say what it has, and what to do about it.
func (w *world) failure(c config.Config, p config.Provider, err error) string {
	words := w.blame(p, err)
	if todo := cure(c, p, err); todo != "" {
		words += "; " + todo
	}
	return words
}

// blame is why a provider does not say what it has.
func (w *world) blame(p config.Provider, err error) string {
	if words := w.words(err); strings.HasPrefix(words, p.Name) {
		return words
	}
	return p.Name + ": " + w.words(err)
}

// unheard is the exit code of a provider that was asked for its models: there is
// no answer that could be incomplete.
func unheard(err error) int {
	if code := codeOf(err); code != codeIncomplete {
		return code
	}
	return codeProvider
}

// cure is what to do about a provider that cannot be asked.
func cure(c config.Config, p config.Provider, err error) string {
	if errors.Is(err, config.ErrNoKey) {
		return "" // says so itself
	}
	switch codeOf(err) {
	case codeAuth:
		return anotherKey(c, p)
	case codeRate:
		return "wait, or look at the account there"
	}
	switch engine.FaultOf(err).Code {
	case event.CodeNotFound, event.CodeProtocol:
		return fmt.Sprintf("is its address right? It is %s (%s)", p.BaseURL, addressFrom(c, p))
	case event.CodeNetwork, event.CodeTimeout:
		switch {
		case errors.Is(err, syscall.ECONNREFUSED) && p.Protocol == config.Ollama:
			return "" // the driver says it
		case errors.Is(err, syscall.ECONNREFUSED):
			return fmt.Sprintf("does the server run? Its address is %s (%s)", p.BaseURL, addressFrom(c, p))
		}
		return fmt.Sprintf("look at the network, and at the address: %s (%s)", p.BaseURL, addressFrom(c, p))
	}
	return ""
}

// anotherKey is how to replace the key that is used now.
func anotherKey(c config.Config, p config.Provider) string {
	switch k := keyOf(c, p); {
	case k.command:
		return fmt.Sprintf("providers.%s.key_command prints the key", p.Name)
	case k.variable:
		return fmt.Sprintf("the key is from %s: change it there, or unset it and run: agentx key set %s", k.Source, p.Name)
	}
	return "to give another key: agentx key set " + p.Name
}

// addressFrom says where a provider's address is from.
func addressFrom(c config.Config, p config.Provider) string {
	name := p.Name
	if strings.Contains(name, ".") {
		name = `"` + name + `"`
	}
	if o := c.Origin("providers." + name + ".base_url"); o.Where != "" {
		return o.Where
	}
	return "built in"
}
