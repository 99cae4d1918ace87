package transcript

import (
	"fmt"
	"strings"

	"agentx/tui/text"
)

// A Fold is what is shown on one line and can be had whole: a thought, or a call
// of a tool.
type Fold interface {
	head() string              // what it is, in a line
	body() string              // all of it, as it came from outside
	folded(m Model) string     // laid out on a line
	unfolded(m Model) []string // and whole
	weight() int               // bytes that it holds
}

const (
	maxFold    = 256 << 10 // bytes that are kept of a thought, an input, a result
	keptFolds  = 100
	keptWeight = 4 << 20 // bytes of all of them
)

// Line lays a fold out on one line.
func (m Model) Line(f Fold) string { return f.folded(m) }

// Unfolded lays all of a fold out.
func (m Model) Unfolded(f Fold) []string { return f.unfolded(m) }

// Fold returns the nth thought or call from the end, counted from 1. Only the
// newest are kept.
func (m Model) Fold(n int) (Fold, bool) {
	if n < 1 || n > len(m.folds) {
		return nil, false
	}
	return m.folds[len(m.folds)-n], true
}

// Whole returns what a fold is, in a line, and all that it holds. Neither is
// clean.
func Whole(f Fold) (title, body string) { return f.head(), f.body() }

// Result returns what the nth call from the end has led to.
func (m Model) Result(n int) (string, bool) {
	for i := len(m.folds) - 1; i >= 0 && n > 0; i-- {
		c, ok := m.folds[i].(call)
		if !ok || c.said == "" {
			continue
		}
		if n--; n == 0 {
			return c.said, true
		}
	}
	return "", false
}

// fold keeps f, and lets go of the oldest where there are too many or too much.
func (m Model) fold(f Fold) Model {
	kept := append(m.folds[:len(m.folds):len(m.folds)], f)
	m.weight += f.weight()
	for len(kept) > keptFolds || m.weight > keptWeight && len(kept) > 1 {
		m.weight -= kept[0].weight()
		kept = kept[1:]
	}
	m.folds = kept
	return m
}

// missing says what of so many bytes is not kept.
func missing(size, kept int) string {
	if over := size - kept; over > 0 {
		return "\n… " + bytesOf(over) + " more; /export writes all"
	}
	return ""
}

// bytesOf is a size for people.
func bytesOf(n int) string {
	switch {
	case n < 1000:
		return plural(n, "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// rows lays out what came from outside, beside the margin.
func (m Model) rows(s string) []string {
	rows := text.Wrap(expand(text.Clean(strings.TrimRight(s, "\n"))), m.inner())
	for i, row := range rows {
		if row != "" {
			rows[i] = margin + m.look.muted(row)
		}
	}
	return rows
}
