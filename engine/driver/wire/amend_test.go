package wire_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

// TestAmended tells of requests that are refused for what was thought before,
// and for how much is to be thought now: they are made once more without, and
// what else is wrong is said at once.
func TestAmended(t *testing.T) {
	for _, test := range []struct {
		dialect, model, signature string
		refusal                   string
		gone                      string // of the second request; empty where there is none
	}{
		{"anthropic", "claude-sonnet-4-5", "c2ln", "messages.1.content.0: Invalid `signature` in `thinking` block", `"c2ln"`},
		{"anthropic", "claude-sonnet-4-5", "c2ln", `"thinking.type.enabled" is not supported for this model`, `"budget_tokens"`},
		{"anthropic", "claude-sonnet-4-5", "c2ln", "max_tokens: 99 > 10", ""},
		{"gemini", "gemini-3.5-flash", "c2ln", "Thought signature is not valid.", `"c2ln"`},
		{"gemini", "gemini-3.5-flash", "c2ln", "Thinking level HIGH is not supported for this model.", `"HIGH"`},
		{"gemini", "gemini-3.5-flash", "c2ln", "Request contains an invalid argument.", ""},
	} {
		for _, d := range dialects {
			if d.name != test.dialect {
				continue
			}
			p := serve(t, then(1, status(http.StatusBadRequest, d.error("invalid_request_error", test.refusal)), stream(d.whole())))
			var failed error
			text := ""
			req := engine.Request{Model: test.model, Options: engine.Options{Effort: "high"}, Message: event.UserMessage{Content: event.Say("z")}, History: []event.Message{
				event.UserMessage{Content: event.Say("x")},
				event.AssistantMessage{Model: test.model, Content: event.Parts{event.Thinking{Text: "hm", Signature: test.signature}, event.Text{Text: "y"}}},
			}}
			for e, err := range d.driver(p.URL, quick(t, nil)).Receive(context.Background(), req) {
				if failed = err; err == nil {
					if e, ok := e.(event.TextDelta); ok {
						text += e.Text
					}
				}
			}
			again := test.gone != ""
			if (failed == nil) != again || (text == said(20)) != again || p.count() != map[bool]int{true: 2, false: 1}[again] {
				t.Errorf("%s: %q: %d requests, %v", d.name, test.refusal, p.count(), failed)
				continue
			}
			if again && (!mentions(p.request(0).body, test.gone) || mentions(p.request(1).body, test.gone)) {
				t.Errorf("%s: %q: asked %s, then %s", d.name, test.refusal, p.request(0).body, p.request(1).body)
			}
		}
	}
}

// TestARefusalIsRemembered leaves out what a model does not take without being
// told so again, for as long as the client lives; what a refusal had against a
// conversation it leaves out of that alone.
func TestARefusalIsRemembered(t *testing.T) {
	for _, test := range []struct {
		dialect, model, refusal, gone string
		lasting                       bool
	}{
		{"anthropic", "claude-sonnet-4-5", `"thinking.type.enabled" is not supported for this model`, `"budget_tokens"`, true},
		{"anthropic", "claude-sonnet-4-5", "messages.1.content.0: Invalid `signature` in `thinking` block", `"c2ln"`, false},
		{"chat", "m", "Unknown field: stream_options", `"stream_options"`, true},
		{"chat", "m", "reasoning_effort is not supported", `"reasoning_effort"`, true},
		{"responses", "m", "reasoning.effort is not supported by this model", `"effort"`, true},
		{"gemini", "gemini-3.5-flash", "Thinking level HIGH is not supported for this model.", `"HIGH"`, true},
		{"gemini", "gemini-3.5-flash", "Thought signature is not valid.", `"c2ln"`, false},
		{"ollama", "m", `"m" does not support thinking`, `"think"`, true},
	} {
		for _, d := range dialects {
			if d.name != test.dialect {
				continue
			}
			p := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				if n == 1 || n == 4 {
					status(http.StatusBadRequest, d.error("invalid_request_error", test.refusal))(w, r, n)
				} else {
					stream(d.whole())(w, r, n)
				}
			})
			asked := func(client *wire.Client, effort string) (requests int, with bool) {
				before := p.count()
				req := engine.Request{Model: test.model, Options: engine.Options{Effort: effort}, Message: event.UserMessage{Content: event.Say("z")}, History: []event.Message{
					event.UserMessage{Content: event.Say("x")},
					event.AssistantMessage{Model: test.model, Content: event.Parts{event.Thinking{Text: "hm", Signature: "c2ln"}, event.Text{Text: "y"}}},
				}}
				for _, err := range d.driver(p.URL, client).Receive(context.Background(), req) {
					if err != nil {
						t.Errorf("%s: %q: %v", d.name, test.refusal, err)
					}
				}
				return p.count() - before, mentions(p.request(before).body, test.gone)
			}
			same := quick(t, nil)
			if n, with := asked(same, "high"); n != 2 || !with {
				t.Errorf("%s: %q: first %d requests, with it: %v", d.name, test.refusal, n, with)
			}
			if n, with := asked(same, "high"); n != 1 || with == test.lasting {
				t.Errorf("%s: %q: then %d requests, with it: %v", d.name, test.refusal, n, with)
			}
			if n, with := asked(quick(t, nil), "high"); n != 2 || !with {
				t.Errorf("%s: %q: another client's %d requests, with it: %v", d.name, test.refusal, n, with)
			}
		}
	}
}

func mentions(body, what string) bool {
	return strings.Contains(strings.ToLower(body), strings.ToLower(what))
}
