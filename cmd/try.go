package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// served is what would be used of a provider.
type served struct {
	Name        string `json:"name"`
	BaseURL     string `json:"base_url"`
	BaseURLFrom string `json:"base_url_from"`
	Protocol    string `json:"protocol"`
	Key         string `json:"key,omitempty"` // where it is
	NeedsKey    bool   `json:"needs_key"`
	Default     string `json:"default_model,omitempty"`
}

// keyless says that it could not answer.
func (s served) keyless() bool { return s.NeedsKey && s.Key == "" }

func (s served) String() string {
	key := "no key needed"
	switch {
	case s.Key != "":
		key = "key from " + s.Key
	case s.NeedsKey:
		key = "no key"
	}
	model := "no default model"
	if s.Default != "" {
		model = "default model " + s.Default
	}
	return fmt.Sprintf("%s: %s (%s), protocol %s, %s, %s", s.Name, s.BaseURL, s.BaseURLFrom, s.Protocol, key, model)
}

// examineProviders says of each provider what would be used, and of each key
// that would not.
func (w *world) examineProviders(c config.Config) []finding {
	held, err := heldKeys(c)
	if err != nil {
		return []finding{{What: "keys", Status: wrong, Detail: w.words(err)}}
	}
	var all []finding
	for _, p := range c.InOrder() {
		s := served{Name: p.Name, BaseURL: p.BaseURL, BaseURLFrom: addressFrom(c, p), Protocol: string(p.Protocol), NeedsKey: p.NeedsKey, Default: p.Default}
		for _, k := range held {
			if k.Provider == p.Name && k.Used {
				s.Key = k.Source
			}
		}
		f := finding{What: "provider", Status: fine, Detail: s.String(), Provider: &s}
		if s.keyless() || unasked(p) {
			f.Status = note
		}
		if err := usable(c, p); err != nil {
			f.Status, f.Detail = wrong, p.Name+": "+w.words(err)
		}
		all = append(all, f)
	}
	for _, k := range held {
		switch {
		case k.Unknown:
			all = append(all, finding{What: "key", Status: note, Detail: fmt.Sprintf("%s: a key is kept of a provider that is not configured; `agentx key rm %s` forgets it", k.Provider, k.Provider)})
		case !k.Used:
			all = append(all, finding{What: "key", Status: note, Detail: fmt.Sprintf("%s: the one in %s is not used: %s comes first", k.Provider, k.Source, k.Before)})
		}
	}
	if len(held) == 0 {
		all = append(all, finding{What: "keys", Status: note, Detail: "none is set; `agentx key set PROVIDER` keeps one, a local server needs none"})
	}
	return all
}

// errTried is what is wrong with the chosen provider, and has been shown.
type errTried struct{ error }

func (e errTried) Unwrap() error { return e.error }

// isFound says that a finding tells of err.
func isFound(err error) bool {
	_, ok := errors.AsType[errTried](err)
	return ok
}

// tryProviders tries the provider that is named, else that of the default model
// and all that could answer now, and returns what is wrong with the chosen one.
func (w *world) tryProviders(ctx context.Context, c config.Config, named []string) ([]finding, error) {
	chosen, err := trial(c, named)
	if err != nil {
		return nil, err
	}
	choices := []config.Choice{chosen}
	if len(named) == 0 {
		if choices, err = withAvailable(c, chosen); err != nil {
			return nil, err
		}
	}
	results := make([]finding, len(choices))
	problems := make([]error, len(choices))
	var all sync.WaitGroup
	for i, choice := range choices {
		all.Go(func() { results[i], problems[i] = w.tryProvider(ctx, c, choice) }) // ends at its limit
	}
	all.Wait()
	for i := range results {
		if i > 0 && results[i].Status == wrong {
			results[i].Status = failed
		}
	}
	if problems[0] != nil {
		return results, errTried{problems[0]}
	}
	return results, nil
}

// trial is the model to try: the default one of the provider that is named, or
// the one that is named with its provider or by an alias, else that which would
// answer.
func trial(c config.Config, named []string) (config.Choice, error) {
	if len(named) == 0 {
		choice, err := c.Resolve("")
		if err != nil {
			return choice, errTried{err} // has been found
		}
		return choice, nil
	}
	name := named[0]
	provider, _, _ := strings.Cut(name, "/")
	_, alias := c.Aliases[name]
	switch p, ok := c.Providers[provider]; {
	case !ok && !alias && provider != string(config.Guide):
		return config.Choice{}, noProvider(c, provider)
	case name == provider && ok && p.Default == "":
		return config.Choice{Provider: p}, nil // its list of models can be asked for
	}
	return choose(c, name)
}

// withAvailable are chosen and, of the other providers that could answer, their
// default models.
func withAvailable(c config.Config, chosen config.Choice) ([]config.Choice, error) {
	choices := []config.Choice{chosen}
	available, err := c.Available()
	for _, p := range available {
		if p.Name != chosen.Provider.Name {
			choices = append(choices, config.Choice{Provider: p, Model: p.Default})
		}
	}
	return choices, err
}

// tryProvider asks for the list of models: nothing is cheaper. Where there is
// none it asks for the shortest answer.
func (w *world) tryProvider(ctx context.Context, c config.Config, choice config.Choice) (finding, error) {
	p := choice.Provider
	f := finding{What: "online", Status: fine}
	if p.Protocol == config.Guide {
		f.Detail = "the built-in guide answers, and needs no network"
		return f, nil
	}
	began := w.now()
	said, err := w.tryList(ctx, c, choice)
	took := w.now().Sub(began)
	f.Millis = max(1, took.Milliseconds())
	if err != nil {
		f.Status, f.Detail = wrong, w.failure(c, p, err)
		return f, err
	}
	f.Detail = fmt.Sprintf("%s: ok in %v: %s", p.Name, took.Round(time.Millisecond), said)
	return f, nil
}

// tryList says what came of asking.
func (w *world) tryList(ctx context.Context, c config.Config, choice config.Choice) (string, error) {
	p := choice.Provider
	o := w.offer(ctx, c, p)
	if listless(o.err) && choice.Model != "" {
		return w.tryAnswer(ctx, c, choice, o.err)
	}
	if o.err != nil {
		return "", o.err
	}
	if err := w.keyIsValid(ctx, c, p); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d models", len(o.models))
	if choice.Model != "" && o.find(choice.Model) < 0 {
		said += fmt.Sprintf("; %s is not in its list, which need not mean that it does not know it", choice.Model)
	}
	return said, nil
}

// listless says that a server answers, but has no list of its models.
func listless(err error) bool {
	f, ok := errors.AsType[*engine.Fault](err)
	return ok && (f.Code == event.CodeNotFound || f.Code == event.CodeInvalidRequest || f.Code == event.CodeProtocol)
}

// leastAnswer is how few tokens are asked for: some providers refuse fewer.
const leastAnswer = 16

// tryAnswer asks for the shortest answer, and leaves when it begins.
func (w *world) tryAnswer(ctx context.Context, c config.Config, choice config.Choice, before error) (string, error) {
	ctx, cancel := limited(ctx, choice.Provider)
	defer cancel()
	req := engine.Request{
		Model: choice.Model, Options: engine.Options{MaxTokens: leastAnswer},
		Message: event.UserMessage{ID: newID("msg", w.now()), Content: event.Content{event.Text{Text: "Hi"}}},
	}
	for in, err := range (&caller{world: w, config: c, choice: choice}).Receive(ctx, req) {
		if err != nil {
			return "", err
		}
		if again, ok := in.(event.Retrying); ok {
			return "", &engine.Fault{Code: engine.FaultOf(before).Code, Message: again.Reason}
		}
		return fmt.Sprintf("it has no list of models, so %s was asked for %d tokens, which may have cost something", choice.Model, leastAnswer), nil
	}
	if err := context.Cause(ctx); err != nil {
		return "", err
	}
	return "", before
}

// keyIsValid asks OpenRouter about the key: its models it tells to everybody.
// Nobody else is asked.
func (w *world) keyIsValid(ctx context.Context, c config.Config, p config.Provider) error {
	if p.Name != "openrouter" {
		return nil
	}
	ctx, cancel := limited(ctx, p)
	defer cancel()
	key, source, err := c.Keys().Lookup(ctx, p.Name)
	if err != nil || key.IsZero() {
		return err
	}
	w.keep(key)
	headers := http.Header{}
	for name, value := range p.Headers {
		headers.Set(name, value)
	}
	call, err := wire.Account{Provider: p.Name, BaseURL: p.BaseURL, Key: wire.Secret(key.Reveal()), KeySource: source, Headers: headers}.Call(ctx, "/key")
	if err != nil {
		return err
	}
	client := &wire.Client{Version: versionLine()}
	defer client.Close()
	err = client.Get(ctx, call, &struct{}{})
	if listless(err) {
		return nil // a server in OpenRouter's place need not know this address
	}
	return err
}
