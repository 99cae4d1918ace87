package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"agentx/engine"
)

// Apply brings the directory to where the changes lead, which [Workdir.Changes]
// of another one returned: this one is as that one was before them, or empty. To
// apply them again does no harm. Where they are too many or make no sense,
// nothing is done; where the disk, or what is there already, is in the way, or
// somebody says stop, some may be done. Files and links are told of, folders are
// not; and what an image can bring again is not forced to the disk file by file.
func (w *Workdir) Apply(ctx context.Context, files []engine.File) error {
	end, err := w.begin(ctx)
	if err != nil {
		return w.failed(OpApply, ".", err)
	}
	defer end()
	files, err = w.sensible(files)
	if err == nil {
		err = w.apply(ctx, files)
	}
	if err != nil {
		return w.failed(OpApply, ".", err)
	}
	return nil
}

// sensible returns the changes by path, or what is wrong with them: they come
// from wherever images come from.
func (w *Workdir) sensible(files []engine.File) ([]engine.File, error) {
	if len(files) > w.limits.Changes {
		return nil, fmt.Errorf("%w: %d changes, at most %d", ErrTooMany, len(files), w.limits.Changes)
	}
	files = slices.SortedFunc(slices.Values(files), func(a, b engine.File) int { return cmp.Compare(a.Path, b.Path) })
	total, leaves := int64(0), map[string]bool{}
	for i, f := range files {
		if total += int64(len(f.Data)); total > w.limits.Total {
			return nil, fmt.Errorf("%w: the changes are more than %s", ErrTooLarge, size(w.limits.Total))
		}
		if err := fits(f); err != nil {
			return nil, fmt.Errorf("%s: %w", shown(f.Path), err)
		}
		if i > 0 && files[i-1].Path == f.Path {
			return nil, fmt.Errorf("%s: %w: it is there twice", shown(f.Path), ErrName)
		}
		leaves[f.Path] = !f.Gone && kind(f) != modeFolder
	}
	for _, f := range files {
		for dir := path.Dir(f.Path); dir != "." && !f.Gone; dir = path.Dir(dir) {
			if leaves[dir] {
				return nil, fmt.Errorf("%s: %w: %s is to be something else", shown(f.Path), ErrNotFolder, shown(dir))
			}
		}
	}
	return files, nil
}

func fits(f engine.File) error {
	p, err := clean(f.Path)
	switch {
	case err != nil:
		return err
	case p != f.Path || p == ".":
		return fmt.Errorf("%w: not in its plain form", ErrName)
	case f.Gone:
		return nil
	}
	switch k := kind(f); {
	case f.Mode&^(modeKind|0o7777) != 0:
	case k == modeFile && unfinished(path.Base(p)):
		return errUnfinished
	case k == modeFolder, k == modeFile:
		return nil
	case k == modeLink:
		if len(f.Data) == 0 || len(f.Data) > maxName || slices.Contains(f.Data, 0) {
			return fmt.Errorf("%w: a link leads nowhere", ErrName)
		}
		return nil
	}
	return fmt.Errorf("%w: of an unknown kind (mode %o)", ErrNotFile, f.Mode)
}

// kind is what a change makes; without a word about it, a file.
func kind(f engine.File) uint32 { return cmp.Or(f.Mode&modeKind, modeFile) }

func (w *Workdir) apply(ctx context.Context, files []engine.File) error {
	do := func(f engine.File, step func(context.Context, engine.File) error) error {
		err := ctx.Err()
		if err == nil {
			err = step(ctx, f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shown(f.Path), reason(err))
		}
		return nil
	}
	for _, f := range slices.Backward(files) { // what is in a folder before the folder
		if f.Gone {
			if err := do(f, w.remove); err != nil {
				return err
			}
		}
	}
	for _, f := range files { // a folder before what is in it
		if !f.Gone {
			if err := do(f, w.make); err != nil {
				return err
			}
		}
	}
	for _, f := range slices.Backward(files) { // a folder may be closed once all is in it
		if !f.Gone && kind(f) == modeFolder {
			if err := do(f, w.permit); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes what is gone, if it is there.
func (w *Workdir) remove(ctx context.Context, f engine.File) error {
	there, err := w.straight(f.Path)
	if err != nil || !there {
		return err
	}
	if err := w.touch(ctx, f.Path); err != nil {
		return err
	}
	if err := w.root.Remove(f.Path); err != nil {
		return err
	}
	w.tell(FileDeleted{Path: shown(f.Path)})
	return nil
}

// straight reports whether something is at a path, with no link on the way.
func (w *Workdir) straight(p string) (bool, error) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := w.root.Lstat(dir)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(reason(err), ErrNotFolder) {
			return false, nil
		}
		return false, err
	}
	_, err := w.root.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// make makes what is there now, in the place of whatever was.
func (w *Workdir) make(ctx context.Context, f engine.File) error {
	if _, err := w.parents(ctx, f.Path); err != nil {
		return err
	}
	if err := w.touch(ctx, f.Path); err != nil {
		return err
	}
	was, err := w.print(f.Path)
	if err != nil {
		return err
	}
	if was.Mode == 0 || was.Mode&modeKind != kind(f) || kind(f) == modeLink {
		if err := w.root.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	switch kind(f) {
	case modeFolder:
		if err := w.root.Mkdir(f.Path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case modeLink:
		err = w.root.Symlink(string(f.Data), f.Path)
	default:
		err = w.replace(ctx, f.Path, f.Data, fileMode(f), passing)
	}
	if err != nil {
		return err
	}
	w.tell(FileWritten{Path: shown(f.Path), Size: int64(len(f.Data)), Created: was.Mode&modeKind != kind(f)})
	return nil
}

func fileMode(f engine.File) fs.FileMode {
	if f.Mode == 0 {
		return asUsual
	}
	return fs.FileMode(f.Mode).Perm()
}

// permit gives a folder its permissions.
func (w *Workdir) permit(_ context.Context, f engine.File) error {
	return w.root.Chmod(f.Path, fs.FileMode(f.Mode).Perm())
}
