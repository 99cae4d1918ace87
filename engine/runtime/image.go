package runtime

import (
	"cmp"
	"context"

	"agentx/engine"
	"agentx/engine/bus"
	"agentx/engine/event"
)

// errImages is why nothing can be done with images.
var errImages = &engine.Fault{Code: event.CodeConfiguration, Message: "images are not kept here"}

func (r *Runtime) album() (Images, error) {
	if r.Images == nil {
		return nil, errImages
	}
	return r.Images, nil
}

func (r *Runtime) imageSnapshot(ctx context.Context, q ImageSnapshotRequest, out *ImageSnapshotResponse) (bus.Scope, error) {
	images, err := r.album()
	if err != nil {
		return bus.Scope{}, err
	}
	im, s, err := r.subject(ctx, q)
	if err != nil {
		return s, err
	}
	out.Record, err = images.Freeze(ctx, s.Session, im)
	s.Image = out.Record.ID
	return s, kept(err)
}

// equipped is a driver that says which tools it has.
type equipped interface{ ToolNames() []string }

// subject is what an image says beside the messages, and whose it is.
func (r *Runtime) subject(ctx context.Context, q ImageSnapshotRequest) (engine.Image, bus.Scope, error) {
	im := engine.Image{Name: q.Name, Description: q.Description, System: q.System, Created: event.MillisOf(r.Now())}
	if q.AgentID == "" {
		s, err := r.session(ctx, q.SessionID)
		if err == nil {
			s, err = r.Sessions.Session(ctx, s.ID) // what was found may leave out what lists do
		}
		im.Session, im.Model, im.System = s.ID, s.Model, cmp.Or(im.System, s.System)
		return im, bus.Scope{Session: s.ID}, err
	}
	a, err := r.agent(q.AgentID)
	if err != nil {
		return im, bus.Scope{Agent: q.AgentID}, err
	}
	c := a.Config()
	im.Container, im.Agent, im.Session = a.home.ID, a.ID, a.Session
	im.System, im.Model = c.SystemPrompt, c.Model
	if d, ok := a.Definition().Driver.(equipped); ok {
		im.Tools = d.ToolNames()
	}
	if a.sandbox != nil {
		im.Sandbox, err = a.sandbox.Changes(ctx)
	}
	return im, a.scope(""), err
}

func (r *Runtime) imageResume(ctx context.Context, q ImageResumeRequest, out *ImageResumeResponse) (bus.Scope, error) {
	s := bus.Scope{Image: q.ImageID, Container: q.ContainerID}
	images, err := r.album()
	if err != nil {
		return s, err
	}
	im, err := images.Image(ctx, string(q.ImageID))
	if err != nil {
		return s, kept(named(err, "image", string(q.ImageID)))
	}
	s.Image, s.Container = im.ID, cmp.Or(q.ContainerID, im.Container)
	c, err := r.known(s.Container)
	if err != nil {
		return s, err
	}
	config := q.Config
	config.Name, config.Model, config.SystemPrompt = cmp.Or(config.Name, im.Name), cmp.Or(config.Model, im.Model), cmp.Or(config.SystemPrompt, im.System)
	d, err := r.define(ctx, config)
	if err != nil {
		return s, err
	}
	next := engine.Session{
		ID: event.SessionID(r.NewID("session")), Title: cmp.Or(q.Title, im.Name), Dir: q.Dir, Model: config.Model, System: config.SystemPrompt, Image: im.ID,
	}
	place, err := r.begin(ctx, next, func() error { return images.Thaw(ctx, im.ID, next) })
	if err != nil {
		return s, err
	}
	a, err := c.seat(ctx, d, config, place, im.Sandbox)
	*out = ImageResumeResponse{ImageID: im.ID, ContainerID: c.ID, AgentID: a.ID, SessionID: next.ID}
	s = a.scope("")
	s.Image = im.ID
	return s, err
}

func (r *Runtime) imageList(ctx context.Context, _ ImageListRequest, out *ImageListResponse) (bus.Scope, error) {
	out.Images = []engine.Image{}
	images, err := r.album()
	if err != nil {
		return bus.Scope{}, err
	}
	all, err := images.Images(ctx)
	out.Images = append(out.Images, all...)
	return bus.Scope{}, kept(err)
}

func (r *Runtime) imageGet(ctx context.Context, q ImageGetRequest, out *ImageGetResponse) (bus.Scope, error) {
	images, err := r.album()
	if err != nil {
		return bus.Scope{}, err
	}
	out.Record, err = images.Image(ctx, string(q.ImageID))
	return bus.Scope{Image: out.Record.ID}, kept(named(err, "image", string(q.ImageID)))
}

func (r *Runtime) imageDelete(ctx context.Context, q ImageDeleteRequest, out *ImageDeleteResponse) (bus.Scope, error) {
	images, err := r.album()
	if err != nil {
		return bus.Scope{}, err
	}
	im, err := images.Image(ctx, string(q.ImageID))
	out.ImageID = im.ID
	if err == nil {
		err = images.DeleteImage(ctx, im.ID)
	}
	return bus.Scope{Image: im.ID}, kept(named(err, "image", string(q.ImageID)))
}
