package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"agentx/engine/driver/wire"
)

// isAddress reports whether name is where something lies on the net, and not a
// file.
func isAddress(name string) bool {
	return strings.HasPrefix(name, "https://") || strings.HasPrefix(name, "http://")
}

// What fetching an attachment may take.
const (
	downloadTime  = 30 * time.Second
	downloadSteps = 5 // from one address to the next
)

// download reads what lies at an address, once. Nothing of ours goes there but
// the address.
func (w *world) download(ctx context.Context, address string) ([]byte, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, usage("%q is not an address", address)
	}
	shown := u.Redacted()
	ctx, cancel := context.WithTimeoutCause(ctx, downloadTime, fmt.Errorf("nothing whole came within %v", downloadTime))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, usage("%s: %w", shown, err)
	}
	req.Header.Set("User-Agent", "agentx")
	client := http.Client{Transport: w.transport, CheckRedirect: follow}
	data, err := read(client.Do(req))
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // it would tell the address once more, with its password
		if _, ok := errors.AsType[*net.OpError](err); ok {
			err = wire.Broken(failed.URL, err)
		}
	}
	if err != nil {
		return nil, &exit{code: codeProvider, err: fmt.Errorf("%s: %w", shown, err)}
	}
	return data, nil
}

// follow goes to the next address, unless that is less safe than the one before.
// It is not told where we come from: what stands there may be for the first alone.
func follow(next *http.Request, before []*http.Request) error {
	next.Header.Del("Referer")
	switch {
	case len(before) >= downloadSteps:
		return fmt.Errorf("it leads from address to address, %d times", downloadSteps)
	case before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("it leads to an address without encryption")
	}
	return nil
}

// read is what an answer holds, if that is what was asked for and not too large.
func read(answer *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("larger than the %d MB that a file may have", maxFile>>20)
	}
	return data, err
}

// nameOf is what one calls the thing at an address.
func nameOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "download"
	}
	if name := path.Base(u.Path); name != "." && name != "/" {
		return name
	}
	return u.Hostname()
}
