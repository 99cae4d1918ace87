package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Manifest says what a whole work directory was at one moment, without what
// was in its files. It can be kept as JSON. The zero value is of an empty folder.
type Manifest struct {
	Prints []Print `json:"entries"` // by path
}

// A Print tells one file, folder or link from another.
type Print struct {
	Path string `json:"path"`           // with slashes
	Mode uint32 `json:"mode"`           // as in [engine.File]; the Print of nothing has 0
	Size int64  `json:"size,omitempty"` // bytes
	Hash string `json:"hash,omitempty"` // SHA-256 of the bytes of a file, or of where a link leads
}

// The upper bits of a mode say what is there, by the numbers of stat(2) and
// git. A regular file may go without.
const (
	modeKind   = 0o170000
	modeFolder = 0o040000
	modeFile   = 0o100000
	modeLink   = 0o120000
)

func (m *Manifest) byPath() map[string]Print {
	base := make(map[string]Print, len(m.Prints))
	for _, p := range m.Prints {
		base[p.Path] = p
	}
	return base
}

// Mark makes the directory as it is now what Changes compares with from now on,
// and returns it, for who opens the directory again later. It reads everything.
func (w *Workdir) Mark(ctx context.Context) (*Manifest, error) {
	end, err := w.begin(ctx)
	if err != nil {
		return nil, w.failed(OpMark, ".", err)
	}
	defer end()
	now := map[string]Print{}
	err = w.walk(ctx, func(p Print) error {
		hashed, err := w.hashed(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", shown(p.Path), reason(err))
		}
		now[p.Path] = hashed
		return nil
	})
	if err != nil {
		return nil, w.failed(OpMark, ".", err)
	}
	w.base, w.whole = now, true
	m := &Manifest{Prints: slices.SortedFunc(maps.Values(now), func(a, b Print) int { return strings.Compare(a.Path, b.Path) })}
	return m, nil
}

// touch notes what is at a path before it is changed for the first time, where
// nothing else says what the directory was.
func (w *Workdir) touch(ctx context.Context, p string) error {
	if _, known := w.base[p]; known || w.whole {
		return nil
	}
	was, err := w.print(p)
	if err == nil && was.Size <= w.limits.File { // a larger one is not read to be deleted, and counts as changed
		was, err = w.hashed(ctx, was)
	}
	if err != nil {
		return err
	}
	w.base[p] = was
	return nil
}

// print returns the Print of what is at a path, which still lacks its hash.
func (w *Workdir) print(p string) (Print, error) {
	info, err := w.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Print{Path: p}, nil
	case err != nil:
		return Print{}, err
	}
	return printOf(p, info), nil
}

// printOf returns a Print without a hash; of a pipe, a socket or a device,
// which nobody keeps, that of nothing.
func printOf(p string, info fs.FileInfo) Print {
	out := Print{Path: p, Mode: uint32(info.Mode().Perm())}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		out.Mode |= modeFile
		out.Size = info.Size()
	case mode.IsDir():
		out.Mode |= modeFolder
	case mode&fs.ModeSymlink != 0:
		out.Mode = modeLink // its permissions mean nothing
	default:
		out.Mode = 0
	}
	return out
}

// hashed returns p, which was just looked at, with its hash.
func (w *Workdir) hashed(ctx context.Context, p Print) (Print, error) {
	switch p.Mode & modeKind {
	case modeLink:
		target, err := w.root.Readlink(p.Path)
		if err != nil {
			return Print{}, err
		}
		p.Hash, p.Size = hash([]byte(target)), int64(len(target))
	case modeFile:
		f, info, err := w.openFile(p.Path)
		if err != nil {
			return Print{}, err
		}
		defer f.Close()
		if w.buffer == nil {
			w.buffer = make([]byte, 64<<10)
		}
		sum := sha256.New()
		n, err := io.CopyBuffer(sum, &patient{ctx, f}, w.buffer)
		if err != nil {
			return Print{}, err
		}
		p = printOf(p.Path, info)
		p.Hash, p.Size = hex.EncodeToString(sum.Sum(nil)), n
	}
	return p, nil
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// A patient reader reads until somebody says stop.
type patient struct {
	ctx context.Context
	r   io.Reader
}

func (p *patient) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.r.Read(b)
}

// walk shows everything in the directory, in no order, a folder before what is
// in it. Links are not followed.
func (w *Workdir) walk(ctx context.Context, see func(Print) error) error {
	seen := 0
	var dive func(dir string, depth int) error
	dive = func(dir string, depth int) error {
		var folders []string
		var stop error // of see
		err := w.each(ctx, dir, func(info fs.FileInfo) error {
			p := path.Join(dir, info.Name())
			if info.Mode().IsRegular() && unfinished(info.Name()) {
				return nil
			}
			if seen++; seen > w.limits.Tree {
				stop = fmt.Errorf("%w: there are more than %d files and folders", ErrTooMany, w.limits.Tree)
				return stop
			}
			if info.IsDir() {
				folders = append(folders, p)
			}
			if now := printOf(p, info); now.Mode != 0 {
				stop = see(now)
			}
			return stop
		})
		if err != nil && stop == nil {
			err = fmt.Errorf("%s: %w", shown(dir), reason(err))
		}
		if err == nil && len(folders) > 0 && depth == maxDepth {
			err = fmt.Errorf("%w: %s: more than %d folders deep", ErrName, shown(folders[0]), maxDepth)
		}
		for i := 0; err == nil && i < len(folders); i++ {
			err = dive(folders[i], depth+1)
		}
		return err
	}
	return dive(".", 1)
}
