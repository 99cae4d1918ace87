// Package openai speaks the Chat Completions API: OpenAI's own, and that of the
// many servers that offer it.
package openai

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A Driver streams one message of a model. It is configuration and keeps
// nothing; its zero value asks OpenAI without a key.
type Driver struct {
	Provider  string       // name for people; empty is OpenAI, or the host of BaseURL
	BaseURL   string       // up to and with /v1; empty is OpenAI's
	Key       wire.Key     // sent as a bearer token
	KeySource string       // where the key is from, for people
	Headers   http.Header  // sent with every request; they win
	Client    *wire.Client // nil is one for each request

	MaxTokens int  // of an answer whose request does not say; 0 leaves it to the server
	Thoughts  bool // go back with the calls that came of them; DeepSeek and Moonshot want it, and get it anyway
}

// Name says who answers.
func (d Driver) Name() string {
	if d.Provider != "" {
		return d.Provider
	}
	if host := d.host(); host != "" && !d.official() {
		return host
	}
	return "OpenAI"
}

// Description says how.
func (d Driver) Description() string { return "Chat Completions API at " + d.base() }

func (d Driver) base() string {
	if d.BaseURL == "" {
		return "https://api.openai.com/v1"
	}
	return d.BaseURL
}

func (d Driver) host() string { return wire.Host(d.base()) }

// official reports whether the server is OpenAI's, which has its own name for
// the limit of an answer.
func (d Driver) official() bool {
	host := strings.ToLower(d.host())
	return host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
}

// remembers reports whether the server wants to be told what was thought.
func (d Driver) remembers() bool {
	host := "." + strings.ToLower(d.host())
	return d.Thoughts || strings.HasSuffix(host, ".deepseek.com") || strings.HasSuffix(host, ".moonshot.ai") || strings.HasSuffix(host, ".moonshot.cn")
}

// strict reports whether the server is Mistral's, which has rules of its own.
func (d Driver) strict() bool {
	return strings.EqualFold(d.Provider, "mistral") || strings.HasSuffix("."+strings.ToLower(d.host()), ".mistral.ai")
}

// Receive asks for one message and yields it as it comes. Some servers that
// offer this API refuse what they do not know of it: they are asked again
// without a count of tokens, and without effort.
func (d Driver) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	counted := true
	return wire.Amend(d.Client, wire.Subject(d.base(), req), func() iter.Seq2[event.Stream, error] {
		return wire.Answer(ctx, d.Client,
			func() (wire.Call, error) { return d.question(ctx, req, counted) },
			func(c wire.Call) wire.Decoder { return newDecoder(c, req.Model, d.seal()) })
	}, func(f *engine.Fault) wire.Amendment {
		said := strings.ToLower(f.Message)
		switch {
		case d.official():
			return wire.Hopeless // it says what is wrong with a setting
		case counted && strings.Contains(said, "stream_options"):
			counted = false
		case req.Options.Effort != "" && effortless(said):
			req.Options.Effort = ""
		default:
			return wire.Hopeless
		}
		return wire.Lasting
	})
}

// effortless reports whether a refusal is about effort, in whatever words.
func effortless(said string) bool {
	return strings.Contains(said, "effort") || strings.Contains(said, "think value") || strings.Contains(said, "support thinking")
}

// question is the call that asks for a message, and perhaps for its tokens to
// be counted.
func (d Driver) question(ctx context.Context, req engine.Request, counted bool) (wire.Call, error) {
	call, err := d.account().Call(ctx, "/chat/completions")
	if err != nil {
		return call, err
	}
	call.MaxText = wire.TextLimit(req.Options.MaxTokens)
	call.Body, err = encode(req, d, counted)
	return call, err
}

// account is where the server is asked, and as whom.
func (d Driver) account() wire.Account {
	return wire.Account{Provider: d.Name(), BaseURL: d.base(), Key: d.Key, KeySource: d.KeySource, Headers: d.Headers}
}

// Models asks the server which models it has.
func (d Driver) Models(ctx context.Context) ([]wire.Model, error) {
	return d.account().Models(ctx, d.Client)
}
