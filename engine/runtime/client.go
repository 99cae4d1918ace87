package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// A Timeline is where commands are given and where everything is told. A
// [*bus.Bus] is one; so can be a connection to that of another process.
type Timeline interface {
	Request(ctx context.Context, request bus.SystemEvent) (bus.SystemEvent, error)
	Subscribe(s bus.Subscription, f func(bus.SystemEvent)) (stop func())
}

// A Client gives commands by the timeline alone, as method calls. It knows
// nothing of the runtime that obeys. Errors are those of [Outcome.Err].
type Client struct {
	Timeline Timeline
	Now      func() time.Time
	NewID    func(prefix string) string // names messages
}

// A Response is the data of one: it has an [Outcome] in it.
type Response interface {
	event.Data
	Err() error
}

// Ask gives any command. A is the type of its response.
func Ask[A Response](ctx context.Context, c Client, request event.Data) (A, error) {
	return ask[A](ctx, c, bus.Scope{}, request)
}

func ask[A Response](ctx context.Context, c Client, s bus.Scope, request event.Data) (A, error) {
	var none A
	e, err := c.Timeline.Request(ctx, bus.SystemEvent{Event: event.Event{At: c.Now(), Data: request}, Scope: s})
	if err != nil {
		return none, err
	}
	switch d := e.Data.(type) {
	case A:
		return d, d.Err()
	case bus.Refusal:
		return none, Outcome{Error: d.Error, ErrorCode: d.ErrorCode}.Err()
	case event.Unknown:
		return read[A](d)
	}
	return none, fmt.Errorf("runtime: %s was answered with %s", request.Type(), e.Data.Type())
}

// read reads a response that came from another process.
func read[A Response](d event.Unknown) (A, error) {
	var a A
	if d.Name != a.Type() {
		return a, fmt.Errorf("runtime: answered with %s, not %s", d.Name, a.Type())
	}
	if err := json.Unmarshal(d.Raw, &a); err != nil {
		return a, fmt.Errorf("runtime: %s: %w", d.Name, err)
	}
	return a, a.Err()
}

// Container makes a container, or finds it.
func (c Client) Container(ctx context.Context, id event.ContainerID) error {
	_, err := Ask[ContainerCreateResponse](ctx, c, ContainerCreateRequest{ContainerID: id})
	return err
}

// Run starts an agent.
func (c Client) Run(ctx context.Context, q AgentRunRequest) (AgentRunResponse, error) {
	return Ask[AgentRunResponse](ctx, c, q)
}

// Receive has a message answered and returns when the answer has ended, behind
// all its events. When ctx is done the answer is interrupted, for the reason
// that ctx's cause gives; what came of it is kept.
func (c Client) Receive(ctx context.Context, agent event.AgentID, content event.Content) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	id := c.NewID("msg")
	defer c.interruptWith(ctx, agent, id)()
	q := AgentReceiveRequest{AgentID: agent, Content: content, MessageID: id}
	_, err := ask[AgentReceiveResponse](context.WithoutCancel(ctx), c, bus.Scope{Agent: agent}, q)
	return err
}

// interruptWith interrupts the answer to a message when ctx is done, and not
// before the message is on the timeline: what is not there cannot be stopped.
func (c Client) interruptWith(ctx context.Context, agent event.AgentID, message string) (stop func()) {
	gone := make(chan struct{})
	sent := func(e bus.SystemEvent) bool { return sentID(e.Data) == message }
	on := bus.Subscription{Agent: agent, Types: []string{AgentReceiveRequest{}.Type()}, Filter: sent, Once: true}
	unsubscribe := c.Timeline.Subscribe(on, func(bus.SystemEvent) {
		go func() { // ends with the answer
			select {
			case <-ctx.Done():
				q := AgentInterruptRequest{AgentID: agent, MessageID: message, Reason: engine.ReasonOf(ctx)}
				_, _ = Ask[AgentInterruptResponse](context.WithoutCancel(ctx), c, q) // it can only be too late
			case <-gone:
			}
		}()
	})
	return func() { unsubscribe(); close(gone) }
}

// sentID is the id of the message that a request wants answered, in whatever
// process it was made.
func sentID(d event.Data) string {
	switch q := d.(type) {
	case AgentReceiveRequest:
		return q.MessageID
	case event.Unknown:
		var far AgentReceiveRequest
		_ = json.Unmarshal(q.Raw, &far) // what cannot be read is nobody's
		return far.MessageID
	}
	return ""
}

// Interrupt stops the running answer.
func (c Client) Interrupt(ctx context.Context, agent event.AgentID, why event.InterruptReason) error {
	_, err := Ask[AgentInterruptResponse](ctx, c, AgentInterruptRequest{AgentID: agent, Reason: why})
	return err
}

// Configure changes an agent from its next message on.
func (c Client) Configure(ctx context.Context, q AgentConfigureRequest) error {
	_, err := Ask[AgentConfigureResponse](ctx, c, q)
	return err
}

// Agent says what there is to know about an agent.
func (c Client) Agent(ctx context.Context, id event.AgentID) (AgentInfo, error) {
	a, err := Ask[AgentGetResponse](ctx, c, AgentGetRequest{AgentID: id})
	return a.Agent, err
}

// Agents are those of a container, or all where it is empty.
func (c Client) Agents(ctx context.Context, container event.ContainerID) ([]AgentInfo, error) {
	a, err := Ask[AgentListResponse](ctx, c, AgentListRequest{ContainerID: container})
	return a.Agents, err
}

// Stop stops an agent: what runs is interrupted, and what comes refused.
func (c Client) Stop(ctx context.Context, id event.AgentID) error {
	_, err := Ask[AgentStopResponse](ctx, c, AgentStopRequest{AgentID: id})
	return err
}

// Resume has a stopped agent go on.
func (c Client) Resume(ctx context.Context, id event.AgentID) error {
	_, err := Ask[AgentResumeResponse](ctx, c, AgentResumeRequest{AgentID: id})
	return err
}

// Destroy ends an agent. Its session stays.
func (c Client) Destroy(ctx context.Context, id event.AgentID) error {
	_, err := Ask[AgentDestroyResponse](ctx, c, AgentDestroyRequest{AgentID: id})
	return err
}

// Snapshot freezes a conversation.
func (c Client) Snapshot(ctx context.Context, q ImageSnapshotRequest) (engine.Image, error) {
	a, err := Ask[ImageSnapshotResponse](ctx, c, q)
	return a.Record, err
}

// Thaw begins a session from an image and runs an agent in it.
func (c Client) Thaw(ctx context.Context, q ImageResumeRequest) (ImageResumeResponse, error) {
	return Ask[ImageResumeResponse](ctx, c, q)
}

// Images are all, the newest first.
func (c Client) Images(ctx context.Context) ([]engine.Image, error) {
	a, err := Ask[ImageListResponse](ctx, c, ImageListRequest{})
	return a.Images, err
}

// Image is one of them, whole: by its id, the beginning of one, or its name.
func (c Client) Image(ctx context.Context, ref string) (engine.Image, error) {
	a, err := Ask[ImageGetResponse](ctx, c, ImageGetRequest{ImageID: event.ImageID(ref)})
	return a.Record, err
}

// DeleteImage deletes an image. Sessions that were begun from it stay.
func (c Client) DeleteImage(ctx context.Context, ref string) (event.ImageID, error) {
	a, err := Ask[ImageDeleteResponse](ctx, c, ImageDeleteRequest{ImageID: event.ImageID(ref)})
	return a.ImageID, err
}

// Sessions are those that a request chooses, the last in which something was
// said first.
func (c Client) Sessions(ctx context.Context, q SessionListRequest) ([]engine.Session, error) {
	a, err := Ask[SessionListResponse](ctx, c, q)
	return a.Sessions, err
}

// Session is the one that ref means: an id, the beginning of one, or a title.
func (c Client) Session(ctx context.Context, ref string) (engine.Session, error) {
	a, err := Ask[SessionGetResponse](ctx, c, SessionGetRequest{SessionID: event.SessionID(ref)})
	return a.Session, err
}

// Messages returns the last n events of a session before the one of that
// number, or its last where before is 0, and the number of the first of them.
func (c Client) Messages(ctx context.Context, id event.SessionID, before int64, n int) ([]event.Event, int64, error) {
	a, err := Ask[SessionMessagesResponse](ctx, c, SessionMessagesRequest{SessionID: id, Before: before, Limit: n})
	return a.Events, a.First, err
}

// Fork makes a session of what was said in another before a message, or of all
// of it where before is empty.
func (c Client) Fork(ctx context.Context, id event.SessionID, before string) (event.SessionID, error) {
	a, err := Ask[SessionForkResponse](ctx, c, SessionForkRequest{SessionID: id, Before: before})
	return a.SessionID, err
}

// Branch is Fork for another way of the same session.
func (c Client) Branch(ctx context.Context, id event.SessionID, before string) (event.SessionID, error) {
	a, err := Ask[SessionForkResponse](ctx, c, SessionForkRequest{SessionID: id, Before: before, Branch: true})
	return a.SessionID, err
}

// Branches are the ways that a session went, the last used first.
func (c Client) Branches(ctx context.Context, id event.SessionID) ([]engine.Branch, error) {
	a, err := Ask[SessionTreeResponse](ctx, c, SessionTreeRequest{SessionID: id})
	return a.Branches, err
}

// Rename gives a session a title.
func (c Client) Rename(ctx context.Context, id event.SessionID, title string) error {
	_, err := Ask[SessionRenameResponse](ctx, c, SessionRenameRequest{SessionID: id, Title: title})
	return err
}

// DeleteSession deletes a session for good.
func (c Client) DeleteSession(ctx context.Context, id event.SessionID) error {
	_, err := Ask[SessionDeleteResponse](ctx, c, SessionDeleteRequest{SessionID: id})
	return err
}

// Follow shows everything that an agent says to p, which must be quick, until
// stop is called. What p cannot show is its own affair.
func (c Client) Follow(agent event.AgentID, p engine.Presenter) (stop func()) {
	return c.Timeline.Subscribe(bus.Subscription{Agent: agent, Filter: said}, func(e bus.SystemEvent) {
		_ = p.Present(context.Background(), agent, e.Event)
	})
}

// said lets through what an agent says, and what says that its session is not
// being kept.
func said(e bus.SystemEvent) bool {
	return e.Source == bus.Agent || e.Source == bus.Session && e.Category == bus.Error
}
