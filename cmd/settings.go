package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"

	"agentx/config"

	"github.com/spf13/cobra"
)

func configCommand(w *world) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show and change the settings", Args: cobra.ArbitraryArgs, RunE: needsVerb}
	c.AddCommand(configShow(w), configGet(w), configSet(w), configUnset(w), configEdit(w), configPath(w))
	return c
}

func configShow(w *world) *cobra.Command {
	var origin, asJSON bool
	c := &cobra.Command{
		Use: "show", Short: "Show every setting with its value", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			if asJSON {
				return writeLine(w.stdout, settingsJSON(cfg))
			}
			t := table{width: w.tableWidth()}
			for s := range cfg.Settings() {
				if origin {
					t.row(s.Key, "= "+s.Value, "# "+s.Origin.String())
				} else {
					t.row(s.Key, "= "+s.Value)
				}
			}
			return t.print(w.stdout)
		},
	}
	c.Flags().BoolVar(&origin, "origin", false, "say where each value comes from")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// settingsJSON is every setting with its origin.
func settingsJSON(c config.Config) any {
	type setting struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Origin string `json:"origin"`
	}
	all := []setting{}
	for s := range c.Settings() {
		all = append(all, setting{s.Key, asJSON(s.Value), s.Origin.String()})
	}
	return all
}

// asJSON is a value of TOML, which is JSON but for tables and dates.
func asJSON(value string) any {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return value
}

func configPath(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "path", Short: "Say where the files of agentx lie", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			paths, err := config.FindPaths(w.env)
			if err != nil {
				return err
			}
			db := cmp.Or(w.flags.db, paths.Database())
			file, err := w.configFile()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(w.stdout, "config    %s\nkeys      %s\ndatabase  %s\nstate     %s\ncache     %s\n", file, paths.KeyFile(), db, paths.State, paths.Cache)
			return err
		},
	}
}
