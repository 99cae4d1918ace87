package wire_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/anthropic"
	"agentx/engine/driver/gemini"
	"agentx/engine/driver/ollama"
	"agentx/engine/driver/openai"
	"agentx/engine/driver/responses"
	"agentx/engine/driver/wire"
	"agentx/engine/driver/wire/wiretest"
	"agentx/engine/event"
)

// TestFramings reads an answer in every shape that its framing allows.
func TestFramings(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		between := func(s string) string { return strings.ReplaceAll(d.whole(), "\n\n", "\n\n"+s) }
		shapes := map[string]string{
			"crlf":           strings.ReplaceAll(d.whole(), "\n", "\r\n"),
			"cr":             strings.ReplaceAll(d.whole(), "\n", "\r"),
			"a mark":         "\xEF\xBB\xBF" + d.whole(),
			"blank lines":    strings.ReplaceAll(d.whole(), "\n", "\n\n\n"),
			"comments":       between(": keep-alive\n:\n\n"),
			"unknown fields": strings.ReplaceAll(d.whole(), "data: ", "id: 7\nretry: 1\nfoo: bar\nfoo\ndata: "),
		}
		if d.lines {
			delete(shapes, "cr") // is no end of a line there
		} else {
			shapes["blank lines"] = strings.ReplaceAll(d.whole(), "\n\n", "\n\n\n\n")
		}
		for name, body := range shapes {
			c := &wire.Client{Transport: answer{body}}
			if o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{}); o.Err != nil || o.Text != said(20) {
				t.Errorf("%s: text %q, error %v", name, o.Text, o.Err)
			}
		}
	})
}

// thought is a piece of reasoning, as each dialect sends it.
func (d dialect) thought() string {
	return map[string]string{
		"anthropic": sse("", `{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}`) +
			sse("", `{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm"}}`),
		"chat":      sse("", `{"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}`),
		"responses": sse("", `{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":1,"summary_index":0,"delta":"hm"}`),
		"gemini":    sse("", `{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true}]}}]}`),
		"ollama":    `{"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}` + "\n",
	}[d.name]
}

// TestNothingIsPaidTwice asks once where anything of the answer has been seen,
// be it a word, a thought or a call, and whatever happens then.
func TestNothingIsPaidTwice(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for first, seen := range map[string]string{"a word": d.text("x"), "a thought": d.thought(), "a call": d.call(0)} {
			sent := d.start + seen
			for then, play := range map[string]scene{
				"an error":       stream(sent, d.broken),
				"an end":         stream(sent),
				"a reset":        reset(head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(sent), sent)),
				"half a chunk":   raw(head + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + sent),
				"something else": stream(sent, d.event("<html>")),
				"silence":        silent(sent),
			} {
				p := serve(t, play)
				c := quick(t, nil)
				c.Idle = 200 * time.Millisecond
				o := wiretest.Ask(context.Background(), d.driver(p.URL, c), engine.Request{})
				if o.Fault == nil || p.count() != 1 || len(o.Retries) != 0 {
					t.Errorf("%s and then %s: %d requests, %+v", first, then, p.count(), o.Fault)
				}
			}
		}
	})
}

// TestAnErrorForEver is told before any word, each time: there is an end to it.
func TestAnErrorForEver(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		p := serve(t, stream(d.start, d.broken))
		o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{})
		if o.Fault == nil || o.Fault.Code != event.CodeOverloaded || !o.Fault.Retryable || o.Message != nil || p.count() != 4 || len(o.Retries) != 3 {
			t.Errorf("%d requests, %d announced, %+v", p.count(), len(o.Retries), o.Fault)
		}
	})
}

// TestWhichStatusPasses tells the failures that are worth another try from those
// that say the same every time.
func TestWhichStatusPasses(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for tries, codes := range map[int][]int{
			4: {408, 409, 429, 500, 502, 503, 504, 529},
			1: {301, 302, 307, 400, 401, 402, 403, 404, 405, 410, 413, 422, 451, 501},
		} {
			for _, code := range codes {
				p := serve(t, status(code, ""))
				o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{})
				if o.Fault == nil || p.count() != tries || !strings.Contains(o.Fault.Message, strconv.Itoa(code)) {
					t.Errorf("%d: %d requests, want %d: %+v", code, p.count(), tries, o.Fault)
				}
			}
		}
	})
}

// TestNobodyElseIsTold leaves a redirect alone: neither the key nor what was
// said goes anywhere but where it was sent.
func TestNobodyElseIsTold(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		thief := serve(t, stream(d.whole()))
		for _, code := range []int{301, 302, 303, 307, 308} {
			p := serve(t, status(code, "", "Location", thief.URL+"/take"))
			o := wiretest.Ask(context.Background(), d.driver(p.URL, quick(t, nil)), engine.Request{})
			if o.Fault == nil || !strings.Contains(o.Fault.Message, "redirect") || p.count() != 1 || thief.count() != 0 {
				t.Errorf("%d: %d requests, %d elsewhere, %+v", code, p.count(), thief.count(), o.Fault)
			}
		}
	})
}

// TestWhereTheKeyIsFrom is said of a key that is refused, and never the key.
func TestWhereTheKeyIsFrom(t *testing.T) {
	const source = "the file keys.toml"
	for name, driver := range map[string]func(base string, c *wire.Client) engine.Driver{
		"anthropic": func(base string, c *wire.Client) engine.Driver {
			return anthropic.Driver{BaseURL: base, Key: wire.Secret(secret), KeySource: source, Client: c}
		},
		"chat": func(base string, c *wire.Client) engine.Driver {
			return openai.Driver{BaseURL: base, Key: wire.Secret(secret), KeySource: source, Client: c}
		},
		"responses": func(base string, c *wire.Client) engine.Driver {
			return responses.Driver{BaseURL: base, Key: wire.Secret(secret), KeySource: source, Client: c}
		},
		"gemini": func(base string, c *wire.Client) engine.Driver {
			return gemini.Driver{BaseURL: base, Key: wire.Secret(secret), KeySource: source, Client: c}
		},
		"ollama": func(base string, c *wire.Client) engine.Driver {
			return ollama.Driver{BaseURL: base, Key: wire.Secret(secret), KeySource: source, Client: c}
		},
	} {
		p := serve(t, status(401, `{"error":{"message":"no such key: `+secret+`"}}`))
		o := wiretest.Ask(context.Background(), driver(p.URL, quick(t, nil)), engine.Request{})
		if o.Fault == nil || o.Fault.Code != event.CodeAuthentication || !strings.Contains(o.Fault.Message, source) || strings.Contains(o.Fault.Message, secret) {
			t.Errorf("%s: %+v", name, o.Fault)
		}
	}
}

// TestADrippingHead gives up on an answer whose header never ends, although
// there is always a little more of it.
func TestADrippingHead(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		synctest.Test(t, func(t *testing.T) {
			here, there := net.Pipe()
			var pipe sync.WaitGroup // what follows ends with it
			asked := make(chan struct{})
			pipe.Go(func() {
				_, _ = there.Read(make([]byte, 1))
				close(asked)
				_, _ = io.Copy(io.Discard, there)
			})
			pipe.Go(func() {
				<-asked // an answer before its question is another fault
				for drip := "HTTP/1.1 200 OK\r\nX-Slow: "; ; drip = "a" {
					if _, err := io.WriteString(there, drip); err != nil {
						return
					}
					time.Sleep(2 * time.Second)
				}
			})
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
			began := time.Now()
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: transport}), engine.Request{})
			if took := time.Since(began); o.Fault == nil || o.Fault.Code != event.CodeTimeout || took != 5*time.Minute || len(o.Retries) != 0 {
				t.Errorf("took %v: %+v", took, o.Fault)
			}
			there.Close()
			here.Close()
			pipe.Wait()
		})
	})
}

// TestALineTooLong stops reading a line that has no end at the bound that
// everybody has who sets none.
func TestALineTooLong(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		if d.name != "chat" && !d.lines {
			return // all streams of events are read by one reader
		}
		begin, _, _ := strings.Cut(d.text("@"), "@")
		c := &wire.Client{Transport: wiretest.Served{Status: 200, Body: func() io.Reader {
			return io.MultiReader(strings.NewReader(d.start+d.pieces(2)+begin), endless('x'))
		}}}
		before := allocated()
		o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{})
		if o.Fault == nil || o.Fault.Code != event.CodeTooLarge || !strings.Contains(o.Fault.Message, "line longer than 32 MB") || o.Text != said(2) {
			t.Errorf("text %.100q, %+v", o.Text, o.Fault)
		}
		if spent := allocated() - before; spent > 400<<20 {
			t.Errorf("%d MB were asked for", spent>>20)
		}
	})
}

// TestAFlood ends where somebody says stop, in the middle of an answer that
// comes without a pause, and by itself where nobody does and no limit was set.
func TestAFlood(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		piece := d.text(strings.Repeat("0123456789abcdef", 4096))
		flood := wiretest.Served{Status: 200, Body: func() io.Reader { return io.MultiReader(strings.NewReader(d.start), &again{piece: piece}) }}
		ctx, cancel := context.WithCancelCause(context.Background())
		pieces := 0
		o := wiretest.Ask(ctx, watched{d.driver("http://localhost", &wire.Client{Transport: flood}), func(e event.Stream) {
			if _, ok := e.(event.TextDelta); ok {
				if pieces++; pieces == 3 {
					cancel(engine.Interrupt(event.ByUser))
				}
			}
		}}, engine.Request{})
		if pieces != 3 || o.Message == nil || o.Message.StopReason != event.StopInterrupted {
			t.Errorf("%d pieces behind the third, stop %q", pieces-3, o.Stop)
		}
		if d.name != "anthropic" {
			return // one is enough: who counts is the same for all
		}
		o = wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: flood}), engine.Request{})
		if n := len(o.Text); o.Fault == nil || o.Fault.Code != event.CodeTooLarge || n > 32<<20 || n < 31<<20 {
			t.Errorf("%d bytes, %+v", n, o.Fault)
		}
	})
}

// again says the same for ever.
type again struct{ piece, rest string }

func (a *again) Read(p []byte) (int, error) {
	if a.rest == "" {
		a.rest = a.piece
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// TestNothingSaid leaves no message where none was said.
func TestNothingSaid(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for name, body := range map[string]string{
			"empty pieces": d.start + d.text("") + d.text("") + d.stop,
			"no pieces":    d.start + d.stop,
			"null":         d.start + strings.Replace(d.text("@"), `"@"`, "null", 1) + d.stop,
		} {
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: answer{body}, Attempts: 1}), engine.Request{})
			if o.Text != "" || o.Message != nil {
				t.Errorf("%s: message %+v, error %v", name, o.Message, o.Err)
			}
		}
	})
}

// TestWhyItStopped keeps what was said before a limit or a filter, and says
// which it was.
func TestWhyItStopped(t *testing.T) {
	incomplete := func(reason string) *strings.Replacer {
		return strings.NewReplacer(`"response.completed"`, `"response.incomplete"`, "event: response.completed", "event: response.incomplete",
			`"status":"completed"`, `"status":"incomplete","incomplete_details":{"reason":"`+reason+`"}`)
	}
	all := map[string]map[event.StopReason]*strings.Replacer{
		"anthropic": {event.MaxTokens: strings.NewReplacer("end_turn", "max_tokens"), event.Refusal: strings.NewReplacer("end_turn", "refusal"), event.PauseTurn: strings.NewReplacer("end_turn", "pause_turn")},
		"chat":      {event.MaxTokens: strings.NewReplacer(`:"stop"`, `:"length"`), event.ContentFilter: strings.NewReplacer(`:"stop"`, `:"content_filter"`)},
		"responses": {event.MaxTokens: incomplete("max_output_tokens"), event.ContentFilter: incomplete("content_filter")},
		"gemini":    {event.MaxTokens: strings.NewReplacer("STOP", "MAX_TOKENS"), event.ContentFilter: strings.NewReplacer("STOP", "SAFETY")},
		"ollama":    {event.MaxTokens: strings.NewReplacer(`"stop"`, `"length"`)},
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		for want, changed := range all[d.name] {
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: answer{changed.Replace(d.whole())}}), engine.Request{})
			if o.Err != nil || o.Stop != want || o.Text != said(20) || o.Message == nil || o.Message.StopReason != want {
				t.Errorf("stop %q, want %q; text %q, error %v", o.Stop, want, o.Text, o.Err)
			}
		}
	})
}

// A made call is one that a model makes, in the words of a dialect.
type made struct{ id, name, input string }

// calls is a message that makes them, up to its stop.
func (d dialect) calls(all ...made) string {
	s := d.start
	for i, c := range all {
		id, name, input := strconv.Quote(c.id), strconv.Quote(c.name), quoted(c.input)
		whole := cmp.Or(c.input, "null")
		if !json.Valid([]byte(whole)) {
			whole = input
		}
		switch d.name {
		case "anthropic":
			s += sse("", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}}`, i+1, id, name)) +
				sse("", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i+1, input)) +
				sse("", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i+1))
		case "chat":
			s += sse("", fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%s,"function":{"name":%s,"arguments":""}}]}}]}`, i, id, name)) +
				sse("", fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, i, input))
		case "responses":
			item := fmt.Sprintf(`{"id":"fc_%d","type":"function_call","call_id":%s,"name":%s,"arguments":`, i, id, name)
			s += sse("", fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s""}}`, i+1, item)) +
				sse("", fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":"fc_%d","output_index":%d,"delta":%s}`, i, i+1, input)) +
				sse("", fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s%s}}`, i+1, item, input))
		case "gemini":
			s += sse("", fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":%s,"name":%s,"args":%s}}]}}]}`, id, name, whole))
		case "ollama":
			s += fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":%s,"arguments":%s}}]},"done":false}`, name, whole) + "\n"
		}
	}
	return s
}

// wants is d's stop of a message that wants results.
func (d dialect) wants() string {
	return strings.NewReplacer(`"end_turn"`, `"tool_use"`, `"finish_reason":"stop"`, `"finish_reason":"tool_calls"`).Replace(d.stop)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestCallsThatCannotBe are answered, once each, and not run; the model reads
// why, and the conversation goes on.
func TestCallsThatCannotBe(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		deep := 100_000
		if d.name == "gemini" || d.name == "ollama" {
			deep = 5_000 // the input is a part of the event there, and nothing reads one that is deeper
		}
		for _, test := range []struct {
			name  string
			calls []made
			runs  int
		}{
			{"whole", []made{{"a", "t", `{"x":1}`}}, 1},
			{"not JSON", []made{{"a", "t", `{"path": "READ`}}, 0},
			{"deep", []made{{"a", "t", strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep)}}, 0},
			{"large", []made{{"a", "t", `{"x":"` + strings.Repeat("x", 2<<20) + `"}`}}, 0},
			{"no input", []made{{"a", "t", ""}}, 1},
			{"two under one id", []made{{"a", "t", `{"x":1}`}, {"a", "t", `{"x":2}`}}, 2},
			{"no tool of that name", []made{{"a", "nope", `{}`}}, 0},
			{"no name at all", []made{{"a", "", `{}`}}, 0},
			{"a good one beside a bad one", []made{{"a", "t", `{"x`}, {"b", "t", `{"x":1}`}}, 1},
		} {
			t.Run(test.name, func(t *testing.T) {
				p := serve(t, then(1, stream(d.calls(test.calls...), d.wants()), stream(d.whole())))
				runs := 0
				loop := driver.Loop{Model: d.driver(p.URL, quick(t, nil)), Tools: []driver.Tool{{
					Tool: engine.Tool{Name: "t", Schema: json.RawMessage(`{"type":"object"}`)},
					Call: func(context.Context, json.RawMessage) (event.Output, error) {
						runs++
						return event.Output{Text: "done"}, nil
					},
				}}}
				o := converse(loop, nil)
				if o.err != nil || runs != test.runs || o.calls != len(test.calls) || o.results != o.calls {
					t.Errorf("%d calls, %d run, %d results, error %v; want %d, %d", o.calls, runs, o.results, o.err, len(test.calls), test.runs)
				}
				if p.count() != 2 || !validJSON(p.request(1).body) {
					t.Fatalf("%d requests", p.count())
				}
				if next := converse(loop, o.said); next.err != nil || !validJSON(p.request(2).body) {
					t.Errorf("the next turn: %v", next.err)
				}
			})
		}
	})
}

// TestACallThatIsCut is not run, and does not hinder the next turn.
func TestACallThatIsCut(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		whole := d.calls(made{"a", "t", `{"path":"README.md"}`})
		p := serve(t, then(1, stream(whole[:strings.Index(whole, "READ")]), stream(d.whole())))
		runs := 0
		loop := driver.Loop{Model: d.driver(p.URL, quick(t, nil)), Tools: []driver.Tool{{
			Tool: engine.Tool{Name: "t", Schema: json.RawMessage(`{"type":"object"}`)},
			Call: func(context.Context, json.RawMessage) (event.Output, error) { runs++; return event.Output{}, nil },
		}}}
		o := converse(loop, nil)
		if f := engine.FaultOf(o.err); o.err == nil || f.Code != event.CodeIncomplete || runs != 0 || o.results != 0 || p.count() != 1 {
			t.Errorf("%d run, %d results, %d requests: %v", runs, o.results, p.count(), o.err)
		}
		if next := converse(loop, o.said); next.err != nil || p.count() != 2 || !validJSON(p.request(1).body) {
			t.Errorf("the next turn: %v", next.err)
		}
	})
}

// A talk is what came of one message, as a history.
type talk struct {
	said           []event.Message
	calls, results int
	err            error
}

// converse has the engine answer a message behind a history.
func converse(d engine.Driver, history []event.Message) talk {
	o := talk{said: history}
	req := engine.Request{Model: "m", History: history, Message: event.UserMessage{ID: fmt.Sprint("u", len(history)), Content: event.Say("go")}}
	for e, err := range (engine.Engine{Driver: d}).Events(context.Background(), req) {
		if err != nil {
			o.err = err
			break
		}
		switch e.Data.(type) {
		case event.ToolCallMessage:
			o.calls++
		case event.ToolResult:
			o.results++
		}
		if m, ok := e.Data.(event.Message); ok {
			o.said = append(o.said[:len(o.said):len(o.said)], m)
		}
	}
	return o
}

// TestTiers tells what was served otherwise than usual, which has no price that
// anybody has listed. The usual service has many names, and one of them is none.
func TestTiers(t *testing.T) {
	places := map[string][2]string{ // by dialect, where a tier is told: a word and what stands there instead
		"anthropic": {`"usage":{"input_tokens":7`, `"usage":{"service_tier":%s,"input_tokens":7`},
		"chat":      {`{"id":"c1","choices":[],`, `{"id":"c1","service_tier":%s,"choices":[],`},
		"responses": {`"status":"completed",`, `"status":"completed","service_tier":%s,`},
		"gemini":    {`"totalTokenCount":49`, `"totalTokenCount":49,"trafficType":%s`},
	}
	eachDialect(t, func(t *testing.T, d dialect) {
		place, told := places[d.name]
		if !told {
			return // a server of one's own has no tiers
		}
		for word, want := range map[string]string{
			`"batch"`: "batch", `"flex"`: "flex", `"priority"`: "priority", `"ON_DEMAND_FLEX"`: map[bool]string{true: "flex", false: "ON_DEMAND_FLEX"}[d.name == "gemini"],
			`"standard"`: "", `"default"`: "", `"auto"`: "", `"on_demand"`: "", `""`: "", "null": "", "7": "",
			`"a\u001b[31m` + strings.Repeat("x", 99) + `"`: "a␛[31m" + strings.Repeat("x", 34),
		} {
			body := strings.ReplaceAll(d.whole(), place[0], fmt.Sprintf(place[1], word))
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: answer{body}}), engine.Request{})
			if o.Err != nil || o.Usage.Tier != want || o.Usage.InputTokens != 7 || o.Usage.OutputTokens != 42 {
				t.Errorf("%s: %+v, error %v; want tier %q", word, o.Usage, o.Err, want)
			}
			cost, known := (engine.Price{Input: 1, Output: 1}).Cost(o.Usage)
			if known != (want == "") || known && cost != 49 {
				t.Errorf("%s: costs %v, known: %v", word, cost, known)
			}
		}
	})
}

// TestAConnectionThatWasOld asks again where a connection that had served before
// was closed at the other end while the next request was being written.
func TestAConnectionThatWasOld(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		for _, gone := range []error{net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE, io.EOF} {
			old := &stale{err: &net.OpError{Op: "write", Net: "tcp", Err: gone}, then: answer{d.whole()}}
			c := quick(t, nil)
			c.Transport = old
			o := wiretest.Ask(context.Background(), d.driver("http://localhost", c), engine.Request{})
			if o.Err != nil || o.Text != said(20) || len(o.Retries) != 1 || !strings.Contains(o.Retries[0].Reason, "the connection") {
				t.Errorf("%v: %+v, error %v", gone, o.Retries, o.Err)
			}
		}
	})
}

// A stale transport fails once.
type stale struct {
	err  error
	then http.RoundTripper
}

func (s *stale) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := s.err; err != nil {
		s.err = nil
		return nil, err
	}
	return s.then.RoundTrip(r)
}

// rows are the faults of a stream (1–33), and of the network and of another try
// (34–52), each with what shows that it is borne: a word of a file, from here.
var rows = map[int][]string{
	1:  {"faults_test.go: a clean end without a stop"},
	2:  {"faults_test.go: an end inside a chunk"},
	3:  {"faults_test.go: func TestCutEverywhere"},
	4:  {"faults_test.go: a reset"},
	5:  {"time_test.go: silent behind the head", "time_test.go: silent behind some text"},
	6:  {"time_test.go: signs of life only"},
	7:  {"faults_test.go: an error event", "rows_test.go: func TestNothingIsPaidTwice"},
	8:  {"faults_test.go: an error event before text", "rows_test.go: func TestAnErrorForEver"},
	9:  {"faults_test.go: a hotel's page"},
	10: {"faults_test.go: an error with 200"},
	11: {"faults_test.go: nothing with 200"},
	12: {"faults_test.go: no content type", "faults_test.go: an odd content type"},
	13: {"faults_test.go: an event that is cut", "faults_test.go: an event of something else"},
	14: {"rows_test.go: func TestFramings", "faults_test.go: unknown events", "faults_test.go: data in two lines"},
	15: {"faults_test.go: cut inside a letter"},
	16: {"faults_test.go: bad UTF-8", "faults_test.go: half a surrogate", "faults_test.go: a NUL and controls"},
	17: {"faults_test.go: a large piece", "rows_test.go: func TestALineTooLong"},
	18: {"faults_test.go: func TestManyPieces"},
	19: {"faults_test.go: func TestEndless", "rows_test.go: func TestAFlood"},
	20: {"faults_test.go: text behind the stop", "faults_test.go: two stops"},
	21: {"faults_test.go: no start", "faults_test.go: two starts"},
	22: {"faults_test.go: odd index", "faults_test.go: huge index"},
	23: {"faults_test.go: null for a text", "rows_test.go: func TestNothingSaid"},
	24: {"faults_test.go: func TestStrangeCounts"},
	25: {"rows_test.go: func TestWhyItStopped"},
	26: {`rows_test.go: "not JSON"`},
	27: {`rows_test.go: "deep"`},
	28: {`rows_test.go: "large"`},
	29: {"rows_test.go: two under one id", "rows_test.go: no tool of that name", "rows_test.go: no name at all", "rows_test.go: no input"},
	30: {"../loop_test.go: func TestAModelThatNeverStopsAsking"},
	31: {"rows_test.go: func TestACallThatIsCut"},
	32: {"../../../testdata/frames/tools.txtar: ␛]0;"},
	33: {"faults_test.go: compressed, it says", "faults_test.go: a wrong length", "faults_test.go: HTTP/1.0"},
	34: {"faults_test.go: after seconds", "faults_test.go: after a date that is past", "faults_test.go: after less than nothing", "faults_test.go: after nonsense"},
	35: {"faults_test.go: asks to wait 24h"},
	36: {"faults_test.go: payment required", "faults_test.go: insufficient_quota"},
	37: {`faults_test.go: "twice"`, "faults_test.go: func TestJitter"},
	38: {`faults_test.go: "for ever"`},
	39: {"rows_test.go: func TestWhichStatusPasses", "rows_test.go: func TestWhereTheKeyIsFrom"},
	40: {"rows_test.go: func TestNobodyElseIsTold"},
	41: {"faults_test.go: func TestNoConnection", "../../../cmd/chat_test.go: func TestChatUnsent"},
	42: {"faults_test.go: `certificate`", "faults_test.go: `TLS`"},
	43: {"faults_test.go: would send the key unencrypted"},
	44: {"faults_test.go: func TestProxy"},
	45: {"faults_test.go: no HTTP", "faults_test.go: a header without end", "faults_test.go: a closed connection", "time_test.go: never answers", "rows_test.go: func TestADrippingHead"},
	46: {"safe_test.go: func TestAPathThatDies"},
	47: {"faults_test.go: func TestLeaving", "time_test.go: func TestCancelled", "time_test.go: func TestWaiting"},
	48: {"kit_test.go: func TestFiveHundredTurns"},
	49: {"../../../cmd/clock_test.go: func TestSteadyClockNeverGoesBack", "faults_test.go: after a date, by the server's clock"},
	50: {"faults_test.go: base URL has a user name or password", "faults_test.go: base URL has a space", "faults_test.go: base URL has a query"},
	51: {"faults_test.go: Idempotency-Key", "rows_test.go: func TestNothingIsPaidTwice", "rows_test.go: func TestAConnectionThatWasOld"},
	52: {"../../../testdata/frames/retrying.txtar: /retry", "rows_test.go: func TestNothingIsPaidTwice"},
}

// TestEveryRow keeps the table of faults whole, and true.
func TestEveryRow(t *testing.T) {
	for row := 1; row <= 52; row++ {
		t.Run(fmt.Sprintf("row %d", row), func(t *testing.T) {
			if len(rows[row]) == 0 {
				t.Error("nothing shows that it is borne")
			}
			for _, shown := range rows[row] {
				file, word, _ := strings.Cut(shown, ": ")
				text, err := os.ReadFile(file)
				before, _, _ := strings.Cut(string(text), "\nvar rows = ")
				if err != nil || !strings.Contains(before, word) {
					t.Errorf("%s says nothing of %q: %v", file, word, err)
				}
			}
		})
	}
}

// TestAStreamLeftOpen ends an answer at its last word where the server goes on
// holding the connection, whether or not it gives signs of life: with what it
// counted, and with what came a little later.
func TestAStreamLeftOpen(t *testing.T) {
	eachDialect(t, func(t *testing.T, d dialect) {
		last := strings.SplitAfter(d.stop, "\n\n")
		if d.name == "chat" {
			last = last[:2] // without [DONE]
		}
		if d.lines {
			last = []string{d.stop}
		}
		alive := ": keep-alive\n\n"
		if d.lines {
			alive = "\n"
		}
		for name, behind := range map[string][]step{"silent": nil, "alive": repeat(1000, time.Second, alive)} {
			synctest.Test(t, func(t *testing.T) {
				steps := []step{{0, d.start + d.pieces(20)}}
				for _, s := range last {
					steps = append(steps, step{2 * time.Second, s})
				}
				began := time.Now()
				o := wiretest.Ask(context.Background(), d.driver("http://localhost", &wire.Client{Transport: scripted{steps: append(steps, behind...)}}), engine.Request{})
				if took := time.Since(began) - 2*time.Second*time.Duration(len(last)); took > 4*time.Second {
					t.Errorf("%s: waited %v for nothing", name, took)
				}
				if o.Err != nil || o.Text != said(20) || o.Stop != event.EndTurn || o.Usage.OutputTokens != 42 || o.Usage.InputTokens != 7 {
					t.Errorf("%s: stop %q, usage %+v, error %v", name, o.Stop, o.Usage, o.Err)
				}
			})
		}
	})
}
