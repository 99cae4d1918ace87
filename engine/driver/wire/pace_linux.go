package wire

import "syscall"

// deafen has the system keep quiet until there are n bytes to read, if it can.
func deafen(raw syscall.RawConn, n int) bool {
	if raw == nil {
		return false
	}
	done := false
	err := raw.Control(func(fd uintptr) {
		done = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, n) == nil
	})
	return err == nil && done
}

// glance takes what there is to read, and waits for nothing. Errors and the end
// are for who reads on.
func glance(raw syscall.RawConn, p []byte) int {
	if raw == nil {
		return 0
	}
	n := 0
	err := raw.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), p)
		return true
	})
	if err != nil {
		return 0
	}
	return max(n, 0)
}
