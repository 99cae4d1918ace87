package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Tool is something that a model can ask for.
type Tool struct {
	engine.Tool

	// Call does it. Input is JSON, and not yet checked against the schema. An
	// error is an answer too: the model reads it. When ctx is done, Call is to
	// return soon; nobody waits longer than a moment.
	Call func(ctx context.Context, input json.RawMessage) (event.Output, error)

	// ReadOnly tools change nothing. Where all tools of a message are, they run
	// at the same time.
	ReadOnly bool
}

const (
	together  = 8                     // read-only calls that run at the same time
	maxOutput = 1 << 20               // bytes of an output
	grace     = 50 * time.Millisecond // for a tool to end by itself when it is cancelled
)

// offered is what the model is told of the tools.
func (l Loop) offered() []engine.Tool {
	var all []engine.Tool
	for _, t := range l.Tools {
		all = append(all, t.Tool)
	}
	return all
}

// ToolNames are the names of the tools.
func (l Loop) ToolNames() []string {
	var names []string
	for _, t := range l.Tools {
		names = append(names, t.Name)
	}
	return names
}

func (l Loop) tool(name string) (Tool, bool) {
	for _, t := range l.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// run runs the calls of a message and yields their results in the order of the
// calls. It reports whether the answer goes on.
func (l Loop) run(ctx context.Context, m *message) bool {
	calls := slices.Clone(m.calls)
	answer := func(i int) event.Output { return l.perform(ctx, calls[i]) }
	if len(calls) > 1 && l.readOnly(calls) {
		var wait func()
		answer, wait = l.ahead(ctx, calls)
		defer wait()
	}
	for i, call := range calls {
		if !m.result(call, answer(i)) {
			return false
		}
	}
	if ctx.Err() != nil {
		m.stop(context.Cause(ctx))
		return false
	}
	return true
}

func (l Loop) readOnly(calls []event.ToolCall) bool {
	for _, c := range calls {
		if t, ok := l.tool(c.Name); ok && !t.ReadOnly {
			return false
		}
	}
	return true
}

// ahead starts all calls, and returns how to get their outputs and how to wait
// for the end of those that nobody asks for. Permission is asked for one call
// after the other, before any is run.
func (l Loop) ahead(ctx context.Context, calls []event.ToolCall) (answer func(int) event.Output, wait func()) {
	ctx, cancel := context.WithCancel(ctx)
	outs := make([]event.Output, len(calls))
	done := make([]chan struct{}, len(calls))
	places := make(chan struct{}, together)
	var running sync.WaitGroup
	for i, call := range calls {
		done[i] = make(chan struct{})
		tool, refusal := l.admit(ctx, call)
		if refusal != nil {
			outs[i] = *refusal
			close(done[i])
			continue
		}
		running.Go(func() { // ends with the call, or a moment after ctx
			defer close(done[i])
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				outs[i] = execute(ctx, tool, call)
			case <-ctx.Done():
				outs[i] = failed("not run: " + context.Cause(ctx).Error())
			}
		})
	}
	return func(i int) event.Output {
			<-done[i]
			return outs[i]
		}, func() {
			cancel()
			running.Wait()
		}
}

// perform admits a call and executes it.
func (l Loop) perform(ctx context.Context, call event.ToolCall) event.Output {
	tool, refusal := l.admit(ctx, call)
	if refusal != nil {
		return *refusal
	}
	return execute(ctx, tool, call)
}

// admit returns the tool of a call that may be run, or why it may not.
func (l Loop) admit(ctx context.Context, call event.ToolCall) (Tool, *event.Output) {
	refuse := func(out event.Output) (Tool, *event.Output) { return Tool{}, &out }
	tool, known := l.tool(call.Name)
	switch {
	case !known:
		return refuse(failed(fmt.Sprintf("there is no tool %q; there are: %s", call.Name, l.names())))
	case call.InputError != "":
		return refuse(failed("not run: " + call.InputError))
	case !isObject(call.Input):
		return refuse(failed("not run: the input is not an object"))
	}
	if l.Approve != nil && ctx.Err() == nil {
		if allowed, reason := l.Approve(ctx, call); !allowed {
			return refuse(event.Output{Kind: event.OutputDenied, Text: reason})
		}
	}
	if ctx.Err() != nil {
		return refuse(failed("not run: " + context.Cause(ctx).Error()))
	}
	return tool, nil
}

// isObject reports whether an input, which is JSON, is what every tool asks for.
func isObject(input json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(input, " \t\r\n"), []byte("{"))
}

func (l Loop) names() string {
	if len(l.Tools) == 0 {
		return "none"
	}
	return strings.Join(l.ToolNames(), ", ")
}

// execute runs a call in a goroutine of its own, which ends with the call, and
// leaves it behind where it does not end when ctx does.
func execute(ctx context.Context, tool Tool, call event.ToolCall) event.Output {
	result := make(chan event.Output, 1)
	go func() { result <- invoke(ctx, tool, call) }()
	select {
	case out := <-result:
		return out
	case <-ctx.Done():
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case out := <-result:
		return out
	case <-patience.C:
		return failed("stopped: " + context.Cause(ctx).Error() + "; what the tool had done by then is not known")
	}
}

// invoke calls the tool, and makes an output of whatever becomes of it.
func invoke(ctx context.Context, tool Tool, call event.ToolCall) (out event.Output) {
	defer func() {
		if v := recover(); v != nil {
			out = failed(fmt.Sprintf("the tool panicked: %v", v))
		}
	}()
	out, err := tool.Call(ctx, call.Input)
	switch {
	case err != nil && ctx.Err() != nil:
		return failed("stopped: " + context.Cause(ctx).Error())
	case err != nil:
		return failed(err.Error())
	case out.Kind == event.OutputJSON && !json.Valid(out.JSON):
		return failed("the tool answered with something that is not JSON")
	}
	return bounded(out)
}

// bounded cuts an output that is larger than a conversation can bear: its
// beginning and its end stay.
func bounded(out event.Output) event.Output {
	if out.Kind == event.OutputJSON && len(out.JSON) > maxOutput {
		out = event.Output{Text: string(out.JSON)}
	}
	if cut := len(out.Text) - maxOutput; cut > 0 {
		head, tail := out.Text[:maxOutput/2], out.Text[len(out.Text)-maxOutput/2:]
		out.Text = strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", head, cut, tail), "")
	}
	return out
}

func failed(why string) event.Output { return event.Output{Kind: event.OutputError, Text: why} }
