package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"agentx/engine"
	"agentx/engine/event"
	"agentx/engine/mealy"
)

// Memory keeps sessions and images for as long as the process: a [Journal],
// [Sessions] and [Images] that forget. Its zero value is empty and ready.
type Memory struct {
	Now func() time.Time // nil is time.Now; set before it is first used

	mu       sync.Mutex
	sessions map[event.SessionID]*memorySession
	locked   map[event.SessionID]bool
	images   []*memoryImage // in the order in which they were frozen
	made     int            // sessions, ever
}

// A memorySession is a session and what was said in it.
type memorySession struct {
	engine.Session
	n        int // counts sessions in the order of their making
	log      []event.Event
	begun    int    // how many events came with its image
	turn     string // user's message that has no turn_response yet
	cost     event.USD
	unpriced bool // a turn used tokens of unknown price
}

func (m *Memory) now() time.Time {
	if m.Now == nil {
		return time.Now()
	}
	return m.Now()
}

// Create makes an empty session of what s says but for what follows from its
// events. Without a time of creation it is now.
func (m *Memory) Create(_ context.Context, s engine.Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err := m.create(s)
	return err
}

func (m *Memory) create(s engine.Session) (*memorySession, error) {
	if s.ID == "" {
		return nil, errors.New("a session needs an id")
	}
	if m.sessions[s.ID] != nil {
		return nil, fmt.Errorf("session %q %w", s.ID, engine.ErrExists)
	}
	if s.Created.IsZero() {
		s.Created = m.now()
	}
	if m.sessions == nil {
		m.sessions = map[event.SessionID]*memorySession{}
	}
	m.made++
	kept := &memorySession{n: m.made, Session: engine.Session{
		ID: s.ID, Title: s.Title, Model: s.Model, Dir: s.Dir, ParentID: s.ParentID, Image: s.Image,
		Trunk: cmp.Or(s.Trunk, s.ID), Tags: s.Tags,
		Created: event.MillisOf(s.Created).Time(), Updated: event.MillisOf(s.Created).Time(),
	}}
	m.sessions[s.ID] = kept
	return kept, nil
}

// session returns the session that id names. The lock is held.
func (m *Memory) session(id event.SessionID) (*memorySession, error) {
	s := m.sessions[id]
	if s == nil {
		return nil, fmt.Errorf("session %q: %w", id, engine.ErrNotFound)
	}
	return s, nil
}

// Events returns what has been said in the session.
func (m *Memory) Events(_ context.Context, id event.SessionID) ([]event.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		return nil, nil
	}
	return slices.Clip(s.log), nil
}

// Messages returns what was said in a session behind an event, and what counts
// the last.
func (m *Memory) Messages(_ context.Context, id event.SessionID, seq int64) (said []event.Message, last int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		return nil, 0, nil
	}
	last = int64(len(s.log))
	return Messages(s.log[min(max(seq, 0), last):]), last, nil
}

// Presenter keeps messages and turns. A session that is not there yet is made.
func (m *Memory) Presenter(id event.SessionID) engine.Presenter {
	return engine.PresenterFunc(func(_ context.Context, _ event.AgentID, e event.Event) error {
		switch e.Data.(type) {
		case event.Message, event.Turn:
			m.mu.Lock()
			defer m.mu.Unlock()
			s := m.sessions[id]
			if s == nil {
				var err error
				if s, err = m.create(engine.Session{ID: id}); err != nil {
					return err
				}
			}
			s.add(e)
		}
		return nil
	})
}

// add adds an event to the log, and to what follows from it.
func (s *memorySession) add(e event.Event) {
	s.log = append(s.log, e)
	if e.At.After(s.Updated) {
		s.Updated = event.MillisOf(e.At).Time()
	}
	switch d := e.Data.(type) {
	case event.UserMessage:
		s.Messages++
		s.turn, s.Interrupted = d.ID, false
		if s.Title == "" {
			s.Title = engine.TitleOf(d.Content)
		}
	case event.AssistantMessage:
		s.Messages++
	case event.TurnResponse:
		s.Interrupted = d.StopReason == event.StopInterrupted
		s.Usage = s.Usage.Add(d.Usage)
		if d.MessageID == s.turn {
			s.turn = ""
		}
		if d.CostUSD != nil {
			s.cost += *d.CostUSD
		} else if d.Unpriced() {
			s.unpriced = true
		}
	}
}

// plant puts an image's messages at the beginning. None is of an open turn.
func (s *memorySession) plant(log []event.Event) {
	for _, e := range log {
		s.add(e)
	}
	s.begun, s.turn = len(log), ""
}

// listed is a session as a list shows it. The lock is held.
func (m *Memory) listed(s *memorySession) engine.Session {
	out := s.Session
	for _, b := range m.sessions {
		if b.Trunk == s.Trunk && b.Messages > 0 {
			out.Branches++
		}
	}
	out.Open = s.turn != ""
	if !s.unpriced {
		out.Cost = new(s.cost)
	}
	return out
}

// Session returns a session as a list shows it.
func (m *Memory) Session(_ context.Context, id event.SessionID) (engine.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return engine.Session{}, err
	}
	return m.listed(s), nil
}

// Sessions returns the sessions that f chooses. The words of its query must all
// be in one message, or in the title; case does not count, and the last may be
// the beginning of a word.
func (m *Memory) Sessions(_ context.Context, f engine.SessionFilter) ([]engine.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var chosen []*memorySession
	for _, s := range m.sessions {
		if s.chosen(f) {
			chosen = append(chosen, s)
		}
	}
	slices.SortFunc(chosen, func(a, b *memorySession) int { return cmp.Or(b.Updated.Compare(a.Updated), b.n-a.n) })
	if f.Limit <= 0 {
		f.Limit = 1000
	}
	var all []engine.Session
	seen := map[event.SessionID]bool{}
	for _, s := range chosen {
		late := f.Before.IsZero() || s.Updated.Before(f.Before)
		if !seen[s.Trunk] && late && len(all) < f.Limit {
			all = append(all, m.listed(s))
		}
		seen[s.Trunk] = true
	}
	return all, nil
}

func (s *memorySession) chosen(f engine.SessionFilter) bool {
	switch {
	case s.Messages == 0,
		f.Dir != "" && f.Dir != s.Dir,
		f.Tag != "" && !slices.Contains(strings.Fields(s.Tags), f.Tag):
		return false
	case strings.TrimSpace(f.Query) == "":
		return true
	}
	words := wordsOf(f.Query)
	return len(words) > 0 && (says(s.Title, words) || slices.ContainsFunc(s.log, func(e event.Event) bool {
		switch d := e.Data.(type) {
		case event.UserMessage:
			return says(d.Content.Text(), words)
		case event.AssistantMessage:
			return says(d.Content.Text(), words)
		}
		return false
	}))
}

// says reports whether a text has all the words, the last as the beginning of one.
func says(text string, words []string) bool {
	said := wordsOf(text)
	last := len(words) - 1
	for _, w := range words[:last] {
		if !slices.Contains(said, w) {
			return false
		}
	}
	return slices.ContainsFunc(said, func(w string) bool { return strings.HasPrefix(w, words[last]) })
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
}

// Page returns a part of what was said.
func (m *Memory) Page(_ context.Context, id event.SessionID, seq int64, n int) ([]event.Event, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return nil, 0, err
	}
	end := int64(len(s.log)) + 1
	if seq > 0 {
		end = min(seq, end)
	}
	first := max(1, end-int64(max(0, n)))
	return slices.Clone(s.log[first-1 : end-1]), first, nil
}

// ForkBefore makes a session of what was said in another before a message. A
// turn that is running there is broken off here.
func (m *Memory) ForkBefore(_ context.Context, from, to event.SessionID, message string) error {
	return m.fork(from, to, message, false)
}

// BranchBefore is ForkBefore for another way of the same session.
func (m *Memory) BranchBefore(_ context.Context, from, to event.SessionID, message string) error {
	return m.fork(from, to, message, true)
}

func (m *Memory) fork(from, to event.SessionID, message string, branch bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	old, err := m.session(from)
	if err != nil {
		return err
	}
	end := len(old.log)
	if message != "" {
		end = slices.IndexFunc(old.log, func(e event.Event) bool {
			u, ok := e.Data.(event.UserMessage)
			return ok && u.ID == message
		})
		if end < 0 {
			return fmt.Errorf("message %q of session %q: %w", message, from, engine.ErrNotFound)
		}
	}
	trunk := to
	if branch {
		trunk = old.Trunk
	}
	s, err := m.create(engine.Session{ID: to, Title: old.Title, Model: old.Model, Dir: old.Dir, ParentID: from, Image: old.Image, Trunk: trunk, Tags: old.Tags})
	if err != nil {
		return err
	}
	begun := min(old.begun, end)
	s.plant(old.log[:begun])
	for _, e := range old.log[begun:end] {
		s.add(e)
	}
	s.breakOff()
	return nil
}

// Branches returns the ways that a session went, the last used first.
func (m *Memory) Branches(_ context.Context, id event.SessionID) ([]engine.Branch, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, err := m.session(id)
	if err != nil {
		return nil, err
	}
	var ways []*memorySession
	for _, s := range m.sessions {
		if s.Trunk == one.Trunk {
			ways = append(ways, s)
		}
	}
	slices.SortFunc(ways, func(a, b *memorySession) int { return cmp.Or(b.Updated.Compare(a.Updated), b.n-a.n) })
	var all []engine.Branch
	for _, s := range ways {
		b := engine.Branch{Session: m.listed(s), Asked: []engine.Asked{}}
		for _, e := range s.log {
			if u, ok := e.Data.(event.UserMessage); ok {
				b.Asked = append(b.Asked, engine.AskedOf(u, e.At))
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// breakOff closes a turn that nobody goes on with.
func (s *memorySession) breakOff() {
	if s.turn == "" {
		return
	}
	last := s.log[len(s.log)-1].At
	asked := slices.IndexFunc(s.log, func(e event.Event) bool {
		u, ok := e.Data.(event.UserMessage)
		return ok && u.ID == s.turn
	})
	state, _ := engine.Step(engine.State{}, s.log[asked])
	for e := range mealy.Follow(engine.Step, &state, event.Event{At: last, Data: event.Interrupted{Reason: event.BySystem}}) {
		if event.LayerOf(e.Data) == event.TurnLayer {
			s.add(e)
		}
	}
}

// Rename gives a session a title, on all its branches.
func (m *Memory) Rename(_ context.Context, id event.SessionID, title string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, err := m.session(id)
	if err != nil {
		return err
	}
	for _, s := range m.sessions {
		if s.Trunk == one.Trunk {
			s.Title = engine.OneLine(title, 200)
		}
	}
	return nil
}

// SetModel says with which model a session goes on.
func (m *Memory) SetModel(_ context.Context, id event.SessionID, model string) error {
	return m.change(id, func(s *memorySession) { s.Model = model })
}

// SetSystem says with which system prompt a session goes on.
func (m *Memory) SetSystem(_ context.Context, id event.SessionID, prompt string) error {
	return m.change(id, func(s *memorySession) { s.System = prompt })
}

func (m *Memory) change(id event.SessionID, f func(*memorySession)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err == nil {
		f(s)
	}
	return err
}

// Delete forgets a session with all its branches. One that is locked stays.
func (m *Memory) Delete(_ context.Context, id event.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	one, err := m.session(id)
	if err != nil {
		return err
	}
	for _, s := range m.sessions {
		if s.Trunk == one.Trunk && m.locked[s.ID] {
			return fmt.Errorf("session %q is %w", s.ID, engine.ErrInUse)
		}
	}
	for _, s := range m.sessions {
		if s.Trunk == one.Trunk {
			delete(m.sessions, s.ID)
		}
	}
	return nil
}

// Lock makes the caller the only one that goes on with a session.
func (m *Memory) Lock(_ context.Context, id event.SessionID) (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked[id] {
		return nil, fmt.Errorf("session %q is %w", id, engine.ErrInUse)
	}
	if m.locked == nil {
		m.locked = map[event.SessionID]bool{}
	}
	m.locked[id] = true
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locked, id)
	}), nil
}
