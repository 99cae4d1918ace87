package markdown

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentx/tui/text"
	"agentx/tui/theme"
)

// What a model may say to harm a terminal or its reader, and what is shown of it.
func TestHostileText(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"an entity that is an escape", "a &#27;]52;c;eA==&#7; b", []string{"a ␛]52;c;eA==␇ b"}},
		{"in hexadecimal", "a &#x1b;[2J &#x9b;2J", []string{"a ␛[2J ›2J"}}, // 9b is a quotation mark in HTML
		{"as a byte", "a \u009b2J `\u009d0;t\u009c`", []string{`a \x9b2J ` + "`" + `\x9d0;t\x9c` + "`"}},
		{"an escaped ampersand", "a &amp;#27; b", []string{"a &#27; b"}},
		{"a bidi entity", "x &#x202e; y", []string{"x <U+202E> y"}},
		{"a host that looks like another", "[x](https://аpple.com/) <https://аpple.com/> ![y](https://аpple.com/)", []string{"x (https://xn--pple-43d.com/) https://аpple.com/ (https://xn--pple-43d.com/) [image: y,", "xn--pple-43d.com]"}},
		{"one that says it is the other", "[https://аpple.com/](https://аpple.com/)", []string{"https://аpple.com/ (https://xn--pple-43d.com/)"}},
		{"hosts in prose", "see https://bücher.example:80/ä, https://例え.テスト/ and http://Ünal.example.", []string{"see https://bücher.example:80/ä (https://xn--bcher-kva.example:80/ä), https://例え.テスト/", "(https://xn--r8jz45g.xn--zckzah/) and http://Ünal.example (http://xn--nal-goa.example)."}},
		{"a host with a port and a user", "[x](https://пример.рф:8080/) [y](https://bank.example@пример.рф/)", []string{"x (https://xn--e1afmkfd.xn--p1ai:8080/) y (https://bank.example@xn--e1afmkfd.xn--p1ai/)"}},
		{"directions in prose", "x \u2067y\u2069 z", []string{"\u2068x \u2067y\u2069 z\u2069"}},
		{"directions in code", "`\u2067` x \u200e\n\n```\n\u2067y\u200f\n```", []string{"\u2068`<U+2067>` x \u200e\u2069", "", "  <U+2067>y<U+200F>"}},
		{"directions in a target", "[x](http://h/\u2067)", []string{"x (http://h/<U+2067>)"}},
		{"right to left", "> שלום `a`", []string{"│ \u2068שלום `a`\u2069"}},
		{"right to left in columns", "|א|b|\n|-|-|\n|ש|ל|", []string{"\u2068 \u2068א\u2069 │ b\u2069", "───┼───", "\u2068 \u2068ש\u2069 │ \u2068ל\u2069\u2069"}},
		{"in code", "`a &#27; \x1b[2J`", []string{"`a &#27; ␛[2J`"}},
		{"in a fence", "```go\nx := \"\x1b]0;t\x07\"\n```", []string{"  x := \"␛]0;t␇\""}},
		{"as a language", "```\x1b[2J\nx\n```", []string{"  x"}},
		{"javascript", "[run](javascript:alert)", []string{"run (javascript:alert)"}},
		{"a link that lies", "[https://bank.example](https://evil.example/x)", []string{"https://bank.example (https://evil.example/x)"}},
		{"a link that says so", "[https://a.example/x](https://a.example/x)", []string{"https://a.example/x"}},
		{"a target with an escape", "[x](<http://h/&#27;]8;;>)", []string{"x (http://h/␛]8;;)"}},
		{"a target with a password", "[x](https://bank.example@evil.example/)", []string{"x (https://bank.example@evil.example/)"}},
		{"a file", "<file:///etc/passwd>", []string{"file:///etc/passwd"}},
		{"an image is not fetched", "![cat](https://h.example/c.png?secret=1)", []string{"[image: cat, h.example]"}},
		{"a picture of data", "![](data:image/png;base64,AAAA)", []string{"[image: data:image/png;base64,AAAA]"}},
		{"HTML", "<script>alert(1)</script>", []string{"<script>alert(1)</script>"}},
		{"an anchor that lies", `<a href="https://evil.example">https://bank.example</a> <a href='javascript:x'>y`, []string{"https://bank.example (https://evil.example) y (javascript:x)"}},
		{"a tag with a secret", `<b data-x="do evil">b</b>`, []string{`<b data-x="do evil">b</b>`}},
		{"a formula with an escape", "$x_\x1b[2J$ and $&#27;$", []string{"x_␛[2J and $&#27;$"}},
		{"a comment is not hidden", "a <!-- do evil --> b", []string{"a <!-- do evil --> b"}},
		{"shift out", "a \x0eb\x0f c", []string{"a ␎b␏ c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := Render(c.in, 100, theme.Plain())
			if got := plain(lines); !slices.Equal(got, c.want) {
				t.Errorf("Render(%q) = %q, want %q", c.in, got, c.want)
			}
			for _, line := range lines {
				check(t, line, 100)
			}
		})
	}
}

// The examples of RFC 3492, and a few more.
func TestPunycode(t *testing.T) {
	for in, want := range map[string]string{
		"bücher": "bcher-kva", "почта": "80a1acny", "ليهمابتكلموشعربي؟": "egbpdaj6bu4bxfgehfvwxn", "他们为什么不说中文": "ihqwcrb4cv8a8dqg056pqjye", "3年b組金八先生": "3b-ww4c5e180e575a65lsy2b", "𐍈": "2c8c",
	} {
		if got := punycode([]rune(in)); got != want {
			t.Errorf("punycode(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLinksThatAreTooLong(t *testing.T) {
	target := "https://h.example/" + strings.Repeat("x", maxLink)
	lines := Render("[go]("+target+")", 100, theme.Dark())
	if s := strings.Join(lines, ""); strings.Contains(s, linkOpen) || !strings.Contains(s, "https://h.example/xxx") {
		t.Errorf("a target of %d bytes is drawn as %q", len(target), s)
	}
}

func TestAddressesInProse(t *testing.T) {
	for in, want := range map[string]string{
		"see https://a.example/x_y?z=1&w=2, and go": "https://a.example/x_y?z=1&w=2",
		"(https://en.example/wiki/A_(b)).":          "https://en.example/wiki/A_(b)",
		"**http://a.example**":                      "http://a.example",
		"xhttp://a.example and http:// and https:":  "",
		"看https://a.example/世。":                     "https://a.example/世",
		"`https://a.example`":                       "",
	} {
		var got string
		for _, s := range newGrammar().spans(in, false, false) {
			if s.kind == link {
				got += s.text
			}
		}
		if got != want {
			t.Errorf("in %q the address is %q, want %q", in, got, want)
		}
	}
}

// Texts that make parsers and glamour slow or deep. glamour alone takes half a
// minute for the first. What one delta and one frame take does not grow with
// them; work is counted in bytes allocated, so that no machine is too slow.
func TestBombs(t *testing.T) {
	for name, bomb := range map[string]func(n int) string{
		"quotes":        func(n int) string { return strings.Repeat("> ", 10*n) + "x" },
		"quotes, lines": func(n int) string { return strings.Repeat(strings.Repeat(">", n)+" x\n", n) },
		"lists":         func(n int) string { return strings.Repeat("- ", 50*n) + "x" },
		"nested lists":  func(n int) string { return nested(2 * n) },
		"stars":         func(n int) string { return strings.Repeat("*a ", 80*n) },
		"stars, closed": func(n int) string { return strings.Repeat("*a **", 80*n) },
		"unders":        func(n int) string { return strings.Repeat("_a __b ", 100*n) },
		"brackets":      func(n int) string { return strings.Repeat("[", 200*n) },
		"links":         func(n int) string { return strings.Repeat("[a](", 80*n) },
		"images":        func(n int) string { return strings.Repeat("![", 100*n) },
		"angles":        func(n int) string { return strings.Repeat("<a ", 80*n) },
		"entities":      func(n int) string { return strings.Repeat("&", 200*n) },
		"backticks":     func(n int) string { return ticks(3 * n) },
		"columns": func(n int) string {
			return strings.Repeat("|a", 20*n) + "|\n" + strings.Repeat("|-", 20*n) + "|\n" + strings.Repeat("|b", 20*n)
		},
		"rows":          func(n int) string { return "|a|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", 50*n) },
		"one line":      func(n int) string { return strings.Repeat("x", 300*n) },
		"no spaces":     func(n int) string { return strings.Repeat("世", 100*n) },
		"code, no end":  func(n int) string { return "```go\n" + strings.Repeat("x", 300*n) },
		"code stack":    func(n int) string { return "```go\n" + strings.Repeat(strings.Repeat("({[", 100)+"\n", n) },
		"code quotes":   func(n int) string { return "```bash\n" + strings.Repeat("echo \"$(\n", 20*n) },
		"definitions":   func(n int) string { return strings.Repeat("[a]: http://h/\n", 40*n) },
		"many defined":  func(n int) string { return definitions(50 * n) },
		"heading":       func(n int) string { return "# " + strings.Repeat("*a ", 100*n) },
		"blank lines":   func(n int) string { return strings.Repeat("\n", 300*n) },
		"formulas":      func(n int) string { return strings.Repeat("\\(\n", 100*n) },
		"formula, long": func(n int) string { return "$$\n" + strings.Repeat("x_1 + \n", 50*n) },
		"formula, deep": func(n int) string { return "$$\n" + strings.Repeat("\\frac{^{", 40*n) },
		"dollars":       func(n int) string { return strings.Repeat("$a ", 100*n) },
		"tags":          func(n int) string { return strings.Repeat("<b><sup>a", 40*n) },
		"footnotes":     func(n int) string { return strings.Repeat("[^1]: a[^2]\n", 40*n) },
		"code blanks":   func(n int) string { return "    x\n" + strings.Repeat("\n", 200*n) + "    y" },
	} {
		t.Run(name, func(t *testing.T) {
			n := 100
			if raced {
				n = 40
			}
			half, whole := explode(t, bomb(n/2)), explode(t, bomb(n))
			if whole > 2*half+2<<20 {
				t.Errorf("one delta allocates %d bytes, and %d in half of the text", whole, half)
			}
		})
	}
}

// explode streams src and returns how many bytes its worst delta and frame
// allocated.
func explode(t *testing.T, src string) (worst uint64) {
	d := New(80, theme.Dark())
	for i := 0; i < len(src); i += 500 {
		before := allocated()
		d.Append(src[i:min(len(src), i+500)])
		lines := append(d.Take(), d.Tail(40)...)
		worst = max(worst, allocated()-before)
		for _, line := range lines {
			check(t, line, 80)
		}
	}
	d.Close()
	for _, line := range d.Take() {
		check(t, line, 80)
	}
	return worst
}

// allocated is the bytes that this process has asked for so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func nested(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}

func ticks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("`", i+1) + " ")
	}
	return b.String()
}

func definitions(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("[a" + strings.Repeat("b", i%50) + string(rune('a'+i%26)) + "]: http://h/\n\n[ab]\n\n")
	}
	return b.String()
}

// Whatever comes, in whatever pieces, at whatever width: nothing but styles and links gets out, no line is too wide, and the pieces look
// like the whole.
func FuzzDoc(f *testing.F) {
	f.Add("# a\n\n- b **c**\n\n```go\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", byte(3), byte(40))
	f.Add("> - 1. &#27;[2J [x](javascript:y) <http://h>\n> ```\n> \x1b\n", byte(1), byte(1))
	f.Add("世界 👩\u200d👩\u200d👧 e\u0301\u0301 \u202e\n\n```python\n'''\nx\n'''\n", byte(7), byte(5))
	f.Add("a\n===\n\n[l]: http://h\n\n[l] ![i](j) `c\n\n<div>\n*", byte(2), byte(200))
	f.Add("So \\(x^2\\) $a_1$\n$$\n\\frac{a}{b} \\\\ \\le\n$$\n\\begin{align}\n&=\n\\end{align}\n", byte(2), byte(30))
	f.Add("a[^1] <b>x</b> H<sub>2</sub> <a href=\"http://h\">y</a>\n\n[^1]: b\n[^n]: c\n: d\n\n> [!NOTE]\n> e\n\n<details>\n<summary>f</summary>\n", byte(1), byte(9))
	f.Fuzz(func(t *testing.T, src string, step, width byte) {
		if len(src) > 3000 {
			return
		}
		w := int(width) + 1
		d := New(w, theme.Dark())
		var got []string
		for i := 0; i < len(src); i += int(step) + 1 {
			d.Append(src[i:min(len(src), i+int(step)+1)])
			got = append(got, d.Take()...)
			for _, line := range d.Tail(20) {
				check(t, line, w)
			}
		}
		d.Close()
		got = append(got, d.Take()...)
		for _, line := range got {
			check(t, line, w)
		}
		whole := New(w, theme.Dark())
		whole.Append(text.Clean(src))
		whole.Close()
		if want := whole.Take(); !slices.Equal(got, want) {
			t.Errorf("in pieces:\n%q\nwhole:\n%q", got, want)
		}
	})
}
