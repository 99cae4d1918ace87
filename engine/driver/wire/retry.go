package wire

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
	patience    = 60 * time.Second // the longest wait that a provider may ask for
)

// A failure is one try that did not work: why, whether another may, and how
// long the provider asks to wait before it.
type failure struct {
	fault *engine.Fault
	again bool
	after time.Duration
}

// refusal judges an answer that is not a success.
func (c Call) refusal(resp *http.Response) failure {
	fault, after := c.refused(resp)
	f := failure{fault: fault, after: max(after, retryAfter(resp.Header))}
	switch resp.StatusCode {
	case 408, 409, 429, 500, 502, 503, 504, 529:
		f.again = f.fault.Code != event.CodeQuota
	}
	switch strings.ToLower(resp.Header.Get("X-Should-Retry")) {
	case "true":
		f.again = true
	case "false":
		f.again = false
	}
	return f
}

// retryAfter is how long the header asks to wait: never less than nothing, and
// nothing where it makes no sense. A date counts from the server's own clock.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return span(ms, time.Millisecond)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return span(s, time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

func span(n float64, unit time.Duration) time.Duration {
	if math.IsNaN(n) || n <= 0 {
		return 0
	}
	if n > float64(math.MaxInt64/int64(unit)) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(unit))
}

// wait is how long to wait after the try that is numbered from 1: at least what
// was asked for, else a random part of a time that doubles.
func (c *Client) wait(try int, f failure) time.Duration {
	top := min(longestWait, firstWait<<min(try-1, 16))
	return max(f.after, time.Duration(c.random()*float64(top)))
}

// tooLong is the fault of a provider that asks for more than patience.
func tooLong(f failure, provider string) *engine.Fault {
	fault := *f.fault
	fault.Message = fmt.Sprintf("%s asks to wait %s: %s", provider, spoken(f.after), fault.Message)
	fault.Retryable = true
	return &fault
}
