package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// flock takes a lock on f that ends with it or with the process. It returns
// false where another holds one that is in the way. The locked byte lies far
// behind the end, so that everybody can read who holds it.
func flock(f *os.File, exclusive bool) (bool, error) {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at) // what f held before
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// lockable has nothing to try: SQLite takes the same locks as we do.
func lockable(*os.File) error { return nil }
