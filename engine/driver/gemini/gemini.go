// Package gemini speaks Google's generateContent API, as the Gemini API and
// Vertex AI offer it.
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// A Driver streams one message of a model. It is configuration and keeps
// nothing; its zero value asks Google without a key.
type Driver struct {
	Provider  string       // name for people; empty is Gemini, or the host of BaseURL
	BaseURL   string       // with or without /v1beta; empty is Google's
	Key       wire.Key     // sent as x-goog-api-key
	KeySource string       // where the key is from, for people
	Headers   http.Header  // sent with every request; they win
	Client    *wire.Client // nil is one for each request

	MaxTokens int // that the model can write in one answer; 0 is not known
}

const official = "generativelanguage.googleapis.com"

// Name says who answers.
func (d Driver) Name() string {
	if d.Provider != "" {
		return d.Provider
	}
	if host := wire.Host(d.base()); host != "" && host != official {
		return host
	}
	return "Gemini"
}

// Description says how.
func (d Driver) Description() string { return "generateContent API at " + d.base() }

func (d Driver) base() string {
	if d.BaseURL == "" {
		return "https://" + official
	}
	return d.BaseURL
}

// Receive asks for one message and yields it as it comes. Where the server says
// that what was thought before is not its own, or that the model does not think
// as much or as little, it is asked again without.
func (d Driver) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	thoughts := true
	return wire.Amend(d.Client, wire.Subject(d.base(), req), func() iter.Seq2[event.Stream, error] {
		return wire.Answer(ctx, d.Client,
			func() (wire.Call, error) { return d.question(ctx, req, thoughts) },
			func(c wire.Call) wire.Decoder { return newDecoder(c, req.Model) })
	}, func(f *engine.Fault) wire.Amendment {
		said := strings.ToLower(strings.ReplaceAll(f.Message, "_", " "))
		switch {
		case thoughts && strings.Contains(said, "thought signature"):
			thoughts = false
			return wire.Once
		case req.Options.Effort != "" && strings.Contains(said, "thinking"):
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
	call, err := d.call(ctx, "/"+path(req.Model)+":streamGenerateContent?alt=sse")
	if err != nil {
		return call, err
	}
	call.MaxText = wire.TextLimit(req.Options.MaxTokens)
	call.Body, err = encode(req, d.Client, d.MaxTokens, thoughts)
	return call, err
}

// path is where a model lies: below models, unless its name says where.
func path(model string) string {
	if !strings.HasPrefix(model, "models/") && !strings.HasPrefix(model, "tunedModels/") {
		model = "models/" + model
	}
	words := strings.Split(model, "/")
	for i, w := range words {
		words[i] = url.PathEscape(w)
	}
	return strings.Join(words, "/")
}

var version = regexp.MustCompile(`/v[0-9][a-z0-9]*(/|$)`)

// call is a request without a body yet.
func (d Driver) call(ctx context.Context, path string) (wire.Call, error) {
	base := strings.TrimRight(d.base(), "/")
	if !version.MatchString(base) {
		base += "/v1beta"
	}
	address, err := wire.Endpoint(base, path)
	if err != nil {
		return wire.Call{}, err
	}
	call := wire.Call{Provider: d.Name(), KeySource: d.KeySource, URL: address, Header: http.Header{}}
	return call, call.Authorize(ctx, d.Key, "X-Goog-Api-Key", "", d.Headers)
}

// Models asks the server which models it has that can talk.
func (d Driver) Models(ctx context.Context) ([]wire.Model, error) {
	client, done := wire.Borrow(d.Client)
	defer done()
	var models []wire.Model
	after := ""
	for range maxPages {
		call, err := d.call(ctx, "/models?pageSize=1000"+after)
		if err != nil {
			return nil, err
		}
		var page struct {
			Models []struct {
				Name        string   `json:"name"`
				DisplayName string   `json:"displayName"`
				Methods     []string `json:"supportedGenerationMethods"`
			} `json:"models"`
			Next string `json:"nextPageToken"`
		}
		if err := client.Get(ctx, call, &page); err != nil {
			return nil, err
		}
		for _, m := range page.Models {
			if len(m.Methods) == 0 || slices.Contains(m.Methods, "generateContent") {
				models = append(models, wire.Model{ID: strings.TrimPrefix(m.Name, "models/"), Name: m.DisplayName})
			}
		}
		if page.Next == "" {
			break
		}
		after = "&pageToken=" + url.QueryEscape(page.Next)
	}
	return models, nil
}

const maxPages = 10
