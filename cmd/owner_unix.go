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
	for ; ; path = filepath.Dir(path) {
		info, err := os.Lstat(path)
		if err != nil && path != filepath.Dir(path) {
			continue
		}
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
}
