package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"pgregory.net/rapid"
)

// TestTransport speaks HTTP/2 where it can, and no TLS that is too old.
func TestTransport(t *testing.T) {
	for _, test := range []struct {
		newest uint16
		proto  string
	}{{tls.VersionTLS13, "HTTP/2.0"}, {tls.VersionTLS12, "HTTP/2.0"}, {tls.VersionTLS11, ""}} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
		server.EnableHTTP2 = true
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: test.newest}
		server.Config.ErrorLog = nil
		server.StartTLS()
		transport := newTransport(nil)
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		transport.TLSClientConfig.RootCAs.AddCert(server.Certificate())
		req, err := http.NewRequest("GET", server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if (err == nil) != (test.proto != "") || err == nil && resp.Proto != test.proto {
			t.Errorf("TLS %x: %v, %v, want %s", test.newest, resp, err, test.proto)
		}
		if err == nil {
			resp.Body.Close()
		}
		transport.CloseIdleConnections()
		server.Close()
	}
}

// TestAPathThatDies gives up a connection on which nothing is heard any more, as
// after a sleep or behind a router that has forgotten it, long before the
// silence of a model would end it.
func TestAPathThatDies(t *testing.T) {
	certificate := httptest.NewUnstartedServer(nil)
	certificate.EnableHTTP2 = true
	certificate.StartTLS()
	certificate.Close()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		path := &path{Conn: here, closed: make(chan struct{})}
		transport := newTransport(nil)
		transport.TLSClientConfig = certificate.Client().Transport.(*http.Transport).TLSClientConfig
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return path, nil }
		defer transport.CloseIdleConnections()
		server := &http.Server{TLSConfig: certificate.TLS, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})}
		listener := &single{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
		listener.conn <- there
		go server.ServeTLS(listener, "", "") // ends with the server
		defer server.Close()

		req, err := http.NewRequest("GET", "https://example.com", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil || resp.Proto != "HTTP/2.0" {
			t.Fatal(resp, err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadFull(resp.Body, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + time.Second) // signs of life pass to and fro
		path.dead.Store(true)
		began := time.Now()
		_, err = resp.Body.Read(make([]byte, 1))
		if took := time.Since(began); err == nil || took > 30*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A path is a connection on which, once it is dead, nothing comes or goes.
type path struct {
	net.Conn
	dead   atomic.Bool
	once   sync.Once
	closed chan struct{}
}

func (p *path) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if p.dead.Load() && err == nil {
		<-p.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (p *path) Write(b []byte) (int, error) {
	if p.dead.Load() {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

func (p *path) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Conn.Close()
}

// A single listener has one connection to hand out.
type single struct {
	conn   chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *single) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *single) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *single) Addr() net.Addr { return &net.TCPAddr{} }

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"bad key sk-ant-api03-abcdefghijkl!":                         "bad key [secret]!",
		`{"key":"AIzaSyA1234567890abcdefghijklmnopqr"}`:              `{"key":"[secret]"}`,
		"Authorization: Bearer 0123456789abcdef":                     "Authorization: Bearer [secret]",
		"gsk_abcdefghijklmnopqrstuvwx, xai-abcdefghijklmnopqrstuvwx": "[secret], [secret]",
		"my own words":   "[secret] words",
		"sk-learn is ok": "sk-learn is ok",
		"claude-sonnet-4-5-20250929 and gpt-5-2025-08-07": "claude-sonnet-4-5-20250929 and gpt-5-2025-08-07",
	} {
		if got := Redact(in, "my own"); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestClean makes anything fit to be shown.
func TestClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[a-zA-Z0-9+/=]{8,40}`).Draw(t, "secret")
		text := rapid.String().Draw(t, "before") + secret + rapid.SampledFrom([]string{"", "\x1b[2J", "\u202e", "\u0085", "\r\n", "\U000e0041", "\xff"}).Draw(t, "after")
		got := Call{Secrets: []string{secret}}.clean(text)
		if strings.Contains(got, secret) {
			t.Fatalf("%q holds the secret", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q holds %U", got, r)
			}
		}
		if len(got) > 420 {
			t.Fatalf("%d bytes", len(got))
		}
	})
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", 3 * time.Second: "3s", 0: "0s",
		10 * time.Second: "10s", time.Hour + 30*time.Minute: "1h30m", 1500 * time.Millisecond: "2s",
	} {
		if got := spoken(d); got != want {
			t.Errorf("spoken(%d) = %q, want %q", d, got, want)
		}
	}
}
