// Package guide is the driver that answers when there is no model: it searches
// the manual that is part of the program, and says that it does no more.
//
// It is a real driver all the same: a small model client that asks for a tool,
// in the loop that every model client runs in. It needs no key and no network,
// and gives the same answer to the same question.
package guide

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/driver"
	"agentx/engine/event"
)

// Model is the name of the guide among the models.
const Model = "guide"

// New returns the guide, ready to be asked. Pace is the pause between two
// pieces of an answer, a few characters each; 0 writes without any. Nothing of
// the manual is read before the first question.
func New(pace time.Duration) driver.Loop {
	read := sync.OnceValue(readManual)
	return driver.Loop{Model: client{pace, read}, Tools: []driver.Tool{tool(read)}}
}

// client is the guide as a model client: it streams one message.
type client struct {
	pace   time.Duration
	manual func() *manual
}

func (client) Name() string { return Model }
func (client) Description() string {
	return "The built-in guide: searches the manual of agentx. Not a language model; needs no key and no network."
}

// Receive answers small talk at once, looks everything else up, and writes down
// what was found.
func (c client) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	return func(yield func(event.Stream, error) bool) {
		t := hear(req, c.manual().index.lexicon)
		w := writer{ctx: ctx, pace: c.pace, yield: yield}
		w.say(event.MessageStart{MessageID: t.messageID(), Model: Model})
		switch reply, ok := t.smallTalk(); {
		case t.found != nil:
			w.write(t.answer(*t.found))
		case ok:
			w.write(reply)
		case !offers(req, toolName):
			w.write(t.answer(c.manual().search(t.query())))
		default:
			w.call(t.messageID()+"_search", t.query())
			return
		}
		w.stop(event.EndTurn)
	}
}

func offers(req engine.Request, name string) bool {
	for _, t := range req.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

const toolName = "search_manual"

// tool is the search as a tool. It reads and changes nothing.
func tool(read func() *manual) driver.Tool {
	return driver.Tool{
		Tool: engine.Tool{
			Name:        toolName,
			Description: "Searches the manual of agentx and returns the sections that fit best.",
			Schema: json.RawMessage(`{
				"type": "object",
				"properties": {
					"query":   {"type": "string", "description": "what to look for, in plain words"},
					"context": {"type": "string", "description": "what was asked before, where the query depends on it"},
					"skip":    {"type": "array", "items": {"type": "string"}, "description": "sections that have been shown"}
				},
				"required": ["query"]
			}`),
		},
		ReadOnly: true,
		Call: func(_ context.Context, input json.RawMessage) (event.Output, error) {
			var q query
			if err := json.Unmarshal(input, &q); err != nil {
				return event.Output{}, fmt.Errorf("the input of %s: %w", toolName, err)
			}
			out, err := json.Marshal(read().search(q))
			return event.Output{Kind: event.OutputJSON, JSON: out}, err
		},
	}
}
