package tui

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyNamed reads a key as people write it, Ctrl+K, C-k, ^K or alt-pageup, and
// returns it as tea.Key.Keystroke spells it; false is for what is no key.
func keyNamed(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "^"); ok && rest != "" {
		s = "ctrl+" + rest
	}
	held := map[string]bool{}
	for {
		i := strings.IndexAny(s, "+-")
		if i <= 0 || i == len(s)-1 {
			break
		}
		mod, ok := modifier(s[:i])
		if !ok {
			break
		}
		held[mod], s = true, s[i+1:]
	}
	base, ok := baseKey(s)
	if !ok {
		return "", false
	}
	var key strings.Builder
	for _, mod := range []string{"ctrl", "alt", "shift", "meta", "hyper", "super"} {
		if held[mod] {
			key.WriteString(mod + "+")
		}
	}
	return key.String() + base, true
}

func modifier(s string) (string, bool) {
	switch s = strings.ToLower(s); s {
	case "ctrl", "control", "c":
		return "ctrl", true
	case "alt", "option", "opt", "m":
		return "alt", true
	case "shift", "s":
		return "shift", true
	case "super", "cmd", "command", "win":
		return "super", true
	case "meta", "hyper":
		return s, true
	}
	return "", false
}

// baseKey is a key without what is held beside it.
func baseKey(s string) (string, bool) {
	if r, n := utf8.DecodeRuneInString(s); n > 0 && n == len(s) && unicode.IsGraphic(r) && r != ' ' {
		return strings.ToLower(s), true
	}
	s = strings.ToLower(s)
	switch s {
	case "enter", "tab", "space", "esc", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown":
		return s, true
	case "return", "ret", "cr":
		return "enter", true
	case "escape":
		return "esc", true
	case "pageup", "page_up":
		return "pgup", true
	case "pagedown", "page_down", "pgdn":
		return "pgdown", true
	case "del":
		return "delete", true
	case "ins":
		return "insert", true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(s, "f"))
	return s, strings.HasPrefix(s, "f") && err == nil && n >= 1 && n <= 63
}

// writesItself says whether a key writes a letter, so that nobody could write it
// any more if it did something else.
func writesItself(key string) bool {
	key = strings.TrimPrefix(key, "shift+")
	return utf8.RuneCountInString(key) == 1 || key == "space"
}
