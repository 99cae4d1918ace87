package guide

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"agentx/engine/event"
)

// A writer yields a message piece by piece, at the pace of a quick typist.
type writer struct {
	ctx   context.Context
	pace  time.Duration
	yield func(event.Stream, error) bool
	over  bool // nobody listens any more
}

func (w *writer) say(e event.Stream) {
	if !w.over && w.alive() {
		w.over = !w.yield(e, nil)
	}
}

// alive ends the message with the cause of ctx when ctx is done.
func (w *writer) alive() bool {
	if w.ctx.Err() != nil {
		w.over = true
		w.yield(nil, context.Cause(w.ctx))
		return false
	}
	return true
}

// write types a text.
func (w *writer) write(text string) {
	for n := 0; text != "" && !w.over; n++ {
		piece := text[:cut(text, n)]
		text = text[len(piece):]
		w.say(event.TextDelta{Text: piece})
		w.rest(piece)
	}
}

// cut is where the next piece ends: after three to eight characters, and not
// far behind the end of a line. The lengths vary like a hand's, but not from
// one time to the next.
func cut(text string, n int) int {
	left := 3 + (n*7+n/5*3)%6
	for i, r := range text {
		switch {
		case left == 0:
			return i
		case r == '\n':
			return i + 1
		}
		left--
	}
	return len(text)
}

// rest pauses: longer behind a sentence.
func (w *writer) rest(piece string) {
	if w.pace <= 0 || w.over {
		return
	}
	pause := w.pace
	if strings.HasSuffix(strings.TrimRight(piece, " "), ".") || strings.HasSuffix(piece, "\n") {
		pause *= 4
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.ctx.Done():
	}
}

// call asks for a search.
func (w *writer) call(id string, q query) {
	input, err := json.Marshal(q)
	if err != nil {
		w.over = true
		w.yield(nil, err)
		return
	}
	w.say(event.ToolUseStart{ToolCallID: id, ToolName: toolName})
	for text := string(input); text != ""; {
		n := cut(text, len(text))
		w.say(event.InputJSONDelta{ToolCallID: id, PartialJSON: text[:n]})
		w.rest("")
		text = text[n:]
	}
	w.say(event.ToolUseStop{ToolCallID: id})
	w.stop(event.ToolUse)
}

func (w *writer) stop(why event.StopReason) { w.say(event.MessageStop{StopReason: why}) }
