// Package screen owns a terminal while the chat is on it: raw mode, the modes
// that it needs, and an inline picture that grows at the end of the terminal's
// own scrollback, or one that fills the terminal's other screen. It knows lines
// and styles, and nothing of what they say.
package screen

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
)

// A Screen is a terminal that shows frames. Its methods may be called from any
// goroutine, and none but Close waits for the terminal.
type Screen struct {
	in, out *os.File
	cooked  *term.State
	crashed func(any, []byte)

	turns sync.Mutex // who gives the terminal away or takes it back; taken before mu

	mu      sync.Mutex
	painter *painter
	canvas  *canvas
	next    *Frame   // what should be shown and is not yet
	above   []string // what should be printed before it
	signs   signs    // beside the picture
	away    bool     // somebody else has the terminal
	dead    bool     // it takes nothing any more
	renew   bool     // it may have forgotten what was asked of it

	asks    string // what the terminal is asked
	on, off string // what is asked of the terminal at its start, and taken back at its end
	wake    chan struct{}
	quit    chan struct{}
	done    chan struct{} // the writer has ended
	once    sync.Once
}

// Options say what the terminal can do.
type Options struct {
	Profile colorprofile.Profile // zero is true colour
	Reflows bool                 // lines wrap anew when the terminal gets narrower
	Glyphs  Glyphs               // what it can show
	Directs bool                 // it shows nothing of marks of direction, such as isolates
	Simple  bool                 // it prints what it does not understand, and is told and asked little

	Enter string // what else is asked of the terminal whenever it is taken, such as to tell when it has the focus
	Leave string // and how that is taken back

	Crashed func(v any, stack []byte) // is told of a panic while drawing
}

// patience is how long a terminal that takes nothing can delay the end.
const patience = 500 * time.Millisecond

// Open takes the terminal: from here on until Close it is raw. One goroutine
// writes to it, so that a slow terminal holds up nobody.
func Open(in, out *os.File, o Options) (*Screen, error) {
	width, height, err := term.GetSize(out.Fd())
	if err != nil {
		return nil, fmt.Errorf("screen: %w", err)
	}
	s := &Screen{in: in, out: out, painter: newPainter(width, height), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	s.crashed, s.asks, s.on, s.off = o.Crashed, ask, modesOn+o.Enter, o.Leave+modesOff
	if o.Simple {
		s.asks, s.on, s.off = askSimple, pasteOn+o.Enter, o.Leave+pasteOff
	}
	s.canvas = &canvas{painter: s.painter, simple: o.Simple}
	s.painter.profile, s.painter.reflows = o.Profile, o.Reflows
	s.painter.pen = pen{glyphs: o.Glyphs, isolates: o.Directs && o.Glyphs == AllGlyphs}
	if err := s.raw(); err != nil {
		return nil, err
	}
	go s.write() // ends with Close
	return s, nil
}

func (s *Screen) raw() error {
	cooked, err := term.MakeRaw(s.in.Fd())
	if err != nil {
		return fmt.Errorf("screen: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cooked == nil {
		s.cooked = cooked
	}
	return nil
}

// Bracketed paste, and keys that can be told apart in the two ways there are.
const (
	modesOn  = pasteOn + "\x1b[>4;2m\x1b[>1u"
	modesOff = "\x1b[<u\x1b[>4m" + pasteOff
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// The questions to a terminal at its start: its background, whether it can
// synchronise and measure characters as readers do, and what it is, which every
// terminal answers.
const (
	ask       = "\x1b]11;?\x1b\\\x1b[?2026$p\x1b[?2027$p" + askSimple
	askSimple = "\x1b[c"
)

// Ask has the terminal tell once more what it is.
func (s *Screen) Ask() { s.Tell(Once, s.asks) }

// Size returns the terminal's columns and rows.
func (s *Screen) Size() (width, height int, err error) { return term.GetSize(s.out.Fd()) }

// Draw shows f as soon as the terminal can take it. A frame that comes before
// that takes its place; what goes above is never skipped.
func (s *Screen) Draw(f Frame) {
	s.mu.Lock()
	s.above = append(s.above, f.Above...)
	f.Above = nil
	s.next = &f
	s.mu.Unlock()
	s.poke()
}

func (s *Screen) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Resize says that the terminal has another size. What was to be shown was laid
// out for the old one; the next frame is drawn anew.
func (s *Screen) Resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.painter.resize(width, height)
	s.canvas.shown = nil
	s.next = nil
}

// Synchronised says that the terminal shows what belongs together at once.
func (s *Screen) Synchronised() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.painter.synced = true
}

// Clusters says that the terminal measures characters as readers do, an emoji of
// several parts as one; or will when it is told to.
func (s *Screen) Clusters(told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.painter.pen.clusters {
		return
	}
	s.painter.pen.clusters = true
	if told {
		s.on, s.off = s.on+clustersOn, clustersOff+s.off
		s.signs.tell(Once, clustersOn)
		s.poke()
	}
}

const (
	clustersOn  = "\x1b[?2027h"
	clustersOff = "\x1b[?2027l"
)

// Repaint draws everything anew: somebody has written over it, or has set the
// terminal back to what it was in the beginning.
func (s *Screen) Repaint() {
	s.mu.Lock()
	s.painter.lost, s.painter.clear = true, !s.canvas.on
	s.painter.caret = &Point{} // shown, as far as anybody knows
	s.canvas.shown = nil
	s.renew = true
	s.signs.again()
	s.mu.Unlock()
	s.poke()
}

// write is the goroutine that the terminal may hold up.
func (s *Screen) write() {
	defer close(s.done)
	defer func() {
		if v := recover(); v != nil && s.crashed != nil {
			s.crashed(v, debug.Stack())
		}
	}()
	_, err := s.out.WriteString(s.on + s.asks)
	for err == nil {
		select {
		case <-s.wake:
			if b := s.take(); len(b) > 0 {
				_, err = s.out.Write(b)
			}
		case <-s.quit:
			return
		}
	}
}

// take returns the bytes of the newest frame, and what there is to tell.
func (s *Screen) take() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || s.dead {
		return nil
	}
	var b []byte
	if s.renew {
		b = append(append(b, s.off+s.on...), s.canvas.again()...)
		s.renew = false
	}
	b = append(b, s.signs.take()...)
	if s.next == nil {
		return b
	}
	return append(b, s.render(*s.next)...)
}

// render returns the bytes that lead to f, on whichever screen it is for. What
// goes above goes there before the other screen is shown, or behind it.
func (s *Screen) render(f Frame) []byte {
	var b []byte
	switch {
	case f.Full && s.canvas.on:
		return s.canvas.paint(f)
	case f.Full:
		if len(s.above) > 0 {
			b = append(b, s.painter.paint(Frame{Above: s.above})...)
			s.above = nil
		}
		b = append(b, s.painter.leave()...)
		return append(b, s.canvas.paint(f)...)
	}
	b = append(b, s.canvas.leave()...)
	f.Above, s.above = s.above, nil
	return append(b, s.painter.paint(f)...)
}

// Tell gives the terminal a sequence that draws nothing, as soon as it can take
// it. What is told once is dropped where the terminal is somebody else's, or is so
// slow that too much waits; of a title and of progress the newest counts, and is
// told again when the terminal comes back.
func (s *Screen) Tell(sign Sign, seq string) {
	s.mu.Lock()
	if sign != Once || !s.away {
		s.signs.tell(sign, seq)
	}
	s.mu.Unlock()
	s.poke()
}

// Release gives the terminal away, as it was before Open. Frames wait.
func (s *Screen) Release() {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.mu.Lock()
	if s.away || s.dead {
		s.mu.Unlock()
		return
	}
	s.away = true
	bye := string(s.canvas.leave()) + string(s.painter.leave()) + s.off
	s.mu.Unlock()
	s.say(bye)
	s.restore()
}

// Acquire takes it back and draws the newest frame. After Close it does nothing.
func (s *Screen) Acquire() error {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.mu.Lock()
	dead, hello := s.dead, s.on
	if !s.away {
		hello = string(s.canvas.leave()) + s.off + s.on // what was pushed before it was lost is pushed once
	}
	s.mu.Unlock()
	if dead {
		return nil
	}
	if err := s.raw(); err != nil {
		return err
	}
	s.say(hello)
	s.mu.Lock()
	s.away = false
	s.signs.again()
	s.painter.forget()
	s.mu.Unlock()
	s.poke()
	return nil
}

// say writes, and waits for it no longer than it must.
func (s *Screen) say(text string) {
	said := make(chan struct{})
	go func() { // ends when the terminal has taken it, or with the program
		defer close(said)
		_, _ = s.out.WriteString(text)
	}()
	select {
	case <-said:
	case <-time.After(patience):
	}
}

func (s *Screen) restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cooked != nil {
		_ = term.Restore(s.in.Fd(), s.cooked)
	}
}

// Close prints what waits to be printed and gives the terminal back as it was.
// It may be called more than once, by anybody, also after a panic.
func (s *Screen) Close() {
	s.once.Do(func() {
		s.turns.Lock()
		defer s.turns.Unlock()
		s.mu.Lock()
		var last []byte
		away := s.away
		if !away {
			last = append(last, s.canvas.leave()...)
		}
		if !away && len(s.above) > 0 {
			last = append(last, s.painter.paint(Frame{Above: s.above})...)
		}
		if !away {
			last = append(last, s.painter.leave()...)
			last = append(last, s.off...)
		}
		s.dead, s.above = true, nil
		s.mu.Unlock()
		close(s.quit)
		select {
		case <-s.done:
		case <-time.After(patience):
		}
		if !away {
			s.say(string(last))
			s.restore()
		}
	})
}
