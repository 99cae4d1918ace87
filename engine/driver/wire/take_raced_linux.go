//go:build linux && !386 && !s390x && race

package wire

import "syscall"

// take reads what is there. It returns -1 where nothing is, and for errors. The
// race detector is told that what was done before it was written is over.
func take(fd uintptr, p []byte) int {
	n, err := syscall.Read(int(fd), p)
	if err != nil {
		return -1
	}
	return n
}
