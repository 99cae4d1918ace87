package tui

import (
	"runtime"
	"strconv"
	"strings"
)

// A host is the program whose window the chat is in, as far as the environment
// tells: what it shows and does beside the picture.
type host struct {
	title    bool   // of the window; the one before comes back
	marks    bool   // of prompts
	focus    bool   // it says when it gains and loses it
	progress bool   // of work that has no known end
	notice   format // of notifications on the desktop
	within   bool   // a multiplexer, which keeps to itself what it does not know
}

// A format is the way in which a terminal wants notifications.
type format int

const (
	noFormat format = iota
	osc9
	osc777
)

// hostOf reads the environment. A terminal that nobody knows is taken for one that
// drops what it does not understand, as nearly all do; and those that do not are
// told nothing.
func hostOf(env []string) host {
	get := lookup(env)
	name, program := get("TERM"), get("TERM_PROGRAM")
	switch {
	case mute(name), get("INSIDE_EMACS") != "":
		return host{}
	case get("STY") != "" && get("TMUX") == "": // it has one title for all, and forgets the one before
		return host{}
	}
	h := host{title: true, marks: true, focus: true, within: get("TMUX") != ""}
	h.notice = notices(name, program, get)
	h.progress = !h.within && progresses(name, program, get)
	return h
}

// mute says of a kind of terminal that it prints what it does not understand, or
// has no window.
func mute(name string) bool {
	switch name {
	case "":
		return runtime.GOOS != "windows" // where nobody has a name
	case "dumb", "unknown", "linux", "cygwin", "emacs", "cons25", "sun", "wsvt25":
		return true
	}
	for _, old := range []string{"vt1", "vt2", "vt5", "eterm", "ansi"} {
		if strings.HasPrefix(name, old) {
			return true
		}
	}
	return false
}

// directs says whether the terminal shows nothing of marks of direction: Screen
// takes them for letters, and so does a console.
func directs(env []string) bool {
	get := lookup(env)
	return !mute(get("TERM")) && get("STY") == "" && !strings.HasPrefix(get("TERM"), "screen") || get("TMUX") != ""
}

// notices is how the terminal shows notifications, where it is known to.
func notices(name, program string, get func(string) string) format {
	switch {
	case program == "iTerm.app", program == "WezTerm", program == "ghostty", program == "rio", program == "WarpTerminal":
		return osc9
	case name == "xterm-kitty", name == "xterm-ghostty", name == "wezterm", name == "rio":
		return osc9
	case get("KITTY_WINDOW_ID") != "", get("WEZTERM_PANE") != "", get("GHOSTTY_RESOURCES_DIR") != "", get("LC_TERMINAL") == "iTerm2":
		return osc9
	case program == "mintty", name == "foot", strings.HasPrefix(name, "foot-"), name == "contour":
		return osc777
	}
	return noFormat
}

// progresses says whether the terminal is known to show progress. Some others take
// the sequence for a notification.
func progresses(name, program string, get func(string) string) bool {
	vte, _ := strconv.Atoi(get("VTE_VERSION")) // 0 where it is none
	return get("WT_SESSION") != "" || get("ConEmuANSI") == "ON" || vte >= 8000 ||
		program == "ghostty" || name == "xterm-ghostty" || program == "WezTerm" || name == "wezterm" || program == "mintty"
}

// lookup finds variables in an environment, of two of a name the last.
func lookup(env []string) func(string) string {
	return func(name string) string {
		for i := len(env) - 1; i >= 0; i-- {
			if v, ok := strings.CutPrefix(env[i], name+"="); ok {
				return v
			}
		}
		return ""
	}
}

// outside is seq for the terminal around a multiplexer.
func (h host) outside(seq string) string {
	if !h.within {
		return seq
	}
	return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
}
