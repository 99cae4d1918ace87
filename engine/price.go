package engine

import "agentx/engine/event"

// A Pricer returns what a usage of a model costs, or false where a price that
// it needs is unknown. It is pure: the same usage costs the same for as long as
// the engine lives.
type Pricer func(model string, u event.Usage) (event.USD, bool)

// A Price is what one token costs. Prices are given in dollars for a million
// tokens: one dollar for a million is 1,000,000 [event.USD] for one.
type Price struct {
	Input, Output, CacheRead, CacheWrite event.USD
}

// Cost returns the price of u. A usage that no provider can mean has none.
func (p Price) Cost(u event.Usage) (event.USD, bool) {
	var sum event.USD
	for _, part := range []struct {
		tokens int64
		price  event.USD
	}{
		{u.InputTokens, p.Input},
		{u.OutputTokens, p.Output},
		{u.CacheReadTokens, p.CacheRead},
		{u.CacheWriteTokens, p.CacheWrite},
	} {
		if part.tokens < 0 || part.tokens > maxTokens || part.price < 0 || part.price > maxPrice {
			return 0, false
		}
		sum += event.USD(part.tokens) * part.price
	}
	return sum, true
}

// maxTokens is more than any model can read or write, maxPrice a thousand times
// what any asks; their product is far below what a USD holds.
const (
	maxTokens = 1_000_000_000
	maxPrice  = event.Dollar / 1000
)
