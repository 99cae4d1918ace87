package cmd

import (
	"strings"
	"sync"

	"agentx/config"
	"agentx/engine"
	"agentx/engine/event"
)

// tariff is what the engine reckons with of what is known about a model. What
// is read from a cache or written to it, and has no price of its own, is input;
// not so what is written there for an hour, which is never as cheap.
func tariff(m config.ModelInfo) engine.Tariff {
	t := engine.Tariff{Price: price(m.Input, m.Output, m.CacheRead, m.CacheWrite, m.CacheWrite1h)}
	for _, r := range m.Tiers {
		t.Tiers = append(t.Tiers, engine.Tier{Above: int64(r.Above), Price: price(r.Input, r.Output, r.CacheRead, r.CacheWrite, r.CacheWrite1h)})
	}
	return t
}

func price(input, output, read, write, hour config.Price) engine.Price {
	usd := func(all ...config.Price) event.USD {
		for _, p := range all {
			if p.Known {
				return event.USD(p.Picodollars)
			}
		}
		return engine.Unpriced
	}
	return engine.Price{Input: usd(input), Output: usd(output), CacheRead: usd(read, input), CacheWrite: usd(write, input), CacheWrite1h: usd(hour)}
}

// pricerOf prices what a session with that model took. The configuration is
// read when the first price is asked for; where it cannot be, nothing has one,
// nor has what another model took that has answered in between.
func (w *world) pricerOf(model string) engine.Pricer {
	find := sync.OnceValue(func() engine.Pricer {
		c, err := w.config()
		if err != nil || model == "" {
			return nil
		}
		choice, err := c.Resolve(model)
		if err != nil {
			return nil
		}
		price, prices := pricer(c, choice), c.Prices()
		return func(answered string, u event.Usage) (event.USD, bool) {
			if _, listed := prices.Lookup(choice.Provider.Name, answered); !listed && !strings.HasPrefix(answered, choice.Model) {
				return 0, false
			}
			return price(answered, u)
		}
	})
	return func(answered string, u event.Usage) (event.USD, bool) {
		if p := find(); p != nil {
			return p(answered, u)
		}
		return 0, false
	}
}
