package wire_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver/anthropic"
	"agentx/engine/driver/openai"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

// TestBrokenAnswers plays answers that go wrong. What had arrived is kept, it
// is said what happened, and nothing is asked a second time.
func TestBrokenAnswers(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		half := d.start + d.pieces(10)
		expected, stranger := `expected an event stream`, event.CodeProtocol
		if d.lines {
			expected, stranger = `expected lines of JSON`, event.CodeIncomplete // a line may be anything
		}
		for _, test := range []struct {
			name    string
			play    scene
			text    string
			code    event.ErrorCode
			message string // a pattern
		}{
			{"a clean end without a stop", stream(half), said(10), event.CodeIncomplete, `closed before the answer was complete`},
			{"an end inside a chunk", raw(head + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + half[:len(half)-5]), said(9), event.CodeIncomplete, `unexpected EOF`},
			{"a wrong length", raw(head + "Content-Length: 999999\r\n\r\n" + half), said(10), event.CodeIncomplete, `unexpected EOF`},
			{"a reset", reset(head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(half), half)), said(10), event.CodeIncomplete, `reset`},
			{"an error event", stream(half, d.broken), said(10), event.CodeOverloaded, `overloaded`},
			{"an event that is cut", stream(half, d.event(`{"type":"content_blo`), d.stop), said(10), event.CodeProtocol, `(event|line) .* is not JSON`},
			{"an event of something else", stream(half, d.event("<html>502 Bad Gateway</html>"), d.stop), said(10), event.CodeProtocol, `(event|line) .* is not JSON`},
			{"a hotel's page", page("text/html", "<html><body><h1>Welcome to Hotel WiFi</h1>"), "", event.CodeProtocol, expected + `, got "text/html"`},
			{"a hotel's page that lies", page("text/event-stream", "  \n<html>"), "", event.CodeProtocol, expected},
			{"an error with 200", page("application/json", d.error("overloaded_error", "overloaded")), "", event.CodeOverloaded, `is overloaded`},
			{"JSON with 200", page("application/json", `{"hello":1}`), "", stranger, `got "application/json"|closed before`},
			{"nothing with 200", page("text/event-stream", ""), "", event.CodeIncomplete, `closed before`},
			{"plain words", page("text/plain", "hello there"), "", event.CodeProtocol, `got "text/plain"`},
			{"compressed, it says", raw(head + "Content-Encoding: gzip\r\nContent-Length: 11\r\n\r\nnot-gzip-ok"), "", event.CodeProtocol, `compressed`},
			{"a long line", stream(d.start, strings.TrimSuffix(d.event(strings.Repeat("x", 2<<20)), "\n\n")), "", event.CodeTooLarge, `line longer than 1 MB`},
			{"no HTTP", raw("SSH-2.0-OpenSSH_9.9\r\n\x00\x01"), "", event.CodeProtocol, `does not speak HTTP`},
			{"a header without end", raw("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Bomb: "+strings.Repeat("b", 1000)+"\r\n", 2000) + "\r\n"), "", event.CodeProtocol, `does not speak HTTP`},
		} {
			t.Run(test.name, func(t *testing.T) {
				if d.lines && test.name == "an error with 200" {
					t.Skip("a line of a stream, before any text: it is asked again")
				}
				p := serve(t, test.play)
				c := quick(t, nil)
				c.MaxLine = 1 << 20
				o := wiretest.Ask(context.Background(), d.driver(p.URL, c), engine.Request{})
				if o.Fault == nil || o.Fault.Code != test.code || !regexp.MustCompile(test.message).MatchString(o.Fault.Message) {
					t.Errorf("fault %+v, want %s: %s", o.Fault, test.code, test.message)
				}
				if o.Text != test.text {
					t.Errorf("text %q, want %q", o.Text, test.text)
				}
				if (o.Message != nil) != (test.text != "") || o.Message != nil && !o.Message.Incomplete {
					t.Errorf("message %+v", o.Message)
				}
				if p.count() != 1 || len(o.Retries) != 0 {
					t.Errorf("%d requests, %d retries, want one try", p.count(), len(o.Retries))
				}
			})
		}
	})
}

func page(kind, body string) scene {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", kind)
		io.WriteString(w, body)
	}
}

// TestCutEverywhere ends an answer at every byte: it is complete exactly when
// its end has been seen, and never a panic.
func TestCutEverywhere(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		all := d.start + d.text("one") + d.text("two") + d.stop
		end := strings.Index(all, `"finish_reason":"stop"}]}`) + len(`"finish_reason":"stop"}]}`)
		if d.name != "chat" {
			end = strings.LastIndex(all, "}") + 1
		}
		for at := range len(all) {
			c := &wire.Client{Transport: answer{all[:at]}, Attempts: 1}
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{})
			if (o.Err == nil) != (at >= end) {
				t.Errorf("cut at %d of %d (%q): error %v", at, len(all), all[max(0, at-20):at], o.Err)
			}
			if !strings.HasPrefix("onetwo", o.Text) {
				t.Errorf("cut at %d: %q", at, o.Text)
			}
		}
	})
}

type answer struct{ body string }

func (a answer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

// TestLegalAnswers plays answers that are unusual and complete.
func TestLegalAnswers(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		future := d.event(`{"type":"from_the_future","x":[1,{"y":null}]}`)
		large := strings.Repeat("0123456789abcdef", 1<<20/16)
		if d.name == "chat" {
			large = strings.Repeat(large, 10) // one is enough: what is read is the same for all
		}
		ghost := d.text("GHOST")
		if d.late {
			ghost = ""
		}
		for _, test := range []struct {
			name string
			play scene
			text string
		}{
			{"plain", stream(d.whole()), said(20)},
			{"no content type", raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + d.whole()), said(20)},
			{"an odd content type", page("application/octet-stream", d.whole()), said(20)},
			{"HTTP/1.0", raw("HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + d.whole()), said(20)},
			{"one byte at a time", stream(strings.Split(d.start+d.text("漢字🙂")+d.stop, "")...), "漢字🙂"},
			{"cut inside a letter", stream(pieces(d.start+d.text("漢字🙂é")+d.stop, 1)...), "漢字🙂é"},
			{"unknown events", stream(d.start, future, d.pieces(20), future, d.stop), said(20)},
			{"events of unknown names", stream(strings.ReplaceAll(d.whole(), "\n\n", "\n\nevent: from_the_future\ndata: {\"type\":\"from_the_future\",\"x\":[1,{\"y\":null}]}\n\n")), said(20)},
			{"no names of events", stream(regexp.MustCompile(`event: .*\n`).ReplaceAllString(d.whole(), "")), said(20)},
			{"no spaces", stream(strings.ReplaceAll(d.whole(), "data: ", "data:")), said(20)},
			{"data in two lines", stream(strings.ReplaceAll(d.whole(), `,"index":0`, ",\ndata: \"index\":0")), said(20)},
			{"text behind the stop", stream(d.whole(), ghost), said(20)},
			{"two stops", stream(d.whole(), d.stop), said(20)},
			{"two starts", stream(d.start, d.whole()), said(20)},
			{"no start", stream(d.pieces(20), d.stop), said(20)},
			{"empty pieces", stream(d.start, d.text(""), d.text(""), d.text("x"), d.text(""), d.stop), "x"},
			{"null for a text", stream(d.start, strings.Replace(d.text("@"), `"@"`, "null", 1), d.text("x"), d.stop), "x"},
			{"odd index", stream(strings.ReplaceAll(d.whole(), `"index":0,"delta"`, `"index":-1,"delta"`)), said(20)},
			{"huge index", stream(strings.ReplaceAll(d.whole(), `"index":0`, `"index":2147483647`)), said(20)},
			{"index of another kind", stream(strings.ReplaceAll(d.whole(), `"index":0`, `"index":1e99`)), said(20)},
			{"bad UTF-8", stream(d.start, d.text("bad \xff\xfe end"), d.stop), "bad \uFFFD\uFFFD end"},
			{"half a surrogate", stream(d.start, d.text(`lone \ud83d here`), d.stop), "lone \uFFFD here"},
			{"a NUL and controls", stream(d.start, d.text(`a\u0000b\u001b[31m`), d.stop), "a\x00b\x1b[31m"},
			{"a large piece", stream(d.start, d.text(large), d.stop), large},
		} {
			t.Run(test.name, func(t *testing.T) {
				p := serve(t, test.play)
				o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{})
				if o.Err != nil || o.Stop != event.EndTurn {
					t.Fatalf("stop %q, error %v", o.Stop, o.Err)
				}
				if o.Text != test.text || o.Message == nil || o.Message.Content.Text() != test.text {
					t.Errorf("text %.100q, want %.100q", o.Text, test.text)
				}
				if p.count() != 1 {
					t.Errorf("%d requests, want 1", p.count())
				}
				again := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{
					History: []event.Message{event.UserMessage{ID: "u0", Content: event.Say("go")}, *o.Message},
				})
				if again.Err != nil || !validJSON(p.request(1).body) {
					t.Errorf("the next request: %v, %.200q", again.Err, p.request(1).body)
				}
			})
		}
	})
}

// pieces cuts s into strings of n bytes.
func pieces(s string, n int) (all []string) {
	for len(s) > 0 {
		k := min(n, len(s))
		all, s = append(all, s[:k]), s[k:]
	}
	return all
}

// TestRefusals plays statuses that are not tried again, and what they become.
func TestRefusals(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, test := range []struct {
			play    scene
			code    event.ErrorCode
			message string
		}{
			{status(400, d.error("invalid_request_error", "no such field")), event.CodeInvalidRequest, `\(400\): no such field$`},
			{status(400, d.error("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum.")), event.CodeContextOverflow, `longer than the model`},
			{status(401, d.error("authentication_error", "bad key "+secret+" of yours")), event.CodeAuthentication, `does not accept the key \(401\): bad key \[secret\] of yours`},
			{status(400, d.error("invalid_request_error", "API key not valid. Please pass a valid API key.")), event.CodeAuthentication, `does not accept the key \(400\): API key not valid`},
			{status(400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***yz. You can obtain an API key from https://console.x.ai."}`), event.CodeAuthentication, `does not accept the key \(400\): Incorrect API key`},
			{status(400, d.error("invalid_request_error", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")), event.CodeContextOverflow, `longer than the model.*1200000`},
			{status(404, `{"error":{"message":"No endpoints found that support image input","code":404}}`), event.CodeInvalidRequest, `refused the request \(404\): No endpoints`},
			{status(429, googleQuota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "50", "41s")), event.CodeQuota, `quota or credit`},
			{status(429, googleQuota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "0", "41s")), event.CodeQuota, `quota or credit`},
			{status(429, googleQuota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15", "3600s")), event.CodeRateLimit, `asks to wait 1h: `},
			{status(402, `{"error":"payment required"}`), event.CodeQuota, `quota or credit`},
			{status(403, d.error("permission_error", "not you")), event.CodePermission, `not you`},
			{status(404, "<html><h1>404</h1>"), event.CodeNotFound, `\(404\)$`},
			{status(404, d.error("not_found_error", "model: x")), event.CodeNotFound, `model: x`},
			{status(413, d.error("request_too_large", "big")), event.CodeContextOverflow, `cannot read that much: .*\(413\): big`},
			{status(422, `{"detail":[{"msg":"field required"}]}`), event.CodeInvalidRequest, `field required`},
			{status(429, d.error("insufficient_quota", "You exceeded your current quota, please check your plan")), event.CodeQuota, `quota or credit .*\(429\): You exceeded`},
			{status(429, d.error("rate_limit_error", "slow down"), "Retry-After", "86400"), event.CodeRateLimit, `asks to wait 24h: .*slow down`},
			{status(500, d.error("api_error", "x"), "X-Should-Retry", "false"), event.CodeServer, `failed`},
			{status(400, "a\x1b]0;title\x07b\x1b[2K\u202ec "+strings.Repeat("x", 5000)), event.CodeInvalidRequest, `a␛\]0;title␇b␛\[2K.c x{100,400} …$`},
			{status(401, `{"message":"Bearer abcdefghijklmnop is wrong, and AKIAABCDEFGHIJKLMNOP too"}`), event.CodeAuthentication, `Bearer \[secret\] is wrong, and \[secret\] too`},
			{status(307, "", "Location", "http://localhost:1/thief?key="+secret), event.CodeNotFound, `redirect to localhost:1 \(307\), which is not followed`},
			{status(204, ""), event.CodeProtocol, `204`},
		} {
			t.Run(test.message, func(t *testing.T) {
				p := serve(t, test.play)
				o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{})
				if o.Fault == nil || o.Fault.Code != test.code || !regexp.MustCompile(test.message).MatchString(o.Fault.Message) {
					t.Errorf("fault %+v, want %s: %s", o.Fault, test.code, test.message)
				}
				if o.Fault != nil && (strings.Contains(o.Fault.Message, secret) || strings.ContainsAny(o.Fault.Message, "\n\x1b\x07") || len(o.Fault.Message) > 600) {
					t.Errorf("message %q", o.Fault.Message)
				}
				if p.count() != 1 {
					t.Errorf("%d requests, want 1", p.count())
				}
			})
		}
	})
}

// TestRetries plays failures that pass.
func TestRetries(t *testing.T) {
	overloaded := `{"error":{"type":"overloaded_error","message":"busy"}}`
	soon := time.Now().Add(90 * time.Second).UTC()
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, test := range []struct {
			name     string
			play     scene
			requests int
			waits    []time.Duration // at a random of one half
			fails    event.ErrorCode
		}{
			{"once", then(1, status(529, overloaded), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"twice", then(2, status(503, ""), stream(d.whole())), 3, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}, ""},
			{"a conflict", then(1, status(409, ""), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"for ever", status(500, ""), 4, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}, event.CodeServer},
			{"when told to", then(1, status(400, "", "X-Should-Retry", "true"), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"after seconds", then(1, status(429, "", "Retry-After", "7"), stream(d.whole())), 2, []time.Duration{7 * time.Second}, ""},
			{"after milliseconds", then(1, status(429, "", "Retry-After-Ms", "1500", "Retry-After", "9"), stream(d.whole())), 2, []time.Duration{1500 * time.Millisecond}, ""},
			{"after a date, by the server's clock", then(1, status(429, "", "Date", soon.Format(http.TimeFormat), "Retry-After", soon.Add(2*time.Second).Format(http.TimeFormat)), stream(d.whole())), 2, []time.Duration{2 * time.Second}, ""},
			{"after a date that is past", then(1, status(429, "", "Retry-After", soon.Add(-time.Hour).Format(http.TimeFormat)), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"after less than nothing", then(1, status(429, "", "Retry-After", "-5"), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"after nonsense", then(1, status(429, "", "Retry-After", "soon"), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"for a quota of a minute", then(1, status(429, googleQuota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "15", "32.5s")), stream(d.whole())), 2, []time.Duration{32500 * time.Millisecond}, ""},
			{"the longer of two words", then(1, status(429, googleQuota("GenerateContentInputTokensPerModelPerMinute", "250000", "3s"), "Retry-After", "9"), stream(d.whole())), 2, []time.Duration{9 * time.Second}, ""},
			{"an error event before text", then(1, stream(d.start, d.broken), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
			{"a closed connection", then(1, raw(""), stream(d.whole())), 2, []time.Duration{250 * time.Millisecond}, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				p := serve(t, test.play)
				var waits []time.Duration
				c := quick(t, &waits)
				c.Random = func() float64 { return 0.5 }
				o := wiretest.Ask(context.Background(), d.driver(p.URL, c), engine.Request{})
				if p.count() != test.requests || fmt.Sprint(waits) != fmt.Sprint(test.waits) {
					t.Errorf("%d requests, waits %v, want %d, %v", p.count(), waits, test.requests, test.waits)
				}
				if test.fails == "" && (o.Err != nil || o.Text != said(20)) {
					t.Errorf("text %q, error %v", o.Text, o.Err)
				}
				if test.fails != "" && (o.Fault == nil || o.Fault.Code != test.fails || !o.Fault.Retryable) {
					t.Errorf("fault %+v, want %s", o.Fault, test.fails)
				}
				for i, r := range o.Retries {
					if r.Attempt != i+2 || r.MaxAttempts != 4 || r.DelayMs != test.waits[i].Milliseconds() || r.Reason == "" {
						t.Errorf("announced %+v", r)
					}
				}
				if len(o.Retries) != len(waits) {
					t.Errorf("%d announced, %d waited", len(o.Retries), len(waits))
				}
				if first, last := p.request(0).header.Get("Idempotency-Key"), p.request(p.count()-1).header.Get("Idempotency-Key"); first == "" || first != last {
					t.Errorf("idempotency keys %q and %q, want the same", first, last)
				}
			})
		}
	})
}

// googleQuota is how Google says that a quota is used up, and when there is more.
func googleQuota(id, value, delay string) string {
	return fmt.Sprintf(`{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[`+
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":%q,"quotaDimensions":{"model":"m"},"quotaValue":%q}]},`+
		`{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"Learn more","url":"https://ai.google.dev"}]},`+
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%q}]}}`, id, value, delay)
}

// TestJitter spreads the waits: ten programs that failed together do not come
// back together.
func TestJitter(t *testing.T) {
	p := serve(t, status(500, ""))
	seen := map[time.Duration]bool{}
	for range 10 {
		var waits []time.Duration
		wiretest.Ask(context.Background(), dialects[0].driver(p.URL, quick(t, &waits)), engine.Request{})
		for i, w := range waits {
			if w < 0 || w > 500*time.Millisecond<<i {
				t.Errorf("wait %d is %v", i, w)
			}
		}
		seen[waits[0]] = true
	}
	if len(seen) < 9 {
		t.Errorf("%d different waits in 10", len(seen))
	}
}

// TestNoConnection asks where nobody is.
func TestNoConnection(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	plain := httptest.NewServer(nil)
	defer plain.Close()
	for _, test := range []struct {
		base, message string
		code          event.ErrorCode
		tries         int
	}{
		{dead.URL, `connection refused`, event.CodeNetwork, 4},
		{"https://name.invalid", `cannot be found: no such host, or no network|cannot be reached`, event.CodeNetwork, 4},
		{secure.URL, `certificate`, event.CodeNetwork, 1},
		{"https" + strings.TrimPrefix(plain.URL, "http"), `TLS`, event.CodeNetwork, 1},
		{"http://192.0.2.1", `would send the key unencrypted`, event.CodeConfiguration, 1},
		{"http://127.0.0.1.evil.example", `would send the key unencrypted`, event.CodeConfiguration, 1},
		{"ftp://x", `base URL does not begin with https`, event.CodeConfiguration, 1},
		{"api.example.com/v1", `base URL does not begin with https`, event.CodeConfiguration, 1},
		{"https://user:" + secret + "@x", `base URL has a user name or password`, event.CodeConfiguration, 1},
		{"https://x y/", `base URL has a space`, event.CodeConfiguration, 1},
		{"https://x/?a=b", `base URL has a query`, event.CodeConfiguration, 1},
		{"https://", `base URL names no host`, event.CodeConfiguration, 1},
		{"https://[::1", `base URL is not an address`, event.CodeConfiguration, 1},
	} {
		t.Run(test.base, func(t *testing.T) {
			o := wiretest.Ask(context.Background(), dialects[1].driver(test.base, quick(t, nil)), engine.Request{})
			if o.Fault == nil || o.Fault.Code != test.code || !regexp.MustCompile(test.message).MatchString(o.Fault.Message) {
				t.Fatalf("fault %+v, want %s: %s", o.Fault, test.code, test.message)
			}
			if strings.Contains(o.Fault.Message, secret) {
				t.Errorf("message %q", o.Fault.Message)
			}
			if len(o.Retries) != test.tries-1 {
				t.Errorf("%d tries, want %d", len(o.Retries)+1, test.tries)
			}
		})
	}
}

// TestProxy names a proxy that is down, and never its password.
func TestProxy(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	address, err := url.Parse(strings.Replace(dead.URL, "http://", "http://me:hunter2@", 1))
	if err != nil {
		t.Fatal(err)
	}
	c := quick(t, nil)
	c.Proxy = http.ProxyURL(address)
	c.Attempts = 1
	o := wiretest.Ask(context.Background(), dialects[0].driver("https://api.example.com", c), engine.Request{})
	if o.Fault == nil || o.Fault.Code != event.CodeNetwork || !strings.Contains(o.Fault.Message, "the proxy") || strings.Contains(o.Fault.Message, "hunter2") {
		t.Errorf("fault %+v", o.Fault)
	}
}

// TestKeys that cannot be sent are not.
func TestKeys(t *testing.T) {
	p := serve(t, stream(dialects[0].whole()))
	for _, test := range []struct {
		key  wire.Key
		sent string
		code event.ErrorCode
	}{
		{nil, "", ""},
		{wire.Secret(""), "", ""},
		{wire.Secret(" " + secret + "\n"), secret, ""},
		{wire.Secret("a\nX-Evil: 1"), "", event.CodeConfiguration},
		{wire.Secret("schlüssel"), "", event.CodeConfiguration},
		{func(context.Context) (string, error) { return "", io.ErrClosedPipe }, "", event.CodeAuthentication},
	} {
		before := p.count()
		o := wiretest.Ask(context.Background(), anthropic.Driver{BaseURL: p.URL, Key: test.key, Client: quick(t, nil)}, engine.Request{})
		if test.code != "" {
			if o.Fault == nil || o.Fault.Code != test.code || p.count() != before {
				t.Errorf("fault %+v after %d requests, want %s", o.Fault, p.count()-before, test.code)
			}
			continue
		}
		if got := p.request(before).header; o.Err != nil || got.Get("X-Api-Key") != test.sent || got.Get("User-Agent") != "agentx/test" {
			t.Errorf("sent %q, error %v", got, o.Err)
		}
	}
}

// TestLeaving stops listening, or cancels, at every point of an answer: the
// provider sees the client go, and nothing is left running. Where nobody stops
// it, none of these answers ends.
func TestLeaving(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		t.Run("cancel before the head", func(t *testing.T) {
			asked := make(chan struct{})
			p := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				close(asked)
				silent("")(w, r, n)
			})
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() { <-asked; cancel(engine.Interrupt(event.ByUser)) }() // ends when it was asked
			if o := wiretest.Ask(ctx, d.driver(p.URL, quick(t, nil)), engine.Request{}); o.Text != "" {
				t.Errorf("text %q", o.Text)
			}
			<-p.gone
		})
		t.Run("cancel mid-stream", func(t *testing.T) {
			p := serve(t, silent(d.start+d.pieces(3)))
			ctx, cancel := context.WithCancelCause(context.Background())
			text := ""
			o := wiretest.Ask(ctx, watched{d.driver(p.URL, quick(t, nil)), func(e event.Stream) {
				if d, ok := e.(event.TextDelta); ok {
					text += d.Text
				}
				if text == said(3) {
					go cancel(engine.Interrupt(event.ByUser)) // ends at once
				}
			}}, engine.Request{})
			if o.Message == nil || o.Message.Content.Text() != said(3) || o.Message.StopReason != event.StopInterrupted {
				t.Errorf("message %+v", o.Message)
			}
			if d.name == "anthropic" && o.Usage.InputTokens != 7 {
				t.Errorf("usage %+v: what was stopped has its price too", o.Usage)
			}
			<-p.gone
		})
		t.Run("cancel between tries", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				began := time.Now()
				wiretest.Ask(ctx, watched{d.driver("http://localhost", &wire.Client{Transport: always{500, "Retry-After", "50"}}), func(e event.Stream) {
					if _, ok := e.(event.Retrying); ok {
						time.AfterFunc(20*time.Millisecond, cancel)
					}
				}}, engine.Request{})
				if took := time.Since(began); took != 20*time.Millisecond {
					t.Errorf("took %v", took)
				}
			})
		})
		t.Run("break", func(t *testing.T) {
			p := serve(t, silent(d.start+d.pieces(3)))
			c := quick(t, nil)
			for range d.driver(p.URL, c).Receive(context.Background(), engine.Request{Message: event.UserMessage{Content: event.Say("x")}}) {
				break
			}
			<-p.gone
		})
	})
}

// watched is a driver whose events are seen when the engine has taken them.
type watched struct {
	engine.Driver
	see func(event.Stream)
}

func (w watched) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		for e, err := range w.Driver.Receive(ctx, req) {
			if !yield(e, err) {
				return
			}
			w.see(e)
		}
	}
}

// TestConnectionServesAgain reads an answer to its very end where that comes
// soon behind the stop: only then a connection serves again. An end that does
// not come is not waited for, or a moment where more could follow.
func TestConnectionServesAgain(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for after, whole := range map[time.Duration]bool{0: true, 10 * time.Millisecond: true, time.Hour: false} {
			synctest.Test(t, func(t *testing.T) {
				body := &late{Reader: strings.NewReader(d.whole()), after: after, closed: make(chan struct{})}
				began := time.Now()
				if o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: body}), engine.Request{}); o.Err != nil {
					t.Fatal(o.Err)
				}
				if took := time.Since(began); body.whole != whole || took > time.Second && !d.late || took > 4*time.Second {
					t.Errorf("an end after %v was read: %v, and took %v", after, body.whole, took)
				}
			})
		}
	})
}

// A late body ends some time behind its last byte, or when it is closed.
type late struct {
	io.Reader
	after  time.Duration
	once   sync.Once
	closed chan struct{}
	whole  bool // it was read to its end
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: l, Request: r}, nil
}

func (l *late) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err != io.EOF {
		return n, err
	}
	select {
	case <-time.After(l.after):
		l.whole = true
		return n, err
	case <-l.closed:
		return n, http.ErrBodyReadAfterClose
	}
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// TestEndless stops an answer that has no end at what was asked for.
func TestEndless(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		pieces := d.pieces(100)
		p := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, d.start)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, pieces); err != nil {
					return
				}
			}
		})
		o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{Options: engine.Options{MaxTokens: 9_000}})
		if o.Fault == nil || o.Fault.Code != event.CodeTooLarge || !strings.Contains(o.Fault.Message, "exceeded") {
			t.Errorf("fault %+v", o.Fault)
		}
		if n := len(o.Text); n > 72_000 || n < 65_000 {
			t.Errorf("%d bytes of text", n)
		}
	})
}

// TestManyCalls stops a message that calls tools without end.
func TestManyCalls(t *testing.T) {
	for _, d := range dialects {
		var b strings.Builder
		b.WriteString(d.start)
		for i := range 2000 {
			b.WriteString(d.call(i))
		}
		c := &wire.Client{Transport: answer{b.String() + d.stop}}
		o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{})
		if o.Fault == nil || o.Fault.Code != event.CodeTooLarge || !strings.Contains(o.Fault.Message, "500 tools") {
			t.Errorf("%s: %+v", d.name, o.Fault)
		}
	}
}

// TestThoughtsAreFree lets a model think longer than it may answer.
func TestThoughtsAreFree(t *testing.T) {
	d := dialects[0]
	thought := sse("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"`+strings.Repeat("hm ", 1000)+`"}}`)
	c := &wire.Client{Transport: answer{d.start + strings.Repeat(thought, 100) + d.pieces(20) + d.stop}}
	o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{Options: engine.Options{MaxTokens: 10}})
	if o.Err != nil || o.Text != said(20) || len(o.Message.Content.Thinking()) != 300_000 {
		t.Errorf("%d bytes of text, %v", len(o.Text), o.Err)
	}
}

// TestStrangeCounts counts nothing where a provider says what it cannot mean:
// the cost is unknown then, and no sum is spoiled.
func TestStrangeCounts(t *testing.T) {
	for _, d := range dialects {
		odd := strings.NewReplacer(`"output_tokens":42`, `"output_tokens":-9,"input_tokens":9223372036854775807,"cache_read_input_tokens":1.5`,
			`"prompt_tokens":7,"completion_tokens":42`, `"prompt_tokens":9223372036854775807,"completion_tokens":-9`,
			`"promptTokenCount":7`, `"promptTokenCount":-7`, `"eval_count":42`, `"eval_count":9223372036854775807`).Replace(d.whole())
		c := &wire.Client{Transport: answer{odd}}
		o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{})
		if o.Err != nil || o.Usage != (event.Usage{}) {
			t.Errorf("%s: usage %+v, error %v", d.name, o.Usage, o.Err)
		}
	}
}

// TestManyPieces reads more than half a million pieces, and for four times as
// many allocates four times as much and not sixteen.
func TestManyPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	many := 100_000
	if raced {
		many = 20_000
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		spent := map[int]uint64{}
		for _, n := range []int{many / 4, many} {
			c := &wire.Client{Transport: repeated{d, n}}
			sum, before := sha256.New(), allocated()
			for e, err := range d.driver("http://localhost", c).Receive(context.Background(), engine.Request{Message: event.UserMessage{Content: event.Say("x")}}) {
				if err != nil {
					t.Fatal(err)
				}
				if delta, ok := e.(event.TextDelta); ok {
					io.WriteString(sum, delta.Text)
				}
			}
			spent[n] = allocated() - before
			want := sha256.New()
			for range n {
				io.WriteString(want, "w00007 ")
			}
			if string(sum.Sum(nil)) != string(want.Sum(nil)) {
				t.Errorf("%d pieces: another text", n)
			}
		}
		t.Logf("bytes allocated: %v", spent)
		if spent[many] > 5*spent[many/4] {
			t.Errorf("not linear: %v", spent)
		}
	})
}

// allocated is the bytes that this process has asked for so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type repeated struct {
	d dialect
	n int
}

func (r repeated) RoundTrip(req *http.Request) (*http.Response, error) {
	piece := strings.Repeat(r.d.text("w00007 "), 100)
	parts := []io.Reader{strings.NewReader(r.d.start)}
	for range r.n / 100 {
		parts = append(parts, strings.NewReader(piece))
	}
	parts = append(parts, strings.NewReader(r.d.stop))
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(io.MultiReader(parts...)), Request: req,
	}, nil
}

// TestModels lists what a server offers, page by page.
func TestModels(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/v1/models"):
			status(404, "")(w, r, 0)
		case r.URL.Query().Get("after_id") == "b":
			io.WriteString(w, `{"data":[{"id":"c"}],"has_more":false}`)
		case r.URL.Query().Get("limit") != "":
			io.WriteString(w, `{"data":[{"id":"a","display_name":"A"},{"id":"b"}],"has_more":true,"last_id":"b"}`)
		default:
			io.WriteString(w, `{"object":"list","data":[{"id":"x"},{"id":"y"}]}`)
		}
	})
	got, err := anthropic.Driver{BaseURL: p.URL, Client: quick(t, nil)}.Models(context.Background())
	if want := []wire.Model{{ID: "a", Name: "A"}, {ID: "b"}, {ID: "c"}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	got, err = openai.Driver{BaseURL: p.URL + "/v1", Client: quick(t, nil)}.Models(context.Background())
	if want := []wire.Model{{ID: "x"}, {ID: "y"}}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	_, err = openai.Driver{BaseURL: p.URL, Client: quick(t, nil)}.Models(context.Background())
	if f := engine.FaultOf(err); f.Code != event.CodeNotFound {
		t.Errorf("%v, want not found", err)
	}
}
