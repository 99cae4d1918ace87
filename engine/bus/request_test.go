package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine/bus"
	"agentx/engine/event"
)

// question is a request of the test's own, and reply its response.
type (
	question struct {
		Of int `json:"of"`
	}
	reply struct {
		RequestID string `json:"requestId"`
		To        int    `json:"to"`
	}
)

func (question) Type() string { return "question_request" }
func (reply) Type() string    { return "question_response" }

func wonder(n int) bus.SystemEvent {
	return bus.SystemEvent{Event: event.Event{Data: question{n}}}
}

// respond answers a question with its number.
func respond(b *bus.Bus, e bus.SystemEvent) {
	b.Publish(bus.SystemEvent{
		Event:  event.Event{Data: reply{e.RequestID, e.Data.(question).Of}},
		Source: bus.Command, Category: bus.Response, Intent: bus.Answers, RequestID: e.RequestID,
	})
}

// A hundred ask at once, and each gets the response to its own question. Who
// listens sees every request before its response (F95, F106).
func TestRequest(t *testing.T) {
	var b bus.Bus
	asked := map[string]bool{}
	b.Subscribe(bus.Subscription{}, func(e bus.SystemEvent) {
		switch e.Category {
		case bus.Request:
			asked[e.RequestID] = true
		case bus.Response:
			if !asked[e.RequestID] {
				t.Errorf("the response %s came before its request", e.RequestID)
			}
		}
	})
	var working sync.WaitGroup
	if _, err := b.Serve([]string{"question_request"}, func(e bus.SystemEvent) {
		working.Go(func() { respond(&b, e) })
	}); err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for n := range 100 {
		asking.Go(func() {
			e, err := b.Request(t.Context(), wonder(n))
			if err != nil || e.Data.(reply).To != n || e.Intent != bus.Answers {
				t.Errorf("question %d was answered with %v, %v", n, e.Data, err)
			}
		})
	}
	asking.Wait()
	working.Wait()
	if len(asked) != 100 {
		t.Errorf("%d requests had ids of their own, want 100", len(asked))
	}
}

// Nobody serves it: that is said at once, and not by a timeout (F106).
func TestAnUnknownRequest(t *testing.T) {
	var b bus.Bus
	var l log
	b.Subscribe(bus.Subscription{}, l.take)
	e, err := b.Request(t.Context(), wonder(1))
	if err != nil {
		t.Fatal(err)
	}
	line, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want := `"type":"question_response","timestamp":0,"data":{"requestId":"req_1","error":"nobody answers a request of type \"question_request\"","errorCode":"invalid_request"}`
	if !strings.Contains(string(line), want) || e.RequestID != "req_1" {
		t.Errorf("answered with %s", line)
	}
	l.want(t, "question_request system_error question_response")
}

// Who waits for a response waits no longer than he wants to, and one that comes
// late hinders nobody (F106).
func TestARequestIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bus.Bus
		var late bus.SystemEvent
		stop, err := b.Serve([]string{"question_request"}, func(e bus.SystemEvent) { late = e })
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.Request(ctx, wonder(1)); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "question_request") {
			t.Errorf("the error is %v", err)
		}
		respond(&b, late) // nobody waits for it any more
		stop()
		stop()
		if e, err := b.Request(t.Context(), wonder(2)); err != nil || e.Data.(bus.Refusal).ErrorCode != event.CodeInvalidRequest {
			t.Errorf("when nobody serves: %v, %v", e.Data, err)
		}
	})
}

// A server that panics answers all the same, and goes on serving.
func TestAServerPanics(t *testing.T) {
	var reported []error
	b := bus.Bus{Report: func(_ bus.SystemEvent, err error) { reported = append(reported, err) }}
	if _, err := b.Serve([]string{"question_request"}, func(e bus.SystemEvent) {
		if e.Data.(question).Of == 13 {
			panic("unlucky")
		}
		respond(&b, e)
	}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Request(t.Context(), wonder(13))
	if r, ok := e.Data.(bus.Refusal); err != nil || !ok || r.ErrorCode != event.CodeInternal || !strings.Contains(r.Error, "unlucky") {
		t.Errorf("answered with %v, %v", e.Data, err)
	}
	if e, err := b.Request(t.Context(), wonder(14)); err != nil || e.Data.(reply).To != 14 {
		t.Errorf("then answered with %v, %v", e.Data, err)
	}
	if len(reported) != 1 {
		t.Errorf("reported %v", reported)
	}
}

func TestOneServer(t *testing.T) {
	var b bus.Bus
	if _, err := b.Serve([]string{"question_request"}, func(bus.SystemEvent) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Serve([]string{"other_request", "question_request"}, func(bus.SystemEvent) {}); !errors.Is(err, bus.ErrServed) {
		t.Errorf("a second server: %v", err)
	}
	if _, err := b.Serve([]string{"other_request"}, func(bus.SystemEvent) {}); err != nil {
		t.Errorf("what the refused one asked for beside: %v", err)
	}
}

// A method that announces its request attends to it itself.
func TestAnAttendedRequest(t *testing.T) {
	var b bus.Bus
	var l log
	b.Subscribe(bus.Subscription{}, l.take)
	if _, err := b.Serve([]string{"question_request"}, func(bus.SystemEvent) { t.Error("a server was asked, too") }); err != nil {
		t.Fatal(err)
	}
	b.Begin(time.Now, bus.Scope{}, question{1}).End(bus.Scope{}, reply{})
	l.want(t, "question_request question_response")
}

// A client that never reads loses its place, and nobody else does (F17).
func TestAListenerThatNeverReads(t *testing.T) {
	var b bus.Bus
	asleep := b.Listen(bus.Subscription{}, 3)
	awake := b.Listen(bus.Subscription{}, 100)
	for i := range 10 {
		b.Publish(say(fmt.Sprint(i)))
	}
	read := func(l *bus.Listener) (words []string, err error) {
		for {
			e, err := l.Next(t.Context())
			if err != nil {
				return words, err
			}
			words = append(words, e.Data.(event.TextDelta).Text)
			if len(words) == 10 {
				return words, nil
			}
		}
	}
	if words, err := read(awake); err != nil || strings.Join(words, "") != "0123456789" {
		t.Errorf("who read was handed %v, %v", words, err)
	}
	if words, err := read(asleep); !errors.Is(err, bus.ErrBehind) || strings.Join(words, "") != "012" {
		t.Errorf("who did not read was handed %v, %v", words, err)
	}
	awake.Close()
	awake.Close()
	b.Publish(say("after"))
	if _, err := awake.Next(t.Context()); !errors.Is(err, bus.ErrClosed) {
		t.Errorf("a closed one: %v", err)
	}
}

// A listener waits for what comes, and not for longer than it wants to (F17).
func TestAListenerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bus.Bus
		l := b.Listen(bus.Subscription{Types: []string{"text_delta"}}, 1)
		defer l.Close()
		go func() { // ends with its two words
			time.Sleep(time.Minute)
			b.Publish(say("late"))
		}()
		if e, err := l.Next(t.Context()); err != nil || e.Data.(event.TextDelta).Text != "late" {
			t.Errorf("handed %v, %v", e.Data, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("handed %v", err)
		}
	})
}
