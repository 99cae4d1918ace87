package driver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/script"
	"agentx/engine/event"

	"pgregory.net/rapid"
)

// asks is a message that calls tools: "id name input" each.
func asks(reason event.StopReason, calls ...string) script.Driver {
	return script.Say(append(called(calls...), event.MessageStop{StopReason: reason})...)
}

func called(calls ...string) []event.Stream {
	events := []event.Stream{event.MessageStart{MessageID: "m1", Model: "mock"}}
	for _, c := range calls {
		id, rest, _ := strings.Cut(c, " ")
		name, input, _ := strings.Cut(rest, " ")
		events = append(events, event.ToolUseStart{ToolCallID: id, ToolName: name})
		if input != "" {
			events = append(events, event.InputJSONDelta{ToolCallID: id, PartialJSON: input})
		}
		events = append(events, event.ToolUseStop{ToolCallID: id})
	}
	return events
}

func says(text string) script.Driver {
	return script.Say(event.MessageStart{MessageID: "m2", Model: "mock"}, event.TextDelta{Text: text}, event.MessageStop{StopReason: event.EndTurn})
}

// tool is a tool that answers with what f returns.
func tool(name string, readOnly bool, f func(ctx context.Context, input string) (string, error)) driver.Tool {
	return driver.Tool{
		Tool:     engine.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)},
		ReadOnly: readOnly,
		Call: func(ctx context.Context, input json.RawMessage) (event.Output, error) {
			text, err := f(ctx, string(input))
			return event.Output{Text: text}, err
		},
	}
}

func echo(readOnly bool) driver.Tool {
	return tool("echo", readOnly, func(_ context.Context, input string) (string, error) { return "heard " + input, nil })
}

// tell plays an answer and writes it down: one word a kind of event, results
// with their text.
func tell(ctx context.Context, d engine.Driver) (story []string, failed error) {
	req := engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}
	for e, err := range d.Receive(ctx, req) {
		if err != nil {
			return story, err
		}
		switch e := e.(type) {
		case event.ToolResult:
			kind := "result "
			if e.IsError {
				kind = "failed "
			}
			story = append(story, kind+e.ToolCallID+": "+e.Result.String())
		case event.MessageStop:
			story = append(story, "stop "+string(e.StopReason))
		case event.TextDelta:
			story = append(story, "says "+e.Text)
		}
	}
	return story, nil
}

func expect(t *testing.T, d engine.Driver, want ...string) {
	t.Helper()
	story, err := tell(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(story, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(story, "\n"), strings.Join(want, "\n"))
	}
}

func TestACallIsRunAndItsResultIsUsed(t *testing.T) {
	expect(t, driver.Loop{Model: script.Messages{asks(event.ToolUse, `a echo {"x":1}`), says("I see.")}, Tools: []driver.Tool{echo(false)}},
		"stop tool_use", `result a: heard {"x":1}`, "says I see.", "stop end_turn")
}

// Some models stop with end_turn although they have called tools. The engine
// would end the turn there; the loop does not let it.
func TestAModelThatCallsAndSaysItHasEnded(t *testing.T) {
	expect(t, driver.Loop{Model: script.Messages{asks(event.EndTurn, `a echo {}`), says("Done.")}, Tools: []driver.Tool{echo(false)}},
		"stop tool_use", `result a: heard {}`, "says Done.", "stop end_turn")
}

// A provider that runs its tools itself, in either shape, is left alone.
func TestResultsThatTheModelBrings(t *testing.T) {
	one := append(called("a web {}"), event.ToolResult{ToolCallID: "a", Result: event.Output{Text: "found"}}, event.TextDelta{Text: "Here."}, event.MessageStop{StopReason: event.EndTurn})
	expect(t, driver.Loop{Model: script.Say(one...)}, "result a: found", "says Here.", "stop end_turn")

	two := append(called("a web {}"), event.MessageStop{StopReason: event.ToolUse},
		event.ToolResult{ToolCallID: "a", Result: event.Output{Text: "found"}}, event.MessageDelta{Usage: event.Usage{InputTokens: 7}},
		event.MessageStart{MessageID: "m2"}, event.TextDelta{Text: "Here."}, event.MessageStop{StopReason: event.EndTurn})
	expect(t, driver.Loop{Model: script.Say(two...)}, "stop tool_use", "result a: found", "says Here.", "stop end_turn")
}

func TestEveryCallIsAnswered(t *testing.T) {
	tools := []driver.Tool{
		echo(false),
		tool("fails", false, func(context.Context, string) (string, error) { return "", errors.New("no such file") }),
		tool("panics", false, func(context.Context, string) (string, error) { panic("oh") }),
		tool("secret", false, func(context.Context, string) (string, error) { return "", errors.New("it was run") }),
		{Tool: engine.Tool{Name: "mumbles"}, Call: func(context.Context, json.RawMessage) (event.Output, error) {
			return event.Output{Kind: event.OutputJSON, JSON: json.RawMessage("{")}, nil
		}},
	}
	approve := func(_ context.Context, c event.ToolCall) (bool, string) { return c.Name != "secret", "not today" }
	expect(t, driver.Loop{
		Model: script.Messages{asks(event.ToolUse, "a fails {}", "b panics {}", "c secret {}", "d nope {}", `e echo {"x":`, "f mumbles {}", "g echo {}", `h echo [1]`, `i echo "x"`), says("Well.")},
		Tools: tools, Approve: approve,
	},
		"stop tool_use",
		"failed a: no such file",
		"failed b: the tool panicked: oh",
		"failed c: The user did not allow this call: not today",
		`failed d: there is no tool "nope"; there are: echo, fails, panics, secret, mumbles`,
		"failed e: not run: the input is not JSON: unexpected end of JSON input",
		"failed f: the tool answered with something that is not JSON",
		"result g: heard {}",
		"failed h: not run: the input is not an object",
		"failed i: not run: the input is not an object",
		"says Well.", "stop end_turn")
}

// What a tool prints is bounded: beginning and end stay, and it says what is
// missing.
func TestAToolThatTalksTooMuch(t *testing.T) {
	flood := strings.Repeat("漢", 1<<20)
	for name, out := range map[string]event.Output{
		"text": {Text: "begin" + flood + "end"},
		"json": {Kind: event.OutputJSON, JSON: json.RawMessage(`"begin` + flood + `end"`)},
	} {
		yes := driver.Tool{Tool: engine.Tool{Name: "yes"}, Call: func(context.Context, json.RawMessage) (event.Output, error) { return out, nil }}
		story, err := tell(t.Context(), driver.Loop{Model: script.Messages{asks(event.ToolUse, "a yes {}"), says("Well.")}, Tools: []driver.Tool{yes}})
		if err != nil {
			t.Fatal(err)
		}
		got := story[1]
		if len(got) > 1<<20+100 || !utf8.ValidString(got) || !strings.Contains(got, "begin") || !strings.Contains(got, "end") || !strings.Contains(got, "bytes are left out here") {
			t.Errorf("%s: a result of %d bytes", name, len(got))
		}
	}
}

// Two calls under one id, and one without: each gets an id of its own, so that
// the history can be sent to a provider that refuses what is ambiguous.
func TestCallsThatShareAnID(t *testing.T) {
	expect(t, driver.Loop{Model: script.Messages{asks(event.ToolUse, `a echo {"n":1}`, `a echo {"n":2}`, ` echo {"n":3}`), says("Well.")}, Tools: []driver.Tool{echo(false)}},
		"stop tool_use", `result a: heard {"n":1}`, `result a_2: heard {"n":2}`, `result call: heard {"n":3}`, "says Well.", "stop end_turn")
}

// A message that was cut or refused asks for nothing, but what it announced is
// answered, before it ends.
func TestCallsOfAMessageThatWasCut(t *testing.T) {
	for _, reason := range []event.StopReason{event.MaxTokens, event.Refusal, event.ContentFilter, event.PauseTurn} {
		expect(t, driver.Loop{Model: asks(reason, "a echo {}"), Tools: []driver.Tool{echo(false)}},
			fmt.Sprintf("failed a: not run: the message stopped (%s) before the call was run", reason), "stop "+string(reason))
	}
}

func TestCallsOfAnAnswerThatBreaksOff(t *testing.T) {
	broken := script.Say(called("a echo {}")...)
	broken.Steps = append(broken.Steps, script.Step{Err: &engine.Fault{Code: event.CodeNetwork, Message: "the connection was closed"}})
	story, err := tell(t.Context(), driver.Loop{Model: broken, Tools: []driver.Tool{echo(false)}})
	if want := []string{"failed a: not run: the connection was closed"}; !slices.Equal(story, want) || engine.FaultOf(err).Code != event.CodeNetwork {
		t.Errorf("story = %q, %v; want %q", story, err, want)
	}
	// A call whose input had not come to an end was never made.
	half := script.Say(event.MessageStart{MessageID: "m"}, event.ToolUseStart{ToolCallID: "a", ToolName: "echo"}, event.InputJSONDelta{PartialJSON: `{"x`})
	story, err = tell(t.Context(), driver.Loop{Model: half, Tools: []driver.Tool{echo(false)}})
	if len(story) > 0 || engine.FaultOf(err).Code != event.CodeIncomplete {
		t.Errorf("story = %q, %v", story, err)
	}
}

// A client that panics has failed; a listener that panics is left alone.
func TestPanics(t *testing.T) {
	client := engine.DriverFunc(func(context.Context, engine.Request) iter.Seq2[event.Stream, error] {
		return func(yield func(event.Stream, error) bool) {
			for _, e := range called("a echo {}") {
				if !yield(e, nil) {
					return
				}
			}
			panic("oh")
		}
	})
	story, err := tell(t.Context(), driver.Loop{Model: client, Tools: []driver.Tool{echo(false)}})
	if want := []string{"failed a: not run: the model client panicked: oh"}; !slices.Equal(story, want) || engine.FaultOf(err).Code != event.CodeInternal {
		t.Errorf("story = %q, %v; want %q", story, err, want)
	}
	defer func() {
		if p := recover(); p != "mine" {
			t.Errorf("recovered %v", p)
		}
	}()
	for range (driver.Loop{Model: says("Hi")}).Receive(t.Context(), engine.Request{}) {
		panic("mine")
	}
}

func TestAModelThatNeverStopsAsking(t *testing.T) {
	asked := 0
	model := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		asked++
		return asks(event.ToolUse, fmt.Sprintf("c%d echo {}", asked)).Receive(ctx, req)
	})
	story, err := tell(t.Context(), driver.Loop{Model: model, Tools: []driver.Tool{echo(false)}, MaxSteps: 3})
	if !errors.Is(err, driver.ErrSteps) || asked != 3 || len(story) != 6 || !strings.HasPrefix(story[5], "failed c3: not run:") {
		t.Errorf("asked %d times: %q, %v", asked, story, err)
	}
	asked = 0
	if _, err := tell(t.Context(), driver.Loop{Model: model, Tools: []driver.Tool{echo(false)}}); !errors.Is(err, driver.ErrSteps) || asked != 50 {
		t.Errorf("asked %d times, want 50: %v", asked, err)
	}
}

// The model is told of the tools, and at each step of all that was said; the
// caller's history is left alone.
func TestWhatTheModelIsTold(t *testing.T) {
	var told []string
	messages := script.Messages{asks(event.ToolUse, "a echo {}"), says("Done.")}
	model := engine.DriverFunc(func(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
		var line []string
		for m := range req.Messages() {
			line = append(line, m.Type())
		}
		told = append(told, fmt.Sprint(len(req.Tools), " tools: ", strings.Join(line, " ")))
		return messages.Receive(ctx, req)
	})
	spare := make([]event.Message, 0, 9)
	req := engine.Request{History: spare, Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}
	for _, err := range (driver.Loop{Model: model, Tools: []driver.Tool{echo(false)}}).Receive(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"1 tools: user_message", "1 tools: user_message tool_call_message assistant_message tool_result_message"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if spare[:1][0] != nil {
		t.Error("the loop wrote behind the caller's history")
	}
}

// Calls that only read run at the same time; as soon as one does more they run
// one after the other. Results come in the order of the calls in both cases.
func TestReadingRunsAtTheSameTime(t *testing.T) {
	for _, c := range []struct {
		readOnly bool
		want     time.Duration
	}{{true, 3 * time.Second}, {false, 6 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			wait := tool("wait", c.readOnly, func(ctx context.Context, input string) (string, error) {
				d, err := time.ParseDuration(strings.Trim(input, `{"for:}`))
				time.Sleep(d)
				return input, err
			})
			began := time.Now()
			expect(t, driver.Loop{Model: script.Messages{asks(event.ToolUse, `a wait {"for":"3s"}`, `b wait {"for":"1s"}`, `c wait {"for":"2s"}`), says("Done.")}, Tools: []driver.Tool{wait}},
				"stop tool_use", `result a: {"for":"3s"}`, `result b: {"for":"1s"}`, `result c: {"for":"2s"}`, "says Done.", "stop end_turn")
			if took := time.Since(began); took != c.want {
				t.Errorf("read-only %v: took %v, want %v", c.readOnly, took, c.want)
			}
		})
	}
}

func TestNoMoreThanEightAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		busy := tool("busy", true, func(context.Context, string) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return "", nil
		})
		var calls []string
		for i := range 40 {
			calls = append(calls, fmt.Sprintf("c%d busy {}", i))
		}
		story, err := tell(t.Context(), driver.Loop{Model: script.Messages{asks(event.ToolUse, calls...), says("Done.")}, Tools: []driver.Tool{busy}})
		if err != nil || len(story) != 43 || most.Load() != 8 {
			t.Errorf("%d at a time, %d lines, %v", most.Load(), len(story), err)
		}
	})
}

// Esc while tools are at work: those that listen stop, those that do not are
// left behind after a moment, and every call has its result.
func TestEscWhileToolsAreAtWork(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			tools := []driver.Tool{
				tool("listens", readOnly, func(ctx context.Context, _ string) (string, error) {
					<-ctx.Done()
					return "", ctx.Err()
				}),
				tool("deaf", readOnly, func(context.Context, string) (string, error) {
					time.Sleep(time.Hour)
					return "", nil
				}),
			}
			began := time.Now()
			time.AfterFunc(time.Second, func() { cancel(engine.Interrupt(event.ByUser)) })
			story, err := tell(ctx, driver.Loop{Model: script.Messages{asks(event.ToolUse, "a deaf {}", "b listens {}", "c deaf {}"), says("never")}, Tools: tools})
			if took := time.Since(began); took > 1100*time.Millisecond {
				t.Errorf("it took %v to stop", took)
			}
			if !errors.Is(err, engine.Interrupt(event.ByUser)) || len(story) != 4 {
				t.Fatalf("%q, %v", story, err)
			}
			for i, id := range []string{"a", "b", "c"} {
				if !strings.HasPrefix(story[i+1], "failed "+id+": ") || !strings.Contains(story[i+1], "interrupted by user") {
					t.Errorf("result %d is %q", i, story[i+1])
				}
			}
			time.Sleep(2 * time.Hour) // the deaf come to their own end
		})
	}
}

// Through the engine the interrupted answer is whole: call and result are kept,
// and the turn is closed.
func TestAnInterruptedToolIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		time.AfterFunc(time.Second, func() { cancel(engine.Interrupt(event.ByUser)) })
		sleepy := tool("sleepy", false, func(ctx context.Context, _ string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		var kept []string
		e := engine.Engine{Driver: driver.Loop{Model: asks(event.ToolUse, "a sleepy {}"), Tools: []driver.Tool{sleepy}}, Now: time.Now}
		for ev := range e.Events(ctx, engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}) {
			if l := event.LayerOf(ev.Data); l == event.MessageLayer || l == event.TurnLayer {
				kept = append(kept, ev.Data.Type())
			}
		}
		want := "user_message turn_request tool_call_message assistant_message tool_result_message turn_response"
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("kept %s, want %s", got, want)
		}
	})
}

// Whatever a model streams, each complete call has exactly one result, behind
// it and before the answer ends, wherever the listener leaves (F14).
func TestCallsAndResultsMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{"", "a", "b"})
		name := rapid.SampledFrom([]string{"echo", "fails", "nope"})
		reason := rapid.SampledFrom([]event.StopReason{event.ToolUse, event.EndTurn, event.MaxTokens, ""})
		message := rapid.Custom(func(t *rapid.T) script.Driver {
			events := []event.Stream{event.MessageStart{MessageID: "m"}}
			for range rapid.IntRange(0, 8).Draw(t, "events") {
				switch rapid.IntRange(0, 4).Draw(t, "kind") {
				case 0, 1:
					events = append(events, event.ToolUseStart{ToolCallID: id.Draw(t, "id"), ToolName: name.Draw(t, "name")})
				case 2:
					events = append(events, event.InputJSONDelta{ToolCallID: id.Draw(t, "id"), PartialJSON: rapid.SampledFrom([]string{"{}", "{", "1"}).Draw(t, "json")})
				case 3:
					events = append(events, event.ToolUseStop{ToolCallID: id.Draw(t, "id")})
				case 4:
					events = append(events, event.TextDelta{Text: "x"})
				}
			}
			if rapid.Bool().Draw(t, "stops") {
				events = append(events, event.MessageStop{StopReason: reason.Draw(t, "reason")})
			}
			return script.Say(events...)
		})
		model := script.Messages(rapid.SliceOfN(message, 1, 4).Draw(t, "messages"))
		readOnly := rapid.Bool().Draw(t, "read only")
		l := driver.Loop{Model: model, MaxSteps: 3, Tools: []driver.Tool{
			echo(readOnly),
			tool("fails", readOnly, func(context.Context, string) (string, error) { return "", errors.New("no") }),
		}}
		var open []string
		seen := map[string]bool{}
		for e := range (engine.Engine{Driver: l}).Events(context.Background(), engine.Request{Message: event.UserMessage{ID: "u", Content: event.Say("Hello")}}) {
			switch d := e.Data.(type) {
			case event.ToolCallMessage:
				if seen[d.ToolCall.ID] || d.ToolCall.ID == "" {
					t.Fatalf("the id %q is not the call's own", d.ToolCall.ID)
				}
				seen[d.ToolCall.ID] = true
				open = append(open, d.ToolCall.ID)
			case event.ToolResultMessage:
				if len(open) == 0 || open[0] != d.ToolCallID {
					t.Fatalf("a result for %q while %q wait", d.ToolCallID, open)
				}
				open = open[1:]
			case event.TurnResponse:
				if len(open) > 0 {
					t.Fatalf("the turn ended and %q have no result", open)
				}
			}
		}
	})
}
