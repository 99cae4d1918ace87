package engine

import "agentx/engine/event"

// A Summary is what can be said of a state in few words, and so of each of
// many: its size does not grow with what was said.
type Summary struct {
	Phase     string `json:"phase"`
	TurnID    string `json:"turnId"`    // empty between turns
	MessageID string `json:"messageId"` // empty between messages

	Parts   int `json:"parts"`   // of the message, those that are finished
	Bytes   int `json:"bytes"`   // of its text, thoughts and inputs, as they came
	Open    int `json:"open"`    // calls whose input is being written
	Waiting int `json:"waiting"` // calls that have no result yet

	Calls    int         `json:"calls"`    // of the turn
	Messages int         `json:"messages"` // of the turn, by the assistant
	Usage    event.Usage `json:"usage"`    // of the turn
	CostUSD  event.USD   `json:"costUsd"`  // of the turn, as far as it has a price
	Unpriced bool        `json:"unpriced"` // some of it has none
}

// Summary says where the machine stands. It takes the same time whatever has
// been said.
func (s State) Summary() Summary {
	a, t := s.assembly, s.turn
	spent := t
	if r := t.request; r != nil && !r.uncounted() {
		spent = t.settle()
	}
	sum := Summary{
		Phase: s.phase.String(), Parts: a.parts.len(), Bytes: a.bytes, Open: a.calls.len(), Waiting: a.waiting.len(),
		Calls: t.calls, Messages: t.messages, Usage: t.usage, CostUSD: spent.cost, Unpriced: spent.unpriced,
	}
	if t.open() {
		sum.TurnID = TurnID(t.message)
	}
	if a.open {
		sum.MessageID = a.id
	}
	return sum
}
