package cmd

import (
	"context"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/tui"
)

// Snapshot freezes what has been said in the open session.
func (d *desk) Snapshot(ctx context.Context, name string) (tui.Image, error) {
	t := d.current()
	im, err := t.client.Snapshot(ctx, runtime.ImageSnapshotRequest{AgentID: t.agent, Name: name})
	return pictured(im), d.say(frozen(err))
}

// Images are all, the newest first.
func (d *desk) Images(ctx context.Context) ([]tui.Image, error) {
	all, err := d.current().client.Images(ctx)
	var list []tui.Image
	for _, im := range all {
		list = append(list, pictured(im))
	}
	return list, d.say(err)
}

func pictured(im engine.Image) tui.Image {
	return tui.Image{ID: im.ID, Name: im.Name, Description: im.Description, Model: im.Model, Messages: im.Length, Created: im.Created.Time()}
}

// Begin turns to a session that begins with what an image holds.
func (d *desk) Begin(ctx context.Context, id event.ImageID) (tui.Opened, error) {
	return d.turnTo(ctx, options{image: string(id)})
}

// DeleteImage deletes an image for good.
func (d *desk) DeleteImage(ctx context.Context, id event.ImageID) error {
	_, err := d.current().client.DeleteImage(ctx, string(id))
	return d.say(err)
}
