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
)

// A shower is a body of drops that fall whether or not somebody reads them.
type shower struct {
	began time.Time
	every time.Duration
	drops []string
	alone bool // a read brings one of them, however many have fallen: so do encrypted connections
	reads int
}

func (s *shower) RoundTrip(r *http.Request) (*http.Response, error) {
	s.began = time.Now()
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(s), Request: r}, nil
}

func (s *shower) Read(p []byte) (int, error) {
	if len(s.drops) == 0 {
		return 0, io.EOF
	}
	s.reads++
	time.Sleep(time.Until(s.began.Add(s.every)))
	n := 0
	for len(s.drops) > 0 && !time.Now().Before(s.began.Add(s.every)) && n+len(s.drops[0]) <= len(p) {
		n += copy(p[n:], s.drops[0])
		s.drops, s.began = s.drops[1:], s.began.Add(s.every)
		if s.alone {
			break
		}
	}
	return n, nil
}

// TestDrops tells how often a driver wakes up for an answer that comes in
// drops, and that it holds up neither a short answer nor one that is slow.
func TestDrops(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, test := range []struct {
			name  string
			drops int
			every time.Duration
			alone bool
			reads int           // at most
			late  time.Duration // how much it may take longer than the drops do
		}{
			{"fast and long", 4000, 5 * time.Millisecond, false, 1400, 33 * time.Millisecond},
			{"fast and long, one by one", 4000, 5 * time.Millisecond, true, 4002, 33 * time.Millisecond},
			{"fast and short", 8, 5 * time.Millisecond, false, 12, time.Millisecond},
			{"slow", 200, 100 * time.Millisecond, false, 210, 0},
		} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &shower{every: test.every, alone: test.alone, drops: []string{d.start}}
					for range test.drops {
						s.drops = append(s.drops, d.text("x"))
					}
					s.drops = append(s.drops, d.stop)
					falls := time.Duration(len(s.drops)) * test.every
					began := time.Now()
					o := ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: s}), engine.Request{})
					took := time.Since(began)
					if o.err != nil || o.text != strings.Repeat("x", test.drops) {
						t.Errorf("%d bytes of text, error %v", len(o.text), o.err)
					}
					if took < falls || took > falls+test.late {
						t.Errorf("took %v for what fell in %v", took, falls)
					}
					if s.reads > test.reads {
						t.Errorf("woke up %d times for %d drops, want at most %d", s.reads, test.drops, test.reads)
					}
				})
			})
		}
	})
}
