package driver_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/script"
	"agentx/engine/event"
)

func fails(code event.ErrorCode, before ...event.Stream) script.Driver {
	d := script.Say(before...)
	d.Steps = append(d.Steps, script.Step{Err: &engine.Fault{Code: code, Message: "the first is " + string(code)}})
	return d
}

// Who cannot answer is replaced, if nothing has been heard yet and another may
// do better.
func TestFallback(t *testing.T) {
	asked := ""
	second := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		asked = req.Model
		return says("second").Receive(ctx, req)
	})
	for name, c := range map[string]struct {
		first  engine.Driver
		want   string
		failed event.ErrorCode
	}{
		"the first answers":          {first: says("first"), want: "says first, stop end_turn"},
		"it is busy":                 {first: fails(event.CodeOverloaded), want: "says second, stop end_turn"},
		"it has been tried again":    {first: fails(event.CodeServer, event.Retrying{Attempt: 1}), want: "says second, stop end_turn"},
		"it is not there":            {first: fails(event.CodeNotFound), want: "says second, stop end_turn"},
		"it broke off":               {first: fails(event.CodeNetwork, event.MessageStart{}, event.TextDelta{Text: "fi"}), want: "says fi", failed: event.CodeNetwork},
		"the request cannot be":      {first: fails(event.CodeInvalidRequest), failed: event.CodeInvalidRequest},
		"the key is refused":         {first: fails(event.CodeAuthentication), failed: event.CodeAuthentication},
		"it is too long for anybody": {first: fails(event.CodeContextOverflow), failed: event.CodeContextOverflow},
	} {
		asked = ""
		story, err := tell(t.Context(), driver.Fallback{First: c.first, Then: second, Model: "other"})
		if got := strings.Join(story, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if err != nil && engine.FaultOf(err).Code != c.failed || err == nil && c.failed != "" {
			t.Errorf("%s: failed with %v", name, err)
		}
		if strings.Contains(c.want, "second") != (asked == "other") {
			t.Errorf("%s: the second was asked for %q", name, asked)
		}
	}
	stopped, stop := context.WithCancelCause(t.Context())
	stop(engine.Interrupt(event.ByUser))
	if _, err := tell(stopped, driver.Fallback{First: fails(event.CodeOverloaded), Then: says("second")}); err == nil {
		t.Error("who has given up was answered by another")
	}
	var said string
	for e := range (driver.Fallback{First: fails(event.CodeQuota), Then: says("x"), Model: "other"}).Receive(t.Context(), engine.Request{}) {
		if r, ok := e.(event.Retrying); ok {
			said = r.Reason
		}
	}
	if said != "the first is quota; asking other instead" {
		t.Errorf("said %q", said)
	}
}

// What cannot fit is not sent; what may fit is.
func TestWindow(t *testing.T) {
	long := func(words int) event.Content { return event.Say(strings.Repeat("word ", words)) }
	counted := func(model string, tokens int64) event.Message {
		return event.AssistantMessage{Content: event.Parts{event.Text{Text: "So?"}}, Model: model, Usage: &event.Usage{InputTokens: tokens - 10, OutputTokens: 10}}
	}
	for name, c := range map[string]struct {
		window  int64
		history []event.Message
		message event.Content
		refused bool
	}{
		"unknown window":               {window: 0, message: long(100_000)},
		"short":                        {window: 1000, message: long(10)},
		"certainly too long":           {window: 1000, message: long(10_000), refused: true},
		"perhaps too long":             {window: 1000, message: long(1100)},
		"too long by their own count":  {window: 1000, history: []event.Message{counted("m", 1100)}, message: long(1), refused: true},
		"fits by their own count":      {window: 1000, history: []event.Message{event.UserMessage{Content: long(5000)}, counted("m", 900)}, message: long(1)},
		"counted by another tokenizer": {window: 1000, history: []event.Message{counted("other", 1100)}, message: long(1)},
	} {
		req := engine.Request{Model: "m", History: c.history, Message: event.UserMessage{Content: c.message}}
		var failed error
		for _, err := range (driver.Window{Model: says("ok"), Tokens: c.window}).Receive(t.Context(), req) {
			failed = errors.Join(failed, err)
		}
		if refused := failed != nil; refused != c.refused || refused && engine.FaultOf(failed).Code != event.CodeContextOverflow {
			t.Errorf("%s: %v", name, failed)
		}
	}
}
