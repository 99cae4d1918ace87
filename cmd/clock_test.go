package cmd

import (
	"testing"
	"time"
)

// Real clocks carry a second reading that nobody sets; Add moves both, and so
// the day that is told and the time that has passed go on together.
func TestSteadyClockNeverGoesBack(t *testing.T) {
	began := time.Now()
	real := began
	clock := steady(func() time.Time { return real })
	last := clock()
	for range 100 {
		real = real.Add(10 * time.Millisecond)
		now := clock()
		if passed := now.Round(0).Sub(last.Round(0)); passed != 10*time.Millisecond {
			t.Fatalf("%v have passed, want 10ms", passed)
		}
		last = now
	}
	real = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) // has no second reading, as after a long sleep
	if got := clock(); !got.Equal(real) {
		t.Errorf("after a sleep it is %v, want %v", got, real)
	}
}
