// Package composer is where the user writes: an editor with a history, folded
// pastes and slash words. It knows neither who reads the text nor where
// drafts and histories are kept.
package composer

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Styles colour the composer. The zero value is plain.
type Styles struct {
	Prompt      lipgloss.Style // the mark before the first row, and the scroll marks
	Text        lipgloss.Style
	Placeholder lipgloss.Style
	Chip        lipgloss.Style // a folded paste
	Name, Help  lipgloss.Style // of a suggestion
	Chosen      lipgloss.Style // the suggestion under the mark
	Search      lipgloss.Style // the line of the history search
}

// Config is what does not change while one writes. The zero value works.
type Config struct {
	Styles      Styles
	Prompt      string           // before the first row; "› " when empty
	ASCII       bool             // marks in ASCII alone
	Placeholder string           // shown while there is no text
	Busy        string           // shown instead while an answer runs
	MaxRows     int              // rows of text before it scrolls; 10 when zero
	Now         func() time.Time // time.Now when nil
}

// Command is a slash word, or what can be mentioned, that is offered while one types it.
type Command struct {
	Name string // without the slash or at sign
	Help string
}

// Submit is a text that the user sent.
type Submit struct {
	Draft
	Slash bool // its first word is a slash word that was typed by hand
	Bang  bool // it begins with an exclamation mark that was typed by hand

	// Mentions are the names that the user wrote behind an @ or chose for one,
	// and that are no chips yet; what was merely pasted is not among them.
	Mentions []string
}

// Entry is what a history should keep: the text without the output of commands.
// A pasted slash or exclamation mark gets a space before it, so that recalling
// the entry makes no command of it.
func (s Submit) Entry() string {
	entry, _ := s.Without(Output)
	entry = strings.TrimSpace(entry)
	if !s.Slash && strings.HasPrefix(entry, "/") || !s.Bang && strings.HasPrefix(entry, "!") {
		return " " + entry
	}
	return entry
}

// Edit asks for the text to be opened in an editor; [Model.SetText] brings it back.
type Edit struct{ Text string }

// Mention is a word with an @ that is being typed, without the @. [Model.SetMentions] answers it.
type Mention struct{ Part string }

// Mentioned is a word with an @ that was written by hand, or chosen, and has
// ended. [Model.Attach] makes a chip of it, [Model.Forget] leaves it text.
type Mentioned struct {
	Word string // as it stands in the text, with its @
	Name string // what it names
}

// Notice is a sentence to show to the user.
type Notice struct{ Text string }

// Model is the composer. It is a value: an Update leaves the old one as it was.
type Model struct {
	config        *Config // never changed, so that a copy of the model is small
	width, height int
	blurred, busy bool

	buf     buffer
	chips   chips
	changed int
	goal    int // the column that up and down keep to, or -1
	last    act // what the key before did, for what grows with repetition

	undo, redo *past
	ring       []kill
	yanked     int  // which of the ring was put in last
	lent       int  // whose last word was: steps back in the history
	prefix     bool // Ctrl+X was pressed
	walk       walk
	search     search
	offer      offer
	mentioned  []string // chosen from the list since the last message
	burst      burst
	vi         vi

	frame       frame
	prompt      string
	placeholder string
}

// New returns an empty composer that is 80 columns wide and has the focus.
func New(c Config) Model {
	if c.Prompt == "" {
		c.Prompt = c.mark("› ", "> ")
	}
	if c.MaxRows <= 0 {
		c.MaxRows = 10
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return Model{config: &c, width: 80, height: 24, goal: -1}.invite().lay()
}

// mark is one of two marks: the fair one, or the one that every terminal has.
func (c Config) mark(fair, ascii string) string {
	if c.ASCII {
		return ascii
	}
	return fair
}

// SetSize gives the columns and the most lines that View may take, suggestions included.
func (m Model) SetSize(width, height int) Model {
	m.width, m.height = max(width, 1), max(height, 1)
	return m.invite().lay()
}

// Size is what SetSize gave.
func (m Model) Size() (width, height int) { return m.width, m.height }

// SetStyles changes the colours.
func (m Model) SetStyles(s Styles) Model {
	c := *m.config
	c.Styles = s
	m.config = &c
	return m.invite()
}

// SetBusy says whether an answer runs; only the placeholder changes.
func (m Model) SetBusy(busy bool) Model {
	if m.busy != busy {
		m.busy = busy
		m = m.invite()
	}
	return m
}

// Focus takes keys again.
func (m Model) Focus() Model {
	m.blurred = false
	return m
}

// Blur takes no keys and shows no caret.
func (m Model) Blur() Model {
	m.blurred = true
	return m
}

// Focused says whether keys are taken.
func (m Model) Focused() bool { return !m.blurred }

// SetText replaces the text, as a draft or an editor brings it back; undo
// restores what was there. A slash word in it counts as pasted.
func (m Model) SetText(s string) Model {
	m = m.save(other)
	m.search = search{}
	m.walk.at = 0
	return m.fill(clean(s)).settle()
}

// Insert puts text at the caret as if it had been typed.
func (m Model) Insert(s string) Model {
	m = m.save(other)
	m.buf = m.buf.insert(clean(s), true)
	return m.settle()
}

// Text is the text as it would be sent.
func (m Model) Text() string { return m.Draft().Text }

// Draft is the text and its chips, to keep in case of a crash; [Model.SetDraft] takes it.
func (m Model) Draft() Draft { return m.chips.draft(m.buf.text()) }

// Empty says whether there is no text at all.
func (m Model) Empty() bool { return m.buf.empty() }

// Changed counts the changes of the text. A draft needs saving when it has moved.
func (m Model) Changed() int { return m.changed }

// Open says whether every key is the composer's for now, Esc included: a list
// or a search is open, or what follows a paste may be its rest.
func (m Model) Open() bool {
	return m.search.on || m.prefix || m.offer.open() || m.burst.pasted && m.config.Now().Sub(m.burst.last) < pasteTail
}

// Reset clears the text and forgets its undo; the kill ring stays.
func (m Model) Reset() Model {
	m.buf, m.undo, m.redo = buffer{}, nil, nil
	m.chips = m.chips.only(m.ring)
	m.search, m.walk.at, m.last, m.mentioned = search{}, 0, none, nil
	m.vi = vi{on: m.vi.on, sought: m.vi.sought, letter: m.vi.letter, done: m.vi.done}
	return m.settle()
}

// Update takes a key or a paste. Out is nil, [Submit], [Edit], [Mention], [Mentioned] or [Notice].
func (m Model) Update(msg tea.Msg) (Model, tea.Msg, tea.Cmd) {
	if m.blurred {
		return m, nil, nil
	}
	was := m.offer
	var out tea.Msg
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m, out = m.release().press(msg)
	case tea.PasteMsg:
		m, out = m.release().jot(msg).paste(msg.Content)
	case Ended:
		m, out = m.ended(msg)
	}
	if out == nil {
		m, out = m.mention(was)
	}
	return m, out, m.wait()
}

// settle follows a change of the text: suggestions, counter and rows.
func (m Model) settle() Model {
	m.changed++
	m.goal = -1
	m.vi.visual, m.vi.from = 0, buffer{}
	m.buf = m.vi.clamp(m.buf)
	return m.suggest().lay()
}
