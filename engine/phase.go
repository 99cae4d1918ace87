package engine

import "agentx/engine/event"

// A Phase is what an agent is doing. The seeds call it AgentState, and the fold
// AgentStateMachine.
type Phase int

const (
	Idle Phase = iota
	Thinking
	Responding
	PlanningTool
	AwaitingToolResult
	Failed
)

// String returns the phase as the seeds spell it.
func (p Phase) String() string {
	switch p {
	case Idle:
		return "idle"
	case Thinking:
		return "thinking"
	case Responding:
		return "responding"
	case PlanningTool:
		return "planning_tool"
	case AwaitingToolResult:
		return "awaiting_tool_result"
	case Failed:
		return "error"
	}
	return "unknown"
}

// Next folds a state event into the phase. After an error the end of the turn
// changes nothing: the agent stays in error until something else begins.
func (p Phase) Next(e event.State) Phase {
	switch e := e.(type) {
	case event.ConversationStart, event.ConversationThinking:
		return Thinking
	case event.ConversationResponding, event.ToolCompleted, event.ToolFailed:
		return Responding
	case event.ToolPlanned:
		return PlanningTool
	case event.ToolExecuting:
		return AwaitingToolResult
	case event.ErrorOccurred:
		return Failed
	case event.ConversationEnd:
		if e.Reason == event.EndError {
			return p
		}
		return Idle
	case event.ConversationInterrupted:
		return Idle
	}
	return p
}

// A PhaseChange is a step from one phase to another.
type PhaseChange struct{ Prev, Current Phase }
