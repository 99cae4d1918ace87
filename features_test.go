package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// capabilities is how many the founding documents name.
const capabilities = 125

// TestFeatures holds docs/features.md against the tests: every capability has a
// row and every row a test, and who is named in a row says so at the end of its
// comment, and the other way round.
func TestFeatures(t *testing.T) {
	told := stories(t)
	rows := features(t)
	if len(rows) != capabilities {
		t.Errorf("docs/features.md has %d rows, want %d", len(rows), capabilities)
	}
	shown := map[string][]int{} // the rows that name a test
	next := 1
	for _, r := range rows {
		if r.number != next {
			t.Errorf("F%d stands where F%d should", r.number, next)
		}
		next = r.number + 1
		for _, dir := range r.packages {
			if found, err := read(dir); err != nil || len(found) == 0 {
				t.Errorf("F%d names the package %s, which is none", r.number, dir)
			}
		}
		if len(r.tests) == 0 {
			t.Errorf("F%d is shown by no test", r.number)
		}
		for _, name := range r.tests {
			shown[name] = append(shown[name], r.number)
			if s, ok := told[name]; !ok {
				t.Errorf("F%d is shown by %s, which does not exist: name another in docs/features.md", r.number, name)
			} else if !slices.Contains(s.features, r.number) {
				t.Errorf("%s: %s is named by F%d: let its comment end with %s", s.at, name, r.number, list(append(s.features, r.number)))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(told)) {
		for _, n := range told[name].features {
			if !slices.Contains(shown[name], n) {
				t.Errorf("%s: %s says that it shows F%d, whose row does not name it", told[name].at, name, n)
			}
		}
	}
}

// A feature is a row of the table.
type feature struct {
	number   int
	packages []string
	tests    []string
}

var (
	row    = regexp.MustCompile(`^\| F(\d+) \| (.+) \| (.+) \| (.*) \|$`)
	quoted = regexp.MustCompile("`([^`]+)`")
)

func features(t *testing.T) []feature {
	t.Helper()
	text, err := os.ReadFile("docs/features.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []feature
	for line := range strings.Lines(string(text)) {
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			if strings.HasPrefix(line, "| F") {
				t.Errorf("this is no row of number, capability, packages and tests: %s", line)
			}
			continue
		}
		f := feature{packages: codes(m[3]), tests: codes(m[4])}
		f.number, _ = strconv.Atoi(m[1])
		all = append(all, f)
	}
	return all
}

func codes(cell string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// A story is a test, or a trace that one plays, and what it says it shows.
type story struct {
	at       string
	features []int
}

// stories are all tests of the house by package and name, and the traces as
// tests of the engine.
func stories(t *testing.T) map[string]story {
	t.Helper()
	all := map[string]story{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name()[0] == '.' || d.Name()[0] == '_' || isFile(filepath.Join(name, "go.mod"))):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		return tests(filepath.ToSlash(name), all)
	})
	if err != nil {
		t.Fatal(err)
	}
	traces, _ := filepath.Glob("testdata/traces/*.txtar")
	for _, name := range traces {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		about, _, _ := strings.Cut(strings.TrimPrefix(string(text), "-- about --\n"), "\n-- ")
		all["engine.TestTraces/"+strings.TrimSuffix(filepath.Base(name), ".txtar")] = story{name, numbers(about)}
	}
	return all
}

var tested = regexp.MustCompile(`^(Test|Benchmark|Example|Fuzz)([^a-z]|$)`)

func tests(name string, all map[string]story) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Dir(name)
	if pkg == "." {
		pkg = module
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && tested.MatchString(fn.Name.Name) {
			p := fset.Position(fn.Pos())
			all[pkg+"."+fn.Name.Name] = story{fmt.Sprintf("%s:%d", name, p.Line), numbers(fn.Doc.Text())}
		}
	}
	return nil
}

var (
	listed = regexp.MustCompile(`\((F\d+(?:(?:,\s+|–)F\d+)*)\)\.?\s*$`)
	ranged = regexp.MustCompile(`F(\d+)(?:–F(\d+))?`)
)

// numbers are those in brackets at the end of a comment: (F1, F3–F5).
func numbers(comment string) (all []int) {
	m := listed.FindStringSubmatch(comment)
	if m == nil {
		return nil
	}
	for _, r := range ranged.FindAllStringSubmatch(m[1], -1) {
		from, _ := strconv.Atoi(r[1])
		to := from
		if r[2] != "" {
			to, _ = strconv.Atoi(r[2])
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all
}

// list is what a comment ends with.
func list(all []int) string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	var parts []string
	for i := 0; i < len(all); {
		n := i
		for n+1 < len(all) && all[n+1] == all[n]+1 {
			n++
		}
		switch n - i {
		case 0:
			parts = append(parts, fmt.Sprint("F", all[i]))
		case 1:
			parts = append(parts, fmt.Sprint("F", all[i]), fmt.Sprint("F", all[n]))
		default:
			parts = append(parts, fmt.Sprintf("F%d–F%d", all[i], all[n]))
		}
		i = n + 1
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
