// Package theme is the chat's one palette: every colour and weight that is drawn, for dark and light terminals and for those
// without colours. It knows no screen; colours are true ones, and whoever writes to the terminal brings them down to what it has.
package theme

import (
	"image/color"

	"charm.land/glamour/v2/ansi"
	"charm.land/lipgloss/v2"
)

// A Theme is what things look like. Two equal names look equal.
type Theme struct {
	Name string // dark, light or plain

	Text   lipgloss.Style // what is read: the terminal's own colour
	Strong lipgloss.Style // a title, a name
	Muted  lipgloss.Style // what may be overlooked: hints, times, counts
	Faint  lipgloss.Style // what is hardly there: placeholders, separators
	Accent lipgloss.Style // what the eye should find: keys, the choice under the cursor

	Success lipgloss.Style
	Warning lipgloss.Style
	Error   lipgloss.Style

	User     lipgloss.Style // the mark before what the user said
	UserText lipgloss.Style // and what was said
	Agent    lipgloss.Style // the mark before an answer
	Thinking lipgloss.Style // what the model thinks before it answers
	Tool     lipgloss.Style // the name of a tool
	Spinner  lipgloss.Style
	Status   lipgloss.Style // the spinner's word
	Footer   lipgloss.Style
	Prompt   lipgloss.Style // the mark before what is being written
	Hint     lipgloss.Style // the composer's placeholder

	Border    lipgloss.Style // lines around boxes
	Focus     lipgloss.Style // lines around the box that has the keys
	Title     lipgloss.Style // of a dialog
	Selection lipgloss.Style // the chosen line of a list, over its whole width
	Match     lipgloss.Style // what a search found
	Key       lipgloss.Style // a key's name in a help line
	Link      lipgloss.Style
	Code      lipgloss.Style // a command, a path, a word of code

	Added   lipgloss.Style // lines of a diff
	Removed lipgloss.Style
	Hunk    lipgloss.Style

	Markdown ansi.StyleConfig // the same palette for markdown
}

// Dark is for light letters on a dark ground.
func Dark() Theme { return usual().On(true, false) }

// Light is for dark letters on a light ground.
func Light() Theme { return usual().On(false, false) }

// Dark16 is Dark for terminals of sixteen colours.
func Dark16() Theme { return usual().On(true, true) }

// Light16 is Light for them.
func Light16() Theme { return usual().On(false, true) }

// Plain has no colours: for NO_COLOR, dumb terminals and readers who want none. Nothing in it is told by colour alone.
func Plain() Theme {
	return paint("plain", palette{})
}

// A palette is the colours of a theme, as #rrggbb or as numbers among the
// terminal's own; an empty one is the terminal's own.
type palette struct {
	muted, faint, line, ground                     string
	accent, user, heading                          string
	green, yellow, red, orange, purple, cyan, pink string
}

func (p palette) plain() bool { return p == palette{} }

func paint(name string, p palette) Theme {
	fg := func(c string) lipgloss.Style { return lipgloss.NewStyle().Foreground(colour(c)) }
	selection := fg(p.accent).Bold(true).Background(colour(p.ground))
	match := fg(p.yellow).Bold(true)
	if p.ground == "" { // the only other ground is the letters' colour
		selection, match = lipgloss.NewStyle().Bold(true).Reverse(true), match.Underline(true)
	}
	return Theme{
		Name:   name,
		Text:   lipgloss.NewStyle(),
		Strong: lipgloss.NewStyle().Bold(true),
		Muted:  fg(p.muted),
		Faint:  fg(p.faint),
		Accent: fg(p.accent),

		Success: fg(p.green),
		Warning: fg(p.yellow),
		Error:   fg(p.red),

		User:     fg(p.user).Bold(true),
		UserText: lipgloss.NewStyle().Bold(p.plain()),
		Agent:    fg(p.accent).Bold(true),
		Thinking: fg(p.muted).Italic(true),
		Tool:     fg(p.cyan).Bold(true),
		Spinner:  fg(p.accent),
		Status:   fg(p.muted),
		Footer:   fg(p.muted),
		Prompt:   fg(p.user).Bold(true),
		Hint:     fg(p.faint),

		Border:    fg(p.line),
		Focus:     fg(p.accent),
		Title:     fg(p.heading).Bold(true),
		Selection: selection,
		Match:     match,
		Key:       fg(p.accent).Bold(p.plain()),
		Link:      fg(p.accent).Underline(true),
		Code:      fg(p.orange),

		Added:   fg(p.green),
		Removed: fg(p.red),
		Hunk:    fg(p.cyan),

		Markdown: markdown(p),
	}
}

func colour(c string) color.Color {
	if c == "" {
		return lipgloss.NoColor{}
	}
	return lipgloss.Color(c)
}
