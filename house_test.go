// The tests of the house itself: who may know whom, what stays pure, what nobody links. They read the source, so a new package is found
// by itself, and one without a floor is told to take one. When a wall is broken, the reason for the wall is printed with it.
package main_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "agentx"

// A floor says what a package may know of the house, and why no more.
// In both columns "x/*" is everything under x, and "*" is everything.
type floor struct {
	pkg string
	may []string
	why string
}

// floors is read from the top: the first line that names a package holds for it.
var floors = []floor{
	{".", []string{"cmd"}, "main hands over to cmd and does nothing else"},
	{"cmd", []string{"*"}, "cmd introduces everyone to everyone"},

	{"tui/theme", nil, "styles are the lowest thing on the screen: every child wears them"},
	{"tui/text", nil, "cleaning and measuring serve every child and know none"},
	{"tui/scroll", []string{"tui/text"}, "a window knows rows and how to count and measure them, and nothing of what they say"},
	{"tui/storytest", []string{"tui/text"}, "a kit that knew a child would be made to fit it"},
	{"tui/*", []string{"engine/event", "tui/theme", "tui/text", "tui/markdown"}, "a child knows neither its parent nor its siblings: what it has to say it returns"},
	{"tui", []string{"engine/event", "tui/*"}, "the screen sees the world through tui.Backend and tui.Feed, so that it can be tested without one"},

	{"store", []string{"engine", "engine/event", "engine/mealy"}, "the store keeps events; who makes, runs or shows them is cmd's affair"},
	{"config/generate", nil, "a generator runs at our desks, not in the program"},
	{"config", nil, "settings are read before anything else stands"},

	{"engine/driver/wire/wiretest", []string{"engine", "engine/event", "engine/driver/wire"}, "a kit that knew a dialect would be made to fit it"},
	{"engine/driver/wire", []string{"engine", "engine/event"}, "the wire serves every provider and knows none"},
	{"engine/driver/*", []string{"engine", "engine/event", "engine/driver", "engine/driver/wire"}, "drivers are siblings: one provider never hangs on another"},
	{"engine/driver", []string{"engine", "engine/event", "engine/mealy"}, "the tool loop wraps any driver, so it may know none by name"},
	{"engine/sandbox", []string{"engine", "engine/event"}, "a sandbox serves tools to whoever asks: runtime and drivers come to it, not it to them"},
	{"engine/enginetest", []string{"engine", "engine/event", "engine/mealy", "engine/driver/script"}, "a kit that knew an implementation would be made to fit it (script reads the traces)"},

	{"engine/record", []string{"engine", "engine/event", "engine/mealy"}, "a recording is played by the engine alone, and read from wherever it comes"},
	{"engine/runtime", []string{"engine", "engine/bus", "engine/event", "engine/mealy"}, "the runtime takes journal and driver as interfaces: tests and other stores plug in there"},
	{"engine/bus", []string{"engine/event"}, "the bus carries events and asks nobody what they mean"},
	{"engine", []string{"engine/event", "engine/mealy"}, "the engine is a pure function from events to events"},
	{"engine/event", nil, "the vocabulary comes first: everybody speaks it"},
	{"engine/mealy", nil, "the machines know no agent: that is why they can be proved on their own"},
}

// A wall keeps a part of the world out of some packages.
type wall struct {
	pkgs   []string
	out    []string // import paths; "x…" is x and everything under it
	except []string
	why    string
}

var (
	pure   = []string{"engine", "engine/event", "engine/mealy"}
	screen = []string{"charm.land/…", "github.com/charmbracelet/…", "github.com/yuin/…", "github.com/alecthomas/…"}
)

var walls = []wall{
	{pkgs: pure, out: []string{"net…", "os…", "syscall", "database/sql…", "log…"},
		why: "the pure core does nothing to the world: what it knows comes in with its input"},
	{pkgs: pure, out: []string{"math/rand…", "crypto/rand", "hash/maphash", "github.com/google/uuid"},
		why: "the same input gives the same output, ids included: they come in with the input"},
	{pkgs: pure, out: []string{"*.*"},
		why: "the pure core needs the standard library and nothing else"},
	{pkgs: []string{"engine/*", "store", "config", "config/*"}, out: screen,
		why: "only tui and cmd know that there is a screen"},
	{pkgs: []string{"tui", "tui/*"}, out: []string{"net…", "database/sql…", "modernc.org/…"}, except: []string{"net/url"},
		why: "the screen neither calls nor keeps anything itself: tui.Backend does"},
	{pkgs: []string{"*"}, out: []string{"github.com/microcosm-cc/bluemonday…"},
		why: "bluemonday comes with glamour and is not ours to lean on"},
	{pkgs: []string{"*"}, out: []string{"io/ioutil", "github.com/pkg/errors", "golang.org/x/exp…"},
		why: "the standard library has this"},
	{pkgs: []string{"*"}, out: []string{"testing…", "pgregory.net/rapid", "github.com/google/go-cmp…"},
		why: "test libraries stay in tests and in the kits named below"},
}

// kits may import testing: only tests import them.
var kits = []string{"engine/enginetest", "engine/driver/wire/wiretest", "tui/storytest"}

// TestFloors holds every package to what its floor allows it to know (F117).
func TestFloors(t *testing.T) {
	for _, p := range house(t) {
		f, ok := floorOf(p.path)
		if !ok {
			t.Errorf("%s stands on no floor: give it a line in floors that says what it may know, and why", p.path)
			continue
		}
		for _, imp := range p.imports() {
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok && !matchAny(f.may, ours) {
				t.Errorf("%s imports %s, which its floor does not allow: %s", p.path, ours, f.why)
			}
		}
	}
}

// TestWalls keeps parts of the world out of the packages that must not touch
// them (F90, F117).
func TestWalls(t *testing.T) {
	for _, p := range house(t) {
		for _, w := range walls {
			if !matchAny(w.pkgs, p.path) || slices.Contains(kits, p.path) {
				continue
			}
			for _, imp := range p.imports() {
				if matchAny(w.out, imp) && !slices.Contains(w.except, imp) {
					t.Errorf("%s imports %s: %s", p.path, imp, w.why)
				}
			}
		}
	}
}

// TestPureTime finds the ways to ask the world for the time: an event's time comes in with it
// (F2, F90).
func TestPureTime(t *testing.T) {
	asks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	for _, p := range house(t) {
		if !slices.Contains(pure, p.path) {
			continue
		}
		p.inspect(func(n ast.Node) {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(asks, sel.Sel.Name) {
				return
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
				t.Errorf("%s: time.%s: the pure core has no clock: the time comes in with the input", p.at(n), sel.Sel.Name)
			}
		})
	}
}

// TestNames keeps out the packages that are named for nothing in particular, and so collect everything.
func TestNames(t *testing.T) {
	bad := []string{"util", "utils", "common", "types", "helper", "helpers", "shared", "misc", "base", "lib", "pkg", "internal"}
	for _, p := range house(t) {
		for name := range strings.SplitSeq(p.path, "/") {
			if slices.Contains(bad, name) {
				t.Errorf("%s: %q says nothing about what is in it: name a package for what it gives", p.path, name)
			}
		}
	}
}

// TestNothingHappensOnImport finds init functions, registries that fill themselves, and package variables that change.
func TestNothingHappensOnImport(t *testing.T) {
	blank := []string{"modernc.org/sqlite", "embed"} // database/sql knows its drivers by name only
	for _, p := range house(t) {
		for _, f := range p.files {
			for _, imp := range f.Imports {
				if imp.Name != nil && imp.Name.Name == "_" && !slices.Contains(blank, unquote(imp.Path.Value)) {
					t.Errorf("%s: blank import of %s: cmd/world.go introduces everyone by hand", p.at(imp), imp.Path.Value)
				}
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: an init function: every start pays for it, and no reader sees who calls it", p.at(fn))
				}
			}
		}
		for _, w := range p.changed() {
			t.Errorf("%s: the package variable %s changes: state lives in values that somebody holds", p.at(w), w.Name)
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range house(t) {
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = ""
		}
		if !slices.ContainsFunc(p.files, func(f *ast.File) bool { return f.Doc != nil && strings.HasPrefix(f.Doc.Text(), want) }) {
			t.Errorf("%s has no package comment that begins with %q: say what it is for, and what it does not know", p.path, want)
		}
	}
}

// TestDocstrings asks for a sentence about everything a package hands out. Methods that fulfil an interface are explained at the
// interface, the values of an enumeration at its type.
func TestDocstrings(t *testing.T) {
	all := house(t)
	promised := slices.Clone(known)
	for _, p := range all {
		promised = append(promised, p.promises()...)
	}
	for _, p := range all {
		if p.name == "main" {
			continue
		}
		for _, f := range p.files {
			for _, d := range f.Decls {
				for _, name := range undocumented(d, promised) {
					t.Errorf("%s: %s has no docstring", p.at(name), name.Name)
				}
			}
		}
	}
}

// TestNeverLinked walks everything that the program links.
func TestNeverLinked(t *testing.T) {
	house(t) // reads every source file, so that a cached result falls with a changed import
	never := []wall{
		{out: []string{"github.com/spf13/viper…", "github.com/knadh/koanf…"}, why: "BurntSushi/toml and 80 lines do it"},
		{out: []string{"github.com/tmc/langchaingo…", "github.com/cloudwego/eino…", "github.com/firebase/genkit…", "github.com/mozilla-ai/any-llm-go…"},
			why: "the engine is what this project exists for"},
		{out: []string{"github.com/anthropics/anthropic-sdk-go…", "github.com/openai/openai-go…", "github.com/sashabaranov/go-openai…"},
			why: "32 MB, and a stream that is cut short counts as success: our clients are ours"},
		{out: []string{"google.golang.org/genai…", "cloud.google.com/…"}, why: "its reflection switches dead-code elimination off for the whole binary"},
		{out: []string{"go.opentelemetry.io/otel/sdk…"}, why: "8.4 MB"},
		{out: []string{"github.com/pressly/goose…", "github.com/golang-migrate/migrate…"}, why: "PRAGMA user_version and 40 lines do it"},
		{out: []string{"github.com/99designs/keyring…"}, why: "7 ms of every start; zalando/go-keyring has none"},
		{out: []string{"github.com/atotto/clipboard", "github.com/sahilm/fuzzy"}, why: "they come with parts of bubbles that we do not need"},
		{out: []string{"github.com/spf13/cobra/doc"}, why: "manuals are written by a generator, not by the program"},
		{out: []string{"github.com/mattn/go-sqlite3…"}, why: "needs cgo: the binary is static"},
		{out: []string{"testing…", "pgregory.net/rapid", "github.com/google/go-cmp…", "go.uber.org/goleak…", "github.com/rogpeppe/go-internal/testscript…", "github.com/creack/pty", "github.com/charmbracelet/x/vt"},
			why: "it is for tests"},
	}
	linked := deps(t, program(t)...)
	for _, w := range never {
		for _, p := range linked {
			if matchAny(w.out, p) {
				t.Errorf("the program links %s: %s", p, w.why)
			}
		}
	}
	brought := deps(t, "charm.land/glamour/v2")
	for _, p := range linked {
		if matchAny([]string{"github.com/alecthomas/chroma…", "github.com/microcosm-cc/…"}, p) && !slices.Contains(brought, p) {
			t.Errorf("the program links %s, which glamour does not bring: lexers and sanitisers come with glamour or not at all", p)
		}
	}
}

// pkg is one package of the house as it is written: every platform's files, no tests.
type pkg struct {
	path  string // from the root of the module; "." is the root
	name  string
	files []*ast.File
	fset  *token.FileSet
}

// house reads every package under the root. It walks the folders itself, because the cache of go test sees what a test opens
// but not what another program tells it.
func house(t *testing.T) []pkg {
	t.Helper()
	var all []pkg
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != "." && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' || isFile(filepath.Join(dir, "go.mod"))) {
			return fs.SkipDir
		}
		found, err := read(dir)
		all = append(all, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("no package found")
	}
	return all
}

func read(dir string) ([]pkg, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := pkg{path: filepath.ToSlash(dir), fset: token.NewFileSet()}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, filepath.Join(dir, e.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p.name, p.files = f.Name.Name, append(p.files, f)
	}
	if len(p.files) == 0 {
		return nil, nil
	}
	return []pkg{p}, nil
}

func (p pkg) at(n ast.Node) string {
	pos := p.fset.Position(n.Pos())
	return filepath.ToSlash(pos.Filename) + ":" + strconv.Itoa(pos.Line)
}

func (p pkg) imports() []string {
	var all []string
	for _, f := range p.files {
		for _, imp := range f.Imports {
			all = append(all, unquote(imp.Path.Value))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (p pkg) inspect(see func(ast.Node)) {
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if n != nil {
				see(n)
			}
			return true
		})
	}
}

// promises lists the methods of the interfaces that p declares.
func (p pkg) promises() []string {
	var out []string
	p.inspect(func(n ast.Node) {
		if i, ok := n.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				for _, name := range m.Names {
					out = append(out, name.Name)
				}
			}
		}
	})
	return out
}

// changed lists the places that assign to a package variable. The type checker is asked for the meaning of names only: it sees no
// imports and its errors do not matter.
func (p pkg) changed() []*ast.Ident {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: nothing{}, Error: func(error) {}}
	unit, _ := conf.Check(p.path, p.fset, p.files, &info)
	var out []*ast.Ident
	written := func(e ast.Expr) {
		if id := root(e); id != nil {
			if v, ok := info.Uses[id].(*types.Var); ok && unit != nil && v.Parent() == unit.Scope() {
				out = append(out, id)
			}
		}
	}
	p.inspect(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				written(e)
			}
		case *ast.IncDecStmt:
			written(n.X)
		}
	})
	return out
}

type nothing struct{}

func (nothing) Import(string) (*types.Package, error) { return nil, errors.New("not asked for") }

// root is the variable that an assignment to e changes.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.ParenExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	}
	return nil
}

// known are the methods whose meaning is that of an interface everybody knows: of fmt, errors, encoding, io, sort, net/http, the screen.
var known = []string{
	"String", "GoString", "Format", "Error", "Unwrap", "Is", "As",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "AppendText", "LogValue", "UnmarshalTOML",
	"Read", "Write", "Close", "WriteString", "WriteTo", "ReadFrom", "Seek", "Flush", "Sync", "Len", "Less", "Swap", "Scan", "Value",
	"ServeHTTP", "RoundTrip", "Init", "Update", "View",
}

// undocumented lists the exported names of a declaration that nobody has said a word about. A comment behind a line counts, and so
// does the one above a group.
func undocumented(d ast.Decl, promised []string) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil || !d.Name.IsExported() {
			return nil
		}
		if d.Recv != nil && (slices.Contains(promised, d.Name.Name) || !receiver(d).IsExported()) {
			return nil
		}
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		if d.Doc != nil || enumeration(d) {
			return nil
		}
		var out []*ast.Ident
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
					out = append(out, s.Name)
				}
			case *ast.ValueSpec:
				if s.Doc == nil && s.Comment == nil {
					out = append(out, exported(s.Names)...)
				}
			}
		}
		return out
	}
	return nil
}

// enumeration says whether d lists the values of a named type.
func enumeration(d *ast.GenDecl) bool {
	if d.Tok != token.CONST || len(d.Specs) == 0 {
		return false
	}
	named, ok := d.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident)
	return ok && named.IsExported()
}

func exported(names []*ast.Ident) []*ast.Ident {
	return slices.DeleteFunc(slices.Clone(names), func(n *ast.Ident) bool { return !n.IsExported() })
}

func receiver(d *ast.FuncDecl) *ast.Ident {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return x.(*ast.Ident)
		}
	}
}

func floorOf(pkg string) (floor, bool) {
	i := slices.IndexFunc(floors, func(f floor) bool { return match(f.pkg, pkg) })
	if i < 0 {
		return floor{}, false
	}
	return floors[i], true
}

func matchAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, s) })
}

// match knows four patterns: "x" is x, "x…" is x and what lies under it, "x/*" (or "x/…") is what lies under x, "*.*" is what has a
// host in its name, "*" is everything.
func match(pattern, s string) bool {
	switch {
	case pattern == "*":
		return true
	case pattern == "*.*":
		return strings.Contains(strings.Split(s, "/")[0], ".")
	case strings.HasSuffix(pattern, "/*"), strings.HasSuffix(pattern, "/…"):
		return strings.HasPrefix(s, path.Dir(pattern)+"/")
	case strings.HasSuffix(pattern, "…"):
		under := strings.TrimSuffix(pattern, "…")
		return s == under || strings.HasPrefix(s, under+"/")
	}
	return pattern == s
}

// program names what is linked: main, or every package while there is no main.
func program(t *testing.T) []string {
	t.Helper()
	if isFile("main.go") {
		return []string{"."}
	}
	var all []string
	for _, p := range house(t) {
		if !slices.Contains(kits, p.path) {
			all = append(all, "./"+p.path)
		}
	}
	return all
}

func deps(t *testing.T, patterns ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps"}, patterns...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps: %v\n%s", err, stderr.String())
	}
	return strings.Fields(string(out))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func unquote(s string) string { return strings.Trim(s, "\"`") }
