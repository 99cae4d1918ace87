//go:build unix

package cmd

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"syscall"
)

// owner is the name of the user to whom path, or the nearest folder above it
// that can be seen, belongs.
func owner(path string) string {
	info, err := os.Lstat(nearest(path))
	if err != nil {
		return "somebody else"
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "somebody else"
	}
	id := fmt.Sprint(s.Uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

// nearest is path, or the first folder above it that can be seen.
func nearest(path string) string {
	for path != filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

// unwritable says why nothing can be written into a file, or why it cannot be
// made where there is none; nil where nothing is known to be in the way.
func unwritable(path string) error {
	const writes, enters = 2, 1
	at, mode := nearest(path), uint32(writes|enters)
	if at == path {
		mode = writes
	}
	return syscall.Access(at, mode)
}
