package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

// picture is the rows of the screen that is shown.
func (e terminal) picture() []string {
	out := make([]string, e.Height())
	for y := range out {
		out[y] = e.line(y)
	}
	return trimmed(out)
}

// Whatever pictures come, scrolled, changed, of another size, the other screen
// shows the last one, and nothing of it ever gets into the scrollback.
func TestTheOtherScreenShowsTheFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(30, 60).Draw(t, "width"), rapid.IntRange(2, 16).Draw(t, "height")
		e := terminal{Emulator: vt.NewEmulator(width, height)}
		c := &canvas{painter: newPainter(width, height)}
		lines := drawFrame(t, width, height).Lines
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			switch by := rapid.IntRange(0, height).Draw(t, "by"); rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				lines = drawFrame(t, width, height).Lines
			case 1:
				lines = append(slices.Clone(lines[min(by, len(lines)):]), drawFrame(t, width, height).Lines...)
			case 2:
				lines = append(drawFrame(t, width, height).Lines, lines...)
			case 3:
				if height = max(2, height-by); rapid.Bool().Draw(t, "grows") {
					height += by + 3
				}
				e.Resize(width, height)
				c.painter.resize(width, height)
				c.shown = nil
			}
			f := Frame{Full: true, Lines: lines, Mouse: rapid.Bool().Draw(t, "mouse")}
			if rapid.Bool().Draw(t, "caret") {
				f.Cursor = &Point{X: rapid.IntRange(0, width-1).Draw(t, "x"), Y: rapid.IntRange(0, height-1).Draw(t, "y")}
			}
			_, _ = e.Write(c.paint(f))
			want := trimmed(bare(lines[:min(len(lines), height)]))
			if got := e.picture(); !slices.Equal(got, want) {
				t.Fatalf("the screen shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if got := e.CursorPosition(); f.Cursor != nil && (got.X != f.Cursor.X || got.Y != f.Cursor.Y) {
				t.Fatalf("the caret is at %v, want %v", got, *f.Cursor)
			}
			if b := c.paint(f); len(b) > 0 {
				t.Fatalf("the same picture again writes %q", b)
			}
		}
		_, _ = e.Write(c.leave())
		if n := e.ScrollbackLen(); n > 0 {
			t.Fatalf("%d rows are in the scrollback", n)
		}
	})
}

// Going to the other screen and back leaves the first as it was, and what was
// said meanwhile goes above, once.
func TestThereAndBack(t *testing.T) {
	e := terminal{Emulator: vt.NewEmulator(40, 8)}
	s := &Screen{painter: newPainter(40, 8)}
	s.canvas = &canvas{painter: s.painter}
	show := func(f Frame) {
		s.above = append(s.above, f.Above...)
		f.Above = nil
		_, _ = e.Write(s.render(f))
	}
	show(Frame{Above: []string{"one"}, Lines: []string{"live", "composer"}, Cursor: &Point{3, 1}})
	s.above = []string{"two"} // came with a frame that was skipped
	show(Frame{Full: true, Mouse: true, Lines: []string{"one", "two", "everything"}})
	if got, want := e.picture(), []string{"one", "two", "everything"}; !e.IsAltScreen() || !slices.Equal(got, want) {
		t.Errorf("full screen shows %q, want %q", got, want)
	}
	show(Frame{Above: []string{"three"}, Lines: []string{"composer"}, Cursor: &Point{0, 0}})
	if got, want := e.all(), []string{"one", "two", "three", "composer"}; e.IsAltScreen() || !slices.Equal(got, want) {
		t.Errorf("back there is %q, want %q", got, want)
	}
}

// A line more at the end of a full screen costs that line; the baseline writes
// the picture.
func BenchmarkScroll(b *testing.B) {
	page := func(n int) Frame {
		lines := make([]string, 40)
		for i := range 36 {
			lines[i] = fmt.Sprintf("  \x1b[38;2;10;20;30mline %d\x1b[m of an answer that goes on and on", n+i)
		}
		lines[38], lines[39] = "› ", "claude · 12 tokens"
		return Frame{Full: true, Lines: lines, Cursor: &Point{2, 38}}
	}
	for _, name := range []string{"a line", "everything"} {
		b.Run(name, func(b *testing.B) {
			c, n, bytes := &canvas{painter: newPainter(120, 40)}, 0, 0
			for b.Loop() {
				if name == "everything" {
					c.shown = nil
				}
				n++
				bytes += len(c.paint(page(n)))
			}
			b.ReportMetric(float64(bytes)/float64(n), "bytes/frame")
		})
	}
}
