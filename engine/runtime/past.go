package runtime

import (
	"context"
	"slices"

	"agentx/engine/event"
)

// A past is what an agent has read of its session. A log only grows: what is in
// it need not be read twice, and what others have said since is behind it.
type past struct {
	messages []event.Message
	last     int64 // counts the last event that was read
	bytes    int   // that the messages take, about
}

// maxPast is how many bytes an agent keeps of what it has read. What is longer
// is read again for each message.
const maxPast = 32 << 20

// read returns the past as it is now.
func (p past) read(ctx context.Context, j Journal, session event.SessionID) (past, error) {
	said, last, err := j.Messages(ctx, session, p.last)
	if err == nil && last < p.last { // it is another session of that id
		p = past{}
		said, last, err = j.Messages(ctx, session, 0)
	}
	if err != nil {
		return p, err
	}
	p.messages, p.last = append(p.messages, said...), last
	for _, m := range said {
		p.bytes += weight(m)
	}
	return p, nil
}

// history is what was said, for a request, which may add to it.
func (p past) history() []event.Message { return slices.Clip(p.messages) }

// kept is as much of the past as may be kept until the next message: all or
// nothing.
func (p past) kept() past {
	if p.bytes > maxPast {
		return past{}
	}
	return p
}

// answered reports whether there is a complete answer among messages.
func answered(messages []event.Message) bool {
	return slices.ContainsFunc(messages, func(m event.Message) bool {
		a, ok := m.(event.AssistantMessage)
		return ok && !a.Incomplete
	})
}

// weight is about how many bytes a message takes.
func weight(m event.Message) int {
	const around = 200 // what is not text
	switch m := m.(type) {
	case event.UserMessage:
		return around + heft(m.Content)
	case event.AssistantMessage:
		return around + heft(m.Content)
	case event.ToolCallMessage:
		return around + heft([]event.Part{m.ToolCall})
	case event.ToolResultMessage:
		return around + heft([]event.Part{m.ToolResult})
	case event.ErrorMessage:
		return around + len(m.Content)
	}
	return around
}

// heft is about how many bytes parts take.
func heft(parts []event.Part) (n int) {
	for _, p := range parts {
		switch p := p.(type) {
		case event.Text:
			n += len(p.Text)
		case event.Thinking:
			n += len(p.Text) + len(p.Signature)
		case event.ToolCall:
			n += len(p.Input) + len(p.Raw)
		case event.ToolReturn:
			n += len(p.Output.Text) + len(p.Output.JSON) + heft(p.Output.Parts)
		case event.Image:
			n += len(p.Data) + len(p.URL)
		case event.File:
			n += len(p.Data)
		case event.Aside:
			n += len(p.Text) + len(p.URL)
		}
	}
	return n
}
