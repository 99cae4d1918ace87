package markdown_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentx/tui/markdown"
	"agentx/tui/theme"
)

// A formula is shown in letters where there are such for all of it, else as it was
// written; money is no formula, and brackets that were escaped are none.
func TestMaths(t *testing.T) {
	for src, want := range map[string]string{
		`The sum $\sum_{i=1}^n a_i * b_i * c_i$ is *so*.`:          `The sum ∑ᵢ₌₁ⁿ aᵢ * bᵢ * cᵢ is so.`,
		"$$\n\\int_0^1 x^2\\,dx \\\\ = *a* \\{\n$$":                "  ∫₀¹ x² dx\n  = *a* {",
		`So \(x^2\,dx\) and \[ \{a\} \].`:                          `So x² dx and {a}.`,
		`From $5 to *$10*, or $5-$10.`:                             `From $5 to $10, or $5-$10.`,
		`A \*star\*, a \$ and $$ alone`:                            `A *star*, a $ and $$ alone`,
		`[a](https://example.com/a\)b)`:                            `a (https://example.com/a)b)`,
		`\[link\](url) and \(see there\)`:                          `\[link\](url) and \(see there\)`,
		`$\frac{a+b}{2c}$, $\sqrt[3]{x+1}$ and $e^{-x^2}$`:         `(a+b)/2c, ∛(x+1) and e^(-x²)`,
		`$\frac{1}{2}mv^2$, $\frac12 \pi$ and $\frac{1}{2} \le x$`: `(1/2)mv², (1/2) π and 1/2 ≤ x`,
		`$x \in \mathbb{R}$, $\vec{v} \le \boxed{4}$`:              "x ∈ ℝ, v\u20d7 ≤ [4]",
		`$\unknown{x}$ and $\overline{AB}$`:                        `$\unknown{x}$ and $\overline{AB}$`,
		`$x_{max}$, $x_{i,j}$, $f'(x)$, $\lim_{n \to \infty} n$`:   `xₘₐₓ, x_(i,j), f′(x), lim_(n → ∞) n`,
		"So:\n\\[\na &= b \\\\[2pt]\nc &= d\n\\]\nand":             "So:\n\n  a = b\n  c = d\n\nand",
		"\\begin{align*}\na &= b \\\\\n&= c\n\\end{align*}":        "  a = b\n  = c",
		"$$\nf = \\begin{cases} 1 \\\\ 2 \\end{cases}\n$$":         "  f = \\begin{cases} 1 \\\\ 2 \\end{cases}",
		"$$ x = 1 $$,\nthen":                                       "  x = 1,\n\nthen",
		"$$\nnever ended":                                          "  $$\n  never ended",
		"- in a list\n  $$\n  x^2\n  $$\n- on":                     "• in a list\n    x²\n• on",
		`| a |` + "\n|---|\n" + `| $x_1 \le 2$ |`:                  " a\n────────\n x₁ ≤ 2",
	} {
		if got := looks(src); got != want {
			t.Errorf("%s\nlooks like %s\nwant       %s", src, got, want)
		}
	}
}

func looks(src string) string {
	return ansi.Strip(strings.Join(markdown.Render(src, 200, theme.Plain()), "\n"))
}

// What is copied as text can be set by TeX again.
func TestFormulasAreCopiedAsTheyWereWritten(t *testing.T) {
	src := "So $x^2$ is\n\n$$\n\\frac{a}{b}\n$$"
	if got := markdown.Text(src); strings.TrimSpace(got) != src {
		t.Errorf("got %q, want %q", got, src)
	}
}

// Tags that say how prose looks are not shown themselves; all others are.
func TestTags(t *testing.T) {
	for src, want := range map[string]string{
		`Press <kbd>Ctrl</kbd>+<kbd>C</kbd>`:                                   "Press `Ctrl`+`C`",
		`H<sub>2</sub>O, x<sup>n+1</sup>, y<sup>Q</sup>`:                       `H₂O, xⁿ⁺¹, y^Q`,
		`<b>bold</b> <em>em</em> <u>under</u> <B>B</B>`:                        `bold em under B`,
		`<a href="https://example.com/x">there</a>, <a>b`:                      `there (https://example.com/x), b`,
		`<a href='https://example.com'>never ended`:                            `never ended (https://example.com)`,
		`<span style="color: red">red</span> <u>under</u>`:                     `<span style="color: red">red</span> under`,
		`one<br>two<br/>three`:                                                 "one\ntwo\nthree",
		`a Vec<T> and <input> and <!-- this -->`:                               `a Vec<T> and <input> and <!-- this -->`,
		`</b></sup></a>nothing ends`:                                           `nothing ends`,
		"<details>\n<summary>More <b>here</b></summary>\n\n*it*\n\n</details>": "More here\n\nit",
	} {
		if got := looks(src); got != want {
			t.Errorf("%s\nlooks like %s\nwant       %s", src, got, want)
		}
	}
}

// While prose grows letter by letter, no tag flashes up that will not be shown.
func TestTagsThatGrow(t *testing.T) {
	d := markdown.New(100, theme.Dark())
	for _, r := range `Press <kbd>K</kbd> or H<sub>2</sub>O, <a href="https://example.com/a">there</a>, if a < b` {
		d.Append(string(r))
		for _, line := range d.Tail(9) {
			if s := ansi.Strip(line); strings.ContainsAny(strings.ReplaceAll(s, "a < b", ""), "/=") && !strings.Contains(s, "(https://example.com/a)") || strings.Contains(s, "<k") {
				t.Errorf("half a tag is shown: %s", s)
			}
		}
	}
	d.Close()
	if got, want := ansi.Strip(strings.Join(d.Take(), "\n")), "Press K or H₂O, there (https://example.com/a), if a < b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Footnotes stand on lines of their own, as do the parts of a list of definitions
// and the label of a quote that has one.
func TestNotes(t *testing.T) {
	for src, want := range map[string]string{
		"So[^1] and[^note].\n\n[^1]: The *first*.\n[^note]: https://example.com/x": "So¹ and[^note].\n\n¹ The first.\n[^note] https://example.com/x",
		"A class is `[^1]` or [^abc] or [^0-9].":                                   "A class is `[^1]` or [^abc] or [^0-9].",
		"Term\n: one\n: two":                                                       "Term\n: one\n: two",
		"> [!NOTE]\n> Mind *this*.":                                                "│ Note\n│ Mind this.",
		"> [!WARNING]\n>\n> Mind.":                                                 "│ Warning\n│\n│ Mind.",
		"> [!strange] thing":                                                       "│ [!strange] thing",
	} {
		if got := looks(src); got != want {
			t.Errorf("%s\nlooks like %s\nwant       %s", src, got, want)
		}
	}
}
