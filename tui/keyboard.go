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
// end, for the same reason.
type keyboard struct {
	*os.File
	gone  chan<- struct{}
	paste *paste
}

func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	k.paste.read(p[:n])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		select {
		case k.gone <- struct{}{}:
		default:
		}
	}
	return n, err
}

// What a terminal sends around a paste.
var pasteBegins, pasteEnds = []byte("\x1b[200~"), []byte("\x1b[201~")

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

func (p *paste) read(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on && len(p.half) == 0 && bytes.IndexByte(b, '\x1b') < 0 {
		return
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
}

// mark is what changes things.
func (p *paste) mark() []byte {
	if p.on {
		return pasteEnds
	}
	return pasteBegins
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
