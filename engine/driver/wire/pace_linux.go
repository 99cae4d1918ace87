package wire

import "syscall"

// canAwait says that await works here.
const canAwait = true

// await takes what there is to read as soon as that is so many bytes, or at the
// connection's deadline. It returns none for errors and the end.
func await(raw syscall.RawConn, p []byte, bytes int) (n int) {
	asked := false
	err := raw.Read(func(fd uintptr) bool {
		if !asked { // from here on the system knows that somebody waits
			asked = true
			return syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes) != nil
		}
		n, _ = syscall.Read(int(fd), p)
		return n != -1
	})
	late := n <= 0 || err != nil
	err = raw.Control(func(fd uintptr) {
		if late {
			n, _ = syscall.Read(int(fd), p)
		}
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, 1) // it took the same from us before
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}
