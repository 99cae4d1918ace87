package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Width returns how many cells s takes on a line, by grapheme cluster; escape sequences take none.
func Width(s string) int { return ansi.StringWidth(s) }

// Truncate returns s cut to width cells, its last one an ellipsis where something was cut. Escape sequences are kept.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, "…")
}

// Wrap returns s as lines of at most width cells, broken at spaces and hyphens, and inside words that are longer than a line.
// A character wider than width becomes a dot.
func Wrap(s string, width int) []string {
	lines := strings.Split(ansi.Wrap(s, max(width, 1), ""), "\n")
	for i, line := range lines {
		if width > 0 && ansi.StringWidth(line) > width {
			lines[i] = ansi.Truncate(line, width, "·")
		}
	}
	return lines
}
