package sandbox

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Read returns what is in a file.
func (w *Workdir) Read(ctx context.Context, name string) ([]byte, error) {
	p, data, err := w.read(ctx, name)
	if err != nil {
		return nil, w.failed(OpRead, name, err)
	}
	w.tell(FileReadResult{Path: shown(p), Size: int64(len(data))})
	return data, nil
}

func (w *Workdir) read(ctx context.Context, name string) (string, []byte, error) {
	p, err := w.resolve(ctx, name, true)
	if err != nil {
		return "", nil, err
	}
	if strings.HasSuffix(name, "/") {
		return "", nil, ErrNotFile
	}
	f, info, err := w.open(p)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	if info.Size() > w.limits.File {
		return "", nil, tooLarge(info.Size(), w.limits.File)
	}
	data, err := take(ctx, f, info.Size(), w.limits.File)
	return p, data, err
}

// open opens a file, and nothing else: to open a pipe would be to wait for
// somebody at its other end, and a device does something when it is opened. It
// is looked at before, and again when it is open and can be no other any more.
func (w *Workdir) open(p string) (*os.File, fs.FileInfo, error) {
	info, err := w.root.Lstat(p)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, ErrNotFile
	}
	return w.openFile(p)
}

// openFile is open where it has just been looked at.
func (w *Workdir) openFile(p string) (*os.File, fs.FileInfo, error) {
	f, err := w.root.OpenFile(p, os.O_RDONLY|atOnce, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotFile
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// take reads r to its end. What it is said to hold is no more than a hint: some
// files say nothing and have no end.
func take(ctx context.Context, r io.Reader, hint, most int64) ([]byte, error) {
	data := make([]byte, 0, max(512, min(hint, most)+1))
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+piece)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > most:
			return nil, fmt.Errorf("%w: more than %s", ErrTooLarge, size(most))
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

const piece = 1 << 20 // bytes that are read or written before somebody may say stop

func tooLarge(is, most int64) error {
	return fmt.Errorf("%w: %s, at most %s", ErrTooLarge, size(is), size(most))
}

// size is a number of bytes for people.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 10_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	f, i := float64(n)/1024, 0
	for ; f >= 1024 && i < len(units)-1; i++ {
		f /= 1024
	}
	return fmt.Sprintf("%.4g %ciB", f, units[i])
}
