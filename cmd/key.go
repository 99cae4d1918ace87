package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"agentx/config"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func keyCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "key", Aliases: []string{"keys"}, Short: "Keep API keys",
		Long: "Keep API keys: in the system's keyring where there is one, else in a file that only you can read. A key in an environment variable is used first, then what key_command prints.",
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(keySet(w), keyList(w), keyRemove(w))
	return c
}

func keySet(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "set PROVIDER", Short: "Keep the key of a provider; it is read from the terminal, unseen, or from stdin", Args: keyUnsaid,
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := w.provider(args[0])
			if err != nil {
				return err
			}
			text, err := w.readKey(c.Context(), args[0])
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return usage("no key was given: type it, or bring it on stdin: agentx key set %s < FILE", args[0])
			}
			key, err := config.NewSecret("the key that was given", text)
			if err != nil {
				return &exit{code: codeUsage, err: err}
			}
			where, err := cfg.Keys().Set(c.Context(), args[0], key)
			if err != nil {
				return err
			}
			w.note("the key of %s is kept in %s", args[0], where)
			if used := keyOf(cfg, cfg.Providers[args[0]]); used.outside() {
				w.note("%s holds a key too, and is used before it", used.Source)
			}
			return nil
		},
	}
}

// keyUnsaid wants a provider and no key: what stands on a command line is seen
// by others and kept by the shell.
func keyUnsaid(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("a key is not given as an argument, where others can see it: run `agentx key set %s` and type it, or give it on stdin", args[0])
	}
	return exactly("the name of a provider")(c, args)
}

// readKey reads a key without showing it.
func (w *world) readKey(ctx context.Context, provider string) (string, error) {
	if !isTerminal(w.stdin) {
		line, err := readLine(w.stdin, 32<<10)
		return strings.TrimSpace(line), err
	}
	fmt.Fprintf(w.stderr, "Key of %s (it is not shown): ", provider)
	defer fmt.Fprintln(w.stderr)
	fd := int(w.stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type typed struct {
		text []byte
		err  error
	}
	done := make(chan typed, 1)
	go func() { // ends with what is typed, or with the program
		text, err := term.ReadPassword(fd)
		done <- typed{text, err}
	}()
	select {
	case t := <-done:
		return strings.TrimSpace(string(t.text)), t.err
	case <-ctx.Done():
		_ = term.Restore(fd, before) // the program ends; the terminal shows again what is typed
		return "", context.Cause(ctx)
	}
}

// provider checks that there is one of that name.
func (w *world) provider(name string) (config.Config, error) {
	c, err := w.config()
	if err != nil {
		return c, err
	}
	if _, ok := c.Providers[name]; !ok {
		return c, noProvider(c, name)
	}
	return c, nil
}

// noProvider says which there are.
func noProvider(c config.Config, name string) error {
	names := slices.Sorted(maps.Keys(c.Providers))
	hint := ""
	if near := config.Nearest(name, names); len(near) > 0 {
		hint = fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return usage("there is no provider %q%s; there are %s, and those that [providers.NAME] in the configuration adds", name, hint, strings.Join(names, ", "))
}

// A heldKey says that there is a key and where, never what it is.
type heldKey struct {
	Provider string `json:"provider"`
	Source   string `json:"source"`
	Used     bool   `json:"used"`
	Before   string `json:"shadowed_by,omitempty"` // the place that is used instead
	Unknown  bool   `json:"unknown_provider,omitempty"`

	variable, command bool // what kind of place it is
}

// outside says that the key is from where agentx keeps none.
func (k heldKey) outside() bool { return k.variable || k.command }

// heldKeys are all places that hold a key, by provider, those first that are
// used. No command is run and no keyring asked.
func heldKeys(c config.Config) ([]heldKey, error) {
	places, err := c.Keys().List()
	if err != nil {
		return nil, err
	}
	all := []heldKey{}
	used := ""
	for _, place := range places {
		p := c.Providers[place.Provider]
		k := heldKey{Provider: place.Provider, Source: place.Source, Used: place.Used, variable: slices.Contains(p.KeyEnv, place.Source)}
		if k.command = place.Source == "key_command"; k.command {
			k.Source += " (" + filepath.Base(p.KeyCommand[0]) + ")"
		}
		if k.Used {
			used = k.Source
		} else {
			k.Before = used
		}
		all = append(all, k)
	}
	stored, err := c.Keys().Stored()
	for _, name := range stored {
		if _, ok := c.Providers[name]; !ok {
			all = append(all, heldKey{Provider: name, Source: "kept by agentx", Unknown: true})
		}
	}
	return all, err
}

// keyOf is the key that would be used for a provider; none has no source.
func keyOf(c config.Config, p config.Provider) heldKey {
	all, _ := heldKeys(c) // whoever cannot read the keys hears of it where one is needed
	for _, k := range all {
		if k.Provider == p.Name && k.Used {
			return k
		}
	}
	return heldKey{}
}

func keyList(w *world) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "Say which provider has a key, and where; never the key", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			keys, err := heldKeys(cfg)
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, keys)
			}
			if len(keys) == 0 {
				w.note("no key is set; `agentx key set PROVIDER` keeps one")
				return nil
			}
			return w.showKeys(keys)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (w *world) showKeys(keys []heldKey) error {
	t := table{width: w.tableWidth()}
	t.row("PROVIDER", "KEY", "")
	for _, k := range keys {
		switch {
		case k.Unknown:
			t.row(k.Provider, k.Source, "no such provider is configured; `agentx key rm "+k.Provider+"` forgets it")
		case !k.Used:
			t.row(k.Provider, k.Source, "not used: "+k.Before+" comes first")
		default:
			t.row(k.Provider, k.Source, "")
		}
	}
	return t.print(w.stdout)
}

func keyRemove(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "rm PROVIDER", Aliases: []string{"remove", "delete"}, Short: "Forget the kept key of a provider", Args: exactly("the name of a provider"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			name := args[0]
			p, ok := cfg.Providers[name]
			stored, err := cfg.Keys().Stored()
			if !ok && err == nil && !slices.Contains(stored, name) {
				return noProvider(cfg, name)
			}
			err = cfg.Keys().Remove(c.Context(), name)
			if errors.Is(err, config.ErrNoKey) {
				return usage("no key of %s is kept%s", name, elsewhere(keyOf(cfg, p)))
			}
			if err == nil {
				w.note("the key of %s is forgotten%s", name, elsewhere(keyOf(cfg, p)))
			}
			return err
		},
	}
}

// elsewhere says where a key still is.
func elsewhere(k heldKey) string {
	switch {
	case k.variable:
		return fmt.Sprintf("; the one in the variable %s is yours to unset", k.Source)
	case k.command:
		return fmt.Sprintf("; the one that providers.%s.key_command prints is yours to remove", k.Provider)
	}
	return ""
}
