// Package ollama speaks Ollama's own API: of a server on this machine, of
// another one, and of Ollama's cloud. It knows what that API says beyond the
// dialects of others that the same server offers: thoughts and their levels,
// schemas, and that a conversation has become too long.
package ollama

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A Driver streams one message of a model. It is configuration and keeps
// nothing; its zero value asks the server on this machine.
type Driver struct {
	Provider  string       // name for people; empty is Ollama, or the host of BaseURL
	BaseURL   string       // with or without /api or /v1; empty is http://127.0.0.1:11434
	Key       wire.Key     // sent as a bearer token; a server of one's own wants none
	KeySource string       // where the key is from, for people
	Headers   http.Header  // sent with every request; they win
	Client    *wire.Client // nil is one for each request

	MaxTokens int // of an answer whose request does not say; 0 leaves it to the server

	// Truncate lets the server leave out the oldest messages where the
	// conversation is longer than its context: it does so without a word. False
	// makes a fault of it.
	Truncate bool
}

// Patience is how long a server may be silent that is well: it says nothing
// while it loads a model, reads a long prompt, or while the model writes the
// input of a tool. It is meant for [wire.Client].
const Patience = 10 * time.Minute

// Name says who answers.
func (d Driver) Name() string {
	if d.Provider != "" {
		return d.Provider
	}
	switch host := strings.ToLower(wire.Host(d.base())); host {
	case "", "localhost", "127.0.0.1", "::1", "ollama.com":
		return "Ollama"
	default:
		return host
	}
}

// Description says how.
func (d Driver) Description() string { return "Ollama API at " + d.base() }

// base is the address without the path of a dialect, which is what people have
// in their settings for other programs.
func (d Driver) base() string {
	base := strings.TrimRight(d.BaseURL, "/")
	for _, path := range []string{"/v1", "/api"} {
		base = strings.TrimSuffix(base, path)
	}
	if base == "" {
		return "http://127.0.0.1:11434"
	}
	return base
}

// Receive asks for one message and yields it as it comes. Effort is a wish: a
// model that cannot think is asked again without it.
func (d Driver) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	model := req.Model
	answer := wire.Amend(d.Client, wire.Subject(d.base(), req), func() iter.Seq2[event.Stream, error] { return d.ask(ctx, req) }, func(f *engine.Fault) wire.Amendment {
		if req.Options.Effort == "" || !cannotThink(f) {
			return wire.Hopeless
		}
		req.Options.Effort = ""
		return wire.Lasting
	})
	return func(yield func(event.Stream, error) bool) {
		for e, err := range answer {
			if !yield(e, d.advise(err, model)) {
				return
			}
		}
	}
}

func (d Driver) ask(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return wire.Answer(ctx, d.Client,
		func() (wire.Call, error) { return d.question(ctx, req) },
		func(c wire.Call) wire.Decoder { return newDecoder(c, req.Model) })
}

// question is the call that asks for a message.
func (d Driver) question(ctx context.Context, req engine.Request) (wire.Call, error) {
	call, err := d.account().Call(ctx, "/api/chat")
	if err != nil {
		return call, err
	}
	call.Lines = true
	call.MaxText = wire.TextLimit(req.Options.MaxTokens)
	call.Body, err = encode(req, d)
	return call, err
}

// account is where the server is asked, and as whom.
func (d Driver) account() wire.Account {
	return wire.Account{Provider: d.Name(), BaseURL: d.base(), Key: d.Key, KeySource: d.KeySource, Headers: d.Headers}
}
