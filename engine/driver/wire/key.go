package wire

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A Key gives the secret that a provider knows us by, anew for each request.
// A nil Key, and an empty secret, send none.
type Key func(ctx context.Context) (string, error)

// Secret is a Key that is always the same.
func Secret(s string) Key { return func(context.Context) (string, error) { return s, nil } }

// Get returns the secret without space around it. One that cannot stand in a
// header is a fault.
func (k Key) Get(ctx context.Context) (string, error) {
	if k == nil {
		return "", nil
	}
	s, err := k(ctx)
	if err != nil {
		return "", keyFault(err)
	}
	s = strings.TrimSpace(s)
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' {
			return "", &engine.Fault{Code: event.CodeConfiguration, Message: "the key has a character in it that no key has"}
		}
	}
	return s, nil
}

func keyFault(err error) error {
	f := engine.FaultOf(err)
	if f.Code != event.CodeInternal {
		return f
	}
	return &engine.Fault{Code: event.CodeAuthentication, Message: fmt.Sprintf("no key: %s", Visible(err.Error())), Err: err}
}

// secretsOf are the values in h that nobody may see.
func secretsOf(h http.Header) []string {
	var all []string
	for name, values := range h {
		if !secretHeader(name) {
			continue
		}
		for _, v := range values {
			all = append(all, v)
			if _, bare, ok := strings.Cut(v, " "); ok {
				all = append(all, bare)
			}
		}
	}
	return all
}

func secretHeader(name string) bool {
	name = strings.ToLower(name)
	if name == "idempotency-key" {
		return false
	}
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
