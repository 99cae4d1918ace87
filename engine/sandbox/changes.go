package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"agentx/engine"
)

// Changes returns what is other than it was: files with what is in them, folders,
// links with where they lead, and what is gone, by path. It is other than the
// baseline, or, with none, than when the directory was opened, as far as this
// Workdir has changed it; see [Options]. Pipes, sockets and devices do not count.
//
// The mode of a folder and of a link says what it is, as stat(2) does: 0o40000
// and 0o120000 beside the permissions. What is too much for an image is
// ErrTooMany or ErrTooLarge.
func (w *Workdir) Changes(ctx context.Context) ([]engine.File, error) {
	end, err := w.begin(ctx)
	if err != nil {
		return nil, w.failed(OpChanges, ".", err)
	}
	defer end()
	c := collection{w: w}
	if w.whole {
		err = c.compareAll(ctx)
	} else {
		err = c.compareTouched(ctx)
	}
	if err != nil {
		return nil, w.failed(OpChanges, ".", err)
	}
	slices.SortFunc(c.files, func(a, b engine.File) int { return cmp.Compare(a.Path, b.Path) })
	return c.files, nil
}

// A collection gathers changes as long as there is room.
type collection struct {
	w     *Workdir
	files []engine.File
	total int64
}

func (c *collection) compareTouched(ctx context.Context) error {
	for p, was := range c.w.base {
		now, err := c.w.print(p)
		if errors.Is(reason(err), ErrNotFolder) { // the folder it was in is a file now
			now, err = Print{Path: p}, nil
		}
		if err == nil {
			err = c.compare(ctx, was, now)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", shown(p), reason(err))
		}
	}
	return nil
}

func (c *collection) compareAll(ctx context.Context) error {
	seen := make(map[string]bool, len(c.w.base))
	err := c.w.walk(ctx, func(now Print) error {
		seen[now.Path] = true
		err := c.compare(ctx, c.w.base[now.Path], now)
		if err != nil {
			return fmt.Errorf("%s: %w", shown(now.Path), reason(err))
		}
		return nil
	})
	for p, was := range c.w.base {
		if err == nil && !seen[p] {
			err = c.compare(ctx, was, Print{Path: p})
		}
	}
	return err
}

// compare adds what is now, unless it is what was.
func (c *collection) compare(ctx context.Context, was, now Print) error {
	if now.Mode == was.Mode && now.Size == was.Size || now.Mode&modeKind == modeLink && was.Mode == now.Mode {
		hashed, err := c.w.hashed(ctx, now)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && hashed.Hash == was.Hash {
			return nil
		}
	}
	return c.add(ctx, was, now)
}

func (c *collection) add(ctx context.Context, was, now Print) error {
	if !utf8.ValidString(now.Path) {
		return fmt.Errorf("%w: not UTF-8", ErrName)
	}
	if len(c.files) == c.w.limits.Changes {
		return fmt.Errorf("%w: more than %d changes", ErrTooMany, c.w.limits.Changes)
	}
	f, err := c.file(ctx, now)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = engine.File{Path: now.Path, Gone: true}, nil
	}
	if err != nil {
		return err
	}
	if f.Gone && was.Mode == 0 {
		return nil // it came and went
	}
	c.total += int64(len(f.Data))
	c.files = append(c.files, f)
	return nil
}

// file returns what is at a path, as an image keeps it.
func (c *collection) file(ctx context.Context, now Print) (engine.File, error) {
	switch now.Mode & modeKind {
	case modeFolder:
		return engine.File{Path: now.Path, Mode: now.Mode}, nil
	case modeLink:
		target, err := c.w.root.Readlink(now.Path)
		return engine.File{Path: now.Path, Mode: now.Mode, Data: []byte(target)}, err
	case modeFile:
		data, mode, err := c.content(ctx, now.Path)
		return engine.File{Path: now.Path, Mode: mode, Data: data}, err
	}
	return engine.File{Path: now.Path, Gone: true}, nil
}

func (c *collection) content(ctx context.Context, p string) ([]byte, uint32, error) {
	f, info, err := c.w.openFile(p)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data, err := take(ctx, f, info.Size(), c.w.limits.Total-c.total)
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: with it the changes are more than %s", ErrTooLarge, size(c.w.limits.Total))
	}
	return data, cmp.Or(uint32(info.Mode().Perm()), modeFile), err
}
