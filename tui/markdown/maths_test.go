package markdown_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentx/tui/markdown"
	"agentx/tui/theme"
)

// Formulas are read as they were written, and money is no formula.
func TestMaths(t *testing.T) {
	for src, want := range map[string]string{
		`The sum $\sum_{i=1}^n a_i * b_i * c_i$ is *so*.`: `The sum $\sum_{i=1}^n a_i * b_i * c_i$ is so.`,
		"$$\n\\int_0^1 x^2\\,dx \\\\ = *a* \\{\n$$":       `$$ \int_0^1 x^2\,dx \\ = *a* \{ $$`,
		`So \(x^2\,dx\) and \[ \{a\} \].`:                 `So \(x^2\,dx\) and \[ \{a\} \].`,
		`From $5 to *$10*, or $5-$10.`:                    `From $5 to $10, or $5-$10.`,
		`A \*star\*, a \$ and $$ alone`:                   `A *star*, a $ and $$ alone`,
		`[a](https://example.com/a\)b)`:                   `a (https://example.com/a)b)`,
	} {
		got := strings.Join(markdown.Render(src, 200, theme.Plain()), "\n")
		if got := ansi.Strip(got); got != want {
			t.Errorf("%s\nlooks like %s\nwant       %s", src, got, want)
		}
	}
}
