package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"agentx/tui/replay"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// FilmOptions are what playing a film needs.
type FilmOptions struct {
	In, Out  *os.File // the terminal
	Env      []string
	Film     Film
	Speed    float64 // times its own; 0 shows the end at once
	Theme    string  // as in [Options]
	Wardrobe Wardrobe
	Profile  *colorprofile.Profile // colours; nil finds out from Env
}

// PlayFilm plays a recorded conversation on a screen of its own, forwards,
// backwards and step by step, until the user leaves or ctx is done. The terminal
// is then as it was before.
func PlayFilm(ctx context.Context, o FilmOptions) error {
	prefs := newPrefs(Options{Env: o.Env, Theme: o.Theme, Wardrobe: o.Wardrobe, Profile: o.Profile})
	p := tea.NewProgram(newProjector(o, prefs), tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out),
		tea.WithEnvironment(o.Env), tea.WithColorProfile(prefs.profile), tea.WithoutSignalHandler())
	_, err := p.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, tea.ErrProgramPanic) {
		return fmt.Errorf("%w: %w", ErrCrashed, err)
	}
	return err
}

// A projector shows a film.
type projector struct {
	reel  reel
	prefs prefs

	width, height int
	playing       bool
	speed         float64
	owed          time.Duration // of the film, that has passed and is not shown
	tick          int           // number of the clock that counts
	last          time.Time     // it was looked at
	above         int           // rows that were scrolled up
}

// turning is a moment of the projector's clock.
type turning struct {
	tick int
	at   time.Time
}

// longestWait is how long a film stands still at most: people were thinking.
const longestWait = 2 * time.Second

// The speeds that the keys lead to.
const (
	slowest = 1.0 / 16
	fastest = 64
)

func newProjector(o FilmOptions, p prefs) projector {
	m := projector{prefs: p, width: 80, height: 24, speed: o.Speed, playing: o.Speed > 0}
	m.reel = newReel(o.Film, p.theme, p.ascii, m.width, m.height)
	if o.Speed <= 0 {
		m.speed, m.reel = 1, m.reel.to(o.Film.Len())
	}
	return m
}

func (m projector) Init() tea.Cmd {
	if m.prefs.auto {
		return tea.Batch(tea.RequestBackgroundColor, m.turn())
	}
	return m.turn()
}

// turn asks for the next moment of the clock.
func (m projector) turn() tea.Cmd {
	if !m.playing {
		return nil
	}
	n := m.tick
	return tea.Tick(frame, func(at time.Time) tea.Msg { return turning{n, at} })
}

func (m projector) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.press(msg.Keystroke())
	case turning:
		return m.advance(msg)
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height), nil
	case tea.BackgroundColorMsg:
		was := m.prefs.theme.Name
		if m.prefs = m.prefs.stand(msg); m.prefs.theme.Name != was {
			m.reel = m.reel.lay(m.prefs.theme, m.width, m.height)
		}
	}
	return m, nil
}

func (m projector) resize(width, height int) projector {
	if width <= 0 || height <= 0 || width == m.width && height == m.height {
		return m
	}
	m.width, m.height = width, height
	m.reel = m.reel.lay(m.prefs.theme, width, height)
	m.above = min(m.above, m.reel.reach(m.room()))
	return m
}

// room is the rows above the strip.
func (m projector) room() int { return max(m.height-replay.Rows(m.height), 1) }

func (m projector) press(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "esc", "ctrl+c", "ctrl+d":
		return m, tea.Quit
	case "space", "p":
		return m.toggle()
	case "right", "l", "n", ".":
		return m.wind(m.reel.at + 1), nil
	case "left", "h", ",", "backspace":
		return m.wind(m.reel.at - 1), nil
	case "]", "shift+right", "ctrl+right", "tab":
		return m.wind(m.reel.next()), nil
	case "[", "shift+left", "ctrl+left", "shift+tab":
		return m.wind(m.reel.prev()), nil
	case "home", "g":
		return m.wind(0), nil
	case "end", "shift+g", "0":
		return m.wind(m.reel.film.Len()), nil
	case "+", "=", "shift+=":
		m.speed = min(m.speed*2, fastest)
	case "-", "_", "shift+-":
		m.speed = max(m.speed/2, slowest)
	case "up", "k":
		return m.scroll(1), nil
	case "down", "j":
		return m.scroll(-1), nil
	case "pgup":
		return m.scroll(m.room() - 1), nil
	case "pgdown":
		return m.scroll(1 - m.room()), nil
	}
	return m, nil
}

// toggle stops the film or lets it go on; from its end, from the beginning.
func (m projector) toggle() (tea.Model, tea.Cmd) {
	if m.playing {
		return m.stop(), nil
	}
	if m.reel.at == m.reel.film.Len() {
		m = m.wind(0)
	}
	m.playing, m.owed, m.last = true, 0, time.Time{}
	m.tick++
	return m, m.turn()
}

func (m projector) stop() projector {
	m.playing = false
	return m
}

// wind stops the film at a step.
func (m projector) wind(n int) projector {
	m = m.stop()
	m.reel, m.above = m.reel.to(n), 0
	return m
}

func (m projector) scroll(rows int) projector {
	m.above = min(max(m.above+rows, 0), m.reel.reach(m.room()))
	return m
}

// advance shows what should have happened by now.
func (m projector) advance(t turning) (tea.Model, tea.Cmd) {
	if !m.playing || t.tick != m.tick {
		return m, nil
	}
	if m.last.IsZero() {
		m.last = t.at.Add(-frame)
	}
	m.owed += time.Duration(float64(t.at.Sub(m.last)) * m.speed)
	m.last = t.at
	for n := m.reel.film.Len(); m.reel.at < n; {
		wait := m.wait()
		if wait > m.owed {
			break
		}
		m.owed -= wait
		m.reel = m.reel.forward()
	}
	if m.reel.at == m.reel.film.Len() {
		m = m.stop()
	}
	return m, m.turn()
}

// wait is the time between the last step and the next.
func (m projector) wait() time.Duration {
	if m.reel.at == 0 {
		return 0
	}
	d := m.reel.film.Moment(m.reel.at).In.At.Sub(m.reel.film.Moment(m.reel.at - 1).In.At)
	return min(max(d, 0), longestWait)
}

func (m projector) View() tea.View {
	room := m.room()
	rows := m.reel.rows(room, m.above)
	for len(rows) < room {
		rows = append(rows, "")
	}
	strip := replay.View(m.step(), m.width, m.height-room, replay.Look{Theme: m.prefs.theme, ASCII: m.prefs.ascii})
	v := tea.NewView(strings.Join(append(rows, strip...), "\n"))
	v.AltScreen = true
	return v
}

func (m projector) step() replay.Step {
	s := replay.Step{N: m.reel.at, Of: m.reel.film.Len(), Playing: m.playing, Speed: m.speed}
	if s.N == 0 {
		return s
	}
	now := m.reel.film.Moment(s.N - 1)
	s.Line, s.In, s.Outs, s.State = now.Line, now.In, now.Outs, now.State
	s.At = now.In.At.Sub(m.reel.film.Moment(0).In.At)
	return s
}
