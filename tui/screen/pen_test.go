package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

// An opinion is a terminal with an opinion of its own of how wide a rune is. It
// joins none but those that it takes for nothing, and wraps.
type opinion struct {
	width   int
	measure func(rune) int
	rows    [][]string // "" behind a wide one
	x, y    int
	wrapped bool
}

func (o *opinion) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if b[0] >= ' ' {
			r, size := utf8.DecodeRune(b)
			o.print(r)
			b = b[size:]
			continue
		}
		seq, _, size, _ := ansi.DecodeSequence(string(b), 0, nil)
		o.obey(seq)
		b = b[size:]
	}
	return n, nil
}

func (o *opinion) row() []string {
	for len(o.rows) <= o.y {
		o.rows = append(o.rows, make([]string, o.width))
	}
	return o.rows[o.y]
}

func (o *opinion) print(r rune) {
	n := o.measure(r)
	if n == 0 {
		o.row()[max(min(o.x, o.width)-1, 0)] += string(r)
		return
	}
	if o.x+n > o.width {
		o.x, o.y, o.wrapped = 0, o.y+1, true
	}
	row := o.row()
	row[o.x] = string(r)
	for i := o.x + 1; i < o.x+n; i++ {
		row[i] = ""
	}
	o.x += n
}

func (o *opinion) obey(seq string) {
	var n int
	_, _ = fmt.Sscanf(seq, "\x1b[%d", &n)
	switch n = max(n, 1); {
	case seq == "\r":
		o.x = 0
	case seq == "\n":
		o.y++
	case strings.HasSuffix(seq, "C"):
		o.x = min(o.x+n, o.width-1)
	case strings.HasSuffix(seq, "A"):
		o.y -= n
	case strings.HasSuffix(seq, "B"):
		o.y += n
	case strings.HasSuffix(seq, "L"):
		_ = o.row()
		o.rows = slices.Insert(o.rows, o.y, slices.Repeat([][]string{make([]string, o.width)}, n)...)
		for i := range n { // not one row for all
			o.rows[o.y+i] = make([]string, o.width)
		}
	case seq == "\x1b[K", seq == "\x1b[J":
		clear(o.row()[min(o.x, o.width):])
		if seq == "\x1b[J" {
			o.rows = o.rows[:o.y+1]
		}
	}
}

// difficult is text that no two terminals measure alike.
var difficult = []string{"👨\u200d👩\u200d👧", "👍🏽", "🇩🇪", "❤\ufe0f", "1\ufe0f\u20e3", "🪿", "नमस्ते", "น้ำ", "🏳\ufe0f\u200d🌈", "e\u0301", "世", "|", "ab", " ", "\x1b[7mz\x1b[m", "ᬓ᭄ᬱ"}

// However wide a terminal takes its characters for: what stands beside them
// stands where it was put, nothing is left of what was there before, no line goes
// over its end, and the caret is where it should be.
func TestEveryTerminalHasAnOpinion(t *testing.T) {
	for name, measure := range map[string]func(rune) int{
		"as xterm":           func(r rune) int { return ansi.StringWidthWc(string(r)) },
		"flags are twice 2":  func(r rune) int { return max(ansi.StringWidthWc(string(r)), letterOfFlag(r)) },
		"no goose was known": func(r rune) int { return ansi.StringWidthWc(strings.ReplaceAll(string(r), "🪿", "")) },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				o := &opinion{width: 24, measure: measure}
				p := newPainter(o.width, 6)
				line := rapid.Custom(func(t *rapid.T) string {
					return strings.Join(rapid.SliceOfN(rapid.SampledFrom(difficult), 0, 12).Draw(t, "pieces"), "")
				})
				above := 0
				for range rapid.IntRange(1, 5).Draw(t, "frames") {
					f := Frame{Lines: rapid.SliceOfN(line, 1, 4).Draw(t, "lines"), Cursor: &Point{X: 3, Y: 0}}
					if rapid.Bool().Draw(t, "more") {
						f.Above = rapid.SliceOfN(line.Filter(func(s string) bool { return widthOf(pen{}.cells(s)) <= 24 }), 1, 2).Draw(t, "above")
					}
					_, _ = o.Write(p.paint(f))
					for i, l := range append(f.Above, f.Lines...) {
						o.holds(t, above+i, l)
					}
					if above += len(f.Above); o.x != 3 || o.y != above {
						t.Fatalf("the caret is at %d, %d, want 3, %d", o.x, o.y, above)
					}
				}
			})
		})
	}
}

func letterOfFlag(r rune) int {
	if r >= 0x1f1e6 && r <= 0x1f1ff {
		return 2
	}
	return 0
}

// holds wants a row to show a line: what is plain of it where it belongs, what is
// difficult with its first part, and behind it nothing.
func (o *opinion) holds(t *rapid.T, y int, line string) {
	if o.wrapped {
		t.Fatalf("a line went over its end:\n%q", o.rows)
	}
	for len(o.rows) <= y {
		o.rows = append(o.rows, make([]string, o.width))
	}
	x := 0
	for _, c := range fit(pen{}.cells(line), o.width) {
		if c.width == 0 {
			continue
		}
		first, _ := utf8.DecodeRuneInString(c.seq)
		_, doubt := pen{}.doubtful(c)
		if got := o.rows[y][x]; !strings.HasPrefix(got, c.seq) && !(doubt && (strings.HasPrefix(got, string(first)) || o.measure(first) == 0)) {
			t.Fatalf("column %d of %q shows %q, want %q", x, line, got, c.seq)
		}
		x += c.width
	}
	if rest := strings.Trim(strings.Join(o.rows[y][x:], ""), " "); rest != "" {
		t.Fatalf("behind %q there is %q", line, rest)
	}
}

// A terminal that measures as readers do is trusted with an emoji, and is given
// no more than that.
func TestTrustedWithClusters(t *testing.T) {
	p := newPainter(40, 3)
	p.pen.clusters = true
	if got := string(p.paint(Frame{Lines: []string{"a👨\u200d👩\u200d👧b"}})); !strings.Contains(got, "a👨\u200d👩\u200d👧b") {
		t.Errorf("it was given %q", got)
	}
}

// Where a character set is small, everything keeps its place, and nothing else is
// written.
func TestSmallCharacterSets(t *testing.T) {
	if a, b := utf8.RuneCountInString(fairGlyphs), len(plainGlyphs); a != b {
		t.Fatalf("%d glyphs have %d that stand for them", a, b)
	}
	line := "› ● Grüße 世界 \x1b[1m│\x1b[m → č2J …"
	for _, c := range []struct {
		glyphs Glyphs
		want   string
	}{
		{AllGlyphs, "› ● Grüße 世界 \x1b[1m│\x1b[m → č2J …"},
		{FewGlyphs, "> * Grüße 世界 \x1b[1m│\x1b[m → č2J ~"},
		{ASCIIGlyphs, "> * Gr??e ???? \x1b[1m|\x1b[m > ?2J ~"},
	} {
		var b strings.Builder
		for _, c := range (pen{glyphs: c.glyphs}).cells(line) {
			b.WriteString(c.seq)
		}
		if b.String() != c.want {
			t.Errorf("%d: %q, want %q", c.glyphs, b.String(), c.want)
		}
	}
}

// Marks of direction end with the row, whoever forgot to; and go only to a
// terminal that does not show them.
func TestDirectionsEndWithTheRow(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"a\u2067b", "a\u2067b\u2069"},
		{"a\u2069b\u2066", "ab\u2066\u2069"},
		{"\u2068\u2067x\u2069", "\u2068\u2067x\u2069\u2069"},
		{"one \u2067two three", "one \u2067two \u2069"},
		{"a\u202eb", "ab"},
	} {
		for _, isolates := range []bool{true, false} {
			var got strings.Builder
			for _, c := range fit((pen{isolates: isolates}).cells(c.line), 8) {
				got.WriteString(c.seq)
			}
			want := c.want
			if !isolates {
				want = strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "").Replace(want)
			}
			if got.String() != want {
				t.Errorf("isolates %v: %+q, want %+q", isolates, got.String(), want)
			}
		}
	}
}
