package engine

import (
	"math"
	"time"

	"agentx/engine/event"
)

// A request is one to the model, from the start of its message to the start of
// the next: what is counted in between is its own. Its price is that of all of
// it, for many tokens may have another price than few. It is never changed.
type request struct {
	id    string // of its message; empty before that begins
	model string
	began event.Millis
	usage event.Usage
	cost  event.USD // 0 where the price is unknown
	known bool      // whether it is
}

// ask begins a request. What was counted before any message began is of the
// first.
func (t turn) ask(price Pricer, at time.Time, in event.MessageStart) turn {
	next := request{id: in.MessageID, model: in.Model, began: event.MillisOf(at)}
	if r := t.request; r != nil && r.id == "" {
		next.usage = r.usage
		next = next.priced(price)
	} else {
		t = t.conclude(price)
	}
	t.request = &next
	return t
}

// spend counts tokens.
func (t turn) spend(price Pricer, at time.Time, u event.Usage) turn {
	t.usage = t.usage.Add(u)
	next := request{began: event.MillisOf(at)}
	if t.request != nil {
		next = *t.request
	}
	next.usage = next.usage.Add(u)
	next = next.priced(price)
	t.request = &next
	return t
}

func (r request) priced(price Pricer) request {
	r.cost, r.known = 0, false
	if price == nil || r.uncounted() {
		return r
	}
	if cost, known := price(r.model, r.usage); known && cost >= 0 {
		r.cost, r.known = cost, true
	}
	return r
}

// conclude ends the request. Where nothing of it was counted nobody knows its
// price, unless its model costs nothing.
func (t turn) conclude(price Pricer) turn {
	if r := t.request; r != nil && r.uncounted() && price != nil {
		next := *r
		cost, known := price(r.model, event.Usage{InputTokens: 1, OutputTokens: 1})
		next.known = known && cost == 0
		t.request = &next
	}
	return t.settle()
}

func (r request) uncounted() bool { return r.usage == event.Usage{} }

// settle puts the request down among those before it.
func (t turn) settle() turn {
	r := t.request
	t.request = nil
	if r == nil {
		return t
	}
	x := event.Expense{MessageID: r.id, Model: r.model, Usage: r.usage, Timestamp: r.began}
	if r.known && r.cost <= math.MaxInt64-t.cost {
		x.CostUSD = new(r.cost)
		t.cost += r.cost
	} else {
		t.unpriced = true
	}
	t.spent = t.spent.push(x)
	return t
}
