package cmd

import (
	"io"
	"os"
	"strings"

	"agentx/tui/theme"

	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// interactive reports whether there is a person at a terminal.
func (w *world) interactive() bool { return isTerminal(w.stdin) && isTerminal(w.stdout) }

// dumb reports whether the terminal says that it can only print.
func (w *world) dumb() bool {
	name, _ := w.env("TERM")
	return name == "dumb"
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// theme is the palette for what is printed on a terminal.
func (w *world) theme() theme.Theme {
	if w.profile() <= colorprofile.ASCII {
		return theme.Plain()
	}
	f, sixteen, name := theme.Families()[0], w.profile() == colorprofile.ANSI, ""
	if c, err := w.config(); err == nil {
		name = c.Theme
	}
	ground := ""
	switch name {
	case "plain":
		return theme.Plain()
	case "dark", "light":
		ground = name
	default:
		f, ground = w.dressed(name)
	}
	if ground == "" && w.interactive() && lightBackground(w.stdin, w.stdout) {
		ground = "light"
	}
	return f.On(ground != "light", sixteen)
}

// dressed is a theme of the wardrobe, and the ground that its name asks for. What
// is wrong with it is said in the chat, not under an answer.
func (w *world) dressed(name string) (theme.Family, string) {
	usual := theme.Families()[0]
	if name == "" {
		return usual, ""
	}
	if f, err := (wardrobe{w}).Theme(name); err == nil {
		return f, ""
	}
	for _, ground := range []string{"dark", "light"} {
		if short, ok := strings.CutSuffix(name, "-"+ground); ok {
			if f, err := (wardrobe{w}).Theme(short); err == nil {
				return f, ground
			}
		}
	}
	return usual, ""
}

// profile is what colours stdout can show and the user wants.
func (w *world) profile() colorprofile.Profile {
	want := ""
	if c, err := w.config(); err == nil {
		want = c.Color
	}
	switch want {
	case "never":
		return colorprofile.ASCII
	case "always":
		return max(colorprofile.Env(os.Environ()), colorprofile.ANSI256)
	}
	return colorprofile.Detect(w.stdout, os.Environ())
}

// colored writes styled text with the colours that the terminal has.
func (w *world) colored(out io.Writer) io.Writer {
	return &colorprofile.Writer{Forward: out, Profile: w.profile()}
}

// tableWidth is where a table's lines end; a pipe has them whole.
func (w *world) tableWidth() int {
	if isTerminal(w.stdout) {
		return w.width()
	}
	return 0
}

// width is the width of the terminal on stdout.
func (w *world) width() int {
	if n, _, err := term.GetSize(int(w.stdout.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}
