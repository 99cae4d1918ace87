package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"agentx/config"
	"agentx/store"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

func doctorCommand(w *world) *cobra.Command {
	var asJSON, online bool
	var dest string
	c := &cobra.Command{
		Use: "doctor [PROVIDER]", Short: "Check the installation; changes nothing", Args: cobra.MaximumNArgs(1),
		Long: `Check the installation: files, database, providers, keys and terminal. It changes nothing, connects to nothing, and exits with 1 where something is wrong.

With --online the provider that is named is tried, else the one of the default model and every one with a key: each is asked for its list of models, which costs nothing. The exit code says then whether the chosen one works.

With --recover all that can be read of the database is written into a new file, and the old one is left as it is. Of a sound database that is a copy, and agentx may go on while it is made.`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("recover") {
				if len(args) > 0 || online {
					return usage("--recover looks at the database only")
				}
				return w.recover(c.Context(), dest, asJSON)
			}
			if err := w.tryable(args, online); err != nil {
				return err
			}
			findings, verdict := w.examine(c.Context(), online, args)
			if c.Context().Err() != nil {
				return context.Cause(c.Context())
			}
			if asJSON {
				if err := writeLine(w.stdout, findings); err != nil {
					return err
				}
			} else if err := w.showFindings(findings); err != nil {
				return err
			}
			return worst(findings, verdict)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&online, "online", false, "try the providers")
	c.Flags().StringVar(&dest, "recover", "", "write what can be read of the database into a new `FILE`")
	return c
}

// tryable checks that what is named can be tried. A configuration that cannot be
// read is told of later.
func (w *world) tryable(named []string, online bool) error {
	if len(named) == 0 {
		return nil
	}
	if !online {
		return usage("only --online tries a provider: agentx doctor --online %s", named[0])
	}
	c, err := w.config()
	if err != nil {
		return nil
	}
	_, err = trial(c, named)
	return err
}

// worst is what the exit code is to say: why the chosen model cannot be used,
// else the first thing that is wrong.
func worst(findings []finding, verdict error) error {
	if verdict != nil {
		return &exit{code: unheard(verdict), err: verdict, quiet: isFound(verdict)}
	}
	for _, f := range findings {
		if f.Status == wrong {
			return &exit{code: codeOther, err: fmt.Errorf("%s: %s", f.What, f.Detail), quiet: true}
		}
	}
	return nil
}

// mostProblems is how many of a kind are told: more say nothing new.
const mostProblems = 10

// A finding is one thing that was looked at.
type finding struct {
	What     string  `json:"what"`
	Status   string  `json:"status"` // ok, note, wrong or failed
	Detail   string  `json:"detail"`
	Provider *served `json:"provider,omitempty"`
	Millis   int64   `json:"duration_ms,omitempty"` // that a provider took
}

// What a finding means for the installation.
const (
	fine   = "ok"
	note   = "note"
	wrong  = "wrong"
	failed = "failed" // a provider that nobody has chosen does not work
)

// examine looks at everything; what is broken hinders none of the rest. Online
// it returns what is wrong with the chosen provider.
func (w *world) examine(ctx context.Context, online bool, named []string) (all []finding, verdict error) {
	add := func(status, what, format string, args ...any) {
		all = append(all, finding{What: what, Status: status, Detail: fmt.Sprintf(format, args...)})
	}
	add(fine, "agentx", "%s, %s, %s/%s", versionLine(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c, err := w.config()
	if err != nil {
		add(wrong, "configuration", "%s", w.words(err))
	} else {
		add(fine, "configuration", "%s", fileState(c.Paths.ConfigFile(), w.flags.config))
		w.examineModel(c, add)
		all = append(all, w.examineProviders(c)...)
	}
	w.examineStore(ctx, add)
	w.examineTerminal(add)
	if !online || err != nil {
		return all, nil
	}
	tried, verdict := w.tryProviders(ctx, c, named)
	return append(all, tried...), verdict
}

func fileState(usual, given string) string {
	name := cmp.Or(given, usual)
	if _, err := os.Stat(name); err != nil {
		return "no file; " + name + " would be read"
	}
	return name
}

func (w *world) examineModel(c config.Config, add func(status, what, format string, args ...any)) {
	choice, err := c.Resolve("")
	if err != nil {
		add(wrong, "model", "%s", w.words(err))
		return
	}
	add(fine, "model", "%s (%s)", choice.Name(), choice.Why)
	if doubt := choice.Doubt(); doubt != "" {
		add(note, "model", "%s", doubt)
	}
}

func (w *world) examineStore(ctx context.Context, add func(status, what, format string, args ...any)) {
	path, err := w.storePath()
	if err != nil {
		add(wrong, "database", "%s", w.words(err))
		return
	}
	_, err = os.Lstat(path)
	var db *store.DB
	if err == nil {
		db, err = w.openStore(ctx, store.Options{ReadOnly: true})
	}
	barred := unwritable(path)
	none := errors.Is(err, fs.ErrNotExist) && !errors.Is(err, store.ErrNotDatabase) || errors.Is(err, store.ErrEmpty)
	switch {
	case none && barred != nil:
		add(wrong, "database", "none yet, and %s cannot be made: %v (its folder belongs to %s); name another file with --db", path, barred, owner(path))
	case none:
		add(fine, "database", "none yet; the first session makes %s", path)
	case err != nil && errors.Is(barred, fs.ErrPermission):
		add(wrong, "database", "%s: %v (it belongs to %s); name another file with --db", path, barred, owner(path))
	case err != nil:
		add(wrong, "database", "%s", w.words(err))
	}
	if err != nil {
		return
	}
	version, err := db.Version(ctx)
	if err != nil {
		add(wrong, "database", "%s", w.words(err))
		return
	}
	problems, err := db.Check(ctx)
	if err != nil {
		add(wrong, "database", "%s", w.words(err))
		return
	}
	problems = slices.DeleteFunc(problems, func(p store.Problem) bool {
		if p.What == "log" { // it shrinks by itself
			add(note, "database", "%v", p)
		}
		return p.What == "log"
	})
	for i, p := range problems {
		if i == mostProblems {
			add(wrong, "database", "and %d problems more", len(problems)-i)
			break
		}
		add(wrong, "database", "%v", p)
	}
	if barred != nil {
		status := note // a disk may be read-only on purpose
		if errors.Is(barred, fs.ErrPermission) {
			status = wrong
		}
		add(status, "database", "%s can be read, but nothing can be saved in it: %v (it belongs to %s); name another file with --db", path, barred, owner(path))
	}
	if len(problems) == 0 {
		add(fine, "database", "%s, SQLite %s", db.Path(), version)
	}
}

func (w *world) examineTerminal(add func(status, what, format string, args ...any)) {
	name, _ := w.env("TERM")
	if !w.interactive() {
		add(note, "terminal", "stdin or stdout is not one: agentx answers single prompts here")
		return
	}
	add(fine, "terminal", "%s, %d columns, %s", cmp.Or(name, "TERM is not set"), w.width(), w.profile())
}

// showFindings prints them a line each, and the providers that nobody has set up
// in one.
func (w *world) showFindings(all []finding) error {
	var t table
	width := w.tableWidth()
	row := func(status, what, detail string) {
		mark := map[string]string{fine: "✓", note: "·", wrong: "✗", failed: "✗"}[status]
		for i, line := range unfolded(detail, width-len("✓  configuration  ")+2) {
			if i > 0 {
				mark, what = "", ""
			}
			t.row(mark, what, line)
		}
	}
	var keyless []string
	for _, f := range all {
		if f.Provider != nil && f.Provider.keyless() && f.Status == note && !w.flags.verbose {
			keyless = append(keyless, f.Provider.Name)
			continue
		}
		if len(keyless) > 0 && f.Provider == nil {
			row(note, "provider", "no key: "+strings.Join(keyless, ", ")+"; `agentx key set NAME` keeps one")
			keyless = nil
		}
		row(f.Status, f.What, f.Detail)
	}
	return t.print(w.stdout)
}

// unfolded is a text in lines of so many columns: what is wrong is not cut off.
// Where that is too few, as for a pipe, it is one line.
func unfolded(s string, columns int) []string {
	s = text.Line(s)
	if columns < 20 {
		return []string{s}
	}
	return text.Wrap(s, columns)
}
