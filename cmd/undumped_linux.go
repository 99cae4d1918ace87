package cmd

import "golang.org/x/sys/unix"

// undumped keeps what is in the memory, keys among it, out of files and from
// other programs of the same user. A program that is being developed stays open
// to debuggers.
func undumped() {
	noCore()
	if version != "" {
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // at worst it is as it was
	}
}
