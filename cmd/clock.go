package cmd

import (
	"sync"
	"time"
)

// steady is the time of day, but that it never goes back: no event is older
// than the one before it, and what lies between two of them is how long it took.
// Where the machine's clock is set back it goes on evenly; where the machine
// slept it catches up.
func steady(read func() time.Time) func() time.Time {
	var mu sync.Mutex
	began := read()
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		day := read()
		even := began.Add(day.Sub(began)) // by the clock that nobody sets
		if day.Round(0).Sub(even.Round(0)) > time.Minute {
			began, even = day, day
		}
		return even
	}
}
