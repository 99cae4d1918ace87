package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Write puts a file in place, whole or not at all: nobody sees half of it, and
// when Write returns it lasts. Folders on the way are made. The permissions of
// a file that was there stay; one that may not be written to is left alone,
// and so is one that has other names, because it may belong elsewhere as well.
func (w *Workdir) Write(ctx context.Context, name string, data []byte) error {
	end, err := w.begin(ctx)
	if err != nil {
		return w.failed(OpWrite, name, err)
	}
	defer end()
	p, created, err := w.write(ctx, name, data)
	if err != nil {
		return w.failed(OpWrite, name, err)
	}
	w.tell(FileWritten{Path: shown(p), Size: int64(len(data)), Created: created})
	return nil
}

func (w *Workdir) write(ctx context.Context, name string, data []byte) (p string, created bool, err error) {
	switch {
	case strings.HasSuffix(name, "/"):
		return "", false, ErrNotFile
	case !harmless(name):
		return "", false, fmt.Errorf("%w: it has characters that control a terminal", ErrName)
	case int64(len(data)) > w.limits.File:
		return "", false, tooLarge(int64(len(data)), w.limits.File)
	}
	if p, err = w.resolve(ctx, name, true); err != nil {
		return "", false, err
	}
	if unfinished(path.Base(p)) {
		return "", false, errUnfinished
	}
	mode, created, err := w.overwritable(p)
	if err != nil {
		return "", false, err
	}
	dirs, err := w.parents(ctx, p)
	if err != nil {
		return "", false, err
	}
	if err := w.replace(ctx, p, data, mode, lasting); err != nil {
		return "", false, err
	}
	w.settle(append(dirs, path.Dir(p)))
	return p, created, nil
}

// overwritable returns the permissions that a file at p will have, or why there
// can be none.
func (w *Workdir) overwritable(p string) (mode fs.FileMode, created bool, err error) {
	info, err := w.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return asUsual, true, nil
	case err != nil:
		return 0, false, err
	case !info.Mode().IsRegular():
		return 0, false, ErrNotFile
	case names(info) > 1:
		return 0, false, fmt.Errorf("%w: the file has other names (hard links), perhaps elsewhere", ErrDenied)
	case info.Mode().Perm()&0o200 == 0:
		return 0, false, fmt.Errorf("%w: the file is read-only", ErrDenied)
	}
	return info.Mode().Perm(), false, nil
}

// asUsual leaves the permissions of a new file to the system.
const asUsual = ^fs.FileMode(0)

// parents makes the folders on the way to p, and returns those in which one was made.
func (w *Workdir) parents(ctx context.Context, p string) (in []string, err error) {
	var missing []string
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := w.root.Lstat(dir)
		if err == nil && !info.IsDir() {
			return nil, ErrNotFolder
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := w.touch(ctx, missing[i]); err != nil {
			return nil, err
		}
		if err := w.root.Mkdir(missing[i], 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		in = append(in, path.Dir(missing[i]))
	}
	return in, nil
}

// Whether what is written has to be on the disk before it is put in place.
const (
	lasting = true
	passing = false
)

// replace writes beside p and puts that in its place.
func (w *Workdir) replace(ctx context.Context, p string, data []byte, mode fs.FileMode, lasts bool) (err error) {
	if err := w.touch(ctx, p); err != nil {
		return err
	}
	private := fs.FileMode(0o600)
	if mode == asUsual {
		private = 0o666
	}
	beside := path.Join(path.Dir(p), besides+rand.Text())
	f, err := w.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.root.Remove(beside)
		}
	}()
	err = put(ctx, f, data)
	if err == nil && mode != asUsual {
		err = f.Chmod(mode)
	}
	if err == nil && lasts {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return w.root.Rename(beside, p)
}

func put(ctx context.Context, f *os.File, data []byte) error {
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := f.Write(data[:min(len(data), piece)])
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return ctx.Err()
}

// besides begins the name of a file that is being written. One that is still
// there belonged to a program that was killed.
const besides = ".agentx-"

var errUnfinished = fmt.Errorf("%w: files that are being written have such names", ErrName)

// unfinished reports whether a name is of a file that is being written.
func unfinished(name string) bool {
	rest, ok := strings.CutPrefix(name, besides)
	return ok && len(rest) == 26 && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// settle makes what happened in folders last. Not every file system can; what
// is there is whole in any case.
func (w *Workdir) settle(dirs []string) {
	for _, dir := range dirs {
		if d, err := w.root.OpenFile(dir, os.O_RDONLY|atOnce, 0); err == nil {
			_ = d.Sync()
			_ = d.Close()
		}
	}
}
