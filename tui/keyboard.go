package tui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A keyboard is a terminal's input that says when it has ended, which the loop
// would otherwise wait for for ever, and when a paste has begun that does not
// end, for the same reason. What comes as no hand could type it is a paste where
// the terminal does not say so, and what comes in pieces is put together.
type keyboard struct {
	*os.File
	gone  chan<- struct{}
	paste *paste
	sieve *sieve
}

// Read wants room for 4 kB.
func (k keyboard) Read(p []byte) (int, error) {
	room := len(p) - 2*maxHalf
	if room <= 0 {
		return 0, io.ErrShortBuffer
	}
	var all, answered, text []byte
	var err error
	told, more := false, true // that something is a paste; that something may come
	for err == nil && more && len(all) < room {
		var n int
		k.sieve.pastes = k.paste.open()
		n, err = k.File.Read(p[:room-len(all)])
		told = k.paste.read(p[:n]) || told
		all = append(all, k.sieve.sift(p[:n], time.Now())...)
		answered, text = part(all)
		more = (k.sieve.mayBeKey() || lines(text) && !told) && ready(k.File, shortly)
	}
	if k.sieve.mayBeKey() && !more {
		key := k.sieve.key()
		all, text = append(all, key...), append(text, key...)
	}
	switch {
	case !told && pours(text):
		all = k.sieve.pour(answered, text, more)
	case !told && k.sieve.pours:
		n := textIn(text)
		all = append(k.sieve.pour(answered, text[:n], more && n == len(text)), text[n:]...)
	case k.sieve.pours:
		all, k.sieve.pours = append([]byte(pasteEnds), all...), false
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		select {
		case k.gone <- struct{}{}:
		default:
		}
	}
	return copy(p, all), err
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

// open says whether a paste has begun and has not ended.
func (p *paste) open() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.on
}

// read says whether there is something in b of a paste that the terminal tells of.
func (p *paste) read(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on && len(p.half) == 0 && bytes.IndexByte(b, '\x1b') < 0 {
		return false
	}
	b = append(p.half, b...)
	told := p.on
	for {
		_, rest, ok := bytes.Cut(b, p.mark())
		if !ok {
			break
		}
		p.on, p.text, b, told = !p.on, nil, rest, true
	}
	n := len(p.mark()) - 1
	for n > 0 && !bytes.HasSuffix(b, p.mark()[:n]) {
		n--
	}
	if b, p.half = b[:len(b)-n], bytes.Clone(b[len(b)-n:]); p.on {
		p.text = append(p.text, b[:min(len(b), maxPaste-len(p.text))]...)
	}
	p.wait()
	return told
}

// manyKeys is how many keys may have waited while the program was busy.
const manyKeys = 12

// pours says whether what came at once is lines, and too much for a hand: no Enter
// in it was meant as one.
func pours(b []byte) bool { return lines(b) && bytes.ContainsAny(b[:len(b)-1], "\r\n") }

// shortly is how long the rest of what came at once may be on its way. Whether it
// is there is asked at the end of that time too: this process may have slept.
const shortly = 50 * time.Millisecond

// lines says whether what came at once is text with an Enter in it, and more than
// can have waited.
func lines(b []byte) bool {
	if len(b) <= manyKeys || !bytes.ContainsAny(b, "\r\n") {
		return false
	}
	return textIn(b) == len(b)
}

// textIn is how much of b is text, up to a key that only does something.
func textIn(b []byte) int {
	i := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\r' && r != '\n' && r != '\t' || r == 0x7f })
	if i < 0 {
		return len(b)
	}
	return i
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
