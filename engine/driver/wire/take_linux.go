//go:build linux && !386 && !s390x && !race

package wire

import (
	"syscall"
	"unsafe"
)

// take reads what is there. It returns -1 where nothing is, and for errors.
func take(fd uintptr, p []byte) int {
	if len(p) == 0 {
		return 0
	}
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		return -1
	}
	return int(n)
}
