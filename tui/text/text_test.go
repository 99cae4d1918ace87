package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"agentx/tui/text"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"prose stays", "Grüße, 世界!\n\tnaïve", "Grüße, 世界!\n\tnaïve"},
		{"a window title", "\x1b]0;owned\x07", "␛]0;owned␇"},
		{"the clipboard, in one byte", "\u009d52;c;eA==\u009c", `\x9d52;c;eA==\x9c`},
		{"C1 as a raw byte", "a\x9b2J", "a\ufffd2J"},
		{"overwriting a line", "rm -rf /\rls", "rm -rf /␍ls"},
		{"a text from Windows", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"NUL, backspace, delete", "a\x00b\bc\x7f", "a␀b␈c␡"},
		{"a reversed file name", "invoice\u202efdp.exe", "invoice<U+202E>fdp.exe"},
		{"isolates and marks", "\u2066a\u2069\u200e", "<U+2066>a<U+2069><U+200E>"},
		{"zero width", "pass\u200bword\ufeff", "pass<U+200B>word<U+FEFF>"},
		{"a word in tags", "hi\U000e0041\U000e0042", "hi<U+E0041><U+E0042>"},
		{"bytes in variation selectors", "a\ufe00\U000e0101", "a<U+FE00><U+E0101>"},
		{"bytes behind an emoji", "😀\ufe0f\ufe0f", "😀\ufe0f<U+FE0F>"},
		{"a family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"a heart, a keycap, a tone", "❤\ufe0f 1\ufe0f\u20e3 👍🏽", "❤\ufe0f 1\ufe0f\u20e3 👍🏽"},
		{"Persian with its joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"a joiner between letters", "a\u200db", "a<U+200D>b"},
		{"line separators", "a\u2028b\u2029", "a<U+2028>b<U+2029>"},
		{"a tower of marks", "a" + strings.Repeat("\u0301", 40) + "b", "a" + strings.Repeat("\u0301", 8) + "b"},
		{"broken UTF-8", "a\xffb\xe4\xb8", "a\ufffdb\ufffd\ufffd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text.Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

// Prose may say in which direction it runs, and no more; what is code, a name or
// a question to the user may not.
func TestProse(t *testing.T) {
	for _, c := range []struct{ in, prose, clean string }{
		{"a \u2067b\u2069 \u200ec", "a \u2067b\u2069 \u200ec", "a <U+2067>b<U+2069> <U+200E>c"},
		{"a \u202eb\u202c", "a <U+202E>b<U+202C>", "a <U+202E>b<U+202C>"},
		{"a\u200bb\x1b[2J\u2028", "a<U+200B>b␛[2J<U+2028>", "a<U+200B>b␛[2J<U+2028>"},
		{"e\u2066" + strings.Repeat("\u0301", 9), "e\u2066" + strings.Repeat("\u0301", 8), "e<U+2066>" + strings.Repeat("\u0301", 8)},
	} {
		if got := text.Prose(c.in); got != c.prose || text.Prose(got) != got {
			t.Errorf("Prose(%+q) = %+q, want %+q", c.in, got, c.prose)
		}
		if got := text.Clean(c.in); got != c.clean {
			t.Errorf("Clean(%+q) = %+q, want %+q", c.in, got, c.clean)
		}
	}
}

// What runs from right to left keeps to itself; everything else is left alone.
func TestIsolate(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"שלום", "\u2068שלום\u2069"},
		{"see مرحبا there", "\u2068see مرحبا there\u2069"},
		{"a\u2067b", "\u2068a\u2067b\u2069"},
		{"世界, Grüße 👩\u200d👧", "世界, Grüße 👩\u200d👧"},
		{"", ""},
	} {
		got := text.Isolate(c.in)
		if got != c.want || text.Width(got) != text.Width(c.in) {
			t.Errorf("Isolate(%q) = %+q, want %+q", c.in, got, c.want)
		}
		if back, want := text.Undirected(got), strings.ReplaceAll(c.in, "\u2067", ""); back != want {
			t.Errorf("Undirected(%+q) = %+q, want %+q", got, back, want)
		}
	}
}

// A character takes as many cells as nearly all terminals give it.
func TestWidths(t *testing.T) {
	for want, all := range [][]string{
		{"\u200d", "\u2068", "\ufe0f", "\x1b[1;31m", "\x1b]8;;https://example.com\x07"},
		{"a", "e\u0301", "é", "☺", "→", "❤\ufe0e", "שָׁ", "ก้"},
		{"世", "👍", "👍🏽", "👨\u200d👩\u200d👧", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3", "น้ำ", "क्ष", "का", "한", "\u1112\u1161\u11ab", "🏳\ufe0f\u200d🌈"},
		{"ᬓ᭄ᬱ", "क्षि"},
	} {
		for _, s := range all {
			if piece, cells := text.Next(s + "x"); piece != s || cells != want {
				t.Errorf("%+q begins with %+q of %d cells, want %d", s, piece, cells, want)
			}
		}
	}
}

func TestCut(t *testing.T) {
	styled := "\x1b[1mab世\x1b[mcd"
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{0, 99, styled}, {0, 2, "\x1b[1mab\x1b[m"}, {0, 3, "\x1b[1mab\x1b[m"}, {3, 6, "\x1b[1m\x1b[mcd"}, {2, 4, "\x1b[1m世\x1b[m"},
	} {
		if got := text.Cut(styled, c.from, c.to); got != c.want {
			t.Errorf("Cut(%d, %d) = %q, want %q", c.from, c.to, got, c.want)
		}
	}
	if got, want := text.Break("a世b  c", 3, 2), []string{"a世", "b ", " c"}; !slices.Equal(got, want) {
		t.Errorf("Break = %q, want %q", got, want)
	}
}

func TestCleanTextCostsNothing(t *testing.T) {
	s := strings.Repeat("Ein Satz mit Umlauten: äöü, 世界, 👨\u200d👩\u200d👧.\n", 50)
	if n := testing.AllocsPerRun(100, func() { text.Clean(s) }); n != 0 {
		t.Errorf("Clean of clean text allocates %v times, want 0", n)
	}
}

func TestLine(t *testing.T) {
	if got, want := text.Line("one\ntwo\tthree\x1b[2J"), "one two three␛[2J"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"a longer line", 8, "a longe…"},
		{"世界世界", 5, "世界…"},
		{"👨\u200d👩\u200d👧 family", 4, "👨\u200d👩\u200d👧 …"},
		{"x", 0, ""},
	} {
		if got := text.Truncate(c.in, c.width); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

// hostile draws text in which what matters is common.
func hostile() *rapid.Generator[string] {
	pieces := []string{"a", "word ", "      ", "\n", "\r", "\t", "\x1b", "\x1b]52;c;", "\x07", "\u009b", "\x9b", "\xff", "\xe4", "\xb8\x96", "世", "é", "\u0301",
		"\u200d", "\u200c", "\ufe0f", "👩", "🏽", "\u202e", "\u2066", "\u200b", "\U000e0041", "1", "\u20e3", "م", "\x00", "\x7f"}
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
	})
}

func TestPiecesAreCleanedLikeTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "text")
		var c text.Cleaner
		var b strings.Builder
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			b.WriteString(c.Feed(rest[:n]))
			rest = rest[n:]
		}
		b.WriteString(c.Flush())
		if got, want := b.String(), text.Clean(s); got != want {
			t.Fatalf("in pieces %q, whole %q", got, want)
		}
	})
}

func TestWrapKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, width := text.Clean(hostile().Draw(t, "text")), rapid.IntRange(1, 30).Draw(t, "width")
		for _, line := range text.Wrap(strings.ReplaceAll(s, "\t", " "), width) {
			if w := text.Width(line); w > width {
				t.Fatalf("%q takes %d cells of %d", line, w, width)
			}
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "\x1b]0;x\x07", "\u009b2J", "a\u202e", "\xe4\xb8", "👩\u200d🏽", "\r\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := text.Clean(s)
		if twice := text.Clean(once); twice != once {
			t.Errorf("Clean(%q) = %q, cleaned again %q", s, once, twice)
		}
		if !utf8.ValidString(once) {
			t.Errorf("Clean(%q) = %q is not UTF-8", s, once)
		}
		for _, r := range once {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Errorf("Clean(%q) = %q has control %U", s, once, r)
			}
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for name, s := range map[string]string{
		"ascii": strings.Repeat("the quick brown fox jumps\n", 40),
		"cjk":   strings.Repeat("世界,你好。\n", 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				text.Clean(s)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		name, in string
		width    int
		want     []string
	}{
		{"at spaces", "the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"a word that just fits", "the quick", 9, []string{"the quick"}},
		{"newlines stay", "one\n\ntwo ", 10, []string{"one", "", "two"}},
		{"a long word", "abcdefghij kl", 4, []string{"abcd", "efgh", "ij", "kl"}},
		{"after a hyphen", "a lock-free list", 8, []string{"a lock-", "free", "list"}},
		{"not in a flag or a range", "run --verbose 10-20", 10, []string{"run", "--verbose", "10-20"}},
		{"Japanese goes on after Latin", "in 日本語です。 次", 9, []string{"in 日本語", "です。 次"}},
		{"no stop at the beginning of a line", "東京です。", 8, []string{"東京で", "す。"}},
		{"a family is one character", "👩\u200d👩\u200d👧👩\u200d👩\u200d👧", 3, []string{"👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"}},
		{"marks stay with their letter", "e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"too wide for the screen", "a世b", 1, []string{"a", "·", "b"}},
		{"styles take no room", "\x1b[1mbold\x1b[m word", 9, []string{"\x1b[1mbold\x1b[m word"}},
		{"a link takes no room", "\x1b]8;;http://example.com\x07go\x1b]8;;\x07 on", 5, []string{"\x1b]8;;http://example.com\x07go\x1b]8;;\x07 on"}},
		{"an indent stays", "  two words", 6, []string{"  two", "words"}},
		{"an indent that is wider than the screen", "      two words", 5, []string{"", "two", "words"}},
		{"nothing", "", 5, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text.Wrap(c.in, c.width); !slices.Equal(got, c.want) {
				t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
			}
		})
	}
}

// Nothing is lost in wrapping but the spaces at which lines were broken.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, width := text.Clean(hostile().Draw(t, "text")), rapid.IntRange(2, 30).Draw(t, "width")
		bare := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if got := bare(strings.Join(text.Wrap(s, width), "")); got != bare(s) {
			t.Fatalf("%q wrapped is %q", s, got)
		}
	})
}

// What others have said is told as a sentence; the names of programs and providers
// are written as they are.
func TestSentence(t *testing.T) {
	for s, want := range map[string]string{
		"the disk is full":               "The disk is full.",
		"The disk is full.\n":            "The disk is full.",
		"openai: the key is not known":   "openai: the key is not known.",
		"ärger":                          "Ärger.",
		"api.openai.com cannot be found": "api.openai.com cannot be found.",
		" ":                              "",
	} {
		if got := text.Sentence(s); got != want {
			t.Errorf("Sentence(%q) = %q, want %q", s, got, want)
		}
	}
}
