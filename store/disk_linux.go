package store

import (
	"os"
	"path/filepath"
	"strings"

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
	p9   = 0x01021997
	vbox = 0x786f4256
	fuse = 0x65735546
)

// remote reports whether path lies on another machine.
func remote(path string) bool {
	var s unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &s); err != nil {
		return false
	}
	switch uint32(s.Type) {
	case nfs, smb, smb2, cifs, afs, coda, ceph, ncp, p9, vbox:
		return true
	case fuse:
		table, err := os.ReadFile("/proc/self/mountinfo")
		return err == nil && far(mountedAs(string(table), path))
	}
	return false
}

// far reports whether a file system in user space is one of another machine:
// some only encrypt, or read a disk.
func far(kind string) bool {
	name := strings.TrimPrefix(kind, "fuse.")
	for _, other := range []string{"sshfs", "s3fs", "rclone", "gcsfuse", "goofys", "glusterfs", "davfs", "curlftpfs", "grpcfuse", "osxfs", "juicefs", "cephfs", "virtiofs"} {
		if strings.HasPrefix(name, other) {
			return true
		}
	}
	return false
}

// mountedAs is the kind of file system on which path lies, by a table of mounts.
func mountedAs(table, path string) string {
	best, kind := -1, ""
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		fields, kinds := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kinds) == 0 {
			continue
		}
		point := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[4])
		under := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if under && len(point) >= best {
			best, kind = len(point), kinds[0]
		}
	}
	return kind
}

// reserve gives f blocks up to size, if the file system can: to sync what is
// written then does not write its last page twice. Without it all works too.
func reserve(f *os.File, size int64) { _ = unix.Fallocate(int(f.Fd()), 0, 0, size) }
