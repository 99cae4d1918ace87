package sandbox

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// Delete removes a file, a link and not what it leads to, or an empty folder.
func (w *Workdir) Delete(ctx context.Context, name string) error {
	end, err := w.begin(ctx)
	if err != nil {
		return w.failed(OpDelete, name, err)
	}
	defer end()
	p, err := w.delete(ctx, name)
	if err != nil {
		return w.failed(OpDelete, name, err)
	}
	w.tell(FileDeleted{Path: shown(p)})
	return nil
}

func (w *Workdir) delete(ctx context.Context, name string) (string, error) {
	p, err := w.resolve(ctx, name, false)
	if err != nil {
		return "", err
	}
	if p == "." {
		return "", fmt.Errorf("%w: it is the work directory itself", ErrDenied)
	}
	info, err := w.root.Lstat(p)
	if err != nil {
		return "", err
	}
	if strings.HasSuffix(name, "/") && !info.IsDir() {
		return "", ErrNotFolder
	}
	if err := w.touch(ctx, p); err != nil {
		return "", err
	}
	if err := w.root.Remove(p); err != nil {
		return "", err
	}
	w.settle([]string{path.Dir(p)})
	return p, nil
}
