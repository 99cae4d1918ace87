package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/event"
	"agentx/store"
)

// A paper is a transport that sends nothing: it keeps the request, and ends what
// would have waited for an answer.
type paper struct {
	stop    context.CancelFunc
	request *http.Request
	body    []byte
}

var errDry = errors.New("nothing is sent")

func (p *paper) RoundTrip(r *http.Request) (*http.Response, error) {
	defer p.stop()
	p.request = r
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		p.body = body
	}
	return nil, errDry
}

// dryRun prints the request as it would be sent, and sends and keeps nothing.
func (w *world) dryRun(ctx context.Context, o options, content event.Content) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	req, choice, err := w.rehearse(ctx, c, o, content)
	if err != nil {
		return err
	}
	if choice.Provider.Protocol == config.Guide {
		w.note("the guide answers on this machine: nothing would be sent, and it costs nothing")
		return nil
	}
	w.warnOf(choice)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dry := &paper{stop: cancel}
	w.transport = dry
	model := &caller{world: w, config: c, choice: choice}
	key, source, err := c.Keys().Lookup(ctx, choice.Provider.Name)
	if err != nil {
		w.note("%v; it is shown without one", err)
	}
	w.keep(key)
	if model.ready, err = model.speak(key, source); err != nil {
		return err
	}
	for _, err := range (driver.Window{Model: model, Tokens: int64(choice.Info.Context)}).Receive(ctx, req) {
		if dry.request == nil && err != nil {
			return err
		}
	}
	if dry.request == nil {
		return cmp.Or(context.Cause(ctx), errors.New("the driver asks for nothing"))
	}
	w.weigh(c, choice, req)
	return w.showRequest(o, dry)
}

// rehearse is the request that would answer content in the session that o means.
func (w *world) rehearse(ctx context.Context, c config.Config, o options, content event.Content) (engine.Request, config.Choice, error) {
	var past store.Session
	var said []event.Message
	var req engine.Request
	var err error
	if o.last || o.resume != "" {
		if past, err = w.find(ctx, o); err == nil {
			said, _, err = w.db.Messages(ctx, past.ID, 0)
		}
		if err != nil {
			return req, config.Choice{}, err
		}
	}
	choice, err := choose(c, modelFor(o, past))
	if err != nil {
		return req, choice, err
	}
	req = engine.Request{
		Session: past.ID, Model: choice.Model, History: said,
		Message: event.UserMessage{ID: w.newID("msg"), Content: content},
		Options: engine.Options{MaxTokens: c.MaxTokens, Temperature: c.Temperature, Effort: c.Effort},
	}
	if req.Options.Schema, err = readSchema(o.schema); err != nil {
		return req, choice, err
	}
	req.System, err = w.systemFor(ctx, o, past, c.System)
	return req, choice, err
}

// weigh says what the request would about take.
func (w *world) weigh(c config.Config, choice config.Choice, req engine.Request) {
	tokens := driver.SizeOf(req).About
	if cost, known := pricer(c, choice)(choice.Model, event.Usage{InputTokens: tokens}); known {
		w.note("nothing was sent; to read these about %d tokens would cost about %s, the answer not counted", tokens, cents(cost))
		return
	}
	w.note("nothing was sent; these are about %d tokens, and nobody knows what %s costs", tokens, choice.Name())
}

const unspoken = "[redacted]"

// harmless reports whether the value of a header is no secret: who knows what
// others hold.
func harmless(header string) bool {
	switch header {
	case "Accept", "Accept-Encoding", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "Idempotency-Key", "User-Agent":
		return true
	}
	return false
}

// showRequest prints what would have been sent, without secrets.
func (w *world) showRequest(o options, dry *paper) error {
	address := w.address(*dry.request.URL)
	headers := map[string]string{}
	for name, values := range dry.request.Header {
		headers[name] = unspoken
		if harmless(name) {
			headers[name] = w.cleaned(strings.Join(values, ", "))
		}
	}
	body := w.cleaned(string(dry.body))
	if o.format != "text" {
		out := struct {
			Type    string            `json:"type"`
			Method  string            `json:"method"`
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
			Body    json.RawMessage   `json:"body,omitempty"`
		}{"dry_run", dry.request.Method, address, headers, json.RawMessage(body)}
		return writeLine(w.stdout, out)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", dry.request.Method, address)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		fmt.Fprintf(&b, "%s: %s\n", name, headers[name])
	}
	fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(body, "\n"))
	_, err := w.stdout.Write(b.Bytes())
	return err
}

// cleaned is text without secrets and without what no terminal should see.
func (w *world) cleaned(s string) string { return controls(config.Redact(s, w.secrets()...)) }

// address is where a request would go.
func (w *world) address(u url.URL) string {
	query := u.Query()
	for name := range query {
		if name != "alt" && name != "api-version" {
			query[name] = []string{unspoken}
		}
	}
	u.RawQuery = strings.ReplaceAll(query.Encode(), url.QueryEscape(unspoken), unspoken)
	return w.cleaned(u.Redacted())
}
