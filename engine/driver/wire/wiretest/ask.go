package wiretest

import (
	"context"

	"agentx/engine"
	"agentx/engine/event"
)

// An Outcome is what the engine made of an answer.
type Outcome struct {
	Text    string // as it came
	Message *event.AssistantMessage
	Stop    event.StopReason
	Usage   event.Usage
	Retries []event.Retrying
	Fault   *engine.Fault
	Err     error
}

// Content is the message's; without a message it is empty.
func (o Outcome) Content() event.Parts {
	if o.Message == nil {
		return nil
	}
	return o.Message.Content
}

// Ask has the engine answer one message with d: where req says nothing, "go" is
// asked, and where it names no model, "m".
func Ask(ctx context.Context, d engine.Driver, req engine.Request) Outcome {
	if len(req.Message.Content) == 0 {
		req.Message = event.UserMessage{ID: "u1", Content: event.Say("go")}
	}
	if req.Model == "" {
		req.Model = "m"
	}
	var o Outcome
	for ev, err := range (engine.Engine{Driver: d}).Events(ctx, req) {
		if err != nil {
			o.Err, o.Fault = err, engine.FaultOf(err)
			break
		}
		o.note(ev.Data)
	}
	return o
}

func (o *Outcome) note(data event.Data) {
	switch data := data.(type) {
	case event.TextDelta:
		o.Text += data.Text
	case event.AssistantMessage:
		o.Message = &data
	case event.MessageStop:
		o.Stop = data.StopReason
	case event.Retrying:
		o.Retries = append(o.Retries, data)
	case event.TurnResponse:
		o.Usage = data.Usage
	}
}
