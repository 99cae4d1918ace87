package tui

import (
	"time"

	"agentx/engine/event"
)

// A flow is how fast text comes, in bytes a second, over the last looks.
type flow float64

// legible is four times as fast as the fastest read: 1,200 words a minute.
const legible flow = 480

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

// frame is how long a frame lasts.
func (f flow) frame() time.Duration {
	if f > legible {
		return stroke
	}
	return frame
}
