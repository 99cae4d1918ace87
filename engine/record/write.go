package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"agentx/engine"
	"agentx/engine/event"
)

// A Writer writes a recording. It may be used by several goroutines at once.
// What is written is handed on at the end of each turn, and a quarter of a
// second behind the events at the latest while they come.
type Writer struct {
	mu      sync.Mutex
	out     *bufio.Writer
	flushed time.Time
	buffer  bytes.Buffer
	json    *json.Encoder // into buffer
	err     error
}

// NewWriter begins a recording with its header.
func NewWriter(out io.Writer, h Header) *Writer {
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10)}
	w.json = json.NewEncoder(&w.buffer)
	w.json.SetEscapeHTML(false)
	w.write(header{"trace", Version, h.Agentx, h.Model, h.Provider, h.Timestamp})
	w.flush()
	return w
}

// Step writes one transition. After an error nothing more is written, so that
// there is no gap; Err tells of it.
func (w *Writer) Step(t engine.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return
	}
	l := line{Type: "step", Agent: t.Agent, First: t.First, Priced: t.Priced}
	if t.First {
		l.Session, l.Model = t.Session, t.Model
	}
	ended := false
	if l.In, w.err = t.In.MarshalJSON(); w.err != nil {
		return
	}
	for _, e := range t.Outs {
		raw, err := e.MarshalJSON()
		if err != nil {
			w.err = err
			return
		}
		_, last := e.Data.(event.TurnResponse)
		l.Out, ended = append(l.Out, raw), ended || last
	}
	if l.State, w.err = json.Marshal(t.State.Summary()); w.err != nil {
		return
	}
	w.write(l)
	if ended || t.In.At.Sub(w.flushed) >= flushAfter || t.In.At.Before(w.flushed) {
		w.flushed = t.In.At
		w.flush()
	}
}

func (w *Writer) write(v any) {
	if w.err != nil {
		return
	}
	w.buffer.Reset()
	if w.err = w.json.Encode(v); w.err != nil {
		return
	}
	if w.buffer.Len() > maxLine {
		w.err = fmt.Errorf("one step takes %d MB, more than the %d that can be read again", w.buffer.Len()>>20, maxLine>>20)
		return
	}
	_, w.err = w.out.Write(w.buffer.Bytes())
}

func (w *Writer) flush() {
	if err := w.out.Flush(); w.err == nil {
		w.err = err
	}
}

// Flush hands on what is written.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

// Err is why nothing is written any more.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
