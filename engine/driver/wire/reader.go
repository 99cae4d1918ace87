package wire

import (
	"bytes"
	"fmt"
	"io"

	"agentx/engine"
	"agentx/engine/event"
)

// A Frame is one event of a stream as it came: of server-sent events a name,
// which may be empty, and data; of lines of JSON a line. It is valid until the
// next one is read. Cut marks one whose end the stream did not send.
type Frame struct {
	Name, Data []byte
	Cut        bool
}

// A Reader reads server-sent events as the WHATWG describes them, or lines of
// JSON, however they are cut into pieces. Lines end with LF, CRLF or CR.
type Reader struct {
	src   io.Reader
	lines bool // of JSON
	limit int  // bytes of a line, and of an event

	buf      []byte
	pos, end int // what is read and not yet taken
	lf, cr   mark
	skipLF   bool // a CR ended the last line: an LF behind it belongs to it
	started  bool // behind a byte order mark
	err      error

	name, data []byte
}

// NewReader returns a Reader of server-sent events. No line or event may be
// longer than limit bytes.
func NewReader(src io.Reader, limit int) *Reader { return &Reader{src: src, limit: limit} }

// NewLineReader returns a Reader of lines of JSON.
func NewLineReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: limit, lines: true}
}

// Next returns the next event. Its error is io.EOF where the stream ended.
func (r *Reader) Next() (Frame, error) {
	r.name, r.data = r.name[:0], r.data[:0]
	for {
		line, err := r.line()
		switch {
		case err == io.EOF && len(line)+len(r.data) > 0:
			if err := r.take(line); err != nil {
				return Frame{}, err
			}
			if len(r.data) > 0 {
				return Frame{r.name, r.data, true}, nil
			}
			return Frame{}, io.EOF
		case err != nil:
			return Frame{}, err
		}
		if err := r.take(line); err != nil {
			return Frame{}, err
		}
		if len(r.data) > 0 && (r.lines || len(line) == 0) {
			return Frame{Name: r.name, Data: r.data}, nil
		}
		if len(line) == 0 {
			r.name = r.name[:0]
		}
	}
}

// take adds a line to the event that is being read.
func (r *Reader) take(line []byte) error {
	if r.lines {
		r.data = append(r.data, bytes.TrimSpace(line)...)
		return nil
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "event":
		r.name = append(r.name[:0], value...)
	case "data":
		if len(r.data)+len(value) >= r.limit {
			return tooLongLine(r.limit)
		}
		if len(r.data) > 0 {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
	}
	return nil
}

// line returns the next line without its end. With an error comes what stood
// behind the last end of a line.
func (r *Reader) line() ([]byte, error) {
	r.start()
	for {
		if r.skipLF && r.pos < r.end {
			r.skipLF = false
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
		}
		if i := r.lineEnd(); i >= 0 {
			line := r.buf[r.pos:i]
			r.skipLF = r.buf[i] == '\r'
			r.pos = i + 1
			if len(line) > r.limit {
				return nil, tooLongLine(r.limit)
			}
			return line, nil
		}
		if r.end-r.pos > r.limit {
			return nil, tooLongLine(r.limit)
		}
		if r.err != nil {
			rest := r.buf[r.pos:r.end]
			r.pos = r.end
			return rest, r.err
		}
		r.fill()
	}
}

// start passes over a byte order mark.
func (r *Reader) start() {
	if r.started {
		return
	}
	r.started = true
	bom := []byte("\xEF\xBB\xBF")
	for r.err == nil && r.end-r.pos < len(bom) && bytes.HasPrefix(bom, r.buf[r.pos:r.end]) {
		r.fill()
	}
	if bytes.HasPrefix(r.buf[r.pos:r.end], bom) {
		r.pos += len(bom)
	}
}

// Peek returns the first bytes that are not blank, without taking them: at
// least n, or as many as the first line or the whole stream has.
func (r *Reader) Peek(n int) ([]byte, error) {
	r.start()
	for {
		head := bytes.TrimLeft(r.buf[r.pos:r.end], " \t\r\n")
		if len(head) >= n || bytes.IndexByte(head, '\n') >= 0 || r.err == io.EOF {
			return head, nil
		}
		if r.err != nil {
			return head, r.err
		}
		if r.end-r.pos > r.limit {
			return nil, tooLongLine(r.limit)
		}
		r.fill()
	}
}

// Rest returns at most n bytes of what has not been taken.
func (r *Reader) Rest(n int) []byte {
	for r.err == nil && r.end-r.pos < n {
		r.fill()
	}
	return r.buf[r.pos:min(r.end, r.pos+n)]
}

const firstBuffer = 16 << 10

// fill reads once. What has been taken makes room; where there is none the
// buffer doubles.
func (r *Reader) fill() {
	if r.pos > 0 {
		r.end = copy(r.buf, r.buf[r.pos:r.end])
		r.lf.shift(r.pos)
		r.cr.shift(r.pos)
		r.pos = 0
	}
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, max(firstBuffer, len(r.buf)))...)
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

func (r *Reader) lineEnd() int {
	lf := r.lf.next(r.buf[:r.end], r.pos, '\n')
	cr := r.cr.next(r.buf[:r.end], r.pos, '\r')
	if lf < 0 || cr >= 0 && cr < lf {
		return cr
	}
	return lf
}

// A mark remembers where a byte comes next, so that none is looked for twice.
type mark struct {
	at   int // where it is, if that has not been passed
	seen int // looked for up to here
}

func (m *mark) next(b []byte, pos int, c byte) int {
	if m.at >= pos && m.seen > m.at {
		return m.at
	}
	from := max(m.seen, pos)
	i := bytes.IndexByte(b[from:], c)
	if i < 0 {
		m.at, m.seen = -1, len(b)
		return -1
	}
	m.at, m.seen = from+i, from+i+1
	return m.at
}

func (m *mark) shift(n int) {
	m.at = max(-1, m.at-n)
	m.seen = max(0, m.seen-n)
}

func tooLongLine(limit int) error {
	return &engine.Fault{Code: event.CodeTooLarge, Message: fmt.Sprintf("the stream has a line longer than %s", size(int64(limit)))}
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
