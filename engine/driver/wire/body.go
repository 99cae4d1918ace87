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
	w := &watched{body: body, quiet: c.idle(), left: c.maxTotal(), began: time.Now()}
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

	began time.Time // of the reading
	drips bool      // it comes in drops
}

func (w *watched) Read(p []byte) (int, error) {
	if w.drips {
		time.Sleep(w.breath())
	}
	asked := time.Now()
	n, err := w.body.Read(p)
	waited := time.Since(asked)
	w.drips = 0 < n && n < drop && pending <= waited && waited < longest
	if n > 0 {
		w.idle.Reset(w.quiet)
	}
	if w.left -= int64(n); w.left < 0 {
		return 0, &engine.Fault{Code: event.CodeTooLarge, Message: "the stream exceeded what one answer may have"}
	}
	return n, err
}

// To wake up for a drop costs twenty times what it costs to read it. So where
// they come thick and fast, who has waited for one has a breath, and then takes
// all that came meanwhile before waiting again: some connections hand out only
// a record at a time, and nobody may fall behind them.
const (
	drop    = 3 << 10                // bytes of the largest; a read of a full connection brings more
	pending = 500 * time.Microsecond // what comes sooner was there already
	longest = 33 * time.Millisecond  // of the breaths
)

// breath is a hundredth of what the answer has taken so far: a short one is not
// held up at all.
func (w *watched) breath() time.Duration { return min(time.Since(w.began)/100, longest) }

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
