package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A deed is what a process did to a file, or said, in the order of the kernel.
type deed struct {
	file string // empty where it said something
	what string // write, cut, gone or sync
	at   int64
	data string
}

var (
	deedLine    = regexp.MustCompile(`^(\d+) +(\w+)\((?:\d+<([^>]*)>|(?:AT_FDCWD(?:<[^>]*>)?, )?"([^"]*)")(.*)$`)
	resumedLine = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)
)

// deeds reads what strace has written down of a process that worked on path. A
// sync counts when it is over, all else when it begins.
func deeds(t *testing.T, trace, path string) []deed {
	t.Helper()
	var all []deed
	syncing := map[string]string{} // by thread
	for line := range strings.SplitSeq(trace, "\n") {
		if m := resumedLine.FindStringSubmatch(line); m != nil {
			if file := syncing[m[1]]; file != "" && m[2] == "fsync" {
				all = append(all, deed{file: file, what: "sync"})
				delete(syncing, m[1])
			}
			continue
		}
		m := deedLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		file, rest := plainly(m[3]+m[4]), m[5]
		begun := strings.Contains(rest, "unfinished")
		ours := strings.HasPrefix(file, path) && !strings.HasSuffix(file, "-shm") && !strings.Contains(file, "-lock")
		switch call := m[2]; {
		case call == "write" && strings.HasPrefix(rest, `, "`):
			text, _, _ := strings.Cut(rest[3:], `"`)
			if said := plainly(text); strings.HasPrefix(said, "kept") {
				all = append(all, deed{data: said})
			}
		case !ours:
		case call == "pwrite64":
			text, after, _ := strings.Cut(rest[3:], `"`)
			numbers := regexp.MustCompile(`\d+`).FindAllString(after, 2)
			at, err := strconv.ParseInt(numbers[1], 10, 64)
			if err != nil {
				t.Fatal(line)
			}
			all = append(all, deed{file, "write", at, plainly(text)})
		case call == "ftruncate":
			at, err := strconv.ParseInt(regexp.MustCompile(`\d+`).FindString(rest), 10, 64)
			if err != nil {
				t.Fatal(line)
			}
			all = append(all, deed{file: file, what: "cut", at: at})
		case strings.HasPrefix(call, "unlink"):
			all = append(all, deed{file: file, what: "gone"})
		case call == "fsync" && begun:
			syncing[m[1]] = file
		case call == "fsync":
			all = append(all, deed{file: file, what: "sync"})
		}
	}
	return all
}

// plainly is a text of which strace wrote every byte as a number.
func plainly(s string) string {
	if !strings.HasPrefix(s, `\x`) {
		return s
	}
	b := make([]byte, 0, len(s)/4)
	for i := 0; i+4 <= len(s); i += 4 {
		n, _ := strconv.ParseUint(s[i+2:i+4], 16, 8)
		b = append(b, byte(n))
	}
	return string(b)
}

// The power goes, at any moment: what was synced is there, and of what was not,
// each piece is there, or not, or torn. Whatever is left opens, is sound, and has
// every turn that was said to be kept.
func TestThePowerGoes(t *testing.T) {
	dir := t.TempDir()
	path, trace := filepath.Join(dir, "a.db"), filepath.Join(dir, "trace")
	open(t, path).Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	faulty(t, path, "-o", trace, "-y", "-xx", "-s", "1000000", "-e", "trace=pwrite64,fsync,ftruncate,unlink,unlinkat,write")
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	all := deeds(t, string(text), path)
	kept := slices.IndexFunc(all, func(d deed) bool { return d.file == "" })
	if len(all) < 50 || kept < 0 {
		t.Fatalf("only %d deeds are known, and the first turn that was kept is the %dth", len(all), kept)
	}
	states := 8 * rounds()
	for range states {
		cut := rand.IntN(len(all) + 1)
		left := filepath.Join(t.TempDir(), "a.db")
		said := leave(t, all[:cut], path, left, before)
		promised(t, left, said, fmt.Sprintf("power cut after %d of %d deeds", cut, len(all)))
	}
	t.Logf("%d states after %d deeds", states, len(all))
}

// leave makes the files that a power cut leaves, and returns what had been said.
func leave(t *testing.T, done []deed, path, left string, before []byte) (said string) {
	t.Helper()
	synced := map[string]int{} // by file, up to which deed
	for i, d := range done {
		if d.what == "sync" {
			synced[d.file] = i
		}
		if d.file == "" {
			said += d.data
		}
	}
	files := map[string][]byte{path: slices.Clone(before)}
	for i, d := range done {
		if d.file == "" || d.what == "sync" {
			continue
		}
		whole := i < synced[d.file]
		if !whole && rand.IntN(2) == 0 {
			continue
		}
		switch d.what {
		case "gone":
			delete(files, d.file)
		case "cut":
			files[d.file] = append(files[d.file], make([]byte, max(0, d.at-int64(len(files[d.file]))))...)[:d.at]
		case "write":
			data := d.data
			if !whole && rand.IntN(3) == 0 { // torn between sectors
				data = data[:min(len(data), 512*rand.IntN(1+len(data)/512))]
			}
			f := files[d.file]
			f = append(f, make([]byte, max(0, d.at+int64(len(data))-int64(len(f))))...)
			copy(f[d.at:], data)
			files[d.file] = f
		}
	}
	for name, bytes := range files {
		to := left + strings.TrimPrefix(name, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return said
}
