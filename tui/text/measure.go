package text

import (
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
