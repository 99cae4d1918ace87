package cmd

import (
	"io"
	"os"

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
	c, err := w.config()
	dark, light := theme.Dark, theme.Light
	if w.profile() == colorprofile.ANSI {
		dark, light = theme.Dark16, theme.Light16
	}
	switch {
	case w.profile() <= colorprofile.ASCII:
		return theme.Plain()
	case err == nil && c.Theme == "light":
		return light()
	case err == nil && c.Theme == "dark":
		return dark()
	case w.interactive() && lightBackground(w.stdin, w.stdout):
		return light()
	}
	return dark()
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
