//go:build unix

package runtime_test

import (
	"syscall"
	"time"
)

// cpu is the time that processors have spent on this process.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
