package wire_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentx/engine"
	"agentx/engine/driver/anthropic"
	"agentx/engine/driver/gemini"
	"agentx/engine/driver/ollama"
	"agentx/engine/driver/openai"
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
)

// A dialect is how a provider says things.
type dialect struct {
	name   string
	lines  bool // of JSON, instead of server-sent events
	late   bool // the answer is over when the stream is, and not before
	driver func(base string, c *wire.Client) engine.Driver
	start  string
	text   func(s string) string // s is what stands between the quotes of a JSON string
	stop   string
	ping   string
	broken string             // an error event
	call   func(i int) string // of a tool
	error  func(kind, message string) string
}

// event is data as the dialect sends it.
func (d dialect) event(data string) string {
	if d.lines {
		return data + "\n"
	}
	return sse("", data)
}

var dialects = []dialect{{
	name: "anthropic",
	driver: func(base string, c *wire.Client) engine.Driver {
		return anthropic.Driver{Provider: "Claude", BaseURL: base, Key: wire.Secret(secret), Client: c}
	},
	start: sse("message_start", `{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":7,"output_tokens":1}}}`) +
		sse("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
	text: func(s string) string {
		return sse("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+s+`"}}`)
	},
	stop: sse("content_block_stop", `{"type":"content_block_stop","index":0}`) +
		sse("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}`) +
		sse("message_stop", `{"type":"message_stop"}`),
	ping:   sse("ping", `{"type":"ping"}`),
	broken: sse("error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
	call: func(i int) string {
		return sse("", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"a","name":"t"}}`, i))
	},
	error: func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	},
}, {
	name: "chat",
	driver: func(base string, c *wire.Client) engine.Driver {
		return openai.Driver{Provider: "Chat", BaseURL: base, Key: wire.Secret(secret), Client: c}
	},
	start: sse("", `{"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`),
	text: func(s string) string {
		return sse("", `{"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"`+s+`"},"finish_reason":null}]}`)
	},
	stop: sse("", `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) +
		sse("", `{"id":"c1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":42,"total_tokens":49}}`) + sse("", "[DONE]"),
	ping:   ": ping\n\n",
	broken: sse("", `{"error":{"message":"Overloaded","type":"overloaded_error","code":"server_error"}}`),
	call: func(i int) string {
		return sse("", fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"arguments":"1"}}]}}]}`, 2*i+1)) +
			sse("", fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":"a","function":{"name":"t","arguments":"{}"}}]}}]}`, 2*i))
	},
	error: func(kind, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"code":null}}`, message, kind)
	},
}, {
	name: "responses",
	driver: func(base string, c *wire.Client) engine.Driver {
		return responses.Driver{Provider: "Responses", BaseURL: base, Key: wire.Secret(secret), Client: c}
	},
	start: sse("response.created", `{"type":"response.created","response":{"id":"resp_1","model":"m"}}`) +
		sse("response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","content":[]}}`),
	text: func(s string) string {
		return sse("response.output_text.delta", `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"`+s+`"}`)
	},
	stop:   sse("response.completed", `{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":42,"total_tokens":49}}}`),
	ping:   sse("keepalive", `{"type":"keepalive","sequence_number":3}`),
	broken: sse("error", `{"type":"error","code":"overloaded_error","message":"Overloaded","param":null}`),
	call: func(i int) string {
		return sse("", fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"id":"fc_%d","type":"function_call","call_id":"a","name":"t"}}`, i+1, i))
	},
	error: func(kind, message string) string {
		return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":null}}`, message, kind)
	},
}, {
	name: "gemini", late: true,
	driver: func(base string, c *wire.Client) engine.Driver {
		return gemini.Driver{Provider: "Gemini", BaseURL: base, Key: wire.Secret(secret), Client: c}
	},
	start: sse("", `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]}}],"modelVersion":"m","responseId":"r1"}`),
	text: func(s string) string {
		return sse("", `{"candidates":[{"content":{"role":"model","parts":[{"text":"`+s+`"}]}}],"modelVersion":"m","responseId":"r1"}`)
	},
	stop:   sse("", `{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":42,"totalTokenCount":49},"responseId":"r1"}`),
	ping:   sse("", `{"candidates":[{"content":{"role":"model","parts":[]}}],"responseId":"r1"}`),
	broken: sse("", `{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`),
	call: func(int) string {
		return sse("", `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"t","args":{}}}]}}]}`)
	},
	error: func(kind, message string) string {
		codes := map[string]int{"authentication_error": 401, "permission_error": 403, "not_found_error": 404, "request_too_large": 413, "insufficient_quota": 429, "rate_limit_error": 429, "api_error": 500, "overloaded_error": 503}
		return fmt.Sprintf(`[{"error":{"code":%d,"message":%q,"status":"X"}}]`, cmp.Or(codes[kind], 400), message)
	},
}, {
	name: "ollama", lines: true,
	driver: func(base string, c *wire.Client) engine.Driver {
		return ollama.Driver{Provider: "Ollama", BaseURL: base, Key: wire.Secret(secret), Client: c}
	},
	start: `{"model":"m","message":{"role":"assistant","content":""},"done":false}` + "\n",
	text: func(s string) string {
		return `{"model":"m","message":{"role":"assistant","content":"` + s + `"},"done":false}` + "\n"
	},
	stop:   `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":42}` + "\n",
	ping:   `{"model":"m","message":{"role":"assistant","content":""},"done":false}` + "\n",
	broken: `{"error":"overloaded"}` + "\n",
	call: func(int) string {
		return `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"t","arguments":{}}}]},"done":false}` + "\n"
	},
	error: func(_, message string) string { return fmt.Sprintf(`{"error":%q}`, message) },
}}

const secret = "sk-test-0123456789abcdefXYZ"

func sse(name, data string) string {
	if name != "" {
		name = "event: " + name + "\n"
	}
	return name + "data: " + data + "\n\n"
}

// whole is an answer of twenty pieces, and what it says.
func (d dialect) whole() string { return d.start + d.pieces(20) + d.stop }

func (d dialect) pieces(n int) string {
	s := ""
	for i := range n {
		s += d.text(fmt.Sprintf("w%05d ", i))
	}
	return s
}

func said(n int) string {
	s := ""
	for i := range n {
		s += fmt.Sprintf("w%05d ", i)
	}
	return s
}

// A provider answers each request with what its scene does.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	requests []received
	gone     chan struct{} // a client has left before its answer was over
}

type received struct {
	header http.Header
	body   string
	at     time.Time
}

type scene func(w http.ResponseWriter, r *http.Request, n int)

func serve(t *testing.T, play scene) *provider {
	p := &provider{gone: make(chan struct{}, 100)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.requests = append(p.requests, received{r.Header, string(body), time.Now()})
		n := len(p.requests)
		p.mu.Unlock()
		play(w, r, n)
		if r.Context().Err() != nil {
			p.gone <- struct{}{}
		}
	}))
	p.Config.ErrorLog = nil
	t.Cleanup(p.Close)
	return p
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// request is the one that came behind n others.
func (p *provider) request(n int) received {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[n]
}

// stream is a scene that sends its pieces one after the other and ends well.
func stream(pieces ...string) scene {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for _, s := range pieces {
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
	}
}

// raw is a scene that writes bytes to the connection and closes it.
func raw(s string) scene {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, s)
	}
}

// reset is raw, but the connection ends with a reset.
func reset(s string) scene {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, s)
		time.Sleep(20 * time.Millisecond) // so that what was written arrives
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}

// silent is a scene that sends something and then nothing until the client goes.
func silent(s string) scene {
	return func(w http.ResponseWriter, r *http.Request, _ int) {
		if s != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, s)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func status(code int, body string, header ...string) scene {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// then plays first k times, and after that next.
func then(k int, first, next scene) scene {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n <= k {
			first(w, r, n)
		} else {
			next(w, r, n)
		}
	}
}

// quick is a client that does not wait, and notes how long it would have.
func quick(t *testing.T, waits *[]time.Duration) *wire.Client {
	c := &wire.Client{Version: "test", Sleep: func(ctx context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return ctx.Err()
	}}
	t.Cleanup(c.Close)
	return c
}

func eachDialect(t *testing.T, f func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) { f(t, d) })
	}
}

func validJSON(s string) bool { return json.Valid([]byte(s)) && !strings.Contains(s, "\x00") }
