package cmd

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"agentx/tui"

	"github.com/dustin/go-humanize"
)

// Limits of looking for files: a folder can be as large as a disk.
const (
	maxListed = 5000                   // entries of one folder
	maxWalked = 20_000                 // entries of all
	walkTime  = 400 * time.Millisecond // for all
	walkAge   = 5 * time.Second        // after which they are looked for again
	maxFound  = 50
)

// A browser finds files below the folder where the program was started. What it
// has seen it knows for a while, so that not every key looks again. The zero
// value has seen nothing.
type browser struct {
	once sync.Once
	turn chan struct{} // held by who looks; a lock that one can stop waiting for
	at   time.Time
	tree []string // files, by their paths with slashes
}

// Complete lists what fits the beginning of a path.
func (d *desk) Complete(ctx context.Context, part string) ([]tui.Entry, error) {
	part = filepath.ToSlash(part)
	dir, base := path.Split(part)
	found := ranked(d.world.list(dir), part, base)
	if !outside(part) {
		tree, err := d.walked(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, ranked(tree, part, base)...)
	}
	slices.SortStableFunc(found, match.order)
	var out []tui.Entry
	seen := map[string]bool{}
	for _, f := range found {
		if len(out) == maxFound || ctx.Err() != nil {
			break
		}
		if !seen[f.name] {
			seen[f.name] = true
			out = append(out, tui.Entry{Name: f.name, Detail: d.world.detail(f.name)})
		}
	}
	return out, ctx.Err()
}

// outside says whether a path does not begin in the folder here.
func outside(part string) bool {
	return filepath.IsAbs(part) || strings.HasPrefix(part, "/") || strings.HasPrefix(part, "~") || strings.HasPrefix(part, "../") || part == ".."
}

// walked are the files below the folder here.
func (d *desk) walked(ctx context.Context) ([]string, error) {
	b := &d.browser
	b.once.Do(func() { b.turn = make(chan struct{}, 1) })
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-b.turn }()
	if now := d.world.now(); b.at.IsZero() || now.Sub(b.at) > walkAge {
		b.tree = walk(d.world.dir, time.Now().Add(walkTime))
		b.at = d.world.now()
	}
	return b.tree, nil
}

// walk lists the files below root, the nearest first, until it is late. Hidden
// ones and those that git ignores are left out.
func walk(root string, late time.Time) []string {
	var files []string
	seen := 0
	type folder struct {
		name   string // from root, with a slash behind it; empty is root
		ignore *ignore
	}
	queue := []folder{{"", ignoredAbove(root)}}
	for len(queue) > 0 && seen < maxWalked && time.Now().Before(late) {
		f := queue[0]
		queue = queue[1:]
		dir := filepath.Join(root, filepath.FromSlash(f.name))
		f.ignore = f.ignore.read(dir, f.name)
		for _, e := range entries(dir) {
			seen++
			name := f.name + e.Name()
			if strings.HasPrefix(e.Name(), ".") || !sayable(e.Name()) || f.ignore.matches(name, e.IsDir()) {
				continue
			}
			switch {
			case e.IsDir() && !heap(e.Name()):
				queue = append(queue, folder{name + "/", f.ignore})
			case !e.IsDir():
				files = append(files, name)
			}
		}
	}
	return files
}

// heap says whether a folder is one of the kind in which nobody looks.
func heap(name string) bool {
	return name == "node_modules" || name == "__pycache__" || name == "vendor"
}

// entries are some of a folder's, in no order; none where it cannot be read.
func entries(dir string) []os.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.ReadDir(maxListed) // what can be read is enough
	return all
}

// sayable says whether a name can stand in a text.
func sayable(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r == '"' || r == unicode.ReplacementChar || !unicode.IsPrint(r) })
}

// list is what is in a folder: files, and folders with a slash behind their
// names. Dir is as the user writes it.
func (w *world) list(dir string) []string {
	full := w.under(dir)
	if dir == "" {
		full = w.dir
	}
	var names []string
	for _, e := range entries(full) {
		if !sayable(e.Name()) {
			continue
		}
		name := dir + e.Name()
		if e.IsDir() || e.Type()&os.ModeSymlink != 0 && isFolder(filepath.Join(full, e.Name())) {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// detail is what to know of a file before it is chosen.
func (w *world) detail(name string) string {
	if strings.HasSuffix(name, "/") {
		return "folder"
	}
	info, err := os.Stat(w.under(name))
	if err != nil {
		return ""
	}
	return humanize.Bytes(uint64(info.Size()))
}

// A match is a name that fits, and how well; less is better.
type match struct {
	name string
	rank int
}

func (m match) order(o match) int {
	return cmp.Or(m.rank-o.rank, strings.Count(m.name, "/")-strings.Count(o.name, "/"), len(m.name)-len(o.name), strings.Compare(m.name, o.name))
}

// ranked are the names that fit part, of which base is the last element.
func ranked(names []string, part, base string) []match {
	part, base = strings.ToLower(part), strings.ToLower(base)
	var out []match
	for _, name := range names {
		low := strings.ToLower(name)
		last := path.Base(low)
		rank := -1
		switch {
		case strings.HasPrefix(low, part):
			rank = 0
		case base != "" && base == part && strings.HasPrefix(last, base):
			rank = 1
		case strings.Contains(low, part):
			rank = 2
		case follows(low, part):
			rank = 3
		}
		if rank < 0 {
			continue
		}
		if strings.HasPrefix(last, ".") && !strings.HasPrefix(base, ".") {
			rank += 10
		}
		out = append(out, match{name, rank})
	}
	return out
}

// follows says whether the letters of part stand in s in their order.
func follows(s, part string) bool {
	for _, r := range part {
		i := strings.IndexRune(s, r)
		if i < 0 {
			return false
		}
		s = s[i+len(string(r)):]
	}
	return true
}
