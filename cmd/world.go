package cmd

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine/bus"
	"agentx/engine/event"
	"agentx/engine/runtime"
	"agentx/store"
	"agentx/tui/theme"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// A world is what the commands have in common. Everything in it is opened when
// it is first needed.
type world struct {
	stdin, stdout, stderr *os.File
	dir                   string // where the program was started
	env                   config.Env
	flags                 struct {
		config, db, color string
		quiet, verbose    bool
	}
	bus     *bus.Bus
	signals *signals
	now     func() time.Time

	mu     sync.Mutex
	known  []config.Secret // keys that were used: never shown
	config func() (config.Config, error)
	set    map[string]string // settings that flags say, before config is first called

	opening sync.Mutex // held while the database or the runtime is opened
	db      *store.DB
	memory  *runtime.Memory // sessions that are not kept
	home    *runtime.Runtime
}

func newWorld(stdin, stdout, stderr *os.File) *world {
	dir, _ := os.Getwd() // a folder that is gone is no folder
	w := &world{
		stdin: stdin, stdout: stdout, stderr: stderr, dir: dir,
		env: config.Environ(os.Environ()), bus: &bus.Bus{}, memory: &runtime.Memory{}, now: steady(time.Now),
		set: map[string]string{},
	}
	w.config = sync.OnceValues(w.load)
	return w
}

// load reads the configuration, and says what it ignores in it.
func (w *world) load() (config.Config, error) {
	paths, err := config.FindPaths(w.env)
	if err != nil {
		return config.Config{}, err
	}
	if w.flags.color != "" {
		w.set["color"] = w.flags.color
	}
	c, err := config.Load(config.Source{Env: w.env, Paths: paths, Dir: w.dir, File: w.flags.config, Flags: w.set})
	for _, line := range c.Warnings {
		w.warn("%s", line)
	}
	return c, err
}

// interactive reports whether there is a person at a terminal.
func (w *world) interactive() bool { return isTerminal(w.stdin) && isTerminal(w.stdout) }

// dumb reports whether the terminal says that it can only print.
func (w *world) dumb() bool {
	name, _ := w.env("TERM")
	return name == "dumb"
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// store opens the database to write to it.
func (w *world) store(ctx context.Context) (*store.DB, error) {
	return w.openStore(ctx, store.Options{Now: w.now})
}

// reader opens the database for somebody who only reads. Where nothing can be
// written that is enough.
func (w *world) reader(ctx context.Context) (*store.DB, error) {
	db, err := w.store(ctx)
	if !lasting(err) {
		return db, err
	}
	ro, again := w.openStore(ctx, store.Options{ReadOnly: true})
	if again != nil {
		return nil, err
	}
	if ro.Behind() {
		w.note("%s; what was said last may be missing here", sentence(err))
	}
	return ro, nil
}

// lasting reports whether err hinders writing, and perhaps not reading.
func lasting(err error) bool {
	for _, kind := range []error{store.ErrReadOnly, store.ErrPermission, store.ErrDiskFull, store.ErrIO, store.ErrCorrupt} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (w *world) openStore(ctx context.Context, o store.Options) (*store.DB, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.db != nil {
		return w.db, nil
	}
	path, err := w.storePath()
	if err != nil {
		return nil, err
	}
	w.db, err = store.Open(ctx, path, o)
	return w.db, err
}

func (w *world) storePath() (string, error) {
	if w.flags.db != "" {
		return w.flags.db, nil
	}
	c, err := w.config()
	return c.Paths.Database(), err
}

// runtime returns the runtime. A program keeps all its sessions or none, so the
// first journal is the one for all.
func (w *world) runtime(j runtime.Journal) *runtime.Runtime {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.home == nil {
		w.home = runtime.New(runtime.Config{Bus: w.bus, Journal: j, Now: w.now, NewID: newID})
	}
	return w.home
}

// close brings everything to rest, and takes two seconds at most.
func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if w.home != nil {
		_ = w.home.Close(ctx) // agents that do not come to rest end with the program
	}
	if w.db != nil {
		if err := w.db.Close(); err != nil {
			w.warn("%s", w.words(err))
		}
	}
}

// steady is the time of day, but that it never goes back: no event is older
// than the one before it, and what lies between two of them is how long it took.
// Where the machine's clock is set back it goes on evenly; where the machine
// slept it catches up.
func steady(read func() time.Time) func() time.Time {
	var mu sync.Mutex
	began := read()
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		day := read()
		even := began.Add(day.Sub(began)) // by the clock that nobody sets
		if day.Round(0).Sub(even.Round(0)) > time.Minute {
			began, even = day, day
		}
		return even
	}
}

// newID mints an id: the prefix, the time and chance, so that ids of one prefix
// sort by the time of their making.
func newID(prefix string) string {
	var b [10]byte
	ms := time.Now().UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	_, _ = rand.Read(b[6:]) // never fails
	return prefix + "_" + encode(b[:])
}

// newSessionID mints an id that a person can type the beginning of.
func newSessionID() event.SessionID {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return event.SessionID(encode(b[:]))
}

// encode writes bytes in letters and digits that are not mistaken for each
// other.
func encode(b []byte) string {
	return base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding).EncodeToString(b)
}

// secrets are the keys that were used.
func (w *world) secrets() []config.Secret {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// keep remembers a key that is used from now on.
func (w *world) keep(key config.Secret) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = append(w.known, key)
}

// note says something on stderr, unless -q was given.
func (w *world) note(format string, args ...any) {
	if !w.flags.quiet {
		w.warn(format, args...)
	}
}

// warn says something on stderr.
func (w *world) warn(format string, args ...any) {
	fmt.Fprintln(w.stderr, "agentx: "+w.words(fmt.Errorf(format, args...)))
}

// theme is the palette for what is printed on a terminal.
func (w *world) theme() theme.Theme {
	c, err := w.config()
	switch {
	case w.profile() <= colorprofile.ASCII:
		return theme.Plain()
	case err == nil && c.Theme == "light":
		return theme.Light()
	case err == nil && c.Theme == "dark":
		return theme.Dark()
	case w.interactive() && lightBackground(w.stdin, w.stdout):
		return theme.Light()
	}
	return theme.Dark()
}

// profile is what colours stdout can show and the user wants.
func (w *world) profile() colorprofile.Profile {
	want := ""
	if c, err := w.config(); err == nil {
		want = c.Color
	}
	switch want {
	case "never":
		return colorprofile.ASCII
	case "always":
		return max(colorprofile.Env(os.Environ()), colorprofile.ANSI256)
	}
	return colorprofile.Detect(w.stdout, os.Environ())
}

// colored writes styled text with the colours that the terminal has.
func (w *world) colored(out io.Writer) io.Writer {
	return &colorprofile.Writer{Forward: out, Profile: w.profile()}
}

// tableWidth is where a table's lines end; a pipe has them whole.
func (w *world) tableWidth() int {
	if isTerminal(w.stdout) {
		return w.width()
	}
	return 0
}

// width is the width of the terminal on stdout.
func (w *world) width() int {
	if n, _, err := term.GetSize(int(w.stdout.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// readSystem reads the system prompt of a setting: a text, or @file.
func readSystem(s string) (string, error) {
	name, ok := strings.CutPrefix(s, "@")
	if !ok {
		return s, nil
	}
	f, err := openRegular(name)
	if err != nil {
		return "", usage("--system: %v", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20+1))
	if err != nil {
		return "", usage("--system: %s: %v", name, bare(err))
	}
	if len(data) > 1<<20 {
		return "", usage("--system: %s is larger than 1 MB", name)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// absolute is a path as the database knows it.
func absolute(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	return path
}
