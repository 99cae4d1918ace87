package cmd

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// An ignore is what the .gitignore files of a folder and of those above it say.
// It is a chain, the nearest first; nil ignores nothing.
type ignore struct {
	base  string // the folder's path from the root, with a slash behind it, or empty
	above string // the root's own path from where the file lies, likewise
	rules []rule // in the order of the file
	next  *ignore
}

// A rule is a line of such a file.
type rule struct {
	pattern []string // elements of a path
	not     bool
	folders bool // it holds for folders alone
}

const (
	maxRules  = 500
	maxIgnore = 64 << 10 // bytes of a file that are read
)

// ignoredAbove reads the files above root, up to that of the repository.
func ignoredAbove(root string) *ignore {
	var dirs []string
	for dir := filepath.Clean(root); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) || len(dirs) > 30 {
			return nil // no repository
		}
		dirs = append(dirs, filepath.Dir(dir))
	}
	var out *ignore
	for _, dir := range slices.Backward(dirs) {
		rel, err := filepath.Rel(dir, root)
		if err != nil {
			return nil
		}
		if rules := readRules(filepath.Join(dir, ".gitignore")); len(rules) > 0 {
			out = &ignore{above: filepath.ToSlash(rel) + "/", rules: rules, next: out}
		}
	}
	return out
}

// read adds the file of a folder, which from the root is called base.
func (g *ignore) read(dir, base string) *ignore {
	rules := readRules(filepath.Join(dir, ".gitignore"))
	if len(rules) == 0 {
		return g
	}
	return &ignore{base: base, rules: rules, next: g}
}

func readRules(name string) []rule {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxIgnore)) // what can be read is enough
	var rules []rule
	for line := range strings.Lines(string(text)) {
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok && len(rules) < maxRules {
			rules = append(rules, r)
		}
	}
	return rules
}

// parseRule reads a line: see gitignore(5).
func parseRule(line string) (rule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	var r rule
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.not = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	bound := strings.Contains(line, "/") // else it holds at every depth
	line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
	r.pattern = strings.Split(line, "/")
	if !bound {
		r.pattern = []string{"**", line}
	}
	for _, p := range r.pattern {
		if _, err := path.Match(p, ""); err != nil {
			return r, false
		}
	}
	return r, true
}

// matches says whether a path from the root is ignored. The last rule of the
// nearest file that says anything of it counts.
func (g *ignore) matches(name string, folder bool) bool {
	for ; g != nil; g = g.next {
		rel := g.above + strings.TrimPrefix(name, g.base)
		parts := strings.Split(rel, "/")
		for _, r := range slices.Backward(g.rules) {
			if (folder || !r.folders) && fits(r.pattern, parts) {
				return !r.not
			}
		}
	}
	return false
}

// fits says whether the elements of a path fit those of a pattern, in which **
// is any number of them.
func fits(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			rest := pattern[1:]
			if len(rest) == 0 {
				return len(parts) > 0
			}
			if len(rest) == 1 {
				pattern, parts = rest, parts[max(len(parts)-1, 0):]
				continue
			}
			for i := range parts {
				if fits(rest, parts[i:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], parts[0]); !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
