package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"agentx/engine/event"
)

// How far a live file may be behind the stream.
const (
	page    = 4096
	roomy   = 16 * page              // how much room is made at a time
	behind  = 120 * time.Millisecond // a connection may be read 125 later, and 250 are promised
	handful = 30 * time.Millisecond  // without a piece, and the next is the first of several
	unsafe  = 10 * time.Second       // of what a power cut may take
)

// A live file holds the text so far of one streaming answer. It only grows, by
// frames that prove themselves:
//
//	length, CRC-32C    4 bytes each, little endian
//	kind, time         a byte, and a varint of ms since the header's
//	text or JSON       of the event's data
//
// The first frame is the header. Pieces of text are gathered into one frame for
// as long as they may be behind. The file is synced whenever a page of it is
// full, just before the first byte of the next, and has its blocks before they
// are needed: so most pages are written once. Zeros at the end are no frame.
type live struct {
	path   string
	head   liveHead
	tell   func(error)   // what to do with an fsync that failed
	forget func(l *live) // called once, when the file is closed

	mu      sync.Mutex // of what is pending
	pending []byte     // whole frames
	run     run        // of text, that grows
	spoke   bool       // text has come
	timer   *time.Timer
	due     bool      // the timer will write what is pending
	since   time.Time // that is so
	last    time.Time // piece
	err     error
	told    bool
	ended   bool

	disk  sync.Mutex // of the file; taken before mu
	file  *os.File
	size  int64     // of what is written
	room  int64     // of the file; zeros follow what is written
	named bool      // its name is on the disk
	dirty time.Time // when the oldest byte came that is not synced; zero where all are
}

// liveHead says to which place of which log the answer belongs.
type liveHead struct {
	Session event.SessionID `json:"session"`
	Head    int64           `json:"head"` // seq of the last event before the message
	At      event.Millis    `json:"at"`
	Message string          `json:"message"`
}

// A run is text of one kind that has not been framed.
type run struct {
	kind byte
	at   time.Time // of the last piece
	text []byte
}

// Kinds of frames.
const (
	kindHeader   = 'H'
	kindText     = 't'
	kindThinking = 'h'
	kindEvent    = 'e' // an event as JSON
)

func (db *DB) livePath(session event.SessionID) string {
	return filepath.Join(db.path+"-live", fileName(session)+".log")
}

// begin starts the live file of a message. Nothing is written before it is due.
func (db *DB) begin(session event.SessionID, head int64, e event.Event, start event.MessageStart) *live {
	l := &live{
		path:   db.livePath(session),
		head:   liveHead{session, head, event.MillisOf(e.At), start.MessageID},
		tell:   db.distrust,
		forget: db.forget,
	}
	header, err := json.Marshal(l.head)
	l.err = err
	l.frame(kindHeader, e.At, header)
	l.add(e)
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		l.ended = true
		return l
	}
	db.lives[l] = struct{}{}
	return l
}

func (db *DB) forget(l *live) {
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.lives, l)
}

// add takes a piece of the answer. It returns what went wrong with an earlier
// one, once; after that nothing more of this answer is written here.
func (l *live) add(e event.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.complaint()
	}
	if l.ended {
		return nil
	}
	switch d := e.Data.(type) {
	case event.TextDelta:
		l.grow(kindText, e.At, d.Text)
	case event.ThinkingDelta:
		if d.Signature != "" {
			l.event(e)
		} else {
			l.grow(kindThinking, e.At, d.Text)
		}
	default:
		l.event(e)
	}
	l.schedule(e.At)
	return nil
}

func (l *live) complaint() error {
	if l.told {
		return nil
	}
	l.told = true
	return l.err
}

// schedule sees to it that what is pending is written in time, whether or not
// anything more comes. Pieces that come by handfuls are written with every other
// handful, so that nobody has to wake up in between.
func (l *live) schedule(now time.Time) {
	full := len(l.pending)+len(l.run.text) >= page
	first := now.Sub(l.last) >= handful
	l.last = now
	switch {
	case full, l.due && first && now.Sub(l.since) >= behind/2:
		l.alarm(0)
		l.since = now
	case !l.due:
		l.alarm(behind)
		l.since = now
	}
	l.due = true
}

func (l *live) alarm(in time.Duration) {
	if l.timer == nil {
		l.timer = time.AfterFunc(in, l.tick)
		return
	}
	l.timer.Reset(in)
}

func (l *live) grow(kind byte, at time.Time, s string) {
	if l.run.kind != kind {
		l.seal()
	}
	l.run.kind, l.run.at = kind, at
	l.run.text = append(l.run.text, s...)
	if !l.spoke {
		l.seal() // the first token keeps its time, of the others the last does
		l.spoke = true
	}
}

// seal frames the text that was gathered.
func (l *live) seal() {
	if len(l.run.text) > 0 {
		l.frame(l.run.kind, l.run.at, l.run.text)
	}
	l.run = run{text: l.run.text[:0]}
}

func (l *live) event(e event.Event) {
	l.seal()
	text, err := json.Marshal(e)
	if err != nil {
		l.err = err
		return
	}
	l.frame(kindEvent, e.At, text)
}

func (l *live) frame(kind byte, at time.Time, text []byte) {
	l.pending = appendFrame(l.pending, kind, at.UnixMilli()-int64(l.head.At), text)
}

// appendFrame adds a frame to b.
func appendFrame(b []byte, kind byte, ms int64, text []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, kind)
	b = binary.AppendVarint(b, ms)
	b = append(b, text...)
	body := b[start+8:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(body, castagnoli()))
	return b
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// tick is the timer's.
func (l *live) tick() {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.keep(false)
}

// flush writes what is pending now.
func (l *live) flush() error {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.keep(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.complaint()
}

// whole writes what is pending, and reports whether the file has all of the
// answer.
func (l *live) whole() bool {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.keep(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err == nil && !l.ended
}

// keep writes what is pending and syncs what is due, or all. The disk is held.
func (l *live) keep(all bool) {
	bytes, ok := l.take()
	if !ok {
		return
	}
	err := l.write(bytes)
	if old := !l.dirty.IsZero() && time.Since(l.dirty) >= unsafe; err == nil && (all || old) {
		err = l.sync()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = err
		return
	}
	if !l.dirty.IsZero() && !l.due && !l.ended {
		l.alarm(max(0, unsafe-time.Since(l.dirty)))
	}
}

// take hands over what is pending, or false where nothing may be written.
func (l *live) take() ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.err != nil {
		return nil, false
	}
	l.seal()
	bytes := l.pending
	l.pending, l.due = nil, false
	return bytes, true
}

// write appends, and syncs at the end of a page. The disk is held.
func (l *live) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if l.file == nil {
		f, err := os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		l.file = f
		if err := f.Chmod(0o600); err != nil {
			return err
		}
	}
	if fill := int(page - l.size%page); len(b) > fill {
		rest := (len(b) - fill) / page * page // whole pages go at once
		if err := l.append(b[:fill+rest]); err != nil {
			return err
		}
		if err := l.sync(); err != nil {
			return err
		}
		b = b[fill+rest:]
	}
	return l.append(b)
}

func (l *live) append(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if l.size+int64(len(b)) > l.room {
		l.room = l.size + int64(len(b)) + roomy
		reserve(l.file, l.room)
	}
	n, err := l.file.WriteAt(b, l.size)
	l.size += int64(n)
	if l.dirty.IsZero() {
		l.dirty = time.Now()
	}
	return err
}

// sync brings the file to the disk, and the first time its name too.
func (l *live) sync() error {
	// Not fdatasync: for 14 pages that fill slowly it wrote 18, this 16. The kernel
	// also writes a page that is not full when it thinks it is old.
	if err := l.file.Sync(); err != nil {
		l.tell(err)
		return kind{ErrIO, err}
	}
	l.dirty = time.Time{}
	if l.named {
		return nil
	}
	l.named = true
	return persist(filepath.Dir(l.path))
}

// drop removes the file: the answer is in the log.
func (l *live) drop() error {
	file := l.end(nil)
	if file == nil {
		return nil
	}
	return errors.Join(file.Close(), os.Remove(l.path))
}

// suspend keeps all there is for the next one who opens the database.
func (l *live) suspend() error {
	file := l.end(func() { l.keep(true) })
	l.mu.Lock()
	err := l.complaint()
	l.mu.Unlock()
	if file == nil {
		return err
	}
	return errors.Join(err, file.Close())
}

// end stops the writing, after last, and returns the file if there is one.
func (l *live) end(last func()) *os.File {
	l.disk.Lock()
	defer l.disk.Unlock()
	if last != nil {
		last()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil
	}
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.forget(l)
	file := l.file
	l.file = nil
	return file
}

// maxLive bounds what is read of a live file, maxFrame a frame of it.
const (
	maxLive  = 256 << 20
	maxFrame = 64 << 20
)

// readLive returns what a live file holds up to the first frame that is torn.
// No file, and none that begins with a header, holds nothing.
func readLive(path string) (liveHead, []event.Event, error) {
	f, err := os.Open(path)
	if err != nil {
		return liveHead{}, nil, err
	}
	defer f.Close()
	head, events := parseLive(bufio.NewReaderSize(io.LimitReader(f, maxLive), 64<<10))
	return head, events, nil
}

func parseLive(r io.Reader) (head liveHead, events []event.Event) {
	for {
		body, err := readFrame(r)
		if err != nil {
			return head, events
		}
		kind := body[0]
		ms, n := binary.Varint(body[1:])
		if n <= 0 {
			return head, events
		}
		text := body[1+n:]
		if kind == kindHeader {
			if json.Unmarshal(text, &head) != nil {
				return liveHead{}, nil
			}
			continue
		}
		e, err := parseFrame(kind, text)
		if head.Session == "" || err != nil {
			return head, events
		}
		e.At = event.Millis(int64(head.At) + ms).Time()
		events = append(events, e)
	}
}

func parseFrame(kind byte, text []byte) (e event.Event, err error) {
	switch kind {
	case kindText:
		e.Data = event.TextDelta{Text: string(text)}
	case kindThinking:
		e.Data = event.ThinkingDelta{Text: string(text)}
	case kindEvent:
		err = json.Unmarshal(text, &e)
	default:
		err = fmt.Errorf("unknown frame %q", kind)
	}
	return e, err
}

func readFrame(r io.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 2 || n > maxFrame {
		return nil, errors.New("a frame of impossible length")
	}
	var body bytes.Buffer // grows as bytes come, not as a length promises
	if _, err := io.CopyN(&body, r, int64(n)); err != nil {
		return nil, err
	}
	if crc32.Checksum(body.Bytes(), castagnoli()) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, errors.New("a frame that was torn")
	}
	return body.Bytes(), nil
}
