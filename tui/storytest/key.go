package storytest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Keys reads a script: characters are typed, <ctrl+w> is a key.
func Keys(script string) []tea.KeyPressMsg {
	var out []tea.KeyPressMsg
	for script != "" {
		if name, rest, ok := strings.Cut(script[1:], ">"); script[0] == '<' && ok {
			out, script = append(out, Key(name)), rest
			continue
		}
		r, n := utf8.DecodeRuneInString(script)
		out, script = append(out, tea.KeyPressMsg{Code: r, Text: string(r)}), script[n:]
	}
	return out
}

// Key is the key of a name. What has no name but its own is a character.
func Key(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for _, m := range []struct {
		name string
		mod  tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, m.name); ok {
			name, k.Mod = rest, k.Mod|m.mod
		}
	}
	named := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	}
	if code, ok := named[name]; ok {
		k.Code = code
		return k
	}
	typed := k.Mod == 0
	switch name {
	case "space":
		name, typed = " ", true
	case "lt":
		name, typed = "<", true
	}
	k.Code, _ = utf8.DecodeRuneInString(name)
	if typed {
		k.Text = name
	}
	return k
}
