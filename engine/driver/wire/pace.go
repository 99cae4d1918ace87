package wire

import (
	"context"
	"net"
	"syscall"
	"time"
)

// To wake up for a drop costs twenty times what it costs to read it. So where
// they come thick and fast, who reads a connection has a breath after each
// handful, and then takes all that came meanwhile. It is done below encryption
// and framing: what they cut into small records is there at once, too.
const (
	drop    = 12 << 10               // bytes of the largest handful; more is a flood, and not waited for
	longest = 80 * time.Millisecond  // of the breaths
	thick   = 50 * time.Millisecond  // from drop to drop, at most, where they come so
	lull    = 250 * time.Millisecond // without a drop; what comes then is a new shower
)

// A paced connection has breaths between its reads. It has one reader.
type paced struct {
	net.Conn
	raw   syscall.RawConn // nil where it has none
	began time.Time       // of the shower
	drips bool
	deaf  bool // the system does not wake us for a drop
}

// pace gives the connections that dial makes their breaths.
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
	if c.drips {
		if b := c.breath(time.Now()); b > 0 {
			c.listen(false)
			time.Sleep(b)
			if n := glance(c.raw, p); n > 0 {
				c.drips = n < min(len(p), drop)
				return n, nil
			}
		}
	}
	c.listen(true)
	asked := time.Now()
	n, err := c.Conn.Read(p)
	waited := time.Since(asked)
	if waited >= lull || c.began.IsZero() {
		c.began = asked.Add(waited)
	}
	c.drips = 0 < n && n < min(len(p), drop) && waited < thick
	return n, err
}

// listen says whether the system is to wake us for every drop. Only who is sure
// to look by himself may do without.
func (c *paced) listen(closely bool) {
	if c.deaf == closely {
		c.deaf = !closely && deafen(c.raw, drop)
		if closely {
			deafen(c.raw, 1)
		}
	}
}

// breath is a hundredth of what the shower has taken so far: a short answer is
// not held up at all. The longest ones end when the screen looks for what is
// new, so that both wake up together.
func (c *paced) breath(now time.Time) time.Duration {
	b := now.Sub(c.began) / 100
	switch {
	case b < time.Millisecond:
		return 0
	case b < longest:
		return b
	}
	return now.Truncate(longest).Add(longest).Sub(now.Round(0))
}
