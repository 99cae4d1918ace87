// Package dialog asks one question at a time: a choice, a line of text, or
// only to be read. It knows nothing of what the answer does.
package dialog

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Styles colour a dialog. The zero value is plain.
type Styles struct {
	Frame  lipgloss.Style // the bar at the left, which no content can draw
	Title  lipgloss.Style
	Body   lipgloss.Style
	Key    lipgloss.Style // a choice's letter, a left column
	Choice lipgloss.Style
	Chosen lipgloss.Style // the choice that Enter would take
	Danger lipgloss.Style // a destructive choice
	Input  lipgloss.Style
	Help   lipgloss.Style
}

// Config is what all dialogs share. The zero value works.
type Config struct {
	Styles Styles
	Plain  bool             // no bar, for screen readers
	ASCII  bool             // marks in ASCII alone
	Now    func() time.Time // time.Now when nil
}

// Guard is how long a guarded dialog wants quiet before it listens.
const Guard = 500 * time.Millisecond

// Choice is one answer to a [Confirm].
type Choice struct {
	Value       string // handed back
	Letter      string // the key, one lower-case letter
	Label       string
	Destructive bool // never taken by Enter alone
}

// Confirm is a question with a few answers.
type Confirm struct {
	ID      string // handed back
	Title   string
	Body    string // what it is about, exactly; scrolls when it is long
	Choices []Choice
	Default string // the value that Enter takes at once, unless it is destructive
	Twice   bool   // a letter only chooses, Enter confirms
	Guard   bool   // keys that were meant for something else are ignored until there was quiet for [Guard]
}

// Prompt asks for a line of text.
type Prompt struct {
	ID     string // handed back
	Title  string
	Body   string
	Value  string // to begin with
	Secret bool   // shown as dots
	Empty  bool   // an empty line is an answer too
}

// Text is to be read: prose, then a table.
type Text struct {
	ID    string // handed back
	Title string
	Body  string
	Rows  []Row
}

// Row is a line of a table, such as a key and what it does. One without Right is a heading.
type Row struct{ Left, Right string }

// Answer is what was chosen or written.
type Answer struct {
	ID     string // the dialog's
	Choice string // the value of a [Confirm]'s choice
	Text   string // a [Prompt]'s line
}

// Closed says that the dialog was left without an answer.
type Closed struct {
	ID     string
	Unread tea.Msg // the key or paste that did it, where it is for whoever has the keys now
}

// Model is an open dialog. It is a value: an Update leaves the old one as it was.
type Model struct {
	config        Config
	width, height int
	question      question
	quiet         time.Time // since when no key has come; zero once it listens
	marked        int       // the choice that Enter takes, or -1
	field         field
	body          []line // wrapped to the width
	top           int    // the first of body that is shown
}

// question is a sum: confirm, prompt and text.
type question struct {
	kind        kind
	id          string
	title, body string
	confirm     Confirm
	prompt      Prompt
	rows        []Row
}

type kind int

const (
	asking kind = iota
	writing
	reading
)

// Confirm returns the dialog of a question.
func (c Config) Confirm(q Confirm) Model {
	m := c.open(question{kind: asking, id: q.ID, title: q.Title, body: q.Body, confirm: q})
	m.marked = -1
	for i, choice := range q.Choices {
		if choice.Value == q.Default && !choice.Destructive {
			m.marked = i
		}
	}
	if q.Guard {
		m.quiet = m.config.Now()
	}
	return m
}

// Prompt returns the dialog of a line to write.
func (c Config) Prompt(q Prompt) Model {
	m := c.open(question{kind: writing, id: q.ID, title: q.Title, body: q.Body, prompt: q})
	m.field = field{}.write(q.Value)
	return m
}

// Text returns the dialog of a text to read.
func (c Config) Text(t Text) Model {
	return c.open(question{kind: reading, id: t.ID, title: t.Title, body: t.Body, rows: t.Rows})
}

func (c Config) open(q question) Model {
	if c.Now == nil {
		c.Now = time.Now
	}
	return Model{config: c, question: q}.SetSize(80, 24)
}

// mark is one of two marks: the fair one, or the one that every terminal has.
func (c Config) mark(fair, ascii string) string {
	if c.ASCII {
		return ascii
	}
	return fair
}

// ID is the question's.
func (m Model) ID() string { return m.question.id }

// SetSize gives the columns and the most lines that View may take.
func (m Model) SetSize(width, height int) Model {
	m.width, m.height = max(width, 1), max(height, 1)
	m.body = m.wrap()
	return m.scroll(0)
}

// SetStyles changes the colours.
func (m Model) SetStyles(s Styles) Model {
	m.config.Styles = s
	return m
}

// Update takes a key or a paste. Out is nil, [Answer] or [Closed].
func (m Model) Update(msg tea.Msg) (Model, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m, loud := m.hush()
		if loud {
			return m, nil, nil
		}
		m, out := m.press(msg)
		return m, out, nil
	case tea.PasteMsg:
		m, loud := m.hush()
		switch {
		case loud:
		case m.question.kind == writing:
			m.field = m.field.write(msg.Content)
		case m.question.kind == reading:
			return m, Closed{ID: m.question.id, Unread: msg}, nil
		}
		return m, nil, nil
	}
	return m, nil, nil
}

// hush says whether a guarded dialog does not listen yet: each key begins its wait anew.
func (m Model) hush() (Model, bool) {
	if m.quiet.IsZero() {
		return m, false
	}
	now := m.config.Now()
	if now.Sub(m.quiet) < Guard {
		m.quiet = now
		return m, true
	}
	m.quiet = time.Time{}
	return m, false
}
