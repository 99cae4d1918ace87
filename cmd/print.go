package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/tui/markdown"
	"agentx/tui/theme"
)

// A printer shows one answer on stdout.
type printer interface {
	engine.Presenter
	// begin is called before the message is sent.
	begin(opening) error
	// end is called with what came of it. It reports what could not be written.
	end(outcome) error
}

// An opening is the first line of a stream of events.
type opening struct {
	Type      string          `json:"type"`
	Version   string          `json:"version"`
	SessionID event.SessionID `json:"session_id,omitempty"` // empty where none was begun
	Model     string          `json:"model"`
	Cwd       string          `json:"cwd,omitempty"`
}

// A result is the last line of a stream of events, and the whole of json.
type result struct {
	Type         string          `json:"type"` // always "result"
	Subtype      string          `json:"subtype"`
	IsError      bool            `json:"is_error"`
	Result       string          `json:"result"`
	Structured   json.RawMessage `json:"structured_output,omitempty"`
	SessionID    event.SessionID `json:"session_id,omitempty"`
	Model        string          `json:"model"`
	NumTurns     int             `json:"num_turns"`
	StopReason   string          `json:"stop_reason,omitempty"`
	DurationMs   int64           `json:"duration_ms"`
	TTFTMs       *int64          `json:"ttft_ms"`
	TotalCostUSD *event.USD      `json:"total_cost_usd"`
	Usage        resultUsage     `json:"usage"`
	Error        *resultError    `json:"error,omitempty"`
}

type resultUsage struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	CacheCreation1hTokens    int64 `json:"cache_creation_1h_input_tokens,omitempty"` // of those
	ReasoningTokens          int64 `json:"reasoning_tokens"`
}

func resultUsageOf(u event.Usage) resultUsage {
	return resultUsage{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens,
		CacheReadInputTokens: u.CacheReadTokens, CacheCreationInputTokens: u.CacheWriteTokens,
		CacheCreation1hTokens: u.CacheWrite1hTokens, ReasoningTokens: u.ReasoningTokens,
	}
}

type resultError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// An outcome is what came of a message.
type outcome struct {
	session event.SessionID
	model   string // that answered, as provider/model
	text    string // of the last message of the assistant
	turn    event.TurnResponse
	sent    bool // to the driver
	schema  bool // the answer was to follow one

	elsewhere bool // another model was asked, where the first could not answer

	err   error
	words string // err for people
}

func (o outcome) result() result {
	r := result{
		Type: "result", Subtype: "success", Result: o.text, SessionID: o.session, Model: o.model,
		NumTurns: o.turn.Messages, StopReason: string(o.turn.StopReason), DurationMs: o.turn.DurationMs,
		TTFTMs: o.turn.TimeToFirstTokenMs, TotalCostUSD: o.turn.CostUSD,
		Usage: resultUsageOf(o.turn.Usage),
	}
	if o.schema && json.Valid([]byte(o.text)) {
		r.Structured = json.RawMessage(o.text)
	}
	if o.err != nil {
		kind := errorType(o.err)
		r.Subtype, r.IsError, r.Error = "error_"+kind, true, &resultError{Type: kind, Message: o.words}
	}
	return r
}

// errorType names the kind of failure for scripts, the same as the exit code
// does.
func errorType(err error) string {
	switch code := codeOf(err); code {
	case codeUsage:
		return "usage"
	case codeAuth:
		return "authentication"
	case codeConfig:
		return "configuration"
	case codeProvider:
		return "provider"
	case codeRate:
		return "rate_limit"
	case codeBudget:
		return "budget"
	case codeLimit:
		return "limit"
	case codeRefused:
		return "refused"
	case codeContext:
		return "context_overflow"
	case codeIncomplete:
		return "incomplete"
	case codeStore:
		return "store"
	case codeInternal:
		return "internal"
	case codeOutput:
		return "output"
	default:
		if _, ok := errors.AsType[engine.Interrupt](err); ok || code > codeSignal {
			return "interrupted"
		}
		return "other"
	}
}

// plain prints the text of the answer as it comes, and one final newline.
type plain struct {
	out   io.Writer
	held  int    // newlines that came and were not written
	cr    string // a CR that came last: the LF to it may follow
	wrote bool   // anything at all
}

func (p *plain) begin(opening) error { return nil }

func (p *plain) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	switch d := e.Data.(type) {
	case event.MessageStart:
		if p.wrote {
			p.held = max(p.held, 2) // a text behind a tool is a paragraph of its own
		}
	case event.TextDelta:
		s, ended := strings.CutSuffix(p.cr+d.Text, "\r")
		if p.cr = ""; ended {
			p.cr = "\r"
		}
		return p.write(controls(s))
	}
	return nil
}

// write holds trailing newlines back until something follows them.
func (p *plain) write(s string) error {
	body := strings.TrimRight(s, "\n")
	if body == "" {
		p.held += len(s)
		return nil
	}
	if !p.wrote {
		p.held = 0
		body = strings.TrimLeft(body, "\n")
	}
	piece := strings.Repeat("\n", p.held) + body
	p.held, p.wrote = len(s)-len(strings.TrimRight(s, "\n")), true
	_, err := io.WriteString(p.out, piece)
	return err
}

func (p *plain) end(outcome) error {
	if p.cr != "" {
		if err := p.write(controls(p.cr)); err != nil {
			return err
		}
	}
	if !p.wrote {
		return nil
	}
	_, err := io.WriteString(p.out, "\n")
	return err
}

// rendered prints the answer as markdown for a terminal, block by block.
type rendered struct {
	out   io.Writer
	theme func() theme.Theme // is asked when there is something to show
	width int
	doc   *markdown.Doc
	wrote bool
}

func (r *rendered) begin(opening) error { return nil }

func (r *rendered) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	switch d := e.Data.(type) {
	case event.TextDelta:
		if r.doc == nil {
			if r.wrote {
				if _, err := io.WriteString(r.out, "\n"); err != nil {
					return err
				}
			}
			r.doc = markdown.New(r.width, r.theme())
		}
		r.doc.Append(d.Text)
		return r.flush()
	case event.MessageStop, event.ErrorReceived, event.Interrupted:
		return r.close()
	}
	return nil
}

func (r *rendered) flush() error {
	lines := r.doc.Take()
	if len(lines) == 0 {
		return nil
	}
	r.wrote = true
	_, err := io.WriteString(r.out, strings.Join(lines, "\n")+"\n")
	return err
}

func (r *rendered) close() error {
	if r.doc == nil {
		return nil
	}
	r.doc.Close()
	err := r.flush()
	r.doc = nil
	return err
}

func (r *rendered) end(outcome) error { return r.close() }

// object prints one JSON object at the end.
type object struct{ out io.Writer }

func (object) begin(opening) error                                       { return nil }
func (object) Present(context.Context, event.AgentID, event.Event) error { return nil }
func (o object) end(out outcome) error                                   { return writeLine(o.out, out.result()) }

// lines prints every event of the runtime as a line of JSON.
type lines struct {
	mu  sync.Mutex
	out io.Writer
	err error // the first that writing had
}

func (l *lines) begin(i opening) error {
	i.Type = "init"
	return l.write(i)
}

// Present reports what the bus could not: the lines themselves come from it.
func (l *lines) Present(context.Context, event.AgentID, event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lines) take(e bus.SystemEvent) { _ = l.write(e) } // Present reports it

func (l *lines) end(out outcome) error { return l.write(out.result()) }

func (l *lines) write(v any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = writeLine(l.out, v)
	}
	return l.err
}

// writeLine writes v as one line of JSON, at once.
func writeLine(out io.Writer, v any) error {
	line, err := event.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

// progress says on stderr what a person who waits wants to know.
type progress struct {
	w       *world
	verbose bool
}

func (p progress) Present(_ context.Context, _ event.AgentID, e event.Event) error {
	switch d := e.Data.(type) {
	case event.Aside:
		if p.verbose {
			p.w.note("%s: %s", d.Kind, strings.TrimSpace(d.Text+" "+d.URL))
		}
	case event.Retrying:
		if d.DelayMs == 0 {
			p.w.note("%s", d.Reason)
			break
		}
		p.w.note("%s; trying again %s (%d of %d)", d.Reason, soon(time.Duration(d.DelayMs)*time.Millisecond), d.Attempt, d.MaxAttempts)
	case event.SystemError:
		p.trouble(d)
	case event.ToolExecuting:
		if p.verbose {
			p.w.note("calling %s %s", d.ToolName, d.Input)
		}
	case event.TurnResponse:
		if p.verbose {
			p.w.note("%s", p.w.summary(d))
		}
	}
	return nil
}

// trouble tells what goes wrong beside the answer, and what might.
func (p progress) trouble(e event.SystemError) {
	switch {
	case e.Severity == "warning":
		p.w.note("%s: %s", e.Message, e.Details)
	case e.Severity != "info":
		p.w.warn("%s: %s", e.Message, e.Details)
	case p.verbose:
		p.w.note("%s: %s", e.Message, e.Details)
	}
}

// soon says when, to a tenth of a second.
func soon(d time.Duration) string {
	if d = d.Round(100 * time.Millisecond); d > 0 {
		return "in " + d.String()
	}
	return "at once"
}
