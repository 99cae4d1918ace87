package wire

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A shower is a connection on which drops fall whether or not somebody reads.
type shower struct {
	net.Conn
	next  time.Time // when the next one falls
	every time.Duration
	drops int
	reads int
}

func (s *shower) Read(p []byte) (int, error) {
	if s.drops == 0 {
		return 0, io.EOF
	}
	s.reads++
	time.Sleep(time.Until(s.next))
	n := 0
	for s.drops > 0 && !time.Now().Before(s.next) && n < len(p) {
		p[n] = 'x'
		n++
		s.drops, s.next = s.drops-1, s.next.Add(s.every)
	}
	return n, nil
}

// TestDrops tells how often we wake up for an answer that comes in drops, and
// that neither a short answer nor a slow one is held up.
func TestDrops(t *testing.T) {
	for _, test := range []struct {
		name  string
		drops int
		every time.Duration
		reads int           // at most
		late  time.Duration // how much it may take longer than the drops do
	}{
		{"fast and long", 4000, 5 * time.Millisecond, 1200, 2 * longest},
		{"fast and short", 8, 5 * time.Millisecond, 12, time.Millisecond},
		{"slow", 200, 100 * time.Millisecond, 201, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := &shower{next: began.Add(test.every), every: test.every, drops: test.drops}
				got, err := io.ReadAll(&paced{Conn: s})
				if err != nil || len(got) != test.drops {
					t.Errorf("read %d drops of %d, error %v", len(got), test.drops, err)
				}
				falls, took := time.Duration(test.drops)*test.every, time.Since(began)
				if took < falls || took > falls+test.late {
					t.Errorf("took %v for what fell in %v", took, falls)
				}
				if s.reads > test.reads {
					t.Errorf("woke up %d times for %d drops, want at most %d", s.reads, test.drops, test.reads)
				}
			})
		})
	}
}

// dialled returns the two ends of a connection, the first of them paced.
func dialled(t *testing.T) (*paced, net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := pace(new(net.Dialer).DialContext)(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return conn.(*paced), other
}

// TestAHandful is read at once although it comes drop by drop, and what is
// less than one at the latest when the time for it is over.
func TestAHandful(t *testing.T) {
	if !canAwait {
		t.Skip("nothing wakes us for more than a drop here")
	}
	c, other := dialled(t)
	c.rate = 10.0 / 60
	go func() { // ends with its drops
		for range 10 {
			_, _ = other.Write([]byte{'x'})
			time.Sleep(time.Millisecond)
		}
	}()
	if n := c.gather(make([]byte, 100), time.Minute); n != 10 {
		t.Errorf("took %d drops, want the handful of 10", n)
	}
	if _, err := other.Write([]byte{'x'}); err != nil {
		t.Fatal(err)
	}
	for got := 0; got == 0; {
		got = c.gather(make([]byte, 100), time.Millisecond)
	}
	if n := c.gather(make([]byte, 100), time.Millisecond); n != 0 {
		t.Errorf("took %d drops where there were none", n)
	}
}

// Whatever the system does with a connection that waits for a handful, nothing
// that was sent stays behind in it: not after a flood, not after a lull, not at
// the end.
func TestAPacedConnectionMissesNothing(t *testing.T) {
	c, other := dialled(t)
	c.began, c.rate = time.Now().Add(-time.Hour), 1000 // in the middle of a long shower
	var want, got []byte
	buf := make([]byte, 4<<10)
	for i, size := range []int{1, 1, 10, drop - 1, drop, drop + 1, 20 * drop, 1, 0, 1} {
		piece := bytes.Repeat([]byte{byte('a' + i)}, size)
		want = append(want, piece...)
		if _, err := other.Write(piece); err != nil {
			t.Fatal(err)
		}
		c.drips = true
		for len(got) < len(want) {
			n, err := c.Read(buf)
			if err != nil {
				t.Fatalf("piece %d: %v", i, err)
			}
			got = append(got, buf[:n]...)
		}
	}
	other.Close()
	c.drips = true
	if n, err := c.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("the end is %d bytes, error %v", n, err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d are not those that were sent", len(got), len(want))
	}
}
