package responses_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/enginetest"
	"agentx/engine/event"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is a stream that is always the same.
type answer string

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(a))), Request: r,
	}, nil
}

func sse(data string) string { return "data: " + data + "\n\n" }

var (
	start = sse(`{"type":"response.created","response":{"id":"resp_0123456789abcdef0123","model":"m"}}`) +
		sse(`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}`)
	pieces = piece("one") + piece("two")
	stop   = sse(`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":7,"output_tokens":42}}}`)
)

func piece(s string) string {
	return sse(`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"` + s + `"}`)
}

// TestKit puts the driver through what every driver promises.
func TestKit(t *testing.T) {
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/responses" || r.Header.Get("Authorization") != "Bearer sk-0123456789" {
			http.Error(w, r.URL.Path, http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, s := range []string{start, pieces, pieces, stop} {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	}))
	defer p.Close()
	enginetest.TestDriver(t, func() engine.Driver {
		return responses.Driver{BaseURL: p.URL + "/v1/", Key: wire.Secret("sk-0123456789")}
	})
}

// TestCutEverywhere ends an answer at every byte: it is complete exactly when
// its last event has been seen.
func TestCutEverywhere(t *testing.T) {
	whole := start + pieces + stop
	for at := range len(whole) {
		o := wiretest.Ask(context.Background(), driver(answer(whole[:at])), engine.Request{})
		if complete := at >= len(whole)-2; (o.Err == nil) != complete {
			t.Errorf("cut at %d of %d (%q): error %v", at, len(whole), whole[max(0, at-20):at], o.Err)
		}
		if o.Err != nil && engine.FaultOf(o.Err).Code != event.CodeIncomplete {
			t.Errorf("cut at %d: %v", at, o.Err)
		}
		if text := o.Content().Text(); !strings.HasPrefix("onetwo", text) || text != "" && o.Message.Incomplete != (o.Err != nil) {
			t.Errorf("cut at %d: %+v", at, o.Message)
		}
	}
}

// TestFailures are told in the stream, in every way in which servers do that.
func TestFailures(t *testing.T) {
	failed := func(problem string) string {
		return sse(`{"type":"response.failed","response":{"status":"failed","error":` + problem + `,"usage":{"input_tokens":3,"output_tokens":1}}}`)
	}
	for _, test := range []struct {
		name, body string
		code       event.ErrorCode
		again      bool
		says       string
	}{
		{"flat", sse(`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`), event.CodeRateLimit, true, "slow down"},
		{"nested", sse(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no credit"}}`), event.CodeQuota, false, "no credit"},
		{"of another type", "event: error\n" + sse(`{"code":503,"type":"unavailable_error","message":"loading the model"}`), event.CodeOverloaded, true, "loading"},
		{"without a type", sse(`{"error":{"message":"the context window is full","code":"context_length_exceeded"}}`), event.CodeContextOverflow, false, "full"},
		{"of nothing", sse(`{"type":"error"}`), event.CodeServer, true, "P failed"},
		{"failed", failed(`{"code":"server_error","message":"try again"}`), event.CodeServer, true, "try again"},
		{"failed for good", failed(`{"code":"invalid_prompt","message":"not this"}`), event.CodeInvalidRequest, false, "not this"},
		{"failed for a picture", failed(`{"code":"image_too_small","message":"too small"}`), event.CodeInvalidRequest, false, "too small"},
		{"failed for a policy", failed(`{"code":"image_content_policy_violation","message":"no"}`), event.CodeContentFilter, false, "no"},
		{"failed for nothing", failed(`null`), event.CodeServer, true, "P failed"},
		{"completed, it says", sse(`{"type":"response.completed","response":{"status":"failed","error":{"code":"server_error","message":"not at all"}}}`), event.CodeServer, true, "not at all"},
		{"cancelled", sse(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), event.CodeIncomplete, true, "cancelled"},
		{"no end", "data: [DONE]\n\n", event.CodeIncomplete, true, "closed before"},
		{"no JSON", "data: <html>\n\n" + stop, event.CodeProtocol, false, "not JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := wiretest.Ask(context.Background(), driver(answer(start+pieces+test.body)), engine.Request{})
			if o.Err == nil {
				t.Fatal("no error")
			}
			f := engine.FaultOf(o.Err)
			if f.Code != test.code || f.Retryable != test.again || !strings.Contains(f.Message, test.says) {
				t.Errorf("fault %+v", f)
			}
			if o.Content().Text() != "onetwo" || !o.Message.Incomplete {
				t.Errorf("message %+v", o.Message)
			}
			if strings.HasPrefix(test.name, "failed") && o.Usage != (event.Usage{InputTokens: 3, OutputTokens: 1}) {
				t.Errorf("usage %+v", o.Usage)
			}
		})
	}
}

// TestOnceMore tries again where a failure was told before anything was said.
func TestOnceMore(t *testing.T) {
	asked := 0
	d := responses.Driver{BaseURL: "http://localhost/v1", Client: &wire.Client{
		Sleep: func(context.Context, time.Duration) error { return nil },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if asked++; asked < 3 {
				return answer(start + sse(`{"type":"response.failed","response":{"error":{"code":"server_error","message":"oh"}}}`)).RoundTrip(r)
			}
			return answer(start + pieces + stop).RoundTrip(r)
		}),
	}}
	if o := wiretest.Ask(context.Background(), d, engine.Request{}); o.Err != nil || o.Content().Text() != "onetwo" || asked != 3 {
		t.Errorf("asked %d times: %+v", asked, o)
	}
}

// TestWishes asks again without what the server does not grant, and only once
// without each.
func TestWishes(t *testing.T) {
	refusal := func(message string) *http.Response {
		return &http.Response{StatusCode: 400, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":{"type":"invalid_request_error","message":"` + message + `"}}`))}
	}
	const (
		account  = "The encrypted content gAAA... could not be verified."
		unproved = "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings"
		effort   = "reasoning.effort is not supported"
	)
	for _, test := range []struct {
		name     string
		refusals []string
		asked    []string // what each request has of thoughts, summary and effort
		fails    bool
	}{
		{"another account", []string{account}, []string{"tse", "se"}, false},
		{"a model that has none", []string{"Encrypted content is not supported with this model."}, []string{"tse", "se"}, false},
		{"nobody has looked at its passport", []string{unproved}, []string{"tse", "te"}, false},
		{"an unknown field", []string{"Unknown parameter: 'reasoning.summary'."}, []string{"tse", "te"}, false},
		{"a server that knows no effort", []string{effort}, []string{"tse", "ts"}, false},
		{"all of it", []string{effort, account, unproved}, []string{"tse", "ts", "s", ""}, false},
		{"stubborn", []string{"invalid_encrypted_content", "invalid_encrypted_content"}, []string{"tse", "se"}, true},
		{"something else", []string{"Unsupported parameter: 'temperature'"}, []string{"tse"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var asked []string
			d := responses.Driver{BaseURL: "http://localhost/v1", Summary: "auto"}
			history := []event.Message{
				event.UserMessage{Content: event.Say("x")},
				event.AssistantMessage{Model: "m", Content: event.Parts{event.Thinking{Signature: "encrypted_content@localhost:c2VjcmV0"}, event.Text{Text: "y"}}},
			}
			d.Client = &wire.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				b, _ := io.ReadAll(r.Body)
				has := ""
				for mark, field := range map[string]string{"t": `"encrypted_content":"c2VjcmV0"`, "s": `"summary":"auto"`, "e": `"effort":"high"`} {
					if strings.Contains(string(b), field) {
						has += mark
					}
				}
				if strings.Contains(has, "t") != strings.Contains(string(b), `"include"`) {
					t.Errorf("wants thoughts that it would not give back: %s", b)
				}
				asked = append(asked, has)
				if n := len(asked); n <= len(test.refusals) {
					return refusal(test.refusals[n-1]), nil
				}
				return answer(start + pieces + stop).RoundTrip(r)
			})}
			text, failed := "", false
			req := engine.Request{Model: "m", History: history, Message: event.UserMessage{Content: event.Say("z")}, Options: engine.Options{Effort: "high"}}
			for e, err := range d.Receive(t.Context(), req) {
				failed = failed || err != nil
				if e, ok := e.(event.TextDelta); ok {
					text += e.Text
				}
			}
			same := slices.EqualFunc(asked, test.asked, func(a, b string) bool {
				return len(a) == len(b) && strings.Trim(a, b) == ""
			})
			if !same || failed != test.fails || (text == "onetwo") == failed {
				t.Errorf("asked %q, want %q: said %q, failed %v", asked, test.asked, text, failed)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTooMuch ends an answer that has more in it than any could.
func TestTooMuch(t *testing.T) {
	const many = 11_000
	call, same, said := `{"type":"function_call","name":"t","arguments":"{}"}`, `{"type":"function_call","call_id":"a","name":"t"}`, `{"type":"message","content":[{"type":"output_text","text":"x"}]}`
	bit := func(item string) string {
		return strings.Repeat(sse(`{"type":"response.output_item.added","item":`+item+`}`)+sse(`{"type":"response.output_item.done","item":`+item+`}`), many)
	}
	whole := func(item string) string {
		return sse(`{"type":"response.completed","response":{"output":[` + strings.Repeat(item+",", many) + item + `]}}`)
	}
	for name, body := range map[string]string{
		"calls": bit(call), "calls of one id": bit(same), "messages": bit(said), "calls at once": whole(call), "messages at once": whole(said),
	} {
		o := wiretest.Ask(context.Background(), driver(answer(body+stop)), engine.Request{})
		if o.Err == nil || engine.FaultOf(o.Err).Code != event.CodeTooLarge {
			t.Errorf("%s: error %v, %d parts", name, o.Err, len(o.Message.Content))
		}
	}
}
