package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"agentx/tui/screen"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Options are what a chat needs.
type Options struct {
	In, Out *os.File // the terminal
	Env     []string
	Feed    *Feed

	// Start opens the world. It runs beside the first frame, and what it fails
	// with ends the chat. Who leaves before it is done cancels its context, and
	// waits a while for it to return.
	Start func(ctx context.Context) (Backend, Opened, error)

	Model        Choice                // that will answer, where that is known before the world is there
	Prompt       string                // is sent when the world is there
	Pick         bool                  // the chat begins with the choice of a session
	Theme        string                // dark, light, plain, or one of the wardrobe's, with -dark or -light behind it; auto asks the terminal
	Wardrobe     Wardrobe              // where other themes are found; nil has none
	NoTypewriter bool                  // text appears as it comes
	Still        bool                  // nothing moves but what changes: no typewriter, no spinner
	FullScreen   bool                  // the chat begins on the whole screen
	NoMouse      bool                  // where the mouse stays the terminal's
	Plain        bool                  // lines and nothing else: no boxes, no redraws, for screen readers; so too where TERM is dumb
	Thinking     string                // shows what a model thinks: always, folded (or nothing), never
	CompactAt    int                   // percent of the context in use that leads to a summary; 0 never does
	Notify       string                // what tells who looks elsewhere that an answer has ended: off, bell, desktop; anything else chooses
	Measure      int                   // cells that a line of prose takes at most; 0 is all there are
	NoTitle      bool                  // the window keeps its title
	NoProgress   bool                  // it shows no progress
	NoMarks      bool                  // nothing marks where a prompt begins
	Keys         map[string][]string   // actions and the keys they should have; "none" for none
	Profile      *colorprofile.Profile // colours; nil finds out from Env

	Vi      bool     // the keys of vi in the composer
	Editor  []string // command that edits the file whose name is added to it; empty is VISUAL, EDITOR or vi
	Private string   // directory that only the user can read, for the editor's file
}

// A Result is how a chat ended.
type Result struct {
	Session Session   // that was open
	Said    bool      // there is something in it to come back to
	Signal  os.Signal // that ended it, or nil
	Code    int       // for the shell: 0, 128 and the signal's number, or 70 after a crash
	Crash   *Crash
	Unsent  []string // messages that were written where there was nobody to keep them, oldest first
}

// ErrGone is what Run returns when the terminal has gone away.
var ErrGone = errors.New("the terminal is gone")

// ErrCrashed is what Run returns after a panic; Result has the details.
var ErrCrashed = errors.New("the chat broke down")

// leaveTime is how long the world may take to save what there is.
const leaveTime = 2 * time.Second

// patience is how long the loop may take to end by itself: a reader must let go
// of the terminal, on a machine that is busy too.
const patience = 1500 * time.Millisecond

// Run shows the chat until the user leaves, a signal comes or something breaks.
// The terminal is then as it was before, on every road. Where the terminal
// cannot be drawn on, the chat is held in plain lines.
func Run(ctx context.Context, o Options) (Result, error) {
	if plainly(o) {
		return runPlain(ctx, o)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &console{options: o, crashes: make(chan Crash, 1), ended: make(chan ending, 1), ready: make(chan struct{}), gone: make(chan struct{}, 1)}
	sig := c.watch(ctx) // before the terminal is touched
	if err := c.open(ctx); err != nil {
		return Result{Code: 1}, err
	}
	defer c.screen.Close()
	close(c.ready)
	go c.loop() // ends with ctx, or when the user leaves

	var r Result
	var err error
	select {
	case end := <-c.ended:
		err = end.err
		c.ended <- end // leave looks at it
	case s := <-sig:
		r.Signal, r.Code = s, 128+number(s)
	case crash := <-c.crashes:
		r.Crash, r.Code, err = &crash, 70, ErrCrashed
	case <-c.gone:
		r.Code, err = 129, ErrGone
	case <-ctx.Done():
		r.Code, err = 1, context.Cause(ctx)
	}
	return c.leave(cancel, r, err)
}

// A console is a chat on its terminal: the loop, the screen and the signals.
type console struct {
	options Options
	screen  *screen.Screen
	program *tea.Program
	crashes chan Crash
	ended   chan ending
	ready   chan struct{}  // closed when there is a screen
	gone    chan struct{}  // told when the terminal sends nothing any more
	answers sync.WaitGroup // that are running

	mu      sync.Mutex
	opening chan struct{} // is closed when the world is there or has failed; nil before it is asked for
	leaving bool          // it is not asked for any more
	world   Backend       // as soon as it is there
	failed  error         // why it never will be
	away    bool          // the terminal is somebody else's
}

// An ending is what the loop leaves behind.
type ending struct {
	model Model
	err   error
}

func (c *console) open(ctx context.Context) error {
	o := c.options
	p := newPrefs(o)
	var err error
	enter, leave := p.enter()
	c.screen, err = screen.Open(o.In, o.Out, screen.Options{
		Profile: p.profile, Reflows: reflows(o.Env), Glyphs: glyphs(o.Env), Directs: directs(o.Env), Simple: mute(lookup(o.Env)("TERM")),
		Enter: enter, Leave: leave, Crashed: func(v any, stack []byte) { c.crash(Crash{v, stack}) },
	})
	if err != nil {
		return fmt.Errorf("tui: %w", err)
	}
	m := newModel(ctx, o, c)
	if w, h, err := c.screen.Size(); err == nil {
		m = m.resize(w, h)
	}
	m.now = time.Now()
	st := &stage{model: m, draw: c.screen.Draw, resize: c.screen.Resize, crashed: c.crash}
	var f screen.Frame
	st.model, f = st.model.frame()
	c.screen.Draw(f)
	c.program = tea.NewProgram(opener{st, c}, tea.WithContext(ctx), tea.WithInput(keyboard{o.In, c.gone, &paste{broken: c.mend}, &sieve{}}), tea.WithOutput(io.Discard),
		tea.WithEnvironment(o.Env), tea.WithColorProfile(p.profile), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics())
	return nil
}

// An opener is a stage whose first command opens the world.
type opener struct {
	*stage
	console *console
}

func (o opener) Init() tea.Cmd {
	return tea.Batch(o.stage.Init(), o.safe(o.console.start(o.model.ctx)), after(openTime, worldDue))
}

// openTime is how long the world may take to open before anything is said of it.
const (
	openTime = time.Second
	opening  = "Opening your sessions; another agentx may be at them …"
)

func (o opener) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := o.stage.Update(msg)
	return o, cmd
}

// start opens the world.
func (c *console) start(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		opened, ok := c.begin()
		if !ok {
			return nil
		}
		defer close(opened)
		b, o, err := c.options.Start(ctx)
		c.mu.Lock()
		c.world, c.failed = b, err
		c.mu.Unlock()
		if err != nil {
			return tea.QuitMsg{}
		}
		return result{func(m Model) (Model, tea.Cmd) {
			if m.backend = b; m.hint.text == opening {
				m.hint = hint{}
			}
			m, cmd := m.opened(o)
			if !c.options.Pick {
				return m, cmd
			}
			m, pick := m.pickSession()
			return m, tea.Batch(cmd, pick)
		}}
	}
}

// begin notes that the world is being opened, unless the user is leaving.
func (c *console) begin() (opened chan struct{}, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leaving {
		return nil, false
	}
	c.opening = make(chan struct{})
	return c.opening, true
}

func (c *console) loop() {
	defer func() {
		if v := recover(); v != nil {
			c.crash(crashOf(v))
		}
	}()
	final, err := c.program.Run()
	end := ending{err: err}
	if o, ok := final.(opener); ok {
		end.model = o.model
	}
	if errors.Is(err, tea.ErrProgramKilled) {
		end.err = nil // by us: the reason is known
	}
	c.ended <- end
}

func (c *console) crash(v Crash) {
	select {
	case c.crashes <- v:
	default: // the first one counts
	}
}

// leave gives the terminal back and then lets the world save what there is, or
// waits for one that is only being opened.
func (c *console) leave(cancel context.CancelFunc, r Result, err error) (Result, error) {
	late := time.After(leaveTime)
	c.options.Feed.Close()
	c.mu.Lock()
	world, opening := c.world, c.opening
	if c.failed != nil {
		err = c.failed
	}
	c.leaving = true
	c.mu.Unlock()
	if world != nil {
		world.Interrupt("")
	}
	end, ok := c.last()
	if ok {
		m := end.model.halt()
		m.prefs.waiting = false
		m = m.inline()
		m.transcript = m.transcript.End()
		_, f := m.frame()
		c.screen.Draw(screen.Frame{Above: f.Above})
		r.Session, r.Said = m.open.Session, m.transcript.Any()
	}
	c.screen.Close()
	if ok && end.model.backend == nil {
		r.Unsent = end.model.unsent().texts()
	}
	if world == nil {
		cancel()
		await(opening, late)
		return r, err
	}
	saved := make(chan struct{})
	go func() { // ends when all is saved, or with the program
		defer close(saved)
		defer func() { _ = recover() }() // the terminal is safe, and the first crash is the one to tell
		if ok && end.model.backend != nil {
			ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
			defer cancel()
			for id, d := range end.model.drafts() {
				_ = world.SaveDraft(ctx, id, d)
			}
		}
		c.answers.Wait()
	}()
	await(saved, late)
	return r, err
}

// await waits for done to be closed, if there is one, or until it is late.
func await(done <-chan struct{}, late <-chan time.Time) {
	if done == nil {
		return
	}
	select {
	case <-done:
	case <-late:
	}
}

// last ends the loop and returns what it leaves behind, if it ends soon.
func (c *console) last() (ending, bool) {
	go c.program.Quit() // ends with the loop, or with its context
	select {
	case end := <-c.ended:
		return end, true
	case <-time.After(patience):
		return ending{}, false
	}
}
