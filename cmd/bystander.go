package cmd

import (
	"context"
	"fmt"
	"iter"

	"agentx/engine"
	"agentx/engine/event"
)

// A bystander says before a request, once, that the write-ahead log of the
// database has become too large.
type bystander struct {
	engine.Driver
	world *world
}

func (b bystander) Receive(ctx context.Context, req engine.Request) iter.Seq2[event.Stream, error] {
	if n := b.world.swollen(); n > 0 {
		b.world.tell(req, "warning", fmt.Sprintf("%s-wal has %d MB", b.world.db.Path(), n>>20),
			"some program has been reading the database for very long; when it ends the file shrinks again")
	}
	return b.Driver.Receive(ctx, req)
}

func (w *world) swollen() int64 {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.db == nil {
		return 0
	}
	return w.db.Swollen()
}
