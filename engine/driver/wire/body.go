package wire

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// drain reads the little that follows the stop, so that the connection can
// serve again. What takes time is not waited for.
func drain(body io.Reader) {
	w, ok := body.(*watched)
	if !ok {
		return
	}
	timer := time.AfterFunc(100*time.Millisecond, func() { w.body.Close() })
	defer timer.Stop()
	io.CopyN(io.Discard, w.body, 16<<10)
}

// watch returns body with limits: it ends when ctx does, after too long a
// silence, and after too many bytes.
func (c *Client) watch(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser) *watched {
	w := &watched{body: body, quiet: c.idle(), left: c.maxTotal()}
	w.idle = time.AfterFunc(w.quiet, func() {
		cancel(&engine.Fault{Code: event.CodeTimeout, Message: "no data for " + spoken(w.quiet), Retryable: true})
	})
	w.release = context.AfterFunc(ctx, func() { body.Close() })
	return w
}

type watched struct {
	body    io.ReadCloser
	idle    *time.Timer
	quiet   time.Duration
	left    int64
	release func() bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.idle.Reset(w.quiet)
	}
	if w.left -= int64(n); w.left < 0 {
		return 0, &engine.Fault{Code: event.CodeTooLarge, Message: "the stream exceeded what one answer may have"}
	}
	return n, err
}

func (w *watched) Close() error {
	w.idle.Stop()
	w.release()
	return w.body.Close()
}

// gzipped decompresses, from the first byte that is asked for.
type gzipped struct {
	body io.ReadCloser
	zip  *gzip.Reader
}

func (g *gzipped) Read(p []byte) (int, error) {
	if g.zip == nil {
		zip, err := gzip.NewReader(g.body)
		if err != nil {
			return 0, fmt.Errorf("gzip: %w", err)
		}
		g.zip = zip
	}
	return g.zip.Read(p)
}

func (g *gzipped) Close() error { return g.body.Close() }
