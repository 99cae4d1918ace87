//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flock takes a lock on f that ends with it or with the process. It returns
// false where another holds one that is in the way.
func flock(f *os.File, exclusive bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, kind{ErrLocks, &os.PathError{Op: "flock", Path: f.Name(), Err: err}}
		}
	}
}

// lockable tries the locks that SQLite will take: on another file, for theirs
// would go when it is closed. One to read is in nobody's way.
func lockable(f *os.File) error {
	for _, kind := range []int16{unix.F_RDLCK, unix.F_UNLCK} {
		l := unix.Flock_t{Type: kind, Len: 1}
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &l); err != nil && !errors.Is(err, unix.EINTR) {
			return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
	return nil
}
