package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/event"

	"go.uber.org/goleak"
)

// patience is how long a driver may take to do what it is to do at once.
const patience = 5 * time.Second

// TestDriver puts a driver through what every driver promises. Open makes one
// that answers any message with at least one event of text, thinking or tools.
func TestDriver(t *testing.T, open func() engine.Driver) {
	t.Run("answers in order", func(t *testing.T) {
		if err := answer(context.Background(), open(), question("u1")); err != nil {
			t.Error(err)
		}
	})
	t.Run("keeps nothing between two requests", func(t *testing.T) {
		d := open()
		for i := range 3 {
			if err := answer(context.Background(), d, question(fmt.Sprint("u", i))); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
	})
	t.Run("serves many at once", func(t *testing.T) {
		d := open()
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() { // ends with its answer
				if err := answer(context.Background(), d, question(fmt.Sprint("u", i))); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("a listener may leave after any event", func(t *testing.T) { leave(t, open()) })
	t.Run("ends at once when it is cancelled", func(t *testing.T) { cancelled(t, open()) })
	t.Run("leaves the request alone", func(t *testing.T) { untouched(t, open()) })
}

func question(id string) engine.Request {
	return engine.Request{
		Agent: "agent_1", Session: "session_1",
		Message: event.UserMessage{ID: id, Content: event.Say("Hello"), Timestamp: 1000},
	}
}

// answer receives one answer and says what is wrong with it.
func answer(ctx context.Context, d engine.Driver, req engine.Request) error {
	var o order
	for e, err := range d.Receive(ctx, req) {
		if err != nil {
			return fmt.Errorf("the driver failed: %w", err)
		}
		if err := o.take(e); err != nil {
			return err
		}
	}
	return o.end()
}

// order is the grammar of an answer.
type order struct {
	n       int
	inside  bool // of a message
	ids     map[string]bool
	content bool
	stops   int // final ones
	open    map[string]bool
	results map[string]int
}

func (o *order) take(e event.Stream) error {
	o.n++
	if e == nil {
		return fmt.Errorf("event %d is nil", o.n)
	}
	if _, err := json.Marshal(event.Event{Data: e}); err != nil {
		return fmt.Errorf("event %d, %s, cannot be written: %w", o.n, e.Type(), err)
	}
	if o.stops > 0 {
		return fmt.Errorf("event %d, %s, comes behind the final stop", o.n, e.Type())
	}
	if o.ids == nil {
		o.ids, o.open, o.results = map[string]bool{}, map[string]bool{}, map[string]int{}
	}
	if err := o.follow(e); err != nil {
		return fmt.Errorf("event %d, %s: %w", o.n, e.Type(), err)
	}
	return nil
}

func (o *order) follow(e event.Stream) error {
	switch e := e.(type) {
	case event.MessageStart:
		if o.inside || e.MessageID == "" || o.ids[e.MessageID] {
			return fmt.Errorf("a message that is inside another, or has no id of its own: %q", e.MessageID)
		}
		o.inside, o.ids[e.MessageID] = true, true
	case event.TextDelta, event.ThinkingDelta:
		o.content = true
		return o.within()
	case event.ToolUseStart:
		if e.ToolCallID == "" || e.ToolName == "" || o.ids[e.ToolCallID] {
			return fmt.Errorf("a call without a name, or without an id of its own: %q", e.ToolCallID)
		}
		o.content, o.ids[e.ToolCallID], o.open[e.ToolCallID] = true, true, true
		return o.within()
	case event.InputJSONDelta:
		if e.ToolCallID != "" && !o.open[e.ToolCallID] {
			return fmt.Errorf("input for %q, which is not open", e.ToolCallID)
		}
		return o.within()
	case event.ToolUseStop:
		if e.ToolCallID != "" && !o.open[e.ToolCallID] {
			return fmt.Errorf("the end of %q, which is not open", e.ToolCallID)
		}
		delete(o.open, e.ToolCallID)
		return o.within()
	case event.ToolResult:
		if o.results[e.ToolCallID]++; o.results[e.ToolCallID] > 1 {
			return fmt.Errorf("a second result for %q", e.ToolCallID)
		}
	case event.MessageDelta:
		u := e.Usage
		if min(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens, u.ReasoningTokens) < 0 {
			return fmt.Errorf("usage below zero: %+v", u)
		}
	case event.MessageStop:
		if e.StopReason == event.StopInterrupted || e.StopReason == "" {
			return fmt.Errorf("the stop reason %q is not a driver's to give", e.StopReason)
		}
		if e.StopReason.Final() {
			o.stops++
		}
		err := o.within()
		o.inside = false
		return err
	}
	return nil
}

func (o *order) within() error {
	if !o.inside {
		return fmt.Errorf("it belongs to no message")
	}
	return nil
}

func (o *order) end() error {
	switch {
	case o.inside || o.stops != 1:
		return fmt.Errorf("the answer ended after %d events with %d final stops", o.n, o.stops)
	case !o.content:
		return fmt.Errorf("the answer has no content")
	}
	return nil
}

// leave stops listening after each event in turn.
func leave(t *testing.T, d engine.Driver) {
	ignore := goleak.IgnoreCurrent()
	for after := 1; ; after++ {
		n := 0
		for range d.Receive(context.Background(), question("u1")) {
			if n++; n == after {
				break
			}
		}
		if n < after || after > 200 {
			break
		}
	}
	if err := goleak.Find(ignore); err != nil {
		t.Errorf("a driver whose listener had left still runs: %v", err)
	}
}

// cancelled cancels before the first event, and after each of the first few.
func cancelled(t *testing.T, d engine.Driver) {
	ignore := goleak.IgnoreCurrent()
	for after := range 20 {
		ctx, cancel := context.WithCancelCause(context.Background())
		if after == 0 {
			cancel(engine.Interrupt(event.ByUser))
		}
		n, late := 0, 0
		var began time.Time
		for e, err := range d.Receive(ctx, question("u1")) {
			if n++; n == after {
				began = time.Now()
				cancel(engine.Interrupt(event.ByUser))
			}
			_, isResult := e.(event.ToolResult) // open calls are still answered
			if ctx.Err() != nil && n > after && err == nil && !isResult {
				late++
			}
		}
		if !began.IsZero() && time.Since(began) > patience {
			t.Errorf("cancelled after %d events it took %v to end", after, time.Since(began))
		}
		if late > 1 {
			t.Errorf("cancelled after %d events it went on for %d more", after, late)
		}
		cancel(nil)
	}
	if err := goleak.Find(ignore); err != nil {
		t.Errorf("a cancelled driver still runs: %v", err)
	}
}

// untouched checks that what lies behind the end of the history stays as it is:
// an append there would overwrite what somebody else put there.
func untouched(t *testing.T, d engine.Driver) {
	history := make([]event.Message, 2, 8)
	history[0] = event.UserMessage{ID: "u0", Content: event.Say("Before")}
	history[1] = event.AssistantMessage{ID: "a0", Content: event.Parts{event.Text{Text: "Yes?"}}, StopReason: event.EndTurn}
	behind := history[:cap(history)]
	req := question("u1")
	req.History = history
	for range d.Receive(context.Background(), req) {
	}
	for i, m := range behind[len(history):] {
		if m != nil {
			t.Errorf("the driver wrote %s into the place %d behind the history", m.Type(), i)
		}
	}
}
