//go:build darwin || freebsd

package store

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// full reports whether the file system of path has no room for a page.
func full(path string) bool {
	free, ok := space(path)
	return ok && free < 64<<10
}

// space returns how many bytes can be written beside path.
func space(path string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// remote reports whether path lies on another machine.
func remote(path string) bool {
	var s unix.Statfs_t
	err := unix.Statfs(filepath.Dir(path), &s)
	return err == nil && uint64(s.Flags)&unix.MNT_LOCAL == 0
}

// reserve does nothing: without it all works too.
func reserve(*os.File, int64) {}
