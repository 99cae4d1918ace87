package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"agentx/engine/event"
)

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

// Unreadable says to a model that there is a file which it cannot be shown.
func Unreadable(f event.File) string {
	return fmt.Sprintf("[The file %q of type %s and %d bytes cannot be shown.]", f.Filename, f.MediaType, len(f.Data))
}

// Mistyped reports whether err says that a field of some JSON has another type
// than it should. All the others have been decoded.
func Mistyped(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}
