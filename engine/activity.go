package engine

import (
	"time"

	"agentx/engine/event"
)

// An activity is what the stream was last seen doing: as much as is needed to
// tell a transition from its continuation.
type activity struct {
	kind  kind
	asked bool // a turn has begun and not had its conversation_end
	ended bool // the turn has had its conversation_end
	calls calls

	waiting waiting // calls that have no result yet
}

type kind byte

const (
	nothing kind = iota
	thinking
	responding
)

// transition says what the stream changes in what the agent is doing.
//
//	message_start     conversation_start
//	thinking_delta    conversation_thinking, when a run of them begins
//	text_delta        conversation_responding, when a run of them begins
//	tool_use_start    tool_planned
//	tool_use_stop     tool_executing: by then its input is complete
//	tool_result       tool_completed or tool_failed
//	interrupted       conversation_interrupted, conversation_end
//	error_received    error_occurred, conversation_end
//	message_stop      conversation_end, unless it stops for a tool
//	user_message      conversation_end, where it replaces a turn
//
// A turn has exactly one conversation_end. Seeds: stateEventProcessor.
func transition(a activity, _ time.Time, in event.Data) (activity, []event.State) {
	switch in := in.(type) {
	case event.UserMessage:
		if a.asked {
			return activity{asked: true}, []event.State{event.ConversationEnd{Reason: event.EndInterrupted}}
		}
		return activity{asked: true}, nil
	case event.MessageStart:
		return activity{asked: a.asked, waiting: a.waiting}, []event.State{event.ConversationStart{MessageID: in.MessageID}}
	case event.ThinkingDelta:
		return a.become(thinking, event.ConversationThinking{})
	case event.TextDelta:
		return a.become(responding, event.ConversationResponding{})
	case event.ToolUseStart:
		a.kind, a.calls = nothing, a.calls.open(in)
		return a, []event.State{event.ToolPlanned{ToolID: in.ToolCallID, ToolName: in.ToolName}}
	case event.InputJSONDelta:
		a.calls = a.calls.write(in)
	case event.ToolUseStop:
		return a.execute(in)
	case event.ToolResult:
		return a.complete(in)
	case event.Interrupted:
		return a.end(event.EndInterrupted, event.ConversationInterrupted{Reason: in.Reason})
	case event.ErrorReceived:
		return a.end(event.EndError, event.ErrorOccurred{Code: in.ErrorCode, Message: in.Message, Recoverable: in.Retryable})
	case event.MessageStop:
		if in.StopReason.Final() {
			return a.end(event.EndCompleted)
		}
	}
	return a, nil
}

// become begins a run of k, unless one is going on.
func (a activity) become(k kind, e event.State) (activity, []event.State) {
	if a.kind == k {
		return a, nil
	}
	a.kind = k
	return a, []event.State{e}
}

func (a activity) execute(in event.ToolUseStop) (activity, []event.State) {
	c, rest, ok := a.calls.close(in)
	if !ok {
		return a, nil
	}
	a.calls = rest
	a.waiting = a.waiting.add(made{id: c.id, tool: c.name})
	return a, []event.State{event.ToolExecuting{ToolID: c.id, ToolName: c.name, Input: c.whole(in.Input).Input}}
}

func (a activity) complete(in event.ToolResult) (activity, []event.State) {
	c, rest := a.waiting.take(in.ToolCallID, "")
	a.kind, a.waiting = nothing, rest
	if out := outputOf(in); in.IsError || out.Failed() {
		return a, []event.State{event.ToolFailed{ToolID: c.id, ToolName: c.tool, Error: out.String()}}
	}
	return a, []event.State{event.ToolCompleted{ToolID: c.id, ToolName: c.tool, Result: in.Result}}
}

// end closes the turn, once, after what led to it.
func (a activity) end(why event.EndReason, cause ...event.State) (activity, []event.State) {
	if a.ended {
		return a, cause
	}
	return activity{ended: true, waiting: a.waiting}, append(cause, event.ConversationEnd{Reason: why})
}
