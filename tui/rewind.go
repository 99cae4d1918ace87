package tui

import (
	"sort"

	"agentx/engine/event"
	"agentx/tui/replay"
	"agentx/tui/theme"
	"agentx/tui/transcript"
)

// A Film is a recorded conversation, step by step.
type Film interface {
	Len() int
	Moment(n int) Moment // from 0
}

// A Moment is one step of a film: an input, what followed from it, and where the
// machine then stood.
type Moment struct {
	Line  int // of the file
	In    event.Event
	Outs  []event.Event
	State []replay.Field
}

// A reel is a film wound on to some step. A transcript goes forwards only, so on
// the way it leaves copies behind, and the way back begins at the nearest. How
// far they are apart depends on the length of the film: there are never many.
type reel struct {
	film   Film
	look   *theme.Theme
	ascii  bool
	width  int
	height int

	at      int // steps that have happened
	now     transcript.Model
	lines   []string // that are finished where the reel was wound furthest
	count   int      // of them, those that are finished here
	marks   []mark   // by step
	between int      // steps from mark to mark at least
}

// A mark is a place that can be gone back to.
type mark struct {
	at    int
	lines int // that were finished
	model transcript.Model
}

// manyMarks is how many marks a film has at most; closeMarks is how many steps
// they are apart in a short one.
const (
	manyMarks  = 256
	closeMarks = 32
)

func newReel(f Film, th *theme.Theme, ascii bool, width, height int) reel {
	r := reel{film: f, look: th, ascii: ascii, width: width, height: height, between: max(closeMarks, f.Len()/manyMarks)}
	r.now = transcript.New(transcript.Config{ASCII: ascii}, th).SetSize(width, height)
	r.marks = []mark{{model: r.now.Fork()}}
	return r
}

// lay is the same step for another width, height or theme.
func (r reel) lay(th *theme.Theme, width, height int) reel {
	return newReel(r.film, th, r.ascii, width, height).to(r.at)
}

// to winds to the step behind which n have happened.
func (r reel) to(n int) reel {
	n = min(max(n, 0), r.film.Len())
	if i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].at > n }) - 1; n < r.at || r.marks[i].at > r.at {
		m := r.marks[i]
		r.at, r.count, r.now = m.at, m.lines, m.model.Fork()
	}
	for r.at < n {
		r = r.forward()
	}
	return r
}

// forward takes one step.
func (r reel) forward() reel {
	m := r.film.Moment(r.at)
	r.now = r.now.Apply(m.In)
	for _, e := range m.Outs {
		r.now = r.now.Apply(e)
	}
	var done []string
	r.now, done = r.now.Take()
	if r.count += len(done); r.count > len(r.lines) {
		r.lines = append(r.lines[:r.count-len(done)], done...)
	}
	r.at++
	if last := r.marks[len(r.marks)-1]; r.at-last.at >= r.between {
		r.marks = append(r.marks, mark{r.at, r.count, r.now.Fork()})
	}
	return r
}

// rows are the rows that end so many lines above the end.
func (r reel) rows(room, above int) []string {
	tail := r.now.Tail(r.height, 0)
	total := r.count + len(tail)
	to := max(total-above, min(room, total))
	from := max(to-room, 0)
	rows := make([]string, 0, room)
	for i := from; i < to; i++ {
		if i < r.count {
			rows = append(rows, r.lines[i])
		} else {
			rows = append(rows, tail[i-r.count])
		}
	}
	return rows
}

// reach is how far up one can look.
func (r reel) reach(room int) int {
	return max(r.count+len(r.now.Tail(r.height, 0))-room, 0)
}

// next is the step behind the next message that begins, prev behind the one
// before.
func (r reel) next() int {
	for n := r.at; n < r.film.Len(); n++ {
		if begins(r.film.Moment(n).In) {
			return n + 1
		}
	}
	return r.film.Len()
}

func (r reel) prev() int {
	for n := r.at - 2; n >= 0; n-- {
		if begins(r.film.Moment(n).In) {
			return n + 1
		}
	}
	return 0
}

// begins reports whether a message begins with e, of the user or of the model.
func begins(e event.Event) bool {
	switch e.Data.(type) {
	case event.UserMessage, event.MessageStart:
		return true
	}
	return false
}
