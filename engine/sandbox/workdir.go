package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"agentx/engine/event"
)

// Options say how a work directory is held. The zero value works.
type Options struct {
	// Tell hears of every operation that was done, and of every one that was
	// not, by whichever goroutine did it; of changes in their order. It is
	// quick, and asks for no change in the directory itself.
	Tell func(event.Data)

	Limits Limits

	// Baseline is what [Workdir.Changes] compares the directory with. With none,
	// Changes knows what this Workdir has changed since it was opened, looks at
	// nothing else, and does not see what other programs did. An empty one says
	// that everything in the directory is a change.
	Baseline *Manifest
}

// Limits bound what is taken into memory. Zero is the number that is named.
type Limits struct {
	File    int64 // bytes of a file that is read or written; 16 MiB
	Entries int   // in a folder that is listed; 10,000
	Tree    int   // files and folders that Changes and Mark walk; 100,000
	Changes int   // that Changes returns and Apply takes; 10,000
	Total   int64 // bytes of all of them together; 64 MiB
}

func (l Limits) orUsual() Limits {
	return Limits{
		File:    cmp.Or(l.File, 16<<20),
		Entries: cmp.Or(l.Entries, 10_000),
		Tree:    cmp.Or(l.Tree, 100_000),
		Changes: cmp.Or(l.Changes, 10_000),
		Total:   cmp.Or(l.Total, 64<<20),
	}
}

// A Workdir is a folder that an agent works in. Whatever path it is given, it
// reaches nothing outside: the folder is opened once, and every step goes on
// from there. Links inside are followed as far as they stay inside.
//
// Several goroutines may use it. What changes something happens one after the
// other.
type Workdir struct {
	root   *os.Root
	hear   func(event.Data)
	limits Limits

	// turn has a place for who changes the directory, or wants it unchanged. All
	// that follows is theirs.
	turn   chan struct{}
	base   map[string]Print // what Changes compares with; the zero Print is nothing
	whole  bool             // base is about the whole directory, not only about what we touched
	buffer []byte           // for hashing
}

// Open holds the folder dir, which must be there, and reads nothing of it.
func Open(dir string, o Options) (*Workdir, error) {
	if info, err := os.Stat(dir); err != nil { // before it is opened: a pipe would keep us waiting
		return nil, fmt.Errorf("sandbox: %s: %w", shown(dir), reason(err))
	} else if !info.IsDir() {
		return nil, fmt.Errorf("sandbox: %s: %w", shown(dir), ErrNotFolder)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %s: %w", shown(dir), reason(err))
	}
	w := &Workdir{root: root, hear: o.Tell, limits: o.Limits.orUsual(), turn: make(chan struct{}, 1), base: map[string]Print{}}
	if o.Baseline != nil {
		w.base, w.whole = o.Baseline.byPath(), true
	}
	return w, nil
}

// Close lets go of the folder, and leaves it as it is. What is asked for
// afterwards is ErrClosed.
func (w *Workdir) Close() error { return w.root.Close() }

// Stat says what is at a path. Links are followed.
func (w *Workdir) Stat(ctx context.Context, name string) (Entry, error) {
	e, err := w.stat(ctx, name)
	if err != nil {
		return Entry{}, w.failed(OpStat, name, err)
	}
	return e, nil
}

func (w *Workdir) stat(ctx context.Context, name string) (Entry, error) {
	p, err := w.resolve(ctx, name, true)
	if err != nil {
		return Entry{}, err
	}
	info, err := w.root.Lstat(p)
	if err != nil {
		return Entry{}, err
	}
	if strings.HasSuffix(name, "/") && !info.IsDir() {
		return Entry{}, ErrNotFolder
	}
	return entry(path.Base(p), info), nil
}

func entry(name string, info fs.FileInfo) Entry {
	e := Entry{Name: name, Kind: IsOther}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		e.Kind, e.Size = IsFile, info.Size()
	case mode.IsDir():
		e.Kind = IsDirectory
	case mode&fs.ModeSymlink != 0:
		e.Kind = IsLink
	}
	return e
}

const (
	maxLinks = 40   // that are followed for one path, as Linux does
	maxSteps = 1000 // that one path takes
)

// resolve returns where a path leads once the links in it are followed, the
// last one too if asked for. What is not there yet may be named. It is for
// naming things, and for saying clearly what is wrong: that nothing outside is
// reached, not even when links change meanwhile, is the Root's doing.
func (w *Workdir) resolve(ctx context.Context, name string, last bool) (string, error) {
	p, err := clean(name)
	if err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	links, done, todo := 0, ".", strings.Split(p, "/")
	for range maxSteps {
		if len(todo) == 0 {
			return done, nil
		}
		next := path.Join(done, todo[0])
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", ErrOutside
		}
		todo = todo[1:]
		target, isLink, err := w.link(next)
		switch {
		case err != nil:
			return "", err
		case !isLink, len(todo) == 0 && !last:
			done = next
			continue
		case links == maxLinks:
			return "", fmt.Errorf("%w: too many links one behind the other", ErrName)
		case path.IsAbs(target), filepath.IsAbs(target), filepath.VolumeName(target) != "":
			return "", fmt.Errorf("%w: a link leads there", ErrOutside)
		}
		links++
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return "", fmt.Errorf("%w: it takes too many steps", ErrName)
}

// link returns where a link leads. What is not there is none.
func (w *Workdir) link(name string) (target string, isLink bool, err error) {
	info, err := w.root.Lstat(name)
	if os.IsNotExist(err) {
		return "", false, nil
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return "", false, err
	}
	target, err = w.root.Readlink(name)
	return target, true, err
}

// begin waits until nobody else changes the directory.
func (w *Workdir) begin(ctx context.Context) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w.turn <- struct{}{}:
		return func() { <-w.turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *Workdir) tell(d event.Data) {
	if w.hear != nil {
		w.hear(d)
	}
}
