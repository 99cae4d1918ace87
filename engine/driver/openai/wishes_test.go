package openai

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"agentx/engine"
	"agentx/engine/driver/wire"
	"agentx/engine/event"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(r *http.Request, code int, kind, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// TestWishes tells of servers that refuse what they do not know: one is asked
// again without it, as often as there is something to leave out, and OpenAI
// never.
func TestWishes(t *testing.T) {
	const answer = "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	effort := `{"error":{"message":"think value \"high\" is not supported for this model","type":"invalid_request_error"}}`
	options := `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`
	for _, test := range []struct {
		name, base string
		refusals   []string
		effort     []bool // of each request
		counted    []bool
		fails      bool
	}{
		{"a model that cannot think so hard", "http://h/v1", []string{effort}, []bool{true, false}, []bool{true, true}, false},
		{"a server that counts unasked", "http://h/v1", []string{options}, []bool{true, true}, []bool{true, false}, false},
		{"both", "http://h/v1", []string{options, effort}, []bool{true, true, false}, []bool{true, false, false}, false},
		{"it goes on about it", "http://h/v1", []string{effort, effort}, []bool{true, false}, []bool{true, true}, true},
		{"OpenAI says what is wrong", "", []string{effort}, []bool{true}, []bool{true}, true},
		{"something else", "http://h/v1", []string{`{"error":{"message":"no such field"}}`}, []bool{true}, []bool{true}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := 0
			d := Driver{BaseURL: test.base, Client: &wire.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				if n >= len(test.effort) || strings.Contains(string(body), `"reasoning_effort":"high"`) != test.effort[n] || strings.Contains(string(body), "stream_options") != test.counted[n] {
					t.Errorf("request %d: %s", n, body)
				}
				if n++; n <= len(test.refusals) {
					return reply(r, 400, "application/json", test.refusals[n-1]), nil
				}
				return reply(r, 200, "text/event-stream", answer), nil
			})}}
			req := engine.Request{Model: "m", Message: event.UserMessage{Content: event.Say("x")}, Options: engine.Options{Effort: "high"}}
			said, failed := "", false
			for e, err := range d.Receive(t.Context(), req) {
				failed = failed || err != nil
				if e, ok := e.(event.TextDelta); ok {
					said += e.Text
				}
			}
			if n != len(test.effort) || failed != test.fails || (said == "yes") == failed {
				t.Errorf("%d requests, said %q, failed %v", n, said, failed)
			}
		})
	}
}
