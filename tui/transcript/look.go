package transcript

import (
	"fmt"
	"time"

	"agentx/tui/theme"
)

// gutter is the margin beside everything that comes from outside: no content
// can draw where our marks stand.
const gutter = 2

const margin = "  "

// A look is the marks in their colours. It never changes; a theme has many
// styles, and a model is copied often.
type look struct {
	theme               *theme.Theme
	user, agent         string
	ok, bad, planned    string
	unknown, stop, info string
	warn, arrow         string
	spinner             []string
}

func newLook(th *theme.Theme, c Config) *look {
	l := &look{theme: th, ok: "✓", bad: "✗", planned: "·", unknown: "?", stop: "■", info: "·", warn: "!", arrow: "→", spinner: spinner(false)}
	user, agent := "›", "●"
	switch {
	case c.Spoken:
		l = &look{theme: th, ok: "done:", bad: "Error:", planned: "tool:", unknown: "tool:", stop: "Note:", info: "Note:", warn: "Warning:", arrow: "->", spinner: []string{"tool:"}}
		user, agent = "You:", "Assistant:"
	case c.ASCII:
		l = &look{theme: th, ok: "+", bad: "x", planned: ".", unknown: "?", stop: "#", info: "-", warn: "!", arrow: "->", spinner: spinner(true)}
		user, agent = ">", "*"
	}
	l.user, l.agent = th.User.Render(user), th.Agent.Render(agent)
	return l
}

func (l *look) muted(s string) string { return l.theme.Muted.Render(s) }

// spinner is the pictures of something at work, one each tenth of a second.
func spinner(ascii bool) []string {
	if ascii {
		return []string{"|", "/", "-", "\\"}
	}
	return []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}
}

// span is a duration for people: 4 s, 2 min 10 s.
func span(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	if s < 3600 {
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
