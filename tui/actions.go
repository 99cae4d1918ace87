package tui

import (
	"fmt"
	"slices"
	"strings"

	"agentx/tui/composer"

	tea "charm.land/bubbletea/v2"
)

// An action is something that the user can do, under all its names.
type action struct {
	name  string   // in the configuration
	help  string   // what it does
	slash string   // word, without the slash
	args  string   // what may stand behind the word
	keys  []string // as tea.Key.Keystroke spells them
	empty bool     // its keys count only while the composer is empty
	full  bool     // its keys count only on the full screen
	do    func(Model, string) (Model, tea.Cmd)
}

// actions is the one table behind keys, palette, slash words and help.
func actions() []action {
	return []action{
		{name: "new", help: "begin a new session", slash: "new", do: plain(Model.newSession)},
		{name: "sessions", help: "open another session", slash: "sessions", keys: []string{"alt+s"}, do: Model.openSessions},
		{name: "search", help: "search titles and content", slash: "search", args: "[words]", do: Model.openSessions},
		{name: "rename", help: "give this session a title", slash: "rename", args: "[title]", do: Model.rename},
		{name: "model", help: "choose the model", slash: "model", args: "[name]", keys: []string{"alt+m"}, do: Model.chooseModel},
		{name: "system", help: "change the system prompt", slash: "system", args: "[text]", do: Model.system},
		{name: "edit", help: "change an earlier message, on a branch", slash: "edit", args: "[n]", do: Model.revise},
		{name: "undo", help: "take the last message back; all stays kept", slash: "undo", do: plain(Model.undo)},
		{name: "retry", help: "ask the last message again", slash: "retry", do: plain(Model.retry)},
		{name: "tree", help: "the branches of this session", slash: "tree", do: plain(Model.openTree)},
		{name: "chats", help: "the chats that are open, or the nth", slash: "chats", args: "[n]", keys: []string{"alt+c", "alt+0"}, do: Model.openChats},
		{name: "next", help: "the next of the open chats", keys: []string{"ctrl+pgdown", "alt+."}, do: plain(func(m Model) (Model, tea.Cmd) { return m.step(1) })},
		{name: "previous", help: "the chat before it", keys: []string{"ctrl+pgup", "alt+,"}, do: plain(func(m Model) (Model, tea.Cmd) { return m.step(-1) })},
		{name: "tag", help: "give this session tags, or take them off", slash: "tag", args: "[name] [-name]", do: Model.tag},
		{name: "fork", help: "go on in a copy of this session", slash: "fork", do: plain(Model.fork)},
		{name: "compact", help: "go on with a summary; all stays kept", slash: "compact", args: "[focus]", do: Model.compact},
		{name: "snapshot", help: "freeze what was said as an image", slash: "snapshot", args: "[name]", do: Model.snapshot},
		{name: "images", help: "begin a session from an image", slash: "images", do: plain(Model.openImages)},
		{name: "copy", help: "copy an answer, its code, a message, a result", slash: "copy", args: "[code|text|prompt|tool] [n]", do: Model.copy},
		{name: "unfold", help: "show a thought or a call whole, the nth from the end", slash: "unfold", args: "[n]", keys: []string{"ctrl+o"}, do: Model.unfold},
		{name: "thinking", help: "show thoughts always, folded or never", slash: "thinking", args: "[how]", do: Model.thinking},
		{name: "export", help: "write the session to a file", slash: "export", args: "[file]", do: Model.export},
		{name: "cost", help: "what this session has used", slash: "cost", do: plain(Model.cost)},
		{name: "theme", help: "choose the colours", slash: "theme", args: "[name]", do: Model.theme},
		{name: "attach", help: "send a file along; so does @file", slash: "attach", args: "[file]", do: Model.attach},
		{name: "paste", help: "send the image in the clipboard along", slash: "paste", keys: []string{"ctrl+v"}, do: plain(Model.pasteImage)},
		{name: "stash", help: "put the draft aside; bring it back", slash: "stash", keys: []string{"ctrl+s"}, do: Model.stash},
		{name: "shell", help: "run a command here, after a yes; so does !command", slash: "shell", args: "[command]", do: Model.toRun},
		{name: "vi", help: "write with the keys of vi, or without them", slash: "vi", do: plain(Model.toggleVi)},
		{name: "keys", help: "show the keys", slash: "keys", keys: []string{"?"}, empty: true, do: plain(Model.showKeys)},
		{name: "help", help: "show the commands", slash: "help", do: plain(Model.showHelp)},

		{name: "full", help: "the whole screen, and back", slash: "full", keys: []string{"alt+t", "f11"}, do: plain(Model.toggleFull)},
		{name: "find", help: "search what was said here, on the full screen", slash: "find", args: "[words]", do: Model.startFind},
		{name: "mouse", help: "the mouse scrolls and points, or is the terminal's", slash: "mouse", do: plain(Model.toggleMouse)},
		{name: "page-up", help: "scroll up, on the full screen", keys: []string{"pgup"}, full: true, do: plain(Model.pageUp)},
		{name: "page-down", help: "scroll down", keys: []string{"pgdown"}, full: true, do: plain(Model.pageDown)},
		{name: "top", help: "to where the session begins", keys: []string{"home"}, full: true, empty: true, do: plain(Model.toTop)},
		{name: "end", help: "to what is said now", keys: []string{"end"}, full: true, empty: true, do: plain(Model.toEnd)},
		{name: "prompt-up", help: "to the message you sent before", keys: []string{"alt+up"}, full: true, do: plain(Model.promptUp)},
		{name: "prompt-down", help: "to the message you sent next", keys: []string{"alt+down"}, full: true, do: plain(Model.promptDown)},
		{name: "read", help: "from message to message: fold, copy, search", keys: []string{"shift+tab"}, full: true, do: plain(Model.toReading)},

		{name: "stop", help: "stop the answer, keep what came", keys: []string{"esc"}, do: plain(Model.stop)},
		{name: "cancel", help: "stop; clear the draft; again to quit", keys: []string{"ctrl+c"}, do: plain(Model.cancel)},
		{name: "palette", help: "all commands", keys: []string{"ctrl+p"}, do: plain(Model.openPalette)},
		{name: "editor", help: "write in $EDITOR", keys: []string{"ctrl+g"}, do: Model.edit},
		{name: "repaint", help: "draw the screen anew", keys: []string{"ctrl+l"}, do: plain(Model.repaint)},
		{name: "suspend", help: "back to the shell; fg returns", keys: []string{"ctrl+z"}, do: plain(Model.suspend)},
		{name: "quit", help: "leave", slash: "quit", keys: []string{"ctrl+d"}, empty: true, do: plain(Model.quit)},
	}
}

// plain is an action that takes no argument.
func plain(f func(Model) (Model, tea.Cmd)) func(Model, string) (Model, tea.Cmd) {
	return func(m Model, _ string) (Model, tea.Cmd) { return f(m) }
}

// A table is the actions with the keys that the user wants for them.
type table struct {
	actions []action
	keys    map[string]int  // of the actions
	mine    map[string]bool // the keys among them that the user chose
}

// newTable binds keys: the user's, an action's name to its keys, replace those
// of the table, and "none" leaves an action without. What cannot be is said in
// sentences.
func newTable(bound map[string][]string) (table, []string) {
	t := table{actions: actions(), keys: map[string]int{}, mine: map[string]bool{}}
	var wrong []string
	mine := map[int]bool{}
	for _, name := range sortedKeys(bound) {
		i := slices.IndexFunc(t.actions, func(a action) bool { return a.name == name })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("There is no action %q to bind keys to.", name))
			continue
		}
		t.actions[i].keys, wrong = t.actions[i].wanted(bound[name], wrong)
		mine[i] = true
	}
	for _, first := range []bool{true, false} { // the user's keys win over ours
		for i, a := range t.actions {
			if mine[i] != first {
				continue
			}
			t.actions[i].keys, wrong = t.bind(i, a, first, wrong)
		}
	}
	return t, wrong
}

// wanted are the keys that the user has named.
func (a action) wanted(names, wrong []string) (keys, _ []string) {
	for _, name := range names {
		key, ok := keyNamed(name)
		switch {
		case name == "none":
		case !ok:
			wrong = append(wrong, fmt.Sprintf("%q, bound to %s, is no key. One is written like ctrl+k, alt+pgup or f5.", name, a.name))
		case writesItself(key) && !a.empty:
			wrong = append(wrong, fmt.Sprintf("The key %s writes a letter and cannot be bound to %s alone; ctrl+%s or alt+%s can.", key, a.name, key, key))
		default:
			keys = append(keys, key)
		}
	}
	return keys, wrong
}

// bind returns those of a's keys that are free.
func (t table) bind(i int, a action, says bool, wrong []string) ([]string, []string) {
	var got []string
	for _, k := range a.keys {
		if other, taken := t.keys[k]; taken {
			if says {
				wrong = append(wrong, fmt.Sprintf("The key %s is bound to %s and to %s; %s has it.", k, t.actions[other].name, a.name, t.actions[other].name))
			}
			continue
		}
		t.keys[k], t.mine[k], got = i, says, append(got, k)
	}
	return got, wrong
}

// without is the table without some actions, and without keys.
func (t table) without(names []string) table {
	t.actions = slices.DeleteFunc(slices.Clone(t.actions), func(a action) bool { return slices.Contains(names, a.name) })
	t.keys = nil
	return t
}

func sortedKeys(m map[string][]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// key finds the action of a key; empty says whether the composer is.
func (t table) key(k string, empty bool) (action, bool) {
	i, ok := t.keys[k]
	if !ok || t.actions[i].empty && !empty {
		return action{}, false
	}
	return t.actions[i], true
}

// word finds the action of a slash word, or the one word that begins so.
func (t table) word(w string) (action, []string) {
	var found []action
	var names []string
	for _, a := range t.actions {
		switch {
		case a.slash == "":
		case a.slash == w:
			return a, nil
		case strings.HasPrefix(a.slash, w):
			found, names = append(found, a), append(names, "/"+a.slash)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return action{}, names
}

// meant is the slash word that a mistyped one may have been, if there is one.
func (t table) meant(w string) string {
	for _, a := range t.actions {
		if a.slash != "" && slipped(strings.ToLower(w), a.slash) {
			return a.slash
		}
	}
	return ""
}

// slipped says whether a hand on its way to b may have typed a: a letter too
// many, too few or another one, or two that have changed places.
func slipped(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

// named returns the action of that name.
func (t table) named(name string) (action, bool) {
	i := slices.IndexFunc(t.actions, func(a action) bool { return a.name == name })
	if i < 0 {
		return action{}, false
	}
	return t.actions[i], true
}

// commands are the slash words for the composer to offer.
func (t table) commands() []composer.Command {
	var out []composer.Command
	for _, a := range t.actions {
		if a.slash == "" {
			continue
		}
		help := a.help
		if a.args != "" {
			help += "  " + a.args
		}
		out = append(out, composer.Command{Name: a.slash, Help: help})
	}
	return out
}

// hintOf is the first key of an action, or its slash word, as a person reads it.
func (a action) hintOf() string {
	switch {
	case len(a.keys) > 0:
		return spell(a.keys[0])
	case a.slash != "":
		return "/" + a.slash
	}
	return ""
}

// spell writes a key as keyboards do.
func spell(key string) string {
	parts := strings.Split(key, "+")
	for i, p := range parts {
		switch {
		case p == "pgup":
			parts[i] = "PgUp"
		case p == "pgdown":
			parts[i] = "PgDn"
		case len(p) > 1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case len(parts) > 1:
			parts[i] = strings.ToUpper(p)
		}
	}
	return strings.Join(parts, "+")
}
