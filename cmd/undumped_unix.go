//go:build unix

package cmd

import "golang.org/x/sys/unix"

// noCore leaves no dump behind. What is started from here may choose again.
func noCore() {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &l) == nil {
		l.Cur = 0
		_ = unix.Setrlimit(unix.RLIMIT_CORE, &l) // at worst it is as it was
	}
}
