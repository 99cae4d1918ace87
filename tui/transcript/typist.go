package transcript

import (
	"time"

	"agentx/engine/event"
	"agentx/tui/text"
)

// A typist lets text appear smoothly. It holds events in order and gives them
// back so that nothing waits for longer than behind.
type typist struct {
	queue []event.Event
	bytes int     // of text in queue
	rate  float64 // bytes a millisecond
	last  time.Time
	owed  float64 // bytes that are due and not given
}

// behind is how far the typewriter may be behind what has arrived. With a frame
// on top it stays under a quarter of a second.
const behind = 160 * time.Millisecond

// takes says whether d has to wait: text, and whatever comes after text.
func (t typist) takes(d event.Data) bool {
	if _, ok := d.(event.TextDelta); ok {
		return true
	}
	return t.busy()
}

func (t typist) busy() bool { return len(t.queue) > 0 }

func (t typist) add(e event.Event) typist {
	if !t.busy() {
		t.last, t.rate, t.owed = time.Time{}, 0, 0
	}
	t.queue = append(t.queue, e)
	if d, ok := e.Data.(event.TextDelta); ok {
		t.bytes += len(d.Text)
		t.rate = max(t.rate, float64(t.bytes)/float64(behind.Milliseconds()))
	}
	return t
}

// advance returns what is due at now. The first call after a rest only starts
// the clock.
func (t typist) advance(now time.Time) (typist, []event.Event) {
	if !t.busy() {
		return t, nil
	}
	if t.last.IsZero() {
		t.last = now.Add(-frame)
	}
	t.owed += t.rate * float64(now.Sub(t.last).Milliseconds())
	t.last = now
	var due []event.Event
	for len(t.queue) > 0 {
		e := t.queue[0]
		d, isText := e.Data.(event.TextDelta)
		if !isText {
			due, t.queue = append(due, e), t.queue[1:]
			continue
		}
		if t.owed < 1 {
			break
		}
		n := len(d.Text)
		if float64(n) > t.owed {
			n = boundary(d.Text, int(t.owed))
		}
		due = write(due, e.At, d.Text[:n])
		t.owed, t.bytes = t.owed-float64(n), t.bytes-n
		if n < len(d.Text) {
			t.queue[0].Data = event.TextDelta{Text: d.Text[n:]}
			break
		}
		t.queue = t.queue[1:]
	}
	return t, due
}

// write adds text to what is due. What is written at once is laid out at once.
func write(due []event.Event, at time.Time, s string) []event.Event {
	if i := len(due) - 1; i >= 0 {
		if d, ok := due[i].Data.(event.TextDelta); ok {
			due[i].Data = event.TextDelta{Text: d.Text + s}
			return due
		}
	}
	return append(due, event.Event{At: at, Data: event.TextDelta{Text: s}})
}

// frame is what the typewriter takes for granted before its first advance.
const frame = 50 * time.Millisecond

func (t typist) rest() (typist, []event.Event) { return typist{}, t.queue }

// boundary returns where the character ends that holds s's nth byte.
func boundary(s string, n int) int {
	at := 0
	for at < n && at < len(s) {
		piece, _ := text.Next(s[at:])
		at += len(piece)
	}
	return min(at, len(s))
}
