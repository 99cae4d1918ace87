package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// List returns what is in a folder, by name; "." is the work directory.
func (w *Workdir) List(ctx context.Context, name string) ([]Entry, error) {
	p, entries, err := w.list(ctx, name)
	if err != nil {
		return nil, w.failed(OpList, name, err)
	}
	told := make([]Entry, len(entries)) // not nil: nothing is [] on the wire
	for i, e := range entries {
		e.Name = shown(e.Name)
		told[i] = e
	}
	w.tell(DirectoryListResult{Path: shown(p), Entries: told})
	return entries, nil
}

func (w *Workdir) list(ctx context.Context, name string) (string, []Entry, error) {
	p, err := w.resolve(ctx, name, true)
	if err != nil {
		return "", nil, err
	}
	var entries []Entry
	err = w.each(ctx, p, func(info fs.FileInfo) error {
		if len(entries) == w.limits.Entries {
			return fmt.Errorf("%w: more than %d in this folder", ErrTooMany, w.limits.Entries)
		}
		entries = append(entries, entry(info.Name(), info))
		return nil
	})
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return p, entries, err
}

// each shows what is in a folder, in no order, and takes no more of it into
// memory than it shows at a time.
func (w *Workdir) each(ctx context.Context, dir string, see func(fs.FileInfo) error) error {
	info, err := w.root.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return ErrNotFolder
	}
	d, err := w.root.OpenFile(dir, os.O_RDONLY|atOnce, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		some, err := d.ReadDir(256)
		for _, e := range some {
			info, err := e.Info()
			if err != nil {
				continue // it has gone since
			}
			if err := see(info); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
