package cmd

import (
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestHelpsHaveOneVoice walks through the help of every command: a line says
// what it does, a text is broken where a terminal would break it, and a flag is
// told in lower case, all without a full stop.
func TestHelpsHaveOneVoice(t *testing.T) {
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		line := func(what, s string, first func(rune) bool) {
			if s == "" || !first([]rune(s)[0]) || strings.HasSuffix(s, ".") {
				t.Errorf("%s: %s is %q", c.CommandPath(), what, s)
			}
		}
		line("its line", c.Short, unicode.IsUpper)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			line("--"+f.Name, usage, func(r rune) bool { return !unicode.IsUpper(r) || strings.Contains(f.Usage, "`") })
		})
		lines := strings.Split(c.Long, "\n")
		for i, l := range lines {
			if len(l) > helpWidth && i+1 < len(lines) && lines[i+1] != "" {
				t.Errorf("%s: %q is longer than %d, and the line below it goes on", c.CommandPath(), l, helpWidth)
			}
		}
		for _, sub := range c.Commands() {
			if !sub.Hidden && sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	root := rootCommand(newWorld(os.Stdin, os.Stdout, os.Stderr))
	root.InitDefaultHelpFlag()
	visit(root)
}
