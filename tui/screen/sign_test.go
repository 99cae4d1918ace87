package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

// Wherever marks stand between the lines, they are told in the first column of
// the line that follows them, and the terminal shows what it would show without.
func TestMarksShowNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(30, 60).Draw(t, "width"), rapid.IntRange(2, 8).Draw(t, "height")
		with, without := terminal{Emulator: vt.NewEmulator(width, height)}, terminal{Emulator: vt.NewEmulator(width, height)}
		var got, want []string
		with.RegisterOscHandler(133, func(data []byte) bool {
			at := with.CursorPosition()
			got = append(got, fmt.Sprintf("%s in column %d of line %d", data, at.X, with.ScrollbackLen()+at.Y))
			return true
		})
		p, q := newPainter(width, height), newPainter(width, height)
		printed := 0
		for range rapid.IntRange(1, 6).Draw(t, "frames") {
			f := drawFrame(t, width, height)
			marked := Frame{Lines: f.Lines, Cursor: f.Cursor}
			for _, line := range append(slices.Clone(f.Above), "") {
				if mark := rapid.SampledFrom([]string{"", PromptMark, AnswerMark, EndMark}).Draw(t, "mark"); mark != "" {
					marked.Above = append(marked.Above, mark)
					want = append(want, fmt.Sprintf("%s in column 0 of line %d", strings.Trim(mark, "\x1b]\\"), printed))
				}
				marked.Above = append(marked.Above, line)
				printed++
			}
			f.Above = append(f.Above, "")
			_, _ = with.Write(p.paint(marked))
			_, _ = without.Write(q.paint(f))
			if got, want := with.all(), without.all(); !slices.Equal(got, want) {
				t.Fatalf("with marks the terminal shows\n%s\nwithout\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("the marks are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// Nothing but a mark of ours gets through as one.
func TestMarksAreOurs(t *testing.T) {
	for _, line := range []string{"\x1b]133;A\x07", "\x1b]133;B\x1b\\", PromptMark + "text", "text" + PromptMark, PromptMark + AnswerMark, "\x1b]2;title\x1b\\"} {
		p := newPainter(40, 10)
		if got := string(p.paint(Frame{Above: []string{line}, Lines: []string{"x"}})); strings.Contains(got, "]133") || strings.Contains(got, "]2;") {
			t.Errorf("%q is written as %q", line, got)
		}
	}
}

// Of what lasts a slow terminal is told the newest, of what is done once not more
// than it can bear; and when it comes back, what lasts once more.
func TestSigns(t *testing.T) {
	var s signs
	for n := range 100 {
		s.tell(Title, fmt.Sprintf("<title %d>", n))
		s.tell(Once, "<bell>")
	}
	s.tell(Progress, "<works>")
	if got, want := string(s.take()), "<title 99><works>"+strings.Repeat("<bell>", maxOnce); got != want {
		t.Errorf("it is told %q, want %q", got, want)
	}
	if got := string(s.take()); got != "" {
		t.Errorf("it is told again %q", got)
	}
	s.again()
	if got, want := string(s.take()), "<title 99><works>"; got != want {
		t.Errorf("back again it is told %q, want %q", got, want)
	}
}
