package record

import (
	"encoding/json"
	"iter"

	"agentx/engine"
	"agentx/engine/event"
)

// An envelope is a line of stream-json: an event and who says it.
type envelope struct {
	plain
	Source  string `json:"source"`
	Context struct {
		AgentID   event.AgentID   `json:"agentId"`
		SessionID event.SessionID `json:"sessionId"`
	} `json:"context"`
}

// plain is an event without its envelope.
type plain struct {
	Type      json.RawMessage `json:"type"`
	Timestamp json.RawMessage `json:"timestamp"`
	Data      json.RawMessage `json:"data"`
}

// fromEvents makes steps of a stream of events: what the user said and the
// driver streamed are inputs, what stands behind one followed from it. Prices
// are not among the events; they are those that give the cost of the turn.
func (r *Reader) fromEvents() iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		var open turns
		for raw, err := range r.rest() {
			var done turn
			if err == nil {
				done, err = r.take(&open, raw)
			}
			if err != nil {
				yield(Step{}, err)
				return
			}
			if !done.tell(yield) {
				return
			}
		}
		for _, t := range open {
			if !t.tell(yield) {
				return
			}
		}
	}
}

// take reads one line, and returns the turn that it shows to be over.
func (r *Reader) take(open *turns, raw []byte) (done turn, err error) {
	var env envelope
	if err := json.Unmarshal(raw, &env); err != nil {
		return nil, r.wrong("it is not JSON as stream-json has it: %v", err)
	}
	if env.Source != "agent" {
		return nil, nil // init, result, commands, and what others say
	}
	var e event.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return nil, r.wrong("it is no event: %v", err)
	}
	if e.Data.Type() == "" {
		return nil, r.wrong("it is an event without a type")
	}
	if _, ok := e.Data.(event.ConversationQueued); ok {
		return nil, nil // the agent says that, and not the machine
	}
	t := open.of(env.Context.AgentID)
	if inputOf(e) {
		s := Step{Line: r.lines.n, Agent: env.Context.AgentID, Session: env.Context.SessionID, In: e}
		if _, s.First = e.Data.(event.UserMessage); s.First {
			done, *t = *t, nil
		}
		*t = append(*t, s)
		return done, nil
	}
	if len(*t) == 0 {
		return nil, r.wrong("%s follows from nothing", e.Data.Type())
	}
	bare, err := event.Marshal(env.plain)
	if err != nil {
		return nil, r.wrong("it cannot be read: %v", err)
	}
	last := &(*t)[len(*t)-1]
	last.Outs = append(last.Outs, Out{r.lines.n, bare})
	return nil, nil
}

// turns are those that may go on, one of each agent.
type turns []turn

// of returns the turn of an agent.
func (all *turns) of(agent event.AgentID) *turn {
	for i, t := range *all {
		if len(t) > 0 && t[0].Agent == agent {
			return &(*all)[i]
		}
	}
	*all = append(*all, nil)
	return &(*all)[len(*all)-1]
}

// A turn is the steps from one message of the user to the next.
type turn []Step

func (t turn) tell(yield func(Step, error) bool) bool {
	t.price()
	for _, s := range t {
		if !yield(s, nil) {
			return false
		}
	}
	return true
}

// price gives the turn the prices that lead to what it has cost. Where that is
// said of each request, they are those of the requests; else the first tokens
// have cost all of it.
func (t turn) price() {
	bill := t.bill()
	cost, model := bill.CostUSD, ""
	for i, s := range t {
		switch d := s.In.Data.(type) {
		case event.MessageStart:
			model = d.Model
			t[i].Priced = bill.prices()
		case event.MessageDelta:
			if t[i].Priced = bill.prices(); len(bill.Requests) > 0 {
				continue
			}
			p := engine.Priced{Model: model, Usage: d.Usage, Known: cost != nil}
			if cost != nil {
				p.Cost, cost = *cost, new(event.USD)
			}
			t[i].Priced = []engine.Priced{p}
		}
	}
}

// A bill is what a turn_response says of money.
type bill struct {
	CostUSD  *event.USD `json:"costUsd"` // nil where nobody knows
	Requests []struct {
		Model   string      `json:"model"`
		Usage   event.Usage `json:"usage"`
		CostUSD *event.USD  `json:"costUsd"`
	} `json:"requests"`
}

func (b bill) prices() []engine.Priced {
	var all []engine.Priced
	for _, r := range b.Requests {
		p := engine.Priced{Model: r.Model, Usage: r.Usage, Known: r.CostUSD != nil}
		if p.Known {
			p.Cost = *r.CostUSD
		}
		all = append(all, p)
	}
	return all
}

// bill is that of the turn, empty where it has none.
func (t turn) bill() (b bill) {
	for _, s := range t {
		for _, o := range s.Outs {
			var e struct {
				Type string `json:"type"`
				Data bill   `json:"data"`
			}
			if json.Unmarshal(o.Raw, &e) == nil && e.Type == "turn_response" {
				b = e.Data
			}
		}
	}
	return b
}
