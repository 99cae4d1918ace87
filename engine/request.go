package engine

import (
	"encoding/json"
	"iter"
	"time"

	"agentx/engine/event"
)

// A Request is one message to an agent and all that is needed to answer it.
type Request struct {
	Agent   event.AgentID
	Session event.SessionID
	Created time.Time // of the agent

	Model   string
	System  string
	Options Options
	Tools   []Tool

	History []event.Message   // what was said before, oldest first
	Message event.UserMessage // what is said now; zero where History ends with it
}

// Options tune an answer. The zero value leaves everything to the provider.
type Options struct {
	MaxTokens   int      // of the answer; 0 is the provider's default
	Temperature *float64 // nil is the provider's default
	Effort      string   // of reasoning: none, low, medium, high; empty is the default

	Schema json.RawMessage // JSON schema that the answer follows, an object; nil leaves it free
}

// A Tool is what a model is told about a tool.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the input, an object
}

// Messages are the history and, behind it, the message.
func (r Request) Messages() iter.Seq[event.Message] {
	return func(yield func(event.Message) bool) {
		for _, m := range r.History {
			if !yield(m) {
				return
			}
		}
		if len(r.Message.Content) > 0 {
			yield(r.Message)
		}
	}
}
