package engine

import (
	"math"

	"agentx/engine/event"
)

// A Pricer returns what the usage of one request to a model costs, or false
// where a price that it needs is unknown. It is pure: the same usage costs the
// same for as long as the engine lives.
type Pricer func(model string, u event.Usage) (event.USD, bool)

// Unpriced is the price of what nobody knows the price of. Nothing of it costs
// nothing; any of it, nobody knows how much.
const Unpriced event.USD = -1

// A Price is what one token costs. Prices are given in dollars for a million
// tokens: one dollar for a million is 1,000,000 [event.USD] for one.
type Price struct {
	Input, Output, CacheRead, CacheWrite event.USD
	CacheWrite1h                         event.USD // of what shall stay in the cache for an hour
}

// Cost returns the price of u. A usage that no provider can mean has none, nor
// has one of a service with prices of its own.
func (p Price) Cost(u event.Usage) (event.USD, bool) {
	if u.Tier != "" {
		return 0, false
	}
	var sum event.USD
	for _, part := range []struct {
		tokens int64
		price  event.USD
	}{
		{u.InputTokens, p.Input},
		{u.OutputTokens, p.Output},
		{u.CacheReadTokens, p.CacheRead},
		{u.CacheWriteTokens - u.CacheWrite1hTokens, p.CacheWrite},
		{u.CacheWrite1hTokens, p.CacheWrite1h},
	} {
		switch {
		case part.tokens < 0 || part.tokens > maxTokens:
			return 0, false
		case part.tokens == 0 || part.price == 0:
			continue
		case part.price < 0 || event.USD(part.tokens) > (math.MaxInt64-sum)/part.price:
			return 0, false
		}
		sum += event.USD(part.tokens) * part.price
	}
	return sum, true
}

// maxTokens is more than any model can read or write.
const maxTokens = 1_000_000_000

// A Tariff is what the tokens of a model cost: more, or less, where it is given
// much to read at once.
type Tariff struct {
	Price
	Tiers []Tier // by rising Above
}

// A Tier is the price of all tokens of a request whose input, cached or not, is
// longer than Above tokens.
type Tier struct {
	Above int64
	Price
}

// Cost returns the price of u, the usage of one request.
func (t Tariff) Cost(u event.Usage) (event.USD, bool) {
	price := t.Price
	for _, tier := range t.Tiers {
		if u.InputTokens+u.CacheReadTokens+u.CacheWriteTokens > tier.Above {
			price = tier.Price
		}
	}
	return price.Cost(u)
}
