package tui

import (
	"runtime/debug"
	"time"

	"agentx/tui/screen"

	tea "charm.land/bubbletea/v2"
)

// A stage stands between the loop and the model: it draws what the model shows,
// not more often than eyes can follow, and catches what breaks.
type stage struct {
	model   Model
	draw    func(screen.Frame)
	resize  func(width, height int)
	crashed func(Crash)

	drawn  time.Time
	echoed time.Time // the last that was for a key
	due    bool      // a drawing is coming
}

// between is how far drawings are apart at least. A key is drawn at once, unless
// one was just before it.
const between = 16 * time.Millisecond

// drawNow is the end of a wait for the next drawing.
type drawNow struct{}

// A Crash is a panic, with the stack it came from.
type Crash struct {
	Value any
	Stack []byte
}

func (s *stage) Init() tea.Cmd { return s.safe(s.model.Init()) }

func (s *stage) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if v := recover(); v != nil {
			s.crashed(Crash{v, debug.Stack()})
			cmd = tea.Quit
		}
	}()
	last := &s.drawn
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		last = &s.echoed
		s.model, cmd = s.model.update(msg)
	case drawNow:
		s.due = false
	case tea.WindowSizeMsg:
		if msg.Width > 0 && msg.Height > 0 {
			s.resize(msg.Width, msg.Height) // with the layout, not before it
		}
		s.model, cmd = s.model.update(msg)
	default:
		s.model, cmd = s.model.update(msg)
	}
	return s, tea.Batch(s.safe(cmd), s.paint(last))
}

// paint draws now, or sees that it is done soon: not too close to the last time.
func (s *stage) paint(last *time.Time) tea.Cmd {
	now := time.Now()
	if wait := between - now.Sub(*last); wait > 0 {
		if s.due {
			return nil
		}
		s.due = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return drawNow{} })
	}
	*last, s.drawn = now, now
	var f screen.Frame
	s.model, f = s.model.frame()
	s.draw(f)
	return nil
}

// View is empty: the stage draws for itself.
func (s *stage) View() tea.View { return tea.View{} }

// frame is what the terminal should show. What is finished is given away, unless
// the whole screen shows it.
func (m Model) frame() (Model, screen.Frame) {
	var f screen.Frame
	if m.full.on {
		f.Full, f.Mouse = true, m.full.mouse
		f.Lines, f.Cursor = m.page()
		return m, f
	}
	if !m.prefs.waiting {
		m.transcript, f.Above = m.transcript.Take()
	}
	f.Lines, f.Cursor = m.live()
	return m, f
}

// safe is cmd with its panics caught, and those of the commands it brings.
func (s *stage) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer func() {
			if v := recover(); v != nil {
				s.crashed(Crash{v, debug.Stack()})
				msg = nil
			}
		}()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i, c := range batch {
				batch[i] = s.safe(c)
			}
		}
		return msg
	}
}
