// Package wire carries requests to providers over HTTP and reads what they
// stream back. It knows what can go wrong on the way, and nothing about what is
// said.
//
// A [Client] follows no redirect, sends no key unencrypted, demands an event
// stream, gives up on a silent connection, and tries again only for as long as
// nothing of the answer has been seen.
package wire

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	randv2 "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// A Client is what drivers share: connections and limits. Its zero value works.
// It is used by pointer, by any number of goroutines, and not copied.
type Client struct {
	Version   string            // of this program, for User-Agent
	Transport http.RoundTripper // nil is one of our own

	Proxy func(*http.Request) (*url.URL, error) // nil is what the environment says

	Header   time.Duration // until the answer begins; 0 is 5 minutes
	Idle     time.Duration // without a byte; 0 is 90 seconds
	Progress time.Duration // with signs of life only; 0 is 10 minutes

	MaxLine  int   // bytes of one line or event; 0 is 32 MB
	MaxTotal int64 // bytes of one stream; 0 is 1 GB
	MaxText  int64 // bytes of one answer's text and tool input; 0 is 32 MB

	Memory *Memory // of what models do not take; nil is one of its own

	Attempts int                                        // 0 is 4
	Random   func() float64                             // in [0,1), spreads the waits; nil is random
	Sleep    func(context.Context, time.Duration) error // nil waits

	once sync.Once
	own  *http.Transport

	mine Memory

	written atomic.Pointer[written] // what was written last, unless somebody is writing
}

// NewID returns an identifier that nobody else has.
func NewID() string { return rand.Text() }

// Close ends the connections that are idle.
func (c *Client) Close() {
	if t, ok := c.transport().(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

func (c *Client) transport() http.RoundTripper {
	if c.Transport != nil {
		return c.Transport
	}
	c.once.Do(func() { c.own = newTransport(c.Proxy) })
	return c.own
}

// newTransport is net/http's with our limits. A round trip of it follows no
// redirect and keeps no cookie: both are left to http.Client, which is not here.
func newTransport(proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	if proxy == nil {
		proxy = http.ProxyFromEnvironment
	}
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  proxy,
		DialContext:            pace(dialer.DialContext),
		TLSHandshakeTimeout:    15 * time.Second,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost:    4,
		ReadBufferSize:         16 << 10, // takes a handful at once
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true,
	}
}

func (c *Client) header() time.Duration   { return cmp.Or(c.Header, 5*time.Minute) }
func (c *Client) idle() time.Duration     { return cmp.Or(c.Idle, 90*time.Second) }
func (c *Client) progress() time.Duration { return cmp.Or(c.Progress, 10*time.Minute) }
func (c *Client) maxLine() int            { return cmp.Or(c.MaxLine, 32<<20) }
func (c *Client) maxTotal() int64         { return cmp.Or(c.MaxTotal, 1<<30) }
func (c *Client) maxText() int64          { return cmp.Or(c.MaxText, 32<<20) }
func (c *Client) attempts() int           { return cmp.Or(c.Attempts, 4) }

func (c *Client) random() float64 {
	if c.Random == nil {
		return randv2.Float64()
	}
	return c.Random()
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (c *Client) agent() string { return "agentx/" + cmp.Or(c.Version, "dev") }
