package wire_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// A script is a body that comes piece by piece, each after a pause. Behind the
// last it is silent until it is closed.
type script struct {
	steps  []step
	rest   string
	closed chan struct{}
}

type step struct {
	after time.Duration
	send  string
}

func (s *script) Read(p []byte) (int, error) {
	for s.rest == "" {
		if len(s.steps) == 0 {
			<-s.closed
			return 0, http.ErrBodyReadAfterClose
		}
		select {
		case <-time.After(s.steps[0].after):
		case <-s.closed:
			return 0, http.ErrBodyReadAfterClose
		}
		s.rest, s.steps = s.steps[0].send, s.steps[1:]
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *script) Close() error {
	select {
	case <-s.closed:
	default:
		close(s.closed)
	}
	return nil
}

// A scripted transport answers after head, with the script, or never.
type scripted struct {
	head  time.Duration
	steps []step
}

func (s scripted) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.head):
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: &script{steps: s.steps, closed: make(chan struct{})},
	}, nil
}

func repeat(n int, after time.Duration, send string) (all []step) {
	for range n {
		all = append(all, step{after, send})
	}
	return all
}

// TestSilence tells how long a driver waits, for what, and what it says then.
func TestSilence(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		begun := []step{{0, d.start + d.pieces(2)}}
		end := time.Duration(0) // of the stream, behind the stop, where only that is the answer's
		if d.late {
			end = 3 * time.Second
		}
		for _, test := range []struct {
			name    string
			play    scripted
			took    time.Duration
			message string
			text    string
		}{
			{"never answers", scripted{head: 24 * time.Hour}, 5 * time.Minute, "did not answer for 5m", ""},
			{"silent behind the head", scripted{}, 90 * time.Second, "no data for 1m30s", ""},
			{"silent behind some text", scripted{steps: begun}, 90 * time.Second, "no data for 1m30s", said(2)},
			{"signs of life only", scripted{steps: append(begun, repeat(10_000, 5*time.Second, d.ping)...)}, 10 * time.Minute, "no data for 10m but signs of life", said(2)},
			{"blank lines only", scripted{steps: append(begun, repeat(10_000, 5*time.Second, "\n")...)}, 10 * time.Minute, "no data for 10m but signs of life", said(2)},
			{"slow, and whole", scripted{steps: append(begun, append(repeat(50, 80*time.Second, d.ping+d.text("x")), step{0, d.stop})...)}, 4000*time.Second + end, "", said(2) + strings.Repeat("x", 50)},
		} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: test.play}), engine.Request{})
					took := time.Since(began)
					// what follows a stop is waited for a moment, for the connection's sake
					if took < test.took || took > test.took+time.Second {
						t.Errorf("took %v, want %v", took, test.took)
					}
					if o.Text != test.text {
						t.Errorf("text %q, want %q", o.Text, test.text)
					}
					if test.message == "" {
						if o.Err != nil {
							t.Error(o.Err)
						}
						return
					}
					if o.Fault == nil || o.Fault.Code != event.CodeTimeout || !strings.Contains(o.Fault.Message, test.message) || !o.Fault.Retryable {
						t.Errorf("fault %+v, want %q", o.Fault, test.message)
					}
					if len(o.Retries) != 0 {
						t.Errorf("tried again after silence: %v", o.Retries)
					}
				})
			})
		}
	})
}

// TestWaiting waits in real time between tries, and can be interrupted in it.
func TestWaiting(t *testing.T) {
	d := dialects[0]
	limited := func(after string) http.RoundTripper { return always{429, "Retry-After", after} }
	for _, test := range []struct {
		after  string
		cancel time.Duration
		took   time.Duration
	}{
		{"20", time.Hour, 60 * time.Second},
		{"60", time.Hour, 180 * time.Second},
		{"61", time.Hour, 0},
		{"60", 5 * time.Second, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), test.cancel)
			defer cancel()
			began := time.Now()
			o := wiretest.Ask(ctx, d.driver("http://localhost", &wire.Client{Transport: limited(test.after)}), engine.Request{})
			if took := time.Since(began); took != test.took {
				t.Errorf("after %s: took %v, want %v (%v)", test.after, took, test.took, o.Err)
			}
		})
	}
}

// TestCancelled ends at once and without an error, whatever the body does.
func TestCancelled(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, play := range []scripted{{head: time.Hour}, {}, {steps: []step{{0, d.start + d.pieces(2)}}}} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				defer cancel()
				began := time.Now()
				for _, err := range d.driver("http://localhost", &wire.Client{Transport: play}).Receive(ctx, engine.Request{Message: event.UserMessage{Content: event.Say("x")}}) {
					if err != nil {
						t.Error(err)
					}
				}
				if took := time.Since(began); took != 3*time.Second {
					t.Errorf("took %v", took)
				}
			})
		}
	})
}

// always answers with a status and a header.
type always struct {
	code          int
	header, value string
}

func (a always) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{}
	h.Set(a.header, a.value)
	return &http.Response{StatusCode: a.code, Header: h, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}
