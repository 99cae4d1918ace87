package bus

// posted is an event that waits on the timeline.
type posted struct {
	SystemEvent
	name     string // of its type
	attended bool   // it needs no server
}

// A queue is first in, first out. It keeps its room when it is empty, unless a
// flood has made it large.
type queue struct {
	waiting []posted
	head    int // of waiting, those that are gone
}

const roomy = 1024

func (q *queue) push(p posted) { q.waiting = append(q.waiting, p) }

func (q *queue) pop() (posted, bool) {
	if q.head == len(q.waiting) {
		return posted{}, false
	}
	p := q.waiting[q.head]
	q.waiting[q.head] = posted{}
	q.head++
	switch {
	case q.head < len(q.waiting):
		if q.head >= roomy && 2*q.head >= len(q.waiting) {
			q.waiting, q.head = append([]posted(nil), q.waiting[q.head:]...), 0
		}
	case cap(q.waiting) > roomy:
		q.waiting, q.head = nil, 0
	default:
		q.waiting, q.head = q.waiting[:0], 0
	}
	return p, true
}
