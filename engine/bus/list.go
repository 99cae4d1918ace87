package bus

import (
	"slices"
	"sync/atomic"
)

// entry is a subscription with its handler.
type entry struct {
	Subscription
	handle  func(SystemEvent)
	number  int64
	done    atomic.Bool // is handed no more
	removed bool        // and has been forgotten; under the bus's lock
}

// before reports whether a is handed an event before b.
func (a *entry) before(b *entry) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.number < b.number
}

// once returns the names without repetition, in a slice of its own.
func once(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// A list holds entries in the order in which they are handed an event. Whoever
// has taken its entries may go on reading them: what they hold never changes.
// Adding and forgetting cost the same for the ten-thousandth as for the first,
// unless priorities mix.
type list struct {
	entries []*entry
	gone    int // of entries, how many are done
}

// add puts e where it belongs, which mostly is at the end: behind what any
// reader has taken.
func (l *list) add(e *entry) {
	n := len(l.entries)
	if n == 0 || l.entries[n-1].before(e) {
		l.entries = append(l.entries, e)
		return
	}
	at, _ := slices.BinarySearchFunc(l.entries, e, func(o, e *entry) int {
		if o.before(e) {
			return -1
		}
		return 1
	})
	l.entries = slices.Concat(l.entries[:at], []*entry{e}, l.entries[at:])
}

// forget counts an entry that is done, clears up when that is half of them, and
// returns how many are left in the list.
func (l *list) forget() int {
	l.gone++
	if 2*l.gone < len(l.entries) {
		return len(l.entries)
	}
	var rest []*entry
	for _, e := range l.entries {
		if !e.removed {
			rest = append(rest, e)
		}
	}
	l.entries, l.gone = rest, 0
	return len(rest)
}
