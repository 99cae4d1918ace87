package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"time"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

func imageCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "image", Aliases: []string{"images"}, Short: "Freeze conversations, and begin again from them",
		Long: `Freeze conversations, and begin again from them.

An image is a copy of a conversation that never changes: its messages, its
system prompt and its model. Any number of sessions can be begun from it; each
goes its own way. Freezing the same conversation twice costs nothing.`,
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(imageSnapshot(w), imageList(w), imageShow(w), imageResume(w), imageRemove(w))
	return c
}

func imageSnapshot(w *world) *cobra.Command {
	var q runtime.ImageSnapshotRequest
	var asJSON bool
	c := &cobra.Command{
		Use: "snapshot ID|TITLE", Aliases: []string{"create"}, Short: "Freeze a session, and print the ID of the image", Args: exactly("the ID or title of a session"),
		RunE: func(c *cobra.Command, args []string) error {
			_, s, err := w.stored(c.Context(), args[0])
			if err != nil {
				return err
			}
			client, err := w.client(c.Context())
			if err != nil {
				return err
			}
			if q.System, err = readSystem(q.System); err != nil {
				return err
			}
			q.SessionID = s.ID
			im, err := client.Snapshot(c.Context(), q)
			if err != nil {
				return frozen(err)
			}
			if asJSON {
				return writeLine(w.stdout, listImage(im))
			}
			_, err = fmt.Fprintln(w.stdout, im.ID)
			return err
		},
	}
	c.Flags().StringVarP(&q.Name, "name", "n", "", "`NAME` of the image")
	c.Flags().StringVarP(&q.Description, "description", "d", "", "what it is for: `TEXT`")
	c.Flags().StringVarP(&q.System, "system", "s", "", "system prompt that goes with it: `TEXT` or @file")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// frozen says in words why there is no image.
func frozen(err error) error {
	if errors.Is(err, engine.ErrExists) {
		return usage("%v; `agentx image list` shows what there is", err)
	}
	return err
}

// imageOf is the image that a person names.
func (w *world) imageOf(ctx context.Context, c runtime.Client, ref string) (engine.Image, error) {
	im, err := c.Image(ctx, ref)
	if errors.Is(err, engine.ErrNotFound) {
		return im, usage("there is no image %s; `agentx image list` shows what there is", strconv.Quote(ref))
	}
	if many, ok := errors.AsType[*engine.AmbiguousImageError](err); ok {
		return im, usage("%v", many)
	}
	return im, err
}

// listedImage is an image as JSON.
type listedImage struct {
	ID          event.ImageID   `json:"id"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Model       string          `json:"model"`
	System      string          `json:"system,omitempty"`
	Session     event.SessionID `json:"session_id,omitempty"`
	ParentID    event.ImageID   `json:"parent_id,omitempty"`
	Created     time.Time       `json:"created"`
	Messages    int             `json:"messages"`
}

func listImage(im engine.Image) listedImage {
	return listedImage{
		ID: im.ID, Name: im.Name, Description: im.Description, Model: im.Model, System: im.System,
		Session: im.Session, ParentID: im.Parent, Created: im.Created.Time(), Messages: im.Length,
	}
}

func imageList(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List images, the newest first", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := w.reader(c.Context()); err != nil {
				return err
			}
			client, err := w.client(c.Context())
			if err != nil {
				return err
			}
			all, err := client.Images(c.Context())
			if err != nil {
				return err
			}
			rows := []listedImage{}
			for _, im := range all {
				rows = append(rows, listImage(im))
			}
			if asJSON {
				return writeLine(w.stdout, rows)
			}
			if len(rows) == 0 {
				w.note("There is no image yet. `agentx image snapshot ID` freezes a session, /snapshot the chat.")
				return nil
			}
			t := table{width: w.tableWidth()}
			t.row("ID", "CREATED", "MSGS", "MODEL", "NAME")
			for _, im := range rows {
				t.row(string(im.ID), ago(im.Created), fmt.Sprint(im.Messages), im.Model, im.Name)
				if im.Description != "" {
					t.note(im.Description)
				}
			}
			return t.print(w.stdout)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func imageShow(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show ID|NAME", Short: "Show what an image holds", Args: exactly("the ID or name of an image"),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := w.reader(c.Context()); err != nil {
				return err
			}
			client, err := w.client(c.Context())
			if err != nil {
				return err
			}
			im, err := w.imageOf(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				if err := writeLine(w.stdout, listImage(im)); err != nil {
					return err
				}
				return writeEvents(w.stdout, im.Messages)
			}
			return w.show(func(out io.Writer) error { return exportImage(out, im) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON lines: the image, then its messages")
	return c
}

func imageResume(w *world) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use: "resume ID|NAME [prompt...]", Aliases: []string{"run", "start"}, Short: "Begin a session from an image",
		Long: `Begin a session from an image: a chat on a terminal, one answer with -p. The
image stays as it is, and so does the conversation that it was taken of.`,
		Args: some("the ID or name of an image"),
		RunE: func(c *cobra.Command, args []string) error {
			err := o.finish(c, args[1:])
			if err == nil && (o.last || o.resume != "" || o.pick || o.sessionID != "" || o.noSave) {
				err = usage("an image begins a session that is new and kept: -c, -r, --session-id and --no-save do not go with it")
			}
			if err != nil {
				return w.refused(o, err)
			}
			o.image = args[0]
			maps.Copy(w.set, o.settings())
			return w.run(c.Context(), o)
		},
	}
	o.register(c.Flags())
	for _, name := range []string{"continue", "resume", "fork-session", "session-id", "no-save"} {
		c.Flags().Lookup(name).Hidden = true // they are told that they do not go with it
	}
	return c
}

func imageRemove(w *world) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "rm ID|NAME...", Aliases: []string{"remove", "delete"}, Short: "Delete images for good; sessions that were begun from them stay", Args: some("the ID or name of an image"),
		RunE: func(c *cobra.Command, args []string) error {
			client, err := w.client(c.Context())
			if err != nil {
				return err
			}
			doomed, err := findAll(args, func(ref string) (engine.Image, error) { return w.imageOf(c.Context(), client, ref) })
			if err != nil {
				return err
			}
			for _, im := range doomed {
				if !yes {
					ok, err := w.confirm(fmt.Sprintf("Delete image %s %s with %s for good?", im.ID, strconv.Quote(text.Line(im.Name)), count(im.Length, "message")))
					if err != nil || !ok {
						return err
					}
				}
				if _, err := client.DeleteImage(c.Context(), string(im.ID)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}
