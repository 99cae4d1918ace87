package wire

import (
	"context"
	"net/http"
	"net/url"
)

// An Account is where a provider is asked that knows people by a bearer token,
// and as whom.
type Account struct {
	Provider  string // its name for people
	BaseURL   string
	Key       Key
	KeySource string      // where the key is from, for people
	Headers   http.Header // sent with every request; they win
}

// Call is a request without a body yet.
func (a Account) Call(ctx context.Context, path string) (Call, error) {
	address, err := Endpoint(a.BaseURL, path)
	if err != nil {
		return Call{}, err
	}
	call := Call{Provider: a.Provider, KeySource: a.KeySource, URL: address, Header: http.Header{}}
	return call, call.Authorize(ctx, a.Key, "Authorization", "Bearer ", a.Headers)
}

// Models asks the server which models it has, as OpenAI and those who follow it
// are asked. A client of nil is one for this call alone.
func (a Account) Models(ctx context.Context, client *Client) ([]Model, error) {
	call, err := a.Call(ctx, "/models")
	if err != nil {
		return nil, err
	}
	client, done := Borrow(client)
	defer done()
	return client.Models(ctx, call)
}

// Host is the host of an address, or nothing where it is none.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
