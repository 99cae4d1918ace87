package cmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"agentx/config"
	"agentx/engine/bus"
	"agentx/engine/driver/wire"
	"agentx/engine/runtime"
	"agentx/store"
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
	bus       *bus.Bus
	trace     *trace // nil where nothing is recorded
	signals   *signals
	purse     purse
	memory    wire.Memory       // of what models do not take
	transport http.RoundTripper // nil is that of each driver
	now       func() time.Time

	mu     sync.Mutex
	known  []config.Secret // keys that were used: never shown
	config func() (config.Config, error)
	set    map[string]string // settings that flags say, before config is first called

	opening sync.Mutex // held while the database or the runtime is opened
	db      *store.DB
	shelf   *shelf
	home    *runtime.Runtime
}

func newWorld(stdin, stdout, stderr *os.File) *world {
	dir, _ := os.Getwd() // a folder that is gone is no folder
	w := &world{
		stdin: stdin, stdout: stdout, stderr: stderr, dir: dir,
		env: config.Environ(os.Environ()), bus: &bus.Bus{}, now: steady(time.Now),
		set: map[string]string{},
	}
	w.bus.Report = func(_ bus.SystemEvent, problem error) { w.warn("%v", problem) }
	w.config = sync.OnceValues(w.load)
	w.shelf = &shelf{open: w.store}
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

// store opens the database to write to it.
func (w *world) store(ctx context.Context) (*store.DB, error) {
	return w.openStore(ctx, store.Options{Now: w.now, Price: w.pricerOf})
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
	for _, kind := range []error{store.ErrReadOnly, store.ErrPermission, store.ErrDiskFull, store.ErrIO, store.ErrCorrupt, store.ErrStray} {
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
	o.Network = w.unshared()
	w.db, err = store.Open(ctx, path, o)
	return w.db, err
}

// unshared reports whether the user lets one agentx at a time have the database,
// where files cannot be shared.
func (w *world) unshared() bool {
	c, err := w.config() // one that cannot be read is told of by others
	return err == nil && c.Journal == "delete"
}

func (w *world) storePath() (string, error) {
	if w.flags.db != "" {
		return w.flags.db, nil
	}
	c, err := w.config()
	return c.Paths.Database(), err
}

// client gives commands to the runtime of this program.
func (w *world) client(ctx context.Context) (runtime.Client, error) {
	c := runtime.Client{Timeline: w.bus, Now: w.now, NewID: w.newID}
	if err := w.house(); err != nil {
		return c, err
	}
	return c, c.Container(ctx, home)
}

// house opens the runtime, once.
func (w *world) house() error {
	w.opening.Lock()
	defer w.opening.Unlock()
	if w.home != nil {
		return nil
	}
	w.home = runtime.New(runtime.Config{
		Bus: w.bus, Now: w.now, NewID: w.newID, Journal: w.shelf, Sessions: w.shelf, Images: w.shelf, Define: w.define, Words: w.words,
	})
	return w.home.Serve()
}

// newID names what the runtime makes. Ids of sessions are for people to type.
func (w *world) newID(prefix string) string {
	if prefix == "session" {
		return string(newSessionID())
	}
	return newID(prefix, w.now())
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
