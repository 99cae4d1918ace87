package wire

import (
	"cmp"
	"fmt"
	"iter"
	"strings"

	"agentx/engine"
	"agentx/engine/event"
)

// A Turn is what one side says in a request. Of the user it has texts, images,
// files and tool results, these first; of the assistant texts, thoughts and
// calls. It has at least one part.
type Turn struct {
	Assistant bool
	Parts     []event.Part
}

// Turns puts a history into the order that providers want: the sides alternate,
// every call has a name to be known by and is answered exactly once, right
// behind what the assistant said before it. Blank texts and error messages are
// left out, and thoughts unless keep allows those of the model that had them.
// So are images and files that a provider has refused: every later question
// would fail for them again.
func Turns(history iter.Seq[event.Message], keep func(model string) bool) []Turn {
	t := turns{keep: keep, ids: Names{}}
	t.gather(history)
	n := -1
	for m := range history {
		n++
		switch m := m.(type) {
		case event.UserMessage:
			if t.refused[n] {
				m.Content = withoutMedia(m.Content)
			}
			t.user(m)
		case event.AssistantMessage:
			t.assistant(m)
		}
	}
	return t.out
}

type turns struct {
	keep func(string) bool
	ids  Names
	out  []Turn

	results map[string][]*event.ToolReturn // by message and call
	strays  map[string][]*event.ToolReturn // by call, where the message is not known
	refused map[int]bool                   // messages with something in them that a provider did not take
}

// gather finds the results: those of a message may stand before it.
func (t *turns) gather(history iter.Seq[event.Message]) {
	t.refused = refused(history)
	if !returned(history) {
		return
	}
	known := map[string]bool{}
	for m := range history {
		if a, ok := m.(event.AssistantMessage); ok {
			known[a.ID] = true
		}
	}
	t.results, t.strays = map[string][]*event.ToolReturn{}, map[string][]*event.ToolReturn{}
	n := -1
	for m := range history {
		n++
		r, ok := m.(event.ToolResultMessage)
		if !ok {
			continue
		}
		if out := &r.ToolResult.Output; t.refused[n] && out.Kind == event.OutputContent {
			out.Parts = withoutMedia(out.Parts)
		}
		if known[r.ParentID] {
			key := r.ParentID + "\x00" + r.ToolCallID
			t.results[key] = append(t.results[key], &r.ToolResult)
		} else {
			t.strays[r.ToolCallID] = append(t.strays[r.ToolCallID], &r.ToolResult)
		}
	}
}

// returned reports whether a tool has answered at all.
func returned(history iter.Seq[event.Message]) bool {
	for m := range history {
		if _, ok := m.(event.ToolResultMessage); ok {
			return true
		}
	}
	return false
}

// result takes the result of a call, if there is one.
func (t *turns) result(message, call string) (event.Output, bool) {
	for _, from := range []struct {
		all map[string][]*event.ToolReturn
		key string
	}{{t.results, message + "\x00" + call}, {t.strays, call}} {
		if waiting := from.all[from.key]; len(waiting) > 0 {
			from.all[from.key] = waiting[1:]
			return waiting[0].Output, true
		}
	}
	return event.Output{Kind: event.OutputError, Text: "The call was interrupted; its outcome is unknown."}, false
}

func (t *turns) user(m event.UserMessage) {
	var parts []event.Part
	for _, part := range m.Content {
		switch p := part.(type) {
		case event.Text:
			if strings.TrimSpace(p.Text) != "" {
				parts = append(parts, part)
			}
		case event.Image, event.File:
			parts = append(parts, part)
		}
	}
	t.say(false, parts)
}

// assistant adds a message. Where its calls were answered while it went on,
// what was said behind them comes behind the answers.
func (t *turns) assistant(m event.AssistantMessage) {
	var said, answers []event.Part
	answered := true
	flush := func() {
		if thoughtsOnly(said) {
			said = nil
		}
		t.say(true, said)
		t.say(false, answers)
		said, answers, answered = nil, nil, true
	}
	for _, part := range m.Content {
		if _, call := part.(event.ToolCall); !call && len(answers) > 0 && answered && m.StopReason != event.ToolUse {
			flush()
		}
		switch p := part.(type) {
		case event.Text:
			if strings.TrimSpace(p.Text) != "" {
				said = append(said, part)
			}
		case event.Thinking:
			if t.keep(m.Model) {
				said = append(said, part)
			}
		case event.ToolCall:
			out, ok := t.result(m.ID, p.ID)
			answered = answered && ok
			p.ID = t.ids.Unique(p.ID)
			said = append(said, p)
			answers = append(answers, event.ToolReturn{ID: p.ID, Name: p.Name, Output: out})
		}
	}
	flush()
}

func thoughtsOnly(parts []event.Part) bool {
	for _, p := range parts {
		if _, ok := p.(event.Thinking); !ok {
			return false
		}
	}
	return true
}

// say adds parts to the side that speaks.
func (t *turns) say(assistant bool, parts []event.Part) {
	if len(parts) == 0 {
		return
	}
	if n := len(t.out); n > 0 && t.out[n-1].Assistant == assistant {
		t.out[n-1].Parts = append(t.out[n-1].Parts, parts...)
		return
	}
	t.out = append(t.out, Turn{assistant, parts})
}

// Names are the ids of tool calls that have been given.
type Names map[string]bool

// Unique returns id in the alphabet that every provider accepts, changed as
// little as it takes to be given for the first time.
func (n Names) Unique(id string) string {
	clean := cmp.Or(word(id, 56), "call")
	name := clean
	for i := 2; n[name]; i++ {
		name = fmt.Sprintf("%s_%d", clean, i)
	}
	n[name] = true
	return name
}

// ToolName is a name of a tool that every provider accepts: models have been
// known to invent some that none does, and to forget them.
func ToolName(name string) string { return cmp.Or(word(name, 64), "unknown") }

// word is s in letters, digits, _ and -, and not longer than n.
func word(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), n)]
}

// MaxCalls is how many tools one message may call. None has been seen to call a
// tenth of it; and what is done for a piece of input grows with it.
const MaxCalls = 500

// TooManyCalls is the fault of a message that calls more.
func TooManyCalls() error {
	return &engine.Fault{Code: event.CodeTooLarge, Message: fmt.Sprintf("the message calls more than %d tools", MaxCalls)}
}

// MessageID returns an id for a message that the provider calls id. Short ones
// are known to repeat, and get an ending that does not.
func MessageID(id string) string {
	switch id = word(id, 128); {
	case id == "":
		return "msg_" + NewID()
	case len(id) < 24:
		return id + "_" + NewID()[:12]
	}
	return id
}
