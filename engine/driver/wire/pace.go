package wire

import (
	"context"
	"net"
	"syscall"
	"time"
)

// To wake up for a drop costs twenty times what it costs to read it. So where
// they come thick and fast, who reads a connection waits for a handful of them,
// and then takes all that came meanwhile. It is done below encryption and
// framing: what they cut into small records is there at once, too.
const (
	drop    = 12 << 10               // bytes of the largest handful; more is a flood, and not waited for
	longest = 100 * time.Millisecond // that a handful should take
	thick   = 50 * time.Millisecond  // from drop to drop, at most, where they come so
	lull    = 250 * time.Millisecond // without a drop; what comes then is a new shower
)

// A paced connection is read by handfuls. It has one reader, and nobody else
// gives it deadlines.
type paced struct {
	net.Conn
	raw   syscall.RawConn // nil where it has none
	began time.Time       // of the shower
	rate  float64         // bytes a second
	drips bool
}

// pace gives the connections that dial makes their pace.
func pace(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c := &paced{Conn: conn}
		if s, ok := conn.(syscall.Conn); ok {
			c.raw, _ = s.SyscallConn()
		}
		return c, nil
	}
}

func (c *paced) Read(p []byte) (int, error) {
	asked := time.Now()
	if wait := c.wait(asked); c.drips && wait > 0 {
		if n := c.gather(p, wait); n > 0 {
			c.rate = (c.rate + float64(n)/max(time.Since(asked), time.Millisecond).Seconds()) / 2
			c.drips = n < min(len(p), drop)
			return n, nil
		}
		asked = time.Now()
	}
	n, err := c.Conn.Read(p)
	waited := time.Since(asked)
	if waited >= lull || c.began.IsZero() {
		c.began, c.rate = asked.Add(waited), 0
	}
	c.drips = 0 < n && n < min(len(p), drop) && waited < thick
	return n, err
}

// wait is how long a handful should take: a hundredth of what the shower has
// taken so far, so that a short answer is not held up at all.
func (c *paced) wait(now time.Time) time.Duration {
	if w := now.Sub(c.began) / 100; w >= time.Millisecond {
		return min(w, longest)
	}
	return 0
}

// gather waits for a handful and takes it. It has the system wake us for as many
// bytes as should have come by then; a timer of ours would cost as much again,
// and is there for those that do not come. None are an error, the end, or a
// pause: whoever reads on finds out.
func (c *paced) gather(p []byte, wait time.Duration) int {
	bytes := int(c.rate * wait.Seconds())
	if !canAwait || c.raw == nil || c.SetReadDeadline(time.Now().Add(wait+wait/4)) != nil {
		time.Sleep(wait)
		return 0
	}
	n := await(c.raw, p, min(max(bytes, 1), drop))
	if c.SetReadDeadline(time.Time{}) != nil {
		return 0
	}
	return n
}
