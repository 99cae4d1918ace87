// Package responses speaks the Responses API: OpenAI's own, and that of the
// servers that offer it. It asks nobody to keep anything: what was said and
// thought goes along with every request.
package responses

import (
	"context"
	"iter"
	"net/http"
	"net/url"
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

	MaxTokens int    // of an answer whose request does not say; 0 leaves it to the server
	Summary   string // of what is thought: auto, concise or detailed; empty asks for none; OpenAI gives it to verified organisations only
}

// Name says who answers.
func (d Driver) Name() string {
	if d.Provider != "" {
		return d.Provider
	}
	if host := d.address().Hostname(); host != "" && !d.official() {
		return host
	}
	return "OpenAI"
}

// Description says how.
func (d Driver) Description() string { return "Responses API at " + d.base() }

func (d Driver) base() string {
	if d.BaseURL == "" {
		return "https://api.openai.com/v1"
	}
	return d.BaseURL
}

func (d Driver) address() *url.URL {
	u, err := url.Parse(d.base())
	if err != nil {
		return &url.URL{}
	}
	return u
}

// official reports whether the server is OpenAI's, which has rules of its own.
func (d Driver) official() bool {
	host := strings.ToLower(d.address().Hostname())
	return host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com")
}

// seal marks the thoughts of this server: nobody else can read them.
func (d Driver) seal() string { return sealed + strings.ToLower(d.address().Host) + ":" }

const sealed = "encrypted_content@"

// Receive asks for one message and yields it as it comes. What is asked for
// beyond the answer is a wish: where the server says that it cannot read what it
// thought before, as for another account, that it does not tell this account
// what it thinks, or that it knows no effort, it is asked again without.
func (d Driver) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	thoughts := true
	return wire.Amend(d.Client, wire.Subject(d.base(), req), func() iter.Seq2[event.Stream, error] {
		return wire.Answer(ctx, d.Client,
			func() (wire.Call, error) { return d.question(ctx, req, thoughts) },
			func(c wire.Call) wire.Decoder { return newDecoder(c, req.Model, d.seal()) })
	}, func(f *engine.Fault) wire.Amendment {
		said := strings.ToLower(strings.ReplaceAll(f.Message, "_", " "))
		switch {
		case thoughts && strings.Contains(said, "encrypted content"):
			thoughts = false
			return wire.Once
		case d.Summary != "" && (strings.Contains(said, "summary") || strings.Contains(said, "summaries")):
			d.Summary = ""
		case req.Options.Effort != "" && !d.official() && strings.Contains(said, "effort"):
			req.Options.Effort = ""
		default:
			return wire.Hopeless
		}
		return wire.Lasting
	})
}

// question is the call that asks for a message.
func (d Driver) question(ctx context.Context, req engine.Request, thoughts bool) (wire.Call, error) {
	call, err := d.account().Call(ctx, "/responses")
	if err != nil {
		return call, err
	}
	call.MaxText = wire.TextLimit(req.Options.MaxTokens)
	call.Body, err = encode(req, d, thoughts)
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
