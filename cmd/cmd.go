// Package cmd is the command line. Each command parses its flags, opens the
// world and says one thing to it. It is the one place where errors become words
// and exit codes, and the only one that knows every room of the house.
package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"agentx/config"
	"agentx/tui/text"

	"github.com/spf13/cobra"
)

// version is set when a release is built.
var version = ""

// Main runs the command that args name and returns its exit code.
func Main(ctx context.Context, args []string, stdin, stdout, stderr *os.File) int {
	undumped()
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	w := newWorld(stdin, stdout, stderr)
	w.signals = signals
	root := rootCommand(w)
	help := &heeded{out: stdout}
	root.SetOut(help)
	if completing(args) {
		w.complete(root)
	}
	args = withTagsOff(withOptionalValues(args))
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return w.misread(c, args, err) })
	err := w.safely(func() error { return root.ExecuteContext(ctx) })
	if err == nil {
		err = help.err
	}
	w.close()
	err = w.endTrace(err)
	return w.report(signals.explain(err))
}

// rootCommand chats, or answers one prompt; the nouns stand below it.
func rootCommand(w *world) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:   "agentx [flags] [prompt...]",
		Short: "Chat with language models in a terminal",
		Long: `Chat with language models in a terminal.

  agentx                     chat
  agentx "prompt"            chat, the prompt already sent
  agentx -c                  go on with the last session of this folder
  agentx -r [ID|title]       resume that session; without one, pick it
  agentx -p "prompt"         one answer on stdout, then exit
  cmd | agentx -p "prompt"   the same, with the output of cmd
  agentx -p -                the prompt itself from stdin

Without any key or local model the built-in guide answers.`,
		Args:              cobra.ArbitraryArgs,
		Version:           versionLine(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.finish(c, args); err != nil {
				return w.refused(o, err)
			}
			return w.run(c.Context(), o)
		},
	}
	root.SetIn(w.stdin)
	root.SetErr(w.stderr)
	root.SetVersionTemplate("agentx {{.Version}}\n")
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{rpad .CommandPath .CommandPathPadding}}", "agentx help {{.Name}}  ", 1))
	root.SetHelpFunc(help)
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentFlags().Var((*filled)(&w.flags.config), "config", "read this configuration `FILE`")
	root.PersistentFlags().Var((*filled)(&w.flags.db), "db", "keep sessions in this `FILE`")
	root.PersistentFlags().StringVar(&w.flags.color, "color", "", "`WHEN` to use colours: auto, always or never")
	root.PersistentFlags().BoolVarP(&w.flags.quiet, "quiet", "q", false, "say nothing on stderr but errors")
	root.PersistentFlags().BoolVarP(&w.flags.verbose, "verbose", "v", false, "say more on stderr")
	o.register(root.Flags())
	root.AddCommand(w.commands()...)
	root.SetHelpCommand(helpCommand())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		explainCompletion(c)
	}
	return root
}

// explainCompletion puts the words of the flag library for its own command into
// ours.
func explainCompletion(c *cobra.Command) {
	c.Args, c.RunE = cobra.ArbitraryArgs, needsVerb
	c.Short = "Print a script with which your shell completes what you type"
	c.Long = `Print a script with which your shell completes what you type at the Tab key:
commands and flags, sessions, images, models and settings.

  bash         source <(agentx completion bash)    in ~/.bashrc
  zsh          source <(agentx completion zsh)     in ~/.zshrc, behind compinit
  fish         agentx completion fish | source     in config.fish
  powershell   agentx completion powershell | Out-String | Invoke-Expression`
	for _, shell := range c.Commands() {
		shell.Short, shell.Long = "Print the script for "+shell.Name(), ""
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "without explanations beside the words"
		}
	}
}

// helpWidth is the longest line of prose in a help.
const helpWidth = 80

// help says what a command is for. How the flag library spells a value that can
// be left out is nothing for people.
func help(c *cobra.Command, _ []string) {
	for line := range strings.Lines(strings.TrimSpace(cmp.Or(c.Long, c.Short))) {
		fmt.Fprintln(c.OutOrStdout(), strings.Join(text.Wrap(strings.TrimRight(line, "\n"), helpWidth), "\n"))
	}
	if c.Runnable() || c.HasSubCommands() {
		value := "[=" + pickValue + "]"
		fmt.Fprint(c.OutOrStdout(), "\n"+strings.Replace(c.UsageString(), value, strings.Repeat(" ", len(value)), 1))
	}
}

// helpCommand explains a command, or a topic.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Explain a command, or a topic such as exit-codes", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
			about, rest := topic(c.Root(), args)
			if len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, sub := range about.Commands() {
				if !sub.Hidden {
					words = append(words, sub.Name()+"\t"+sub.Short)
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			about, rest := topic(c.Root(), args)
			switch {
			case len(rest) == 0:
				about.InitDefaultHelpFlag()
				return about.Help()
			case about.HasSubCommands() && about.HasParent():
				return needsVerb(about, rest)
			}
			var names []string
			for _, sub := range about.Commands() {
				names = append(names, sub.Name())
			}
			if near := config.Nearest(rest[0], names); len(near) > 0 {
				return usage("there is no help on %q; did you mean `agentx help %s`?", strings.Join(args, " "), near[0])
			}
			return usage("there is no help on %q; `agentx help` lists what there is", strings.Join(args, " "))
		},
	}
}

// topic is the command that words lead to, and the words that lead no further.
func topic(c *cobra.Command, words []string) (*cobra.Command, []string) {
	for len(words) > 0 {
		i := slices.IndexFunc(c.Commands(), func(sub *cobra.Command) bool { return sub.Name() == words[0] || sub.HasAlias(words[0]) })
		if i < 0 {
			break
		}
		c, words = c.Commands()[i], words[1:]
	}
	return c, words
}

// commands are the nouns.
func (w *world) commands() []*cobra.Command {
	return []*cobra.Command{
		sessionCommand(w), imageCommand(w), statsCommand(w), modelCommand(w), keyCommand(w), configCommand(w), replayCommand(w), doctorCommand(w), exitCodesCommand(),
	}
}

// run chats where there is a terminal and nobody asked for one answer only. One
// that cannot be drawn on gets a chat in plain lines, and no more than the answer
// where it brought a prompt.
func (w *world) run(ctx context.Context, o options) error {
	maps.Copy(w.set, o.settings())
	var err error
	if w.trace, err = openTrace(o.trace); err != nil {
		return err
	}
	if o.print || !w.interactive() || w.dumb() && o.prompt != "" {
		return ask(ctx, w, o)
	}
	return chat(ctx, w, o)
}

// withOptionalValues joins -r and --resume with the value behind them: the
// flag library takes an optional value only behind an equals sign.
func withOptionalValues(args []string) []string {
	var joined []string
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(joined, args[i:]...)
		}
		takes := args[i] == "-r" || args[i] == "--resume"
		if takes && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			joined = append(joined, "--resume="+args[i+1])
			i++
			continue
		}
		joined = append(joined, args[i])
	}
	return joined
}

// heeded remembers that writing failed: the library that prints the help does
// not look.
type heeded struct {
	out io.Writer
	err error
}

func (h *heeded) Write(p []byte) (int, error) {
	n, err := h.out.Write(p)
	if h.err == nil {
		h.err = err
	}
	return n, err
}

// versionLine is the version with the commit it was built from.
func versionLine() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(version, "devel")
	}
	v := cmp.Or(version, strings.TrimPrefix(info.Main.Version, "v"))
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" })
	if i >= 0 && len(info.Settings[i].Value) >= 12 {
		v += " (" + info.Settings[i].Value[:12] + ")"
	}
	return v
}

// needsVerb answers a noun that came alone.
func needsVerb(c *cobra.Command, args []string) error {
	var verbs []string
	for _, v := range c.Commands() {
		if v.IsAvailableCommand() {
			verbs = append(verbs, v.Name())
		}
	}
	if len(args) > 0 {
		if near := config.Nearest(args[0], verbs); len(near) > 0 {
			return usage("there is no command `%s %s`; did you mean `%s %s`?", c.CommandPath(), args[0], c.CommandPath(), near[0])
		}
		return usage("there is no command `%s %s`; there are: %s", c.CommandPath(), args[0], strings.Join(verbs, ", "))
	}
	return usage("`%s` needs one of: %s", c.CommandPath(), strings.Join(verbs, ", "))
}

// some checks that there is at least one argument.
func some(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("`%s` needs %s", c.CommandPath(), name)
		}
		return nil
	}
}

// exactly checks the number of arguments, and says in words what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return usage("`%s` needs %s", c.CommandPath(), strings.Join(names[len(args):], " and "))
		}
		if len(args) > len(names) {
			return usage("`%s` has no use for %q; `%s --help` says what it takes", c.CommandPath(), args[len(names)], c.CommandPath())
		}
		return nil
	}
}
