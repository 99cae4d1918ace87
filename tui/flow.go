package tui

import (
	"time"

	"agentx/engine/event"
)

// A flow is how fast text comes, in bytes a second, over the last looks.
type flow float64

// legible is twice as fast as the fastest read: 1,200 words a minute.
const legible flow = 240

// add counts what came since the last look.
func (f flow) add(events []spoken, since time.Duration) flow {
	bytes := 0
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TextDelta:
			bytes += len(d.Text)
		case event.ThinkingDelta:
			bytes += len(d.Text)
		}
	}
	return f + (flow(float64(bytes)/max(since, frame).Seconds())-f)/8
}

// hasty says that text comes faster than anybody reads. Nobody is served by a
// typewriter then, and it would wake the machine up more often than the text.
func (f flow) hasty() bool { return f > legible }
