//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a file that somebody else could have written. Root could in any case.
func checkOwner(info fs.FileInfo) error {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: it belongs to another user", ErrUnsafe)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: it is writable by others (mode %04o): chmod go-w", ErrUnsafe, info.Mode().Perm())
	}
	return nil
}

// checkPrivate refuses a file of secrets that anybody else may read or write.
func checkPrivate(info fs.FileInfo) error {
	if err := checkOwner(info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: others may read it (mode %04o): chmod 600", ErrUnsafe, info.Mode().Perm())
	}
	return nil
}
