package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentx/config"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func keyCommand(w *world) *cobra.Command {
	c := &cobra.Command{
		Use: "key", Aliases: []string{"keys"}, Short: "Keep API keys",
		Long: "Keep API keys: in the system's keyring where there is one, else in a file that only you can read. A key in an environment variable is used first.",
		Args: cobra.ArbitraryArgs, RunE: needsVerb,
	}
	c.AddCommand(keySet(w), keyList(w), keyRemove(w))
	return c
}

func keySet(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "set PROVIDER", Short: "Keep the key of a provider; it is read from the terminal, unseen, or from stdin", Args: exactly("the name of a provider"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := w.provider(args[0])
			if err != nil {
				return err
			}
			text, err := w.readKey(args[0])
			if err != nil {
				return err
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
			if p := cfg.Providers[args[0]]; len(p.KeyEnv) > 0 {
				for _, name := range p.KeyEnv {
					if v, ok := w.env(name); ok && v != "" {
						w.note("%s is set and is used before it", name)
					}
				}
			}
			return nil
		},
	}
}

// readKey reads a key without showing it.
func (w *world) readKey(provider string) (string, error) {
	if !isTerminal(w.stdin) {
		line, err := readLine(w.stdin, 32<<10)
		return strings.TrimSpace(line), err
	}
	fmt.Fprintf(w.stderr, "Key of %s (it is not shown): ", provider)
	b, err := term.ReadPassword(int(w.stdin.Fd()))
	fmt.Fprintln(w.stderr)
	return strings.TrimSpace(string(b)), err
}

// provider checks that there is one of that name.
func (w *world) provider(name string) (config.Config, error) {
	c, err := w.config()
	if err != nil {
		return c, err
	}
	if _, ok := c.Providers[name]; !ok {
		var names []string
		for n := range c.Providers {
			names = append(names, n)
		}
		slices.Sort(names)
		return c, usage("there is no provider %q; there are %s, and those that [providers.NAME] in the configuration adds", name, strings.Join(names, ", "))
	}
	return c, nil
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
			places, err := cfg.Keys().List()
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, places)
			}
			if len(places) == 0 {
				w.note("no key is set; `agentx key set PROVIDER` keeps one")
				return nil
			}
			t := table{width: w.tableWidth()}
			t.row("PROVIDER", "KEY")
			for _, p := range places {
				t.row(p.Provider, p.Source)
			}
			return t.print(w.stdout)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func keyRemove(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "rm PROVIDER", Aliases: []string{"remove", "delete"}, Short: "Forget the kept key of a provider", Args: exactly("the name of a provider"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := w.provider(args[0])
			if err != nil {
				return err
			}
			err = cfg.Keys().Remove(c.Context(), args[0])
			if errors.Is(err, config.ErrNoKey) {
				return usage("no key of %s is kept", args[0])
			}
			return err
		},
	}
}
