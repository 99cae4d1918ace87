package tui

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A keyboard is a terminal's input that says when it has ended, which the loop
// would otherwise wait for for ever, and when a paste has begun that does not
// end, for the same reason. What comes as no hand could type it is a paste where
// the terminal does not say so.
type keyboard struct {
	*os.File
	gone  chan<- struct{}
	paste *paste
}

func (k keyboard) Read(p []byte) (int, error) {
	room := p
	if len(p) > 64 {
		room = p[:len(p)-len(pasteBegins)-len(pasteEnds)]
	}
	n, err := k.File.Read(room)
	for err == nil && lines(p[:n]) && n < len(room) && ready(k.File, shortly) {
		var more int
		more, err = k.File.Read(room[n:])
		n += more
	}
	if !k.paste.read(p[:n]) && len(room) < len(p) && pours(p[:n]) {
		n = copy(p, pasteBegins+string(p[:n])+pasteEnds)
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		select {
		case k.gone <- struct{}{}:
		default:
		}
	}
	return n, err
}

// What a terminal sends around a paste.
const pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"

// endless is how long a paste may be silent in its middle.
const endless = 2 * time.Second

// maxPaste is how much is kept of a paste that does not end; more is lost with it.
const maxPaste = 10 << 20

// A paste follows what the terminal sends, and keeps what has come of a paste
// that has not ended.
type paste struct {
	broken func(text string) // is told what came of one that does not end

	mu    sync.Mutex
	on    bool
	half  []byte // may become a beginning or an end
	text  []byte
	timer *time.Timer
}

// read says whether b has to do with a paste that the terminal tells of.
func (p *paste) read(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on && len(p.half) == 0 && bytes.IndexByte(b, '\x1b') < 0 {
		return false
	}
	b = append(p.half, b...)
	for {
		_, rest, ok := bytes.Cut(b, p.mark())
		if !ok {
			break
		}
		p.on, p.text, b = !p.on, nil, rest
	}
	n := len(p.mark()) - 1
	for n > 0 && !bytes.HasSuffix(b, p.mark()[:n]) {
		n--
	}
	if b, p.half = b[:len(b)-n], bytes.Clone(b[len(b)-n:]); p.on {
		p.text = append(p.text, b[:min(len(b), maxPaste-len(p.text))]...)
	}
	p.wait()
	return true
}

// manyKeys is how many keys may have waited while the program was busy.
const manyKeys = 12

// pours says whether what came at once is lines, and too much for a hand: no Enter
// in it was meant as one.
func pours(b []byte) bool { return lines(b) && bytes.ContainsAny(b[:len(b)-1], "\r\n") }

// shortly is how long the rest of what came at once may be on its way.
const shortly = 20 * time.Millisecond

// lines says whether what came at once is text with an Enter in it, and more than
// can have waited.
func lines(b []byte) bool {
	if len(b) <= manyKeys || !bytes.ContainsAny(b, "\r\n") {
		return false
	}
	return !bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\r' && r != '\n' && r != '\t' || r == 0x7f })
}

// mark is what changes things.
func (p *paste) mark() []byte {
	if p.on {
		return []byte(pasteEnds)
	}
	return []byte(pasteBegins)
}

// wait waits for the rest of a paste, or for nothing.
func (p *paste) wait() {
	switch {
	case !p.on && p.timer != nil:
		p.timer.Stop()
	case p.on && p.timer == nil:
		p.timer = time.AfterFunc(endless, p.end)
	case p.on:
		p.timer.Reset(endless)
	}
}

// end gives up waiting.
func (p *paste) end() {
	p.mu.Lock()
	on, text := p.on, string(p.text)+string(p.half)
	p.on, p.text, p.half = false, nil, nil
	p.mu.Unlock()
	if on {
		p.broken(text)
	}
}

// mend has the loop forget a paste that does not end, and takes what came of it
// for all of it.
func (c *console) mend(text string) {
	c.mu.Lock()
	if c.away || c.leaving {
		c.mu.Unlock()
		return
	}
	c.away = true
	c.mu.Unlock()
	_ = c.program.ReleaseTerminal()
	_ = c.program.RestoreTerminal()
	c.mu.Lock()
	c.away = false
	c.mu.Unlock()
	c.program.Send(tea.PasteMsg{Content: text})
}
