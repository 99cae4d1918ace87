package engine_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"

	"pgregory.net/rapid"
)

// million is a price of so many dollars for a million tokens.
func million(dollars event.USD) event.USD { return dollars * event.Dollar / 1_000_000 }

func TestWhatAUsageCosts(t *testing.T) {
	sonnet := engine.Price{Input: million(3), Output: million(15), CacheRead: million(3) / 10, CacheWrite: million(15) / 4, CacheWrite1h: million(6)}
	noCache := engine.Price{Input: million(3), Output: million(15), CacheRead: engine.Unpriced, CacheWrite: engine.Unpriced, CacheWrite1h: engine.Unpriced}
	pro := engine.Tariff{Price: noCache, Tiers: []engine.Tier{
		{Above: 1000, Price: engine.Price{Input: million(6), Output: million(20)}}, {Above: 2000, Price: engine.Price{Input: million(9), Output: million(30)}},
	}}
	for _, c := range []struct {
		what string
		cost func(event.Usage) (event.USD, bool)
		u    event.Usage
		want string // empty is unknown
	}{
		{"reasoning is output already", sonnet.Cost, event.Usage{InputTokens: 1000, OutputTokens: 100, ReasoningTokens: 90}, "0.0045"},
		{"what stays for an hour is dearer", sonnet.Cost, event.Usage{CacheReadTokens: 10_000, CacheWriteTokens: 3000, CacheWrite1hTokens: 1000}, "0.0165"},
		{"more for an hour than at all", sonnet.Cost, event.Usage{CacheWriteTokens: 1, CacheWrite1hTokens: 2}, ""},
		{"none of what has no price", noCache.Cost, event.Usage{InputTokens: 1_000_000}, "3"},
		{"one of what has no price", noCache.Cost, event.Usage{InputTokens: 1_000_000, CacheReadTokens: 1}, ""},
		{"a service that has another price", sonnet.Cost, event.Usage{InputTokens: 1, Tier: "priority"}, ""},
		{"less than nothing", sonnet.Cost, event.Usage{InputTokens: -1}, ""},
		{"more than anybody has", engine.Price{Output: event.Dollar}.Cost, event.Usage{OutputTokens: 900_000_000}, ""},
		{"up to the first tier", pro.Cost, event.Usage{InputTokens: 1000}, "0.003"},
		{"what is cached is read, too", pro.Cost, event.Usage{InputTokens: 1000, CacheReadTokens: 1}, "0.006"},
		{"the last tier that is reached", pro.Cost, event.Usage{InputTokens: 2001}, "0.018009"},
	} {
		got, known := c.cost(c.u)
		if known != (c.want != "") || known && got.String() != c.want {
			t.Errorf("%s: %s, %v; want %q", c.what, got, known, c.want)
		}
	}
}

// However tokens are counted in pieces, each request has the price of all of
// its tokens, and the turn that of its requests, to the last digit (F46).
func TestATurnCostsWhatItsRequestsCost(t *testing.T) {
	tariff := engine.Tariff{
		Price: engine.Price{Input: 1_234_567, Output: 7_654_321, CacheRead: 12_345, CacheWrite: 1_500_001, CacheWrite1h: 2_469_134},
		Tiers: []engine.Tier{{Above: 5000, Price: engine.Price{Input: 2_000_003, Output: 9_000_001, CacheRead: 20_001, CacheWrite: engine.Unpriced, CacheWrite1h: engine.Unpriced}}},
	}
	price := func(model string, u event.Usage) (event.USD, bool) {
		if model == "mystery" {
			return 0, false
		}
		return tariff.Cost(u)
	}
	rapid.Check(t, func(t *rapid.T) {
		type wanted struct {
			model string
			usage event.Usage
		}
		var want []wanted
		ins := []event.Data{event.UserMessage{ID: "u", Content: event.Say("how much?")}}
		count := func(w *wanted) {
			for range rapid.IntRange(0, 3).Draw(t, "pieces") {
				tokens := rapid.Int64Range(0, 4000)
				u := event.Usage{
					InputTokens: tokens.Draw(t, "input"), OutputTokens: tokens.Draw(t, "output"), CacheReadTokens: tokens.Draw(t, "read"),
					CacheWriteTokens: 2 * tokens.Draw(t, "write"), ReasoningTokens: 1,
				}
				u.CacheWrite1hTokens = u.CacheWriteTokens / 2
				w.usage = w.usage.Add(u)
				ins = append(ins, event.MessageDelta{Usage: u})
			}
		}
		requests := rapid.IntRange(1, 5).Draw(t, "requests")
		for i := range requests {
			w := wanted{model: rapid.SampledFrom([]string{"m", "m", "m", "mystery"}).Draw(t, "model")}
			ins = append(ins, event.MessageStart{MessageID: string(rune('a' + i)), Model: w.model})
			count(&w)
			if rapid.Bool().Draw(t, "says something") {
				ins = append(ins, event.TextDelta{Text: "so much"})
			}
			stop := event.ToolUse
			if i == requests-1 {
				stop = event.EndTurn
			} else if rapid.Bool().Draw(t, "broken off") {
				want = append(want, w)
				continue
			}
			ins = append(ins, event.MessageStop{StopReason: stop})
			if stop == event.ToolUse {
				count(&w)
			}
			want = append(want, w)
		}

		var s engine.State
		var got event.TurnResponse
		step := engine.StepWith(price)
		for _, in := range ins {
			for e := range mealy.Follow(step, &s, event.Event{At: time.UnixMilli(1000), Data: in}) {
				if r, ok := e.Data.(event.TurnResponse); ok {
					got = r
				}
			}
			if b, err := s.MarshalBinary(); err != nil || s.UnmarshalBinary(b) != nil {
				t.Fatal("a state that cannot be bytes")
			}
		}
		sum, usage, known := new(big.Int), event.Usage{}, true
		for _, w := range want {
			if len(got.Requests) == 0 {
				t.Fatalf("no request took %+v", w)
			}
			x := got.Requests[0]
			got.Requests = got.Requests[1:]
			cost, ok := price(w.model, w.usage)
			ok = ok && w.usage != event.Usage{} // who counts nothing may have taken anything
			if x.Model != w.model || x.Usage != w.usage || (x.CostUSD != nil) != ok || ok && *x.CostUSD != cost {
				t.Fatalf("a request took %+v, want %+v for %s, %v", x, w, cost, ok)
			}
			sum, usage, known = sum.Add(sum, big.NewInt(int64(cost))), usage.Add(w.usage), known && ok
		}
		if len(got.Requests) > 0 || got.Usage != usage {
			t.Fatalf("%+v is more than %+v", got, want)
		}
		if (got.CostUSD != nil) != (known && usage != event.Usage{}) || got.CostUSD != nil && big.NewInt(int64(*got.CostUSD)).Cmp(sum) != 0 {
			t.Fatalf("the turn costs %v, want %v, known %v", got.CostUSD, sum, known)
		}
	})
}

// A sum that no number holds is unknown, and not negative.
func TestTooMuchIsUnknown(t *testing.T) {
	step := engine.StepWith(func(string, event.Usage) (event.USD, bool) { return math.MaxInt64 - 1, true })
	var s engine.State
	for _, in := range []event.Data{
		event.UserMessage{ID: "u"}, event.MessageStart{MessageID: "a"}, event.MessageDelta{Usage: event.Usage{OutputTokens: 1}},
		event.MessageStop{StopReason: event.ToolUse}, event.MessageStart{MessageID: "b"}, event.MessageDelta{Usage: event.Usage{OutputTokens: 1}},
		event.MessageStop{StopReason: event.EndTurn},
	} {
		for e := range mealy.Follow(step, &s, event.Event{Data: in}) {
			if r, ok := e.Data.(event.TurnResponse); ok && (r.CostUSD != nil || len(r.Requests) != 2) {
				t.Errorf("the turn costs %s", r.CostUSD)
			}
		}
	}
}
