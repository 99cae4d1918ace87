package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentx/tui/composer"
	"agentx/tui/dialog"
	"agentx/tui/palette"
	"agentx/tui/screen"
	"agentx/tui/theme"
	"agentx/tui/transcript"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	tea "charm.land/bubbletea/v2"
)

// prefs are how the user wants things to look.
type prefs struct {
	theme      *theme.Theme
	dress      *theme.Family // that it is of
	wardrobe   Wardrobe      // nil where there are only the built-in ones
	worn       string        // the name it was asked for by
	wrong      error         // with the theme that was asked for
	auto       bool          // the theme follows the terminal's background
	waiting    bool          // for the terminal to say what its background is
	ground     string        // that it said it is: dark or light
	profile    colorprofile.Profile
	ascii      bool
	typewriter bool
	still      bool // nothing turns
	measure    int  // cells of a line of prose; 0 all
	thoughts   transcript.Thoughts
	compactAt  int  // percent of the context that leads to a summary; 0 never
	spoken     bool // in lines to be read one after the other
	host       host
	notice     notice
}

func newPrefs(o Options) prefs {
	p := prefs{profile: colorprofile.Env(o.Env), ascii: ascii(o.Env) || few(o.Env), typewriter: !o.NoTypewriter && !o.Still, still: o.Still, compactAt: o.CompactAt, measure: o.Measure, thoughts: thoughtsNamed(o.Thinking)}
	if o.Profile != nil {
		p.profile = *o.Profile
	}
	if plainly(o) {
		p.spoken, p.ascii = true, true
	}
	p.host = hostOf(o.Env)
	p.host.title, p.host.marks, p.host.progress = p.host.title && !o.NoTitle, p.host.marks && !o.NoMarks, p.host.progress && !o.NoProgress
	p.notice = noticeOf(o.Notify, p.host)
	p.wardrobe = o.Wardrobe
	f, ground, err := p.family(o.Theme)
	p.wrong = err
	if p.worn = o.Theme; p.worn == "" || err != nil {
		p.worn = "auto"
	}
	return p.wear(f, ground)
}

// A Wardrobe has the themes. Its methods may take their time; Theme is asked for
// one before the first frame.
type Wardrobe interface {
	// Themes are the names of all.
	Themes(ctx context.Context) ([]string, error)
	Theme(name string) (theme.Family, error)
	// Keep chooses a theme for the chats to come, and returns where that is written.
	Keep(ctx context.Context, name string) (string, error)
}

// family finds a theme and the ground that its name asks for: dark, light, or what
// the terminal has.
func (p prefs) family(name string) (theme.Family, string, error) {
	usual := theme.Families()[0]
	switch name {
	case "", "auto":
		return usual, "", nil
	case "dark", "light":
		return usual, name, nil
	case "plain":
		return usual, name, nil
	}
	if p.wardrobe == nil {
		return usual, "", fmt.Errorf("there is no theme %q", name)
	}
	f, err := p.wardrobe.Theme(name)
	if err == nil {
		return f, "", nil
	}
	for _, ground := range []string{"dark", "light"} {
		if short, ok := strings.CutSuffix(name, "-"+ground); ok {
			if f, err := p.wardrobe.Theme(short); err == nil {
				return f, ground, nil
			}
		}
	}
	return usual, "", err
}

// wear chooses a family, on a ground: dark, light or plain; any other asks the
// terminal.
func (p prefs) wear(f theme.Family, ground string) prefs {
	p.dress, p.auto = &f, false
	switch {
	case ground == "plain" || p.profile == colorprofile.ASCII || p.profile == colorprofile.NoTTY:
		p.theme = new(theme.Plain())
	case ground == "light":
		p.theme = p.on(false)
	case ground == "dark":
		p.theme = p.on(true)
	default:
		ground = p.ground
		if ground == "" && p.theme != nil {
			ground = p.theme.Name // it was chosen with the ground in sight
		}
		p.theme, p.auto, p.waiting = p.on(ground != "light"), true, p.ground == ""
	}
	return p
}

// on is the theme for a ground, in the colours that the terminal has.
func (p prefs) on(dark bool) *theme.Theme {
	return new(p.dress.On(dark, p.profile == colorprofile.ANSI))
}

// answerTime is how long a terminal may take to answer before anything goes
// into its scrollback. Later answers still count for what comes then.
const answerTime = 200 * time.Millisecond

func (p prefs) wait() tea.Cmd {
	if !p.waiting {
		return nil
	}
	return after(answerTime, lookOver)
}

// stand takes the ground on which the text stands.
func (p prefs) stand(msg tea.BackgroundColorMsg) prefs {
	if p.ground = "light"; msg.IsDark() {
		p.ground = "dark"
	}
	if p.auto {
		p.theme, p.waiting = p.on(msg.IsDark()), false
	}
	return p
}

// look takes what the terminal says of itself.
func (m Model) look(msg tea.Msg) Model {
	switch msg := msg.(type) {
	case tea.BackgroundColorMsg:
		if m.prefs = m.prefs.stand(msg); m.prefs.auto {
			return m.dress()
		}
	case uv.PrimaryDeviceAttributesEvent:
		m.prefs.waiting = false // it answers in order: there was no background to tell
	case tea.BlurMsg:
		m.unseen = true
	case tea.FocusMsg:
		m.unseen = false
	case tea.ModeReportMsg:
		switch mode := msg.Mode.Mode(); {
		case mode == 2026 && msg.Value.IsReset():
			m.term.synchronised()
		case mode == 2027 && (msg.Value.IsReset() || msg.Value.IsSet() || msg.Value.IsPermanentlySet()):
			m.term.clusters(msg.Value.IsReset())
		}
	}
	return m
}

// dress gives everybody the theme.
func (m Model) dress() Model {
	m.transcript = m.transcript.SetTheme(m.prefs.theme)
	m.composer = m.composer.SetStyles(m.prefs.composer())
	m.overlays = m.overlays.dress(m.prefs).draw(m.prefs, m.width)
	return m
}

// transcript is how a transcript is shown.
func (p prefs) transcript(saved bool) transcript.Config {
	c := transcript.Config{Typewriter: p.typewriter, Measure: p.measure, ASCII: p.ascii, Saved: saved, Thoughts: p.thoughts, Keep: !p.spoken}
	switch {
	case p.spoken:
		c.Spoken, c.Marks = true, transcript.Marks{Prompt: beginsUser, Answer: endsUser}
	case p.host.marks:
		c.Marks = transcript.Marks{Prompt: screen.PromptMark, Answer: screen.AnswerMark, End: screen.EndMark}
	}
	return c
}

// ascii says whether the locale can show nothing else.
func ascii(env []string) bool {
	for _, name := range []string{"LC_ALL=", "LC_CTYPE=", "LANG="} {
		for _, e := range env {
			if v, ok := strings.CutPrefix(e, name); ok && v != "" {
				v = strings.ToLower(v)
				return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
			}
		}
	}
	return false // most systems that say nothing can
}

// few says whether the terminal has letters, and hardly a sign beside them.
func few(env []string) bool {
	name := lookup(env)("TERM")
	return name != "" && mute(name)
}

// glyphs are the characters that may be written to the terminal.
func glyphs(env []string) screen.Glyphs {
	switch {
	case ascii(env):
		return screen.ASCIIGlyphs
	case few(env):
		return screen.FewGlyphs
	}
	return screen.AllGlyphs
}

func (p prefs) prompt() string {
	if p.ascii {
		return "> "
	}
	return "› "
}

func (p prefs) composer() composer.Styles {
	th := p.theme
	return composer.Styles{Prompt: th.Prompt, Text: th.Text, Placeholder: th.Hint, Chip: th.Accent, Name: th.Text, Help: th.Muted, Chosen: th.Selection, Search: th.Muted}
}

func (p prefs) palette() palette.Styles {
	th := p.theme
	return palette.Styles{Title: th.Title, Prompt: th.Prompt, Item: th.Text, Detail: th.Muted, Hint: th.Muted, Match: th.Match, Chosen: th.Selection, Preview: th.Muted, Help: th.Muted}
}

func (p prefs) dialog() dialog.Styles {
	th := p.theme
	return dialog.Styles{Frame: th.Focus, Title: th.Title, Body: th.Text, Key: th.Key, Choice: th.Text, Chosen: th.Selection, Danger: th.Error, Input: th.Text, Help: th.Muted}
}
