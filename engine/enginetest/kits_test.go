package enginetest_test

import (
	"context"
	"encoding/json"
	"testing"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/driver/guide"
	"agentx/engine/driver/script"
	"agentx/engine/enginetest"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// The smallest driver keeps all promises of one: it keeps nothing, stops at
// once, and serves many (F9, F11).
func TestScriptIsADriver(t *testing.T) {
	enginetest.TestDriver(t, func() engine.Driver {
		return script.Say(event.MessageStart{MessageID: "m"}, event.TextDelta{Text: "Hi"}, event.MessageStop{StopReason: event.EndTurn})
	})
}

func TestGuideIsADriver(t *testing.T) {
	enginetest.TestDriver(t, func() engine.Driver { return guide.New(0) })
}

// A loop over a script is a driver too, tools and all.
func TestLoopIsADriver(t *testing.T) {
	enginetest.TestDriver(t, func() engine.Driver {
		return driver.Loop{
			Model: script.Messages{
				script.Say(event.MessageStart{MessageID: "m1"}, event.ToolUseStart{ToolCallID: "c", ToolName: "clock"}, event.ToolUseStop{ToolCallID: "c"}, event.MessageStop{StopReason: event.ToolUse}),
				script.Say(event.MessageStart{MessageID: "m2"}, event.TextDelta{Text: "Noon."}, event.MessageStop{StopReason: event.EndTurn}),
			},
			Tools: []driver.Tool{clock},
		}
	})
}

// A function is a presenter of everything (F16).
func TestAFunctionIsAPresenter(t *testing.T) {
	enginetest.TestPresenter(t, func() engine.Presenter {
		return engine.PresenterFunc(func(context.Context, event.AgentID, event.Event) error { return nil })
	})
}

// The store in memory keeps the promises of a store (F66).
func TestMemoryIsAStore(t *testing.T) {
	enginetest.TestStore(t, func() mealy.Store[string] { return &mealy.MemoryStore[string]{} }, "a", "b")
	var s engine.State
	enginetest.TestStore(t, func() mealy.Store[engine.State] { return &mealy.MemoryStore[engine.State]{} }, s, stepped(s))
	enginetest.TestStore(t, func() mealy.Store[[]byte] { return &mealy.MemoryStore[[]byte]{} }, []byte("a"), []byte{0, 0xff})
	enginetest.TestStore(t, func() mealy.Store[engine.State] { return enginetest.Encoded{Store: &mealy.MemoryStore[[]byte]{}} }, s, stepped(s))
}

func TestAMachineLivesInMemory(t *testing.T) {
	enginetest.TestMachine(t, func() func() mealy.Store[engine.State] {
		var states mealy.MemoryStore[engine.State]
		return func() mealy.Store[engine.State] { return &states }
	})
	enginetest.TestMachine(t, func() func() mealy.Store[engine.State] {
		var states mealy.MemoryStore[[]byte]
		return func() mealy.Store[engine.State] { return enginetest.Encoded{Store: &states} }
	})
}

var clock = driver.Tool{
	Tool:     engine.Tool{Name: "clock", Schema: json.RawMessage(`{"type":"object"}`)},
	ReadOnly: true,
	Call: func(context.Context, json.RawMessage) (event.Output, error) {
		return event.Output{Text: "12:00"}, nil
	},
}

func stepped(s engine.State) engine.State {
	s, _ = engine.Step(s, event.Event{Data: event.UserMessage{ID: "u", Content: event.Say("Hello")}})
	return s
}
