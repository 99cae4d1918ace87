package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Decoder makes stream events of the frames of one answer.
type Decoder interface {
	// Decode appends to out what the frame means. A fault says that the
	// provider reports a failure, any other error that the frame makes no
	// sense, and ErrPing that it says nothing.
	Decode(out []event.Stream, f Frame) ([]event.Stream, error)
	// End appends to out what was still held back when the stream ended. The
	// answer is complete where the last of it is a message's stop.
	End(out []event.Stream) []event.Stream
	// Count appends to out the tokens that were counted and have not been told,
	// where the answer ends before its stop.
	Count(out []event.Stream) []event.Stream
}

// A Concluder is a Decoder of a dialect in which the last word is not the last
// event: counts may follow it, or nothing, and some servers never close the
// stream behind it. What follows is not waited for longer than a moment.
type Concluder interface {
	// Concluded reports whether the last word has been said.
	Concluded() bool
}

// ErrPing says that a frame is only a sign of life.
var ErrPing = errors.New("ping")

// Stream sends the request and yields what the decoder makes of the answer, up
// to the message's stop. As long as nothing of the answer has been yielded it
// tries again after failures that may pass; each wait is announced. The last
// pair carries the error, a [*engine.Fault]. When ctx is done it just ends.
func (c *Client) Stream(ctx context.Context, call Call, decoder func() Decoder) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		idempotency := NewID()
		for try := 1; ; try++ {
			a := attempt{client: c, call: call, decoder: decoder(), yield: yield, over: ctx.Err, key: idempotency}
			failed := a.run(ctx)
			switch {
			case failed.fault == nil || a.left || ctx.Err() != nil:
				return
			case !failed.again || a.begun || try >= c.attempts():
				yield(nil, failed.fault)
				return
			case failed.after > patience:
				yield(nil, tooLong(failed, call.Provider))
				return
			}
			wait := c.wait(try, failed)
			if !yield(event.Retrying{Attempt: try + 1, MaxAttempts: c.attempts(), DelayMs: wait.Milliseconds(), Reason: failed.fault.Message}, nil) {
				return
			}
			if c.sleep(ctx, wait) != nil {
				return
			}
		}
	}
}

// An attempt is one try of a call.
type attempt struct {
	client  *Client
	call    Call
	decoder Decoder
	yield   func(event.Stream, error) bool
	over    func() error // not nil when the answer is to end at once
	key     string       // the same for every try

	held  []event.Stream // what comes before the content
	begun bool           // content has been yielded: no other try
	left  bool           // nobody listens any more
	done  bool           // the message has stopped
	bytes int64          // of content
	text  int64          // bytes of it that are not thoughts

	progress *time.Timer
	lingers  *time.Timer // behind the last word; nil before it
}

func (a *attempt) run(ctx context.Context) failure {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, failed := a.open(ctx, cancel)
	if resp == nil {
		return failed
	}
	body := a.client.watch(ctx, cancel, resp.Body)
	defer body.Close()
	if resp.StatusCode != http.StatusOK {
		return a.call.refusal(resp)
	}
	a.progress = time.AfterFunc(a.client.progress(), func() {
		cancel(a.call.fault(event.CodeTimeout, "no data for %s but signs of life", spoken(a.client.progress())))
	})
	defer a.progress.Stop()
	err := a.read(resp, body)
	if !a.done && !a.left && a.begun {
		a.count()
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return a.failure(err)
}

// open sends the request and waits for the head of the answer.
func (a *attempt) open(ctx context.Context, cancel context.CancelCauseFunc) (*http.Response, failure) {
	timer := time.AfterFunc(a.client.header(), func() {
		cancel(a.call.fault(event.CodeTimeout, "%s did not answer for %s", a.call.host(), spoken(a.client.header())))
	})
	defer timer.Stop()
	resp, err := a.client.send(ctx, a.call, a.key)
	if err == nil {
		return resp, failure{}
	}
	if fault, ok := errors.AsType[*engine.Fault](context.Cause(ctx)); ok {
		return nil, failure{fault: fault}
	}
	return nil, failure{fault: a.call.unreachable(err), again: tryAgain(err)}
}

// send makes one round trip. What it returns has a body to be closed.
func (c *Client) send(ctx context.Context, call Call, idempotency string) (*http.Response, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if call.Body != nil {
		method, body = http.MethodPost, bytes.NewReader(call.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, call.URL, body)
	if err != nil {
		return nil, &engine.Fault{Code: event.CodeConfiguration, Message: "the base URL is not an address"}
	}
	for name, values := range call.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if err := guard(req, append(secretsOf(req.Header), call.Secrets...)); err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.agent())
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", idempotency)
	}
	resp, err := c.transport().RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		resp.Body = &gzipped{body: resp.Body}
	}
	return resp, nil
}

// read yields the events of the answer.
func (a *attempt) read(resp *http.Response, body io.ReadCloser) error {
	defer func() {
		if a.lingers != nil {
			a.lingers.Stop()
		}
	}()
	frames, err := a.frames(resp, body)
	if err != nil {
		return err
	}
	var out []event.Stream
	for {
		frame, err := frames.Next()
		if err != nil {
			return a.end(err)
		}
		out, err = a.decoder.Decode(out[:0], frame)
		if err != nil && frame.Cut && !faulty(err) {
			return a.end(io.EOF)
		}
		if !errors.Is(err, ErrPing) {
			a.progress.Reset(a.client.progress())
			a.conclude(body)
		}
		e := a.emit(out)
		if a.done {
			drain(body)
			return nil
		}
		if e != nil || a.left {
			return e
		}
		if err := a.over(); err != nil {
			return err
		}
		if err != nil && !errors.Is(err, ErrPing) {
			return a.wrong(frame, err)
		}
	}
}

// conclude waits a moment for what may follow the last word, and anew with each
// event that does.
func (a *attempt) conclude(body io.Closer) {
	switch c, ok := a.decoder.(Concluder); {
	case !ok || !c.Concluded():
	case a.lingers == nil:
		a.lingers = time.AfterFunc(linger, func() { body.Close() })
	default:
		a.lingers.Reset(linger)
	}
}

// linger is longer than any server has been seen to take for its counts, and
// than one pauses that says with each piece that it is the last.
const linger = 3 * time.Second

func faulty(err error) bool {
	_, ok := errors.AsType[*engine.Fault](err)
	return ok
}

// wrong makes a fault of a frame that makes no sense.
func (a *attempt) wrong(f Frame, err error) error {
	if faulty(err) {
		return err
	}
	name := "an event of the stream"
	switch {
	case a.call.Lines:
		name = "a line of the stream"
	case len(f.Name) > 0:
		name = "the event " + a.call.clean(string(f.Name))
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return a.call.fault(event.CodeProtocol, "%s is not JSON: %s", name, a.call.clean(string(f.Data[:min(len(f.Data), 200)])))
	}
	return a.call.fault(event.CodeProtocol, "%s makes no sense: %s", name, a.call.clean(err.Error()))
}

// end yields what the decoder held back. Without a stop the answer is broken
// off, whether the connection was closed well or badly.
func (a *attempt) end(err error) error {
	if e := a.emit(a.decoder.End(nil)); e != nil || a.left || a.done {
		return e
	}
	return err
}

// emit yields what the decoder made. What precedes the content waits for it, so
// that another try leaves no trace of this one.
func (a *attempt) emit(out []event.Stream) error {
	for _, e := range out {
		n, content := weight(e)
		if !content && !a.begun {
			a.held = append(a.held, e)
			continue
		}
		if limit := a.grow(e, n); limit > 0 {
			return a.call.fault(event.CodeTooLarge, "the answer exceeded %s and was stopped", size(limit))
		}
		for _, h := range a.held {
			if !a.pass(h) {
				return nil
			}
		}
		a.held, a.begun = nil, true
		_, a.done = e.(event.MessageStop)
		if !a.pass(e) || a.done {
			return nil
		}
	}
	return nil
}

// grow counts the n bytes of e, and returns the limit that they exceed, or 0.
// Thoughts do not count against what was asked for.
func (a *attempt) grow(e event.Stream, n int64) int64 {
	a.bytes += n
	if _, thought := e.(event.ThinkingDelta); !thought {
		a.text += n
	}
	switch asked := a.call.MaxText; {
	case a.bytes > a.client.maxText():
		return a.client.maxText()
	case asked > 0 && a.text > asked:
		return asked
	}
	return 0
}

// pass yields e, if anybody is there to have it.
func (a *attempt) pass(e event.Stream) bool {
	if a.left || a.over() != nil {
		return false
	}
	a.left = !a.yield(e, nil)
	return !a.left
}

// count yields what is known of the cost of an answer that is not whole: it is
// to be paid, also where somebody stopped it.
func (a *attempt) count() {
	for _, e := range a.decoder.Count(nil) {
		a.left = a.left || !a.yield(e, nil)
	}
}

// weight is the size of what e adds to the answer, and whether it is content.
func weight(e event.Stream) (int64, bool) {
	switch e := e.(type) {
	case event.TextDelta:
		return int64(len(e.Text)), true
	case event.ThinkingDelta:
		return int64(len(e.Text) + len(e.Signature)), true
	case event.InputJSONDelta:
		return int64(len(e.PartialJSON)), true
	case event.ToolUseStop:
		return int64(len(e.Input)), true
	case event.ToolUseStart, event.MessageStop:
		return 0, true
	}
	return 0, false
}

// failure judges an answer that was not complete.
func (a *attempt) failure(err error) failure {
	if err == nil {
		return failure{}
	}
	if f, ok := errors.AsType[*engine.Fault](err); ok {
		_, told := errors.AsType[toldBy](err)
		return failure{fault: f, again: told && f.Retryable}
	}
	f := a.call.broken(err)
	switch {
	case errors.Is(err, io.EOF):
		f = a.call.fault(event.CodeIncomplete, "the connection was closed before the answer was complete")
	case errors.Is(err, io.ErrUnexpectedEOF):
		f = a.call.fault(event.CodeIncomplete, "the connection was closed in the middle of the answer (unexpected EOF)")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		f = a.call.fault(event.CodeProtocol, "the answer claims to be compressed and is not")
	default:
		f.Code, f.Message = event.CodeIncomplete, "the answer broke off: "+f.Message
	}
	f.Err = err
	return failure{fault: f}
}

// Told marks f as what the provider said in the stream, as against what went
// wrong on the way: before any content it is tried again like a status.
func Told(f *engine.Fault) error { return toldBy{f} }

type toldBy struct{ fault *engine.Fault }

func (t toldBy) Error() string { return t.fault.Error() }
func (t toldBy) Unwrap() error { return t.fault }
