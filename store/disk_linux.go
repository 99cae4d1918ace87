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

// Numbers of file systems on which locks or shared memory do not hold.
const (
	nfs  = 0x6969
	smb  = 0x517b
	smb2 = 0xfe534d42
	cifs = 0xff534d42
	afs  = 0x5346414f
	coda = 0x73757245
	ceph = 0x00c36400
	ncp  = 0x564c
)

// remote reports whether path lies on another machine.
func remote(path string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return false
	}
	switch uint32(s.Type) {
	case nfs, smb, smb2, cifs, afs, coda, ceph, ncp:
		return true
	}
	return false
}

// reserve gives f blocks up to size, if the file system can: to sync what is
// written then does not write its last page twice. Without it all works too.
func reserve(f *os.File, size int64) { _ = unix.Fallocate(int(f.Fd()), 0, 0, size) }
