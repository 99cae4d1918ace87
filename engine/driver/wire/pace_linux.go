//go:build linux && !386 && !s390x

package wire

import (
	"syscall"
	"unsafe"
)

// canAwait says that await works here.
const canAwait = true

// await takes what there is to read as soon as that is so many bytes, or at the
// connection's deadline. It returns none for errors and the end.
func await(raw syscall.RawConn, p []byte, bytes int) (n int) {
	asked := false
	err := raw.Read(func(fd uintptr) bool {
		if !asked { // from here on the system knows that somebody waits
			asked = true
			return !want(fd, bytes)
		}
		n = take(fd, p)
		return n != -1
	})
	late := n <= 0 || err != nil
	err = raw.Control(func(fd uintptr) {
		if late {
			n = take(fd, p)
		}
		_ = want(fd, 1) // it took the same from us before
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// The calls of want and take never block. The runtime is not told of them, as it
// is of a read through [net.Conn]: it would set its watchdog on each, which then
// looks every 20 µs for as long as anything runs, and costs as much as the answer
// does.

// want has fd be readable only once so many bytes are there.
func want(fd uintptr, bytes int) bool {
	value := int32(bytes)
	_, _, e := syscall.RawSyscall6(syscall.SYS_SETSOCKOPT, fd, syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0)
	return e == 0
}
