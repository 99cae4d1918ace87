package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"agentx/engine/event"
)

// A Reader reads a recording: one of ours, or what `-o stream-json` printed.
type Reader struct {
	Header Header
	Cut    bool // the last line broke off; known when the steps have been read

	lines  lines
	stream bool // of events, as stream-json has them
}

// NewReader reads the first line, which says what the rest is.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{lines: lines{in: bufio.NewReaderSize(in, 64<<10)}}
	first, err := r.lines.next()
	if errors.Is(err, io.EOF) {
		return nil, &FormatError{0, "it is empty"}
	}
	if err != nil {
		return nil, err
	}
	var h struct {
		header
		Version json.RawMessage `json:"version"` // a number in a trace, a text in stream-json
	}
	if err := json.Unmarshal(first, &h); err != nil {
		return nil, &FormatError{0, "it is neither a trace nor the output of -o stream-json"}
	}
	switch h.Type {
	case "trace":
		var version int
		if err := json.Unmarshal(h.Version, &version); err != nil || version < 1 || version > Version {
			return nil, &FormatError{1, fmt.Sprintf("it is a trace of version %.20s, and this program reads up to version %d", h.Version, Version)}
		}
		r.Header = Header{h.Agentx, h.Model, h.Provider, h.Timestamp}
		return r, nil
	case "init":
		var version string
		_ = json.Unmarshal(h.Version, &version) // only to be shown
		r.Header, r.stream = Header{Agentx: version, Model: h.Model}, true
		return r, nil
	}
	return nil, &FormatError{0, "it is neither a trace nor the output of -o stream-json"}
}

// Steps reads the steps, once. The last pair carries an error, if there is one;
// a last line that broke off is none.
func (r *Reader) Steps() iter.Seq2[Step, error] {
	if r.stream {
		return r.fromEvents()
	}
	return func(yield func(Step, error) bool) {
		for raw, err := range r.rest() {
			if err != nil {
				yield(Step{}, err)
				return
			}
			s, ok, err := r.step(raw)
			if err != nil {
				yield(Step{}, err)
				return
			}
			if ok && !yield(s, nil) {
				return
			}
		}
	}
}

// step reads a line. What is no step says nothing to this version.
func (r *Reader) step(raw []byte) (Step, bool, error) {
	var l line
	if err := json.Unmarshal(raw, &l); err != nil {
		return Step{}, false, r.wrong("it is not JSON as a trace has it: %v", err)
	}
	if l.Type != "step" {
		return Step{}, false, nil
	}
	s := Step{Line: r.lines.n, Agent: l.Agent, Session: l.Session, Model: l.Model, First: l.First, Priced: l.Priced, State: l.State}
	if err := json.Unmarshal(l.In, &s.In); err != nil {
		return s, false, r.wrong("its input is no event: %v", err)
	}
	if s.In.Data == nil || s.In.Data.Type() == "" {
		return s, false, r.wrong("it has no input")
	}
	for _, o := range l.Out {
		s.Outs = append(s.Outs, Out{r.lines.n, o})
	}
	return s, true, nil
}

func (r *Reader) wrong(format string, args ...any) error {
	return &FormatError{r.lines.n, fmt.Sprintf(format, args...)}
}

// rest are the lines behind the first that hold something. The last one may
// have broken off.
func (r *Reader) rest() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			raw, err := r.lines.next()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err == nil && !r.lines.whole && !json.Valid(raw):
				r.Cut = true
				return
			}
			if !yield(raw, err) || err != nil {
				return
			}
		}
	}
}

// All reads the steps into memory, of which there may be so many bytes of file.
func (r *Reader) All(most int64) ([]Step, error) {
	var all []Step
	for s, err := range r.Steps() {
		if err != nil {
			return nil, err
		}
		if r.lines.bytes > most {
			return nil, &FormatError{0, fmt.Sprintf("it is larger than the %d MB that can be played", most>>20)}
		}
		all = append(all, s)
	}
	return all, nil
}

// lines are the lines of a file, each bounded.
type lines struct {
	in    *bufio.Reader
	n     int   // number of the last one
	bytes int64 // that were read
	whole bool  // it had an end
}

// next returns the next line that is not blank, without its end. It is valid
// for good.
func (l *lines) next() ([]byte, error) {
	for {
		raw, err := l.read()
		if err != nil {
			return nil, err
		}
		l.n++
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		if event.Depth(raw) > maxDepth {
			return nil, &FormatError{l.n, fmt.Sprintf("it is nested more than %d deep", maxDepth)}
		}
		return raw, nil
	}
}

func (l *lines) read() ([]byte, error) {
	var raw []byte
	for {
		piece, err := l.in.ReadSlice('\n')
		l.bytes += int64(len(piece))
		if len(raw)+len(piece) > maxLine {
			return nil, &FormatError{l.n + 1, fmt.Sprintf("it is longer than %d MB", maxLine>>20)}
		}
		raw = append(raw, piece...)
		switch {
		case err == nil:
			l.whole = true
			return raw, nil
		case errors.Is(err, io.EOF) && len(raw) > 0:
			l.whole = false
			return raw, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// inputOf reports whether the machine takes e in. All else it put out itself.
func inputOf(e event.Event) bool {
	_, said := e.Data.(event.UserMessage)
	return said || event.LayerOf(e.Data) == event.StreamLayer
}
