package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"agentx/config"
	"agentx/store"

	"github.com/spf13/cobra"
)

func doctorCommand(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "doctor", Short: "Check the installation; changes nothing", Args: exactly(),
		Long: "Check the installation: files, database, keys and terminal. It changes nothing, connects to nothing, and exits with 1 where something is wrong.",
		RunE: func(c *cobra.Command, _ []string) error {
			findings := w.examine(c.Context())
			if asJSON {
				if err := writeLine(w.stdout, findings); err != nil {
					return err
				}
			} else if err := w.showFindings(findings); err != nil {
				return err
			}
			for _, f := range findings {
				if f.Status == "wrong" {
					return &exit{code: codeOther, err: fmt.Errorf("%s: %s", f.What, f.Detail), quiet: true}
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// mostProblems is how many of a kind are told: more say nothing new.
const mostProblems = 10

// A finding is one thing that was looked at.
type finding struct {
	What   string `json:"what"`
	Status string `json:"status"` // ok, note or wrong
	Detail string `json:"detail"`
}

// examine looks at everything; what is broken hinders none of the rest.
func (w *world) examine(ctx context.Context) []finding {
	var all []finding
	add := func(status, what, format string, args ...any) {
		all = append(all, finding{what, status, fmt.Sprintf(format, args...)})
	}
	add("ok", "agentx", "%s, %s, %s/%s", versionLine(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	c, err := w.config()
	if err != nil {
		add("wrong", "configuration", "%s", w.words(err))
	} else {
		add("ok", "configuration", "%s", fileState(c.Paths.ConfigFile(), w.flags.config))
		w.examineModels(c, add)
	}
	w.examineStore(ctx, add)
	w.examineTerminal(add)
	return all
}

func fileState(usual, given string) string {
	name := cmp.Or(given, usual)
	if _, err := os.Stat(name); err != nil {
		return "no file; " + name + " would be read"
	}
	return name
}

func (w *world) examineModels(c config.Config, add func(status, what, format string, args ...any)) {
	choice, err := c.Resolve("")
	if err != nil {
		add("wrong", "model", "%s", w.words(err))
	} else {
		add("ok", "model", "%s (%s)", choice.Name(), choice.Why)
	}
	places, err := c.Keys().List()
	if err != nil {
		add("wrong", "keys", "%s", w.words(err))
	}
	for _, p := range places {
		add("ok", "key", "%s: %s", p.Provider, p.Source)
	}
	if len(places) == 0 && err == nil {
		add("note", "keys", "none is set; `agentx key set PROVIDER` keeps one, a local server needs none")
	}
}

func (w *world) examineStore(ctx context.Context, add func(status, what, format string, args ...any)) {
	path, err := w.storePath()
	if err != nil {
		add("wrong", "database", "%s", w.words(err))
		return
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		add("ok", "database", "none yet; the first session makes %s", path)
		return
	}
	db, err := w.openStore(ctx, store.Options{ReadOnly: true})
	if err != nil {
		add("wrong", "database", "%s", w.words(err))
		return
	}
	version, err := db.Version(ctx)
	if err != nil {
		add("wrong", "database", "%s", w.words(err))
		return
	}
	problems, err := db.Check(ctx)
	if err != nil {
		add("wrong", "database", "%s", w.words(err))
		return
	}
	for i, p := range problems {
		if i == mostProblems {
			add("wrong", "database", "and %d problems more", len(problems)-i)
			break
		}
		add("wrong", "database", "%v", p)
	}
	if len(problems) == 0 {
		add("ok", "database", "%s, SQLite %s", db.Path(), version)
	}
}

func (w *world) examineTerminal(add func(status, what, format string, args ...any)) {
	name, _ := w.env("TERM")
	if !w.interactive() {
		add("note", "terminal", "stdin or stdout is not one: agentx answers single prompts here")
		return
	}
	add("ok", "terminal", "%s, %d columns, %s", cmp.Or(name, "TERM is not set"), w.width(), w.profile())
}

func (w *world) showFindings(all []finding) error {
	t := table{width: w.tableWidth()}
	mark := map[string]string{"ok": "✓", "note": "·", "wrong": "✗"}
	for _, f := range all {
		t.row(mark[f.Status], f.What, f.Detail)
	}
	return t.print(w.stdout)
}
