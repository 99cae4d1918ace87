package wire

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	"agentx/engine/event"
)

// A Call is one request to a provider and what is needed to speak about it.
type Call struct {
	Provider  string // its name for people
	KeySource string // where the key is from, for people
	URL       string
	Header    http.Header
	Secrets   []string // never shown
	Body      []byte   // POST where there is one, else GET

	Lines   bool  // of JSON, instead of server-sent events
	MaxText int64 // bytes of the answer without its thoughts; 0 is the client's limit
}

// Authorize gives the call its key, in the named header behind the prefix, and
// the headers that are configured, which win.
func (c *Call) Authorize(ctx context.Context, key Key, header, prefix string, headers http.Header) error {
	secret, err := key.Get(ctx)
	if err != nil {
		return err
	}
	if secret != "" {
		c.Header.Set(header, prefix+secret)
	}
	for name, values := range headers {
		c.Header[http.CanonicalHeaderKey(name)] = values
	}
	c.Secrets = secretsOf(c.Header)
	return nil
}

// Answer makes a call and yields what comes of it: begin says what to ask,
// decoder reads the answer. A client of nil is one for this call alone. Why
// nothing could be asked is yielded like any failure, unless ctx is done.
func Answer(ctx context.Context, client *Client, begin func() (Call, error), decoder func(Call) Decoder) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		call, err := begin()
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		client, done := Borrow(client)
		defer done()
		client.Stream(ctx, call, func() Decoder { return decoder(call) })(yield)
	}
}

// Borrow returns client, or one for the moment, and what to do behind it.
func Borrow(client *Client) (*Client, func()) {
	if client != nil {
		return client, func() {}
	}
	client = new(Client)
	return client, client.Close
}

// TextLimit is how many bytes an answer of so many tokens may have. Of 0 tokens
// it is 0: nobody asked for a limit.
func TextLimit(tokens int) int64 {
	if tokens <= 0 {
		return 0
	}
	return min(32<<20, max(64<<10, int64(tokens)*8))
}

// Tokens is a count of tokens as a provider sends it, 0 where it sends none, and
// whether it can be one.
func Tokens(n *int64) (int64, bool) {
	if n == nil {
		return 0, true
	}
	return *n, *n >= 0 && *n <= maxTokens
}

// maxTokens is more than any model can read or write.
const maxTokens = 1_000_000_000

// Mistyped reports whether err says that a field of some JSON has another type
// than it should. All the others have been decoded.
func Mistyped(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}
