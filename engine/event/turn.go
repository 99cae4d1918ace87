package event

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Turns say what a question and its answer took.
type (
	// TurnRequest opens a turn.
	TurnRequest struct {
		TurnID    string  `json:"turnId"`
		MessageID string  `json:"messageId"`
		Content   Content `json:"content"`
		Timestamp Millis  `json:"timestamp"`
	}
	// TurnResponse closes a turn. Every TurnRequest gets exactly one.
	TurnResponse struct {
		TurnID    string `json:"turnId"`
		MessageID string `json:"messageId"` // of the user's message

		DurationMs         int64      `json:"durationMs"`
		TimeToFirstTokenMs *int64     `json:"timeToFirstTokenMs"` // nil where none came
		Usage              Usage      `json:"usage"`              // the sum over the turn
		CostUSD            *USD       `json:"costUsd"`            // nil where a price is unknown
		Model              string     `json:"model"`
		StopReason         StopReason `json:"stopReason"`
		ToolCalls          int        `json:"toolCalls"`
		Messages           int        `json:"messages"` // of the assistant
		Timestamp          Millis     `json:"timestamp"`

		Requests []Expense `json:"requests,omitempty"` // whose messages began, or of which anything was counted; usage and cost are their sums
	}
)

// An Expense is what one request to a model took: the request for one message,
// whether or not anything was said in it.
type Expense struct {
	MessageID string `json:"messageId,omitempty"` // of the assistant's message; empty where none began
	Model     string `json:"model"`
	Usage     Usage  `json:"usage"`
	CostUSD   *USD   `json:"costUsd"`   // nil where a price is unknown
	Timestamp Millis `json:"timestamp"` // when the message began
}

func (TurnRequest) turn()  {}
func (TurnResponse) turn() {}

func (TurnRequest) Type() string  { return "turn_request" }
func (TurnResponse) Type() string { return "turn_response" }

// Usage counts tokens. Input is what was neither read from nor written to a
// cache; output includes reasoning, which is also counted alone, and what was
// written to a cache includes what shall stay there for an hour.
type Usage struct {
	InputTokens        int64 `json:"inputTokens"`
	OutputTokens       int64 `json:"outputTokens"`
	CacheReadTokens    int64 `json:"cacheReadTokens,omitempty"`
	CacheWriteTokens   int64 `json:"cacheWriteTokens,omitempty"`
	CacheWrite1hTokens int64 `json:"cacheWrite1hTokens,omitempty"`
	ReasoningTokens    int64 `json:"reasoningTokens,omitempty"`

	// Tier is the service that was given, such as batch or priority, where it has
	// another price than the usual one; empty for most.
	Tier string `json:"tier,omitempty"`
}

// Add returns the sum of two usages. It has the tier of the first that has one.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:        u.InputTokens + v.InputTokens,
		OutputTokens:       u.OutputTokens + v.OutputTokens,
		CacheReadTokens:    u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens:   u.CacheWriteTokens + v.CacheWriteTokens,
		CacheWrite1hTokens: u.CacheWrite1hTokens + v.CacheWrite1hTokens,
		ReasoningTokens:    u.ReasoningTokens + v.ReasoningTokens,
		Tier:               cmp.Or(u.Tier, v.Tier),
	}
}

// Sub returns what u has more than v: providers repeat totals, events carry
// what is new.
func (u Usage) Sub(v Usage) Usage {
	return u.Add(Usage{-v.InputTokens, -v.OutputTokens, -v.CacheReadTokens, -v.CacheWriteTokens, -v.CacheWrite1hTokens, -v.ReasoningTokens, ""})
}

// Context returns the number of tokens that the next request will at least
// carry: everything that was read and written.
func (u Usage) Context() int64 {
	return u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens + u.OutputTokens
}

// USD is an amount of money in millionths of a millionth of a dollar, so that
// sums are exact in any order. A price of one dollar for a million tokens is
// 1,000,000 for each token. On the wire it is a decimal number of dollars.
type USD int64

// Dollar is one dollar.
const Dollar USD = 1_000_000_000_000

// Dollars returns the amount as a floating point number of dollars.
func (a USD) Dollars() float64 { return float64(a) / float64(Dollar) }

// String returns the exact decimal number of dollars, such as "0.0001234".
func (a USD) String() string {
	sign, u := "", uint64(a)
	if a < 0 {
		sign, u = "-", -u
	}
	whole, frac := u/uint64(Dollar), u%uint64(Dollar)
	if frac == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strconv.FormatUint(whole, 10) + "." + strings.TrimRight(fmt.Sprintf("%012d", frac), "0")
}

// MarshalJSON writes the exact decimal number of dollars.
func (a USD) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON reads a number of dollars, rounding beyond the twelfth decimal.
func (a *USD) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.Abs(f) > 9e6 {
		return fmt.Errorf("event: %q is no amount of dollars", b)
	}
	if exact, ok := parseUSD(string(b)); ok {
		*a = exact
		return nil
	}
	*a = USD(math.Round(f * float64(Dollar)))
	return nil
}

// parseUSD reads a plain decimal of at most twelve places without rounding.
func parseUSD(s string) (USD, bool) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	if len(frac) > 12 || len(whole) > 7 {
		return 0, false
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 12-len(frac)), 10, 63)
	if err != nil {
		return 0, false
	}
	if negative {
		return -USD(n), true
	}
	return USD(n), true
}

// Unpriced reports whether the turn has a price that nobody knows: a model was
// asked, and what it takes is unknown, or how much it has counted.
func (t TurnResponse) Unpriced() bool {
	return t.CostUSD == nil && (len(t.Requests) > 0 || t.Usage != Usage{})
}
