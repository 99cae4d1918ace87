package sandbox

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName  = 4096 // bytes of a path
	maxDepth = 100  // folders in each other
	maxShown = 200  // characters of a path in an event or an error
)

// clean returns a path in the form in which it is used: with slashes, inside
// the work directory, "." for itself. Nothing is expanded. That it is inside as
// far as words go is no more than courtesy: what keeps it there is the Root.
func clean(name string) (string, error) {
	switch {
	case len(name) > maxName:
		return "", fmt.Errorf("%w: longer than %d bytes", ErrName, maxName)
	case !utf8.ValidString(name):
		return "", fmt.Errorf("%w: not UTF-8", ErrName)
	case strings.HasPrefix(name, "/"), filepath.IsAbs(name), filepath.VolumeName(name) != "":
		return "", fmt.Errorf("%w: paths begin in it, without a slash", ErrOutside)
	}
	p := path.Clean(name)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", ErrOutside
	}
	if strings.Count(p, "/") >= maxDepth {
		return "", fmt.Errorf("%w: more than %d folders deep", ErrName, maxDepth)
	}
	if _, err := filepath.Localize(p); err != nil {
		return "", fmt.Errorf("%w: not a name on this system", ErrName)
	}
	return p, nil
}

// shown is a path as events and errors say it: everything that a terminal would
// obey, that hides or that reorders text is made visible, and a long one is cut.
func shown(name string) string {
	if printable(name) && len(name) <= maxShown {
		return name
	}
	var b strings.Builder
	for n, i := 0, 0; i < len(name); n++ {
		if n == maxShown {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(name[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, name[i])
		case plain(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
		i += size
	}
	return b.String()
}

func printable(s string) bool {
	for _, r := range s {
		if !plain(r) {
			return false
		}
	}
	return utf8.ValidString(s)
}

// plain reports whether r can be seen, and moves nothing that stands around it.
func plain(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r < 0x7f
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // blank, but not a space
		return false
	case r >= 0xe0100 && r <= 0xe01ef: // selectors of variants, in which texts have been hidden
		return false
	}
	return unicode.IsPrint(r)
}

// harmless reports whether a name may be given to something new: one that a
// terminal would obey, or that reads other than it is, may not.
func harmless(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
	})
}
