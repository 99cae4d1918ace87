package engine

import (
	"time"

	"agentx/engine/event"
)

// A turn is a question that has not been fully answered.
type turn struct {
	asked   bool               // false between turns
	message string             // id of the user's message
	next    *event.UserMessage // what replaces the turn, for as long as its end has not been told
	began   event.Millis       // as on the wire, so that a replay measures the same
	spoken  bool               // the first token has come
	first   event.Millis       // and when

	model    string
	usage    event.Usage
	request  *request            // whose message began last; nil before the first
	spent    list[event.Expense] // on the requests before it
	cost     event.USD           // of these
	unpriced bool                // one of these has no known price
	stop     event.StopReason
	calls    int
	messages int
}

func (t turn) open() bool { return t.asked }

// track measures a turn from the user's message to the end of the reply. It
// counts calls and messages from the message events, and closes with the
// state's conversation_end: this is what re-injection is for (seed 000, "Why
// Re-injection"). Seeds: turnTrackerProcessor.
func track(price Pricer) func(turn, time.Time, event.Data) (turn, []event.Turn) {
	return func(t turn, at time.Time, in event.Data) (turn, []event.Turn) {
		if in, ok := in.(event.UserMessage); ok {
			return t.begin(at, in)
		}
		if !t.open() {
			return t, nil
		}
		switch in := in.(type) {
		case event.MessageStart:
			t.model = in.Model
			return t.ask(price, at, in), nil
		case event.TextDelta, event.ThinkingDelta, event.ToolUseStart:
			if !t.spoken {
				t.spoken, t.first = true, event.MillisOf(at)
			}
		case event.MessageDelta:
			return t.spend(price, at, in.Usage), nil
		case event.MessageStop:
			t.stop = in.StopReason
		case event.Interrupted:
			t.stop = event.StopInterrupted
		case event.ErrorReceived:
			t.stop = event.StopError
		case event.ToolCallMessage:
			t.calls++
		case event.AssistantMessage:
			t.messages++
		case event.ConversationEnd:
			return t.end(price, at)
		}
		return t, nil
	}
}

// begin opens a turn. While another is open it waits for the end of that.
func (t turn) begin(at time.Time, in event.UserMessage) (turn, []event.Turn) {
	if t.open() {
		t.next, t.stop = &in, event.StopOther
		return t, nil
	}
	return turn{asked: true, message: in.ID, began: event.MillisOf(at)}, []event.Turn{event.TurnRequest{
		TurnID: TurnID(in.ID), MessageID: in.ID, Content: in.Content, Timestamp: event.MillisOf(at),
	}}
}

// end closes the turn, and opens the one that replaces it.
func (t turn) end(price Pricer, at time.Time) (turn, []event.Turn) {
	outs := []event.Turn{t.response(price, at)}
	if t.next == nil {
		return turn{}, outs
	}
	next, opened := turn{}.begin(at, *t.next)
	return next, append(outs, opened...)
}

// TurnID names the turn that a message of the user opens. It is derived, so that
// a replay gives the same bytes.
func TurnID(message string) string { return "turn_" + message }

func (t turn) response(price Pricer, at time.Time) event.TurnResponse {
	r := event.TurnResponse{
		TurnID: TurnID(t.message), MessageID: t.message,
		DurationMs: since(t.began, event.MillisOf(at)),
		Usage:      t.usage, Model: t.model, StopReason: t.stop,
		ToolCalls: t.calls, Messages: t.messages, Timestamp: event.MillisOf(at),
	}
	if t.spoken {
		r.TimeToFirstTokenMs = new(since(t.began, t.first))
	}
	if t = t.conclude(price); t.spent.len() == 0 {
		return r
	}
	r.Requests = t.spent.oldestFirst()
	if !t.unpriced {
		r.CostUSD = new(t.cost)
	}
	return r
}

// since is the time between two moments in milliseconds; where a clock was set
// back there is none.
func since(from, to event.Millis) int64 { return max(0, int64(to-from)) }
