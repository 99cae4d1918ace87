package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Machines keeps the states of an engine's machine, so that one which is killed
// in the middle of a message goes on with the next piece of it: a mealy.Store,
// and a mealy.Recorder. It serves one process at a time for each id.
//
// A state is written to the database between turns, and within one when what
// came since weighs as much as it, but at least 64 kB. In between the inputs are
// appended to a file beside the database, each with one write(2), before Record
// returns. So what a piece costs does not grow with what came before it, and
// coming back reads no more than twice what there is. A kill loses nothing; a
// power cut may take the inputs since the state in the database.
type Machines struct {
	states States
	step   engine.Processor

	mu    sync.Mutex
	tapes map[string]*tape // of the ids whose state in the database is not the last
}

// A tape is what came since the state in the database, and where it led.
type tape struct {
	state engine.State
	mark  mark
	base  int   // bytes of the state in the database
	size  int64 // of the file
}

// A mark ties a file of inputs to the state behind which they came.
type mark [16]byte

// lightest is what may be on a tape in any case, heaviest what may be at most.
const (
	lightest = 64 << 10
	heaviest = maxFrame
)

// Machines returns the states of machines that take this step, such as
// engine.Step.
func (db *DB) Machines(step engine.Processor) *Machines {
	return &Machines{states: db.States(), step: step, tapes: map[string]*tape{}}
}

// key is the id among the States of everybody.
func key(id string) string { return "machine:" + id }

func (m *Machines) path(id string) string {
	return filepath.Join(m.states.db.path+"-live", fileName(event.SessionID(id))+".tape")
}

// Get returns the state of id, or false where there is none.
func (m *Machines) Get(ctx context.Context, id string) (engine.State, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.tape(ctx, id)
	if t == nil || err != nil {
		return engine.State{}, false, m.states.db.fault("get machine", err)
	}
	return t.state, true, nil
}

// Set writes the state of id to the database.
func (m *Machines) Set(ctx context.Context, id string, s engine.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states.db.fault("set machine", m.set(ctx, id, s))
}

// Record keeps the input that led to a state, or the state.
func (m *Machines) Record(ctx context.Context, id string, in event.Event, s engine.State) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.states.db.fault("record input", m.record(ctx, id, in, s))
}

func (m *Machines) record(ctx context.Context, id string, in event.Event, s engine.State) error {
	t, err := m.tape(ctx, id)
	if err != nil {
		return err
	}
	if t == nil || resting(s) {
		return m.set(ctx, id, s)
	}
	frame, err := frameOf(in)
	if err != nil {
		return err
	}
	if t.size+int64(len(frame)) > int64(min(max(lightest, t.base), heaviest)) {
		return m.set(ctx, id, s)
	}
	if err := m.append(id, t, frame); err != nil {
		return err
	}
	t.state = s
	m.tapes[id] = t
	return nil
}

// resting reports whether nothing is under way: the state is short, and will
// not change soon.
func resting(s engine.State) bool {
	return !s.Open() && (s.Phase() == engine.Idle || s.Phase() == engine.Failed)
}

// tape returns what is known of id, or nil where nothing is.
func (m *Machines) tape(ctx context.Context, id string) (*tape, error) {
	if t := m.tapes[id]; t != nil {
		return t, m.states.db.writable()
	}
	b, ok, err := m.states.Get(ctx, key(id))
	if !ok || err != nil {
		return nil, err
	}
	t := &tape{base: len(b)}
	if copy(t.mark[:], b) < len(t.mark) {
		return nil, fmt.Errorf("%w: state of machine %q", ErrCorrupt, id)
	}
	if err := t.state.UnmarshalBinary(b[len(t.mark):]); err != nil {
		return nil, fmt.Errorf("%w: state of machine %q: %w", ErrCorrupt, id, err)
	}
	return t, m.replay(id, t)
}

// set writes a state to the database; the inputs before it are no longer needed.
func (m *Machines) set(ctx context.Context, id string, s engine.State) error {
	var k mark
	_, _ = rand.Read(k[:]) // never fails
	text, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	if err := m.states.Set(ctx, key(id), append(k[:], text...)); err != nil {
		return err
	}
	delete(m.tapes, id)
	m.forget(id)
	if !resting(s) {
		m.tapes[id] = &tape{state: s, mark: k, base: len(k) + len(text)}
	}
	return nil
}

// forget removes the inputs of id. Where that fails they bear a mark that is no
// longer believed.
func (m *Machines) forget(id string) { os.Remove(m.path(id)) }

// Delete forgets id. To forget what is not there is no error.
func (m *Machines) Delete(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.states.Delete(ctx, key(id)); err != nil {
		return err
	}
	delete(m.tapes, id)
	m.forget(id)
	return nil
}

// Has reports whether id has a state.
func (m *Machines) Has(ctx context.Context, id string) (bool, error) {
	return m.states.Has(ctx, key(id))
}

// append writes a frame behind those that are there, whole or not at all.
func (m *Machines) append(id string, t *tape, frame []byte) error {
	flags := os.O_CREATE | os.O_WRONLY
	if t.size == 0 {
		flags |= os.O_TRUNC
		frame = append(appendFrame(nil, kindHeader, 0, t.mark[:]), frame...)
	}
	f, err := os.OpenFile(m.path(id), flags, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(frame, t.size); err != nil {
		err = errors.Join(err, f.Truncate(t.size))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		t.size += int64(len(frame))
	}
	return err
}

// replay takes the inputs that came since the state in the database, up to the
// first that is torn.
func (m *Machines) replay(id string, t *tape) error {
	f, err := os.Open(m.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxLive), 64<<10)
	header, err := readFrame(r)
	if err != nil || string(header) != string(append([]byte{kindHeader, 0}, t.mark[:]...)) {
		return nil // of another state
	}
	t.size = int64(8 + len(header))
	for {
		body, err := readFrame(r)
		if err != nil {
			return nil
		}
		in, err := inputOf(body)
		if err != nil {
			return fmt.Errorf("%w: input of machine %q: %w", ErrCorrupt, id, err)
		}
		for range mealy.Follow(m.step, &t.state, in) {
		}
		t.size += int64(8 + len(body))
	}
}

// frameOf is an input as a frame. Text is kept as it is: JSON would mend half a
// letter, and its other half comes next.
func frameOf(in event.Event) ([]byte, error) {
	ms := int64(event.MillisOf(in.At))
	switch d := in.Data.(type) {
	case event.TextDelta:
		return appendFrame(nil, kindText, ms, []byte(d.Text)), nil
	case event.ThinkingDelta:
		if d.Signature == "" {
			return appendFrame(nil, kindThinking, ms, []byte(d.Text)), nil
		}
	}
	text, err := json.Marshal(in)
	return appendFrame(nil, kindEvent, ms, text), err
}

func inputOf(body []byte) (event.Event, error) {
	ms, n := binary.Varint(body[1:])
	if n <= 0 {
		return event.Event{}, errors.New("a frame without a time")
	}
	e, err := parseFrame(body[0], body[1+n:])
	e.At = event.Millis(ms).Time()
	return e, err
}
