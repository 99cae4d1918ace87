package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"agentx/config"

	"github.com/spf13/cobra"
)

// configFile is the user's own configuration file.
func (w *world) configFile() (string, error) {
	if w.flags.config != "" {
		return w.flags.config, nil
	}
	paths, err := config.FindPaths(w.env)
	return paths.ConfigFile(), err
}

func configGet(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting", Args: exactly("the name of a setting, as in `agentx config get model`"),
		RunE: func(_ *cobra.Command, args []string) error {
			cfg, err := w.config()
			if err != nil {
				return err
			}
			s, ok := cfg.Get(args[0])
			if !ok {
				return noSetting(cfg, args[0])
			}
			_, err = fmt.Fprintln(w.stdout, unquoted(s.Value))
			return err
		},
	}
}

// noSetting names those that are spelt alike.
func noSetting(c config.Config, key string) error {
	var names []string
	for s := range c.Settings() {
		names = append(names, s.Key)
	}
	if near := config.Nearest(key, names); len(near) > 0 {
		return usage("there is no setting %q (did you mean %s?)", key, strings.Join(near, " or "))
	}
	return usage("there is no setting %q; `agentx config show` lists them", key)
}

// unquoted is a text without its quotes, and any other value as TOML.
func unquoted(value string) string {
	if s, err := strconv.Unquote(value); err == nil {
		return s
	}
	return value
}

func configSet(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Write a setting into your configuration file",
		Long: `Write a setting into your configuration file. All else in it stays as it is.

  agentx config set model anthropic/claude-sonnet-5
  agentx config set budget.day 5
  agentx config set aliases.fast openai/gpt-5.5
  agentx config set keys.palette ctrl+k`,
		Args: exactly("the name of a setting", "its value"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := w.configFile()
			if err != nil {
				return err
			}
			if err := config.Edit(file, args[0], args[1]); err != nil {
				return misset(file, err)
			}
			return w.tellSet(args[0])
		},
	}
}

func configUnset(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "unset KEY", Short: "Take a setting out of your configuration file", Args: exactly("the name of a setting"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := w.configFile()
			if err != nil {
				return err
			}
			switch err := config.Unset(file, args[0]); {
			case errors.Is(err, config.ErrUnknown):
				return usage("%s does not set %s; `agentx config show --origin` says where it comes from", file, strconv.Quote(args[0]))
			case err != nil:
				return misset(file, err)
			}
			return w.tellSet(args[0])
		},
	}
}

// misset is a wrong use where what was typed is wrong, and not the file.
func misset(file string, err error) error {
	if errors.Is(err, config.ErrUnknown) && !strings.Contains(err.Error(), "did you mean") {
		return usage("%v; `agentx config show` lists the settings", err)
	}
	if e, ok := errors.AsType[*config.Error](err); ok && !strings.HasPrefix(e.Where, file) {
		return usage("%v", err)
	}
	return err
}

// tellSet says what holds now, where that is not what the file says.
func (w *world) tellSet(key string) error {
	c, err := w.config()
	if err != nil {
		return err
	}
	if o := c.Origin(key); o.Layer != config.User && o.Layer != config.Default {
		w.note("written, but here %s says otherwise", o)
	}
	return nil
}

func configEdit(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Open your configuration file in your editor", Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			file, err := w.configFile()
			if err != nil {
				return err
			}
			if !isTerminal(w.stdin) || !isTerminal(w.stdout) {
				return usage("`agentx config edit` needs a terminal; the file is %s", file)
			}
			if err := begin(file); err != nil {
				return err
			}
			argv := w.editor()
			if len(argv) == 0 {
				argv = []string{"vi"}
			}
			editor := exec.CommandContext(c.Context(), argv[0], append(argv[1:len(argv):len(argv)], file)...)
			editor.Stdin, editor.Stdout, editor.Stderr = w.stdin, w.stdout, w.stderr
			if err := editor.Run(); err != nil {
				return fmt.Errorf("%s: %w", argv[0], err)
			}
			_, err = w.config() // says what is wrong in it
			return err
		},
	}
}

// begin has a file be there. One that is new only its owner can read.
func begin(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}
