// Package storytest is a kit for the children of the screen: it plays stories on
// them, presses keys, and measures what they show. It knows no child.
package storytest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// A Stage does what an instruction says, and returns the picture that it makes:
// none where there is nothing to see yet.
type Stage func(verb, arg string) (picture string, err error)

// ErrUnknown is of an instruction that nobody knows.
var ErrUnknown = errors.New("unknown instruction")

// Test plays each file of testdata/stories on a new stage. A line is a comment
// (#), an instruction, or, behind two blanks, part of the picture that the
// instruction makes. With update set the pictures are written anew.
func Test(t *testing.T, update bool, begin func() Stage) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want), begin())
			if update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("the pictures have changed; got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func play(t *testing.T, story string, do Stage) string {
	var b strings.Builder
	for line := range strings.Lines(story) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		b.WriteString(line + "\n")
		verb, arg, _ := strings.Cut(line, " ")
		if verb == "" || verb == "#" {
			continue
		}
		picture, err := do(verb, arg)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		b.WriteString(picture)
	}
	return b.String()
}

// Line is a line of a picture so many columns wide, and what there is to say
// about it.
func Line(line string, width int, says string) string {
	return "  |" + line + strings.Repeat(" ", max(0, width-text.Width(line))) + "|" + says + "\n"
}

// A tester is a [testing.T] or a rapid.T.
type tester interface {
	Fatalf(format string, args ...any)
	Helper()
}

// Fits checks that a view can be shown in so many columns and lines, and that
// the caret, where there is one, is in it.
func Fits(t tester, view string, caret *tea.Cursor, width, height int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) > height {
		t.Fatalf("%d lines do not fit into %d", len(lines), height)
	}
	for _, line := range lines {
		if w := text.Width(line); w > width {
			t.Fatalf("%q takes %d columns of %d", line, w, width)
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("control character in %q", line)
		}
	}
	if c := caret; c != nil && (c.X < 0 || c.X >= width || c.Y < 0 || c.Y >= len(lines)) {
		t.Fatalf("the caret is at %d,%d of %d,%d", c.X, c.Y, width, len(lines))
	}
}
