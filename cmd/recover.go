package cmd

import (
	"context"
	"errors"
	"fmt"

	"agentx/store"
	"agentx/tui/text"
)

// recover writes what can be read of the database into a new file.
func (w *world) recover(ctx context.Context, dest string, asJSON bool) error {
	if dest == "" {
		return usage("--recover needs the name of a new file")
	}
	path, err := w.storePath()
	if err != nil {
		return err
	}
	r, err := store.Recover(ctx, path, dest, store.Options{Now: w.now, Price: w.pricerOf, Network: w.unshared()})
	switch {
	case errors.Is(err, store.ErrExists):
		return usage("%s is there already; nothing was written", dest)
	case errors.Is(err, store.ErrBusy):
		return &exit{code: codeStore, err: fmt.Errorf("%s is in use, so that its pages change while they are read; end the other agentx first", path)}
	case err != nil:
		return err
	}
	if asJSON {
		return writeLine(w.stdout, struct {
			File     string `json:"file"`
			Sound    bool   `json:"sound"`
			Sessions int    `json:"sessions"`
			Messages int    `json:"messages"`
			Lost     int    `json:"lost_events"`
		}{dest, r.Sound, r.Sessions, r.Messages, r.Lost})
	}
	_, err = fmt.Fprintln(w.stdout, recovered(r, text.Line(path), text.Line(dest)))
	return err
}

// recovered says what the new file holds, and what to do with it.
func recovered(r store.Recovery, path, dest string) string {
	s := fmt.Sprintf("%s holds %s with %s", dest, count(r.Sessions, "session"), count(r.Messages, "message"))
	if r.Sound {
		return s + ": all of " + path + ", in which nothing is wrong."
	}
	if r.Lost == 0 {
		s += "; no event of any was lost."
	} else {
		s += "; " + count(r.Lost, "event") + " of their logs could not be read."
	}
	return fmt.Sprintf("%s %s is as it was.\nTo use the new one: agentx --db %s, or move it to where the old one lies.", s, path, dest)
}
