package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const lockWait = 10 * time.Second

// update replaces the content of a file by what change makes of it, under a lock that all processes keep. Whoever reads sees the old
// content or the new, whenever this process dies. read says which existing files are acceptable.
func update(name string, read func(string) ([]byte, error), change func(old []byte) ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link to a file elsewhere stays a link
	}
	if err := makeDir(filepath.Dir(name)); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".lock"))
	if err != nil {
		return &Error{Where: name, Err: err}
	}
	defer unlock()
	sweep(name)
	old, err := read(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := change(old)
	if err != nil {
		return err
	}
	return replace(name, text)
}

// sweep removes what a writer left that was killed. Whoever holds the lock is the only writer, so nobody is still at it.
func sweep(name string) {
	dir, prefix := filepath.Dir(name), "."+filepath.Base(name)+"."
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if rest, ok := strings.CutPrefix(e.Name(), prefix); ok && isNumber(rest) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// replace writes text beside name, makes sure that it is on the disk and puts it in name's place.
func replace(name string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // mode 0600, a name that nobody could guess
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	syncDir(filepath.Dir(name))
	return nil
}

// syncDir makes a rename last. Not every file system can; the file is whole in any case.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// waitFor tries until it works, refuses or takes too long.
func waitFor(try func() (done bool, err error)) error {
	for until := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		if done, err := try(); done || err != nil {
			return err
		}
		if time.Now().After(until) {
			return errors.New("another agentx has kept it locked for " + lockWait.String())
		}
	}
}
