package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

// A terminal is an emulator, and what should be on it.
type terminal struct {
	*vt.Emulator
	said []string // everything that went above
}

func (e terminal) line(y int) string {
	var b strings.Builder
	for x := 0; x < e.Width(); {
		c := e.CellAt(x, y)
		if c == nil || c.Width == 0 {
			b.WriteByte(' ')
			x++
			continue
		}
		b.WriteString(c.Content)
		x += c.Width
	}
	return strings.TrimRight(b.String(), " ")
}

// all is the scrollback and the screen, without the empty rows at the end.
func (e terminal) all() []string {
	var out []string
	for y := range e.ScrollbackLen() {
		var b strings.Builder
		for x := 0; x < e.Width(); x++ {
			if c := e.ScrollbackCellAt(x, y); c != nil {
				b.WriteString(c.Content)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	for y := range e.Height() {
		out = append(out, e.line(y))
	}
	return trimmed(out)
}

func trimmed(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

var words = []string{"", "a", "answer", "the answer grows", "\x1b[1mbold\x1b[m and not", "\x1b[38;2;1;2;3mcolour\x1b[m", "世界", "composer › ", "footer", "é", "e"}

func drawFrame(t *rapid.T, width, height int) Frame {
	line := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 3).Draw(t, "words"), " ")
	}).Filter(func(s string) bool { return widthOf(pen{}.cells(s)) <= width })
	f := Frame{
		Above: rapid.SliceOfN(line, 0, 2*height).Draw(t, "above"),
		Lines: rapid.SliceOfN(line, 1, height).Draw(t, "lines"),
	}
	if rapid.Bool().Draw(t, "caret") {
		f.Cursor = &Point{X: rapid.IntRange(0, width-1).Draw(t, "x"), Y: rapid.IntRange(0, len(f.Lines)-1).Draw(t, "y")}
	}
	return f
}

func bare(lines []string) []string {
	var out []string
	for _, l := range lines {
		var b strings.Builder
		for _, c := range (pen{}).cells(l) {
			if c.width > 0 {
				b.WriteString(c.seq)
			}
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	return out
}

// Whatever frames come, the terminal shows what went above, in order and once,
// and under it the live part of the last frame.
func TestTheTerminalShowsTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(30, 60).Draw(t, "width"), rapid.IntRange(2, 8).Draw(t, "height")
		e := terminal{Emulator: vt.NewEmulator(width, height)}
		p := newPainter(width, height)
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			f := drawFrame(t, width, height)
			e.said = append(e.said, bare(f.Above)...)
			_, _ = e.Write(p.paint(f))
			want := trimmed(append(slices.Clone(e.said), bare(f.Lines)...))
			if got := e.all(); !slices.Equal(got, want) {
				t.Fatalf("the terminal shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if f.Cursor == nil {
				continue
			}
			if got := e.CursorPosition(); got.X != f.Cursor.X {
				t.Fatalf("the caret is at %v, want column %d", got, f.Cursor.X)
			}
		}
	})
}

func TestOnlyWhatChangesIsWritten(t *testing.T) {
	p := newPainter(80, 24)
	p.synced = true
	answer := "  the quick brown fox jumps over the lazy dog"
	foot := []string{"", "› ", "claude · 12 tokens"}
	p.paint(Frame{Lines: append([]string{answer}, foot...), Cursor: &Point{2, 2}})
	for _, c := range []struct {
		name string
		f    Frame
		most int
	}{
		{"nothing", Frame{Lines: append([]string{answer}, foot...), Cursor: &Point{2, 2}}, 0},
		{"the caret", Frame{Lines: append([]string{answer}, foot...), Cursor: &Point{3, 2}}, 6},
		{"a word", Frame{Lines: append([]string{answer + " and"}, foot...), Cursor: &Point{2, 2}}, 45},
		{"a new line above composer and footer", Frame{Lines: append([]string{answer + " and", "  on"}, foot...), Cursor: &Point{2, 3}}, 55},
		{"a finished line goes above", Frame{Above: []string{answer + " and"}, Lines: append([]string{"  on"}, foot...), Cursor: &Point{2, 2}}, 30},
	} {
		if got := p.paint(c.f); len(got) > c.most {
			t.Errorf("%s: %d bytes, want at most %d: %q", c.name, len(got), c.most, got)
		}
	}
}

// A line that is not clean does no harm.
func TestTheLastNet(t *testing.T) {
	for _, bad := range []string{"\x1b]0;title\x07", "\x1b]52;c;eA==\x1b\\", "\x1b[2J", "\x1b[10;10H", "\x1bc", "\x1bP1$r\x1b\\", "\r", "\b", "\x07", "\u009b2J", "\x1b[?1049h", "\x1b"} {
		p := newPainter(40, 5)
		_ = p.paint(Frame{Lines: []string{""}})
		got := string(p.paint(Frame{Lines: []string{"a" + bad + "b"}, Above: []string{bad}}))
		if strings.Contains(strings.NewReplacer("\r\n", "", "\x1b[?2026", "").Replace(got), bad) && bad != "\x1b" && bad != "\r" {
			t.Errorf("%q came through: %q", bad, got)
		}
	}
}

func TestResize(t *testing.T) {
	e := terminal{Emulator: vt.NewEmulator(40, 6)}
	p := newPainter(40, 6)
	_, _ = e.Write(p.paint(Frame{Above: []string{"one", "two"}, Lines: []string{"live", "footer"}}))
	e.Resize(40, 4)
	p.resize(40, 4)
	_, _ = e.Write(p.paint(Frame{Lines: []string{"live", "footer"}}))
	if got, want := e.all(), []string{"one", "two", "live", "footer"}; !slices.Equal(got, want) {
		t.Errorf("after the resize %q, want %q", got, want)
	}
}

// A window that is dragged narrow and wide again before anything is drawn has its
// lines as they were: what stands above the live part is not taken for it.
func TestResizeThereAndBack(t *testing.T) {
	e := terminal{Emulator: vt.NewEmulator(80, 10)}
	p := newPainter(80, 10)
	p.reflows = true
	f := Frame{Lines: []string{strings.Repeat("x", 79), "footer"}, Cursor: &Point{0, 1}}
	_, _ = e.Write(p.paint(Frame{Above: []string{"one", "two", "three"}, Lines: f.Lines, Cursor: f.Cursor}))
	p.resize(40, 10)
	p.resize(20, 10)
	p.resize(80, 10)
	_, _ = e.Write(p.paint(f))
	if got, want := e.all(), []string{"one", "two", "three", f.Lines[0], "footer"}; !slices.Equal(got, want) {
		t.Errorf("after the drag %q, want %q", got, want)
	}
}

// A frame costs what changes in it: the baseline writes all of it.
func BenchmarkPaint(b *testing.B) {
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprintf("  \x1b[38;2;10;20;30mline %d\x1b[m of an answer that is being typed out while you watch it", i)
	}
	with := func(n int) Frame {
		out := slices.Clone(lines)
		out[36] = lines[36][:40+n%40]
		return Frame{Lines: out, Cursor: &Point{2, 38}}
	}
	b.Run("changes", func(b *testing.B) {
		p, n, bytes := newPainter(120, 40), 0, 0
		for b.Loop() {
			n++
			bytes += len(p.paint(with(n)))
		}
		b.ReportMetric(float64(bytes)/float64(n), "bytes/frame")
	})
	b.Run("everything", func(b *testing.B) {
		p, n, bytes := newPainter(120, 40), 0, 0
		for b.Loop() {
			n++
			p.lost = true
			bytes += len(p.paint(with(n)))
		}
		b.ReportMetric(float64(bytes)/float64(n), "bytes/frame")
	})
}
