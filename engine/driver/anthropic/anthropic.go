// Package anthropic speaks the Messages API: Anthropic's own, and that of every
// server that offers it.
package anthropic

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
// nothing; its zero value asks Anthropic without a key.
type Driver struct {
	Provider  string       // name for people; empty is Anthropic, or the host of BaseURL
	BaseURL   string       // with or without /v1; empty is Anthropic's
	Key       wire.Key     // sent as x-api-key
	KeySource string       // where the key is from, for people
	Headers   http.Header  // sent with every request; they win
	Client    *wire.Client // nil is one for each request

	MaxTokens int // that the model can write in one answer; 0 is what suits it
}

const version = "2023-06-01"

// Name says who answers.
func (d Driver) Name() string {
	if d.Provider != "" {
		return d.Provider
	}
	if host := wire.Host(d.base()); host != "" && host != "api.anthropic.com" {
		return host
	}
	return "Anthropic"
}

// Description says how.
func (d Driver) Description() string { return "Messages API at " + d.base() }

func (d Driver) base() string {
	if d.BaseURL == "" {
		return "https://api.anthropic.com"
	}
	return d.BaseURL
}

// Receive asks for one message and yields it as it comes. Where the server says
// that what was thought before is not its own, or that the model does not think
// that way, it is asked again without.
func (d Driver) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	thoughts := true
	return wire.Amend(d.Client, wire.Subject(d.base(), req), func() iter.Seq2[event.Stream, error] {
		return wire.Answer(ctx, d.Client,
			func() (wire.Call, error) { return d.question(ctx, req, thoughts) },
			func(c wire.Call) wire.Decoder { return newDecoder(c, req.Model) })
	}, func(f *engine.Fault) wire.Amendment {
		said := strings.ToLower(f.Message)
		switch {
		case thoughts && strings.Contains(said, "signature"):
			thoughts = false
			return wire.Once
		case req.Options.Effort != "" && (strings.Contains(said, "thinking") || strings.Contains(said, "effort")):
			req.Options.Effort = ""
		default:
			return wire.Hopeless
		}
		return wire.Lasting
	})
}

// question is the call that asks for a message, with or without what was
// thought before.
func (d Driver) question(ctx context.Context, req engine.Request, thoughts bool) (wire.Call, error) {
	call, err := d.call(ctx, "/messages")
	if err != nil {
		return call, err
	}
	call.MaxText = wire.TextLimit(req.Options.MaxTokens)
	call.Body, err = encode(req, d.Client, d.MaxTokens, thoughts)
	return call, err
}

// call is a request without a body yet.
func (d Driver) call(ctx context.Context, path string) (wire.Call, error) {
	base := strings.TrimRight(d.base(), "/")
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	address, err := wire.Endpoint(base, path)
	if err != nil {
		return wire.Call{}, err
	}
	call := wire.Call{Provider: d.Name(), KeySource: d.KeySource, URL: address, Header: http.Header{}}
	call.Header.Set("Anthropic-Version", version)
	return call, call.Authorize(ctx, d.Key, "X-Api-Key", "", d.Headers)
}

// Models asks the server which models it has.
func (d Driver) Models(ctx context.Context) ([]wire.Model, error) {
	client, done := wire.Borrow(d.Client)
	defer done()
	var models []wire.Model
	after := ""
	for range maxPages {
		call, err := d.call(ctx, "/models")
		if err != nil {
			return nil, err
		}
		call.URL += "?limit=1000" + after
		var page struct {
			Data []struct {
				ID          string `json:"id"`
				DisplayName string `json:"display_name"`
			} `json:"data"`
			HasMore bool   `json:"has_more"`
			LastID  string `json:"last_id"`
		}
		if err := client.Get(ctx, call, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Data {
			models = append(models, wire.Model{ID: m.ID, Name: m.DisplayName})
		}
		if !page.HasMore || page.LastID == "" {
			break
		}
		after = "&after_id=" + url.QueryEscape(page.LastID)
	}
	return models, nil
}

const maxPages = 10
