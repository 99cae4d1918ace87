package cmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/anthropic"
	"agentx/engine/driver/gemini"
	"agentx/engine/driver/guide"
	"agentx/engine/driver/ollama"
	"agentx/engine/driver/openai"
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
	"agentx/engine/runtime"
)

// choose finds the model of that name; empty lets the configuration choose.
func choose(c config.Config, model string) (config.Choice, error) {
	choice, err := c.Resolve(model)
	if model != "" && errors.Is(err, config.ErrUnknown) {
		err = &exit{code: codeUsage, err: err}
	}
	return choice, err
}

// define says what an agent of that configuration is.
func (w *world) define(_ context.Context, a runtime.AgentConfig) (runtime.Definition, error) {
	c, err := w.config()
	if err != nil {
		return runtime.Definition{}, err
	}
	choice, err := choose(c, a.Model)
	if err != nil {
		return runtime.Definition{}, err
	}
	other, err := w.fallback(c, a.Fallback)
	if err != nil {
		return runtime.Definition{}, err
	}
	return runtime.Definition{
		Name: a.Name, Driver: w.driver(c, choice, other), Model: choice.Model, System: a.SystemPrompt,
		Options: engine.Options{MaxTokens: a.MaxTokens, Temperature: a.Temperature, Effort: a.Effort, Schema: a.Schema},
		Price:   eitherPrice(c, choice, other),
		Record:  w.recorder(choice),
	}, nil
}

// pricer prices a model by the name that the provider reports, else by the one
// that was asked for. The guide costs nothing, nor does what runs on this
// machine, unless the user has given it a price.
func pricer(c config.Config, choice config.Choice) engine.Pricer {
	if choice.Provider.Protocol == config.Guide || ownMachine(choice) {
		return func(string, event.Usage) (event.USD, bool) { return 0, true }
	}
	return func(model string, u event.Usage) (event.USD, bool) {
		info, ok := c.About(choice.Provider, model)
		if !ok {
			info, ok = choice.Info, choice.Known
		}
		if !ok {
			return 0, false
		}
		return tariff(info).Cost(u)
	}
}

// ownMachine says that a model runs here and that nobody asks money for it. A
// server here that hands on to a paid one has a key, a price or says so in the
// model's name.
func ownMachine(c config.Choice) bool {
	p := c.Provider
	u, err := url.Parse(p.BaseURL)
	if err != nil || !p.BuiltIn || len(p.KeyEnv)+len(p.KeyCommand) > 0 || c.Info.Input.Known || strings.HasSuffix(c.Model, "cloud") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// driver is what answers for a choice, and for another where that one cannot.
func (w *world) driver(c config.Config, choice config.Choice, other *config.Choice) engine.Driver {
	if choice.Provider.Protocol == config.Guide {
		return guide.New(0)
	}
	model := w.model(c, choice)
	if other != nil {
		model = driver.Fallback{First: model, Then: w.model(c, *other), Model: other.Model, Name: other.Name()}
	}
	return driver.Loop{Model: model, MaxSteps: c.MaxTurns} // models call tools that nobody has offered them, too
}

// model asks a provider for what its model can read.
func (w *world) model(c config.Config, choice config.Choice) engine.Driver {
	if choice.Provider.Protocol == config.Guide {
		return guide.New(0)
	}
	return driver.Window{Model: bystander{w.guarded(c, choice, &caller{world: w, config: c, choice: choice}), w}, Tokens: int64(choice.Info.Context)}
}

// A caller is a driver that asks a provider. The key is looked for when the
// first request is made, for a keyring can take its time, and with the next one
// again where there was none.
type caller struct {
	world  *world
	config config.Config
	choice config.Choice

	mu    sync.Mutex // held while a key is looked for: who asks meanwhile needs it too
	ready engine.Driver
}

func (c *caller) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	d, err := c.driver(ctx)
	if err != nil {
		return func(yield func(event.Stream, error) bool) { yield(nil, err) }
	}
	return d.Receive(ctx, req)
}

// driver is the provider's own, with its key.
func (c *caller) driver(ctx context.Context) (engine.Driver, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready != nil {
		return c.ready, nil
	}
	key, source, err := c.config.Keys().Lookup(ctx, c.choice.Provider.Name)
	if err != nil {
		return nil, &engine.Fault{Code: event.CodeAuthentication, Message: err.Error(), Err: err}
	}
	c.world.keep(key)
	c.ready, err = c.speak(key, source)
	return c.ready, err
}

// speak chooses the provider's protocol.
func (c *caller) speak(key config.Secret, source string) (engine.Driver, error) {
	p := c.choice.Provider
	headers := http.Header{}
	for name, value := range p.Headers {
		headers.Set(name, value)
	}
	secret := wire.Secret(key.Reveal())
	client := &wire.Client{Version: versionLine(), Transport: c.world.transport, Memory: &c.world.memory}
	client.Header, client.Idle = c.patience()
	switch p.Protocol {
	case config.Anthropic:
		return anthropic.Driver{
			Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: client,
			MaxTokens: c.choice.Info.MaxOutput,
		}, nil
	case config.OpenAI:
		return openai.Driver{
			Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: client,
		}, nil
	case config.Responses:
		return responses.Driver{
			Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: client,
			Summary: "auto",
		}, nil
	case config.Gemini:
		return gemini.Driver{
			Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: client,
			MaxTokens: c.choice.Info.MaxOutput,
		}, nil
	case config.Ollama:
		return ollama.Driver{
			Provider: p.Name, BaseURL: p.BaseURL, Key: secret, KeySource: source, Headers: headers, Client: client,
		}, nil
	}
	return nil, &engine.Fault{Code: event.CodeConfiguration, Message: fmt.Sprintf("provider %s speaks %q, which this version does not", p.Name, p.Protocol)}
}

// patience is how long the provider may be silent before its answer begins and
// within it; 0 is the client's own. What the user has set holds for both.
func (c *caller) patience() (begin, within time.Duration) {
	switch {
	case c.config.Origin("timeout").Layer != config.Default:
		return c.config.Timeout, c.config.Timeout
	case c.choice.Provider.Protocol == config.Ollama:
		return ollama.Patience, ollama.Patience
	}
	return 0, c.config.Timeout
}
