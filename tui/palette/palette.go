// Package palette is a list that narrows while one types: models, sessions,
// commands. It knows what an item looks like, not what it stands for.
package palette

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// Styles colour the palette. The zero value is plain.
type Styles struct {
	Title   lipgloss.Style // of the palette
	Prompt  lipgloss.Style // the mark before the filter
	Item    lipgloss.Style // an item's title
	Detail  lipgloss.Style // what stands behind it
	Hint    lipgloss.Style // the right column
	Match   lipgloss.Style // the letters that the filter found
	Chosen  lipgloss.Style // the title under the mark
	Preview lipgloss.Style // lines under an item
	Help    lipgloss.Style // the last line, and an empty list's sentence
}

// Item is a line of the list.
type Item struct {
	ID      string   // handed back, never shown
	Title   string   // filtered, highlighted
	Detail  string   // filtered, behind the title
	Hint    string   // right column: a key, a date
	Preview []string // lines shown under the item while it is previewed; a first line of it always when Snippet
	Snippet bool     // Preview is what an external search found: shown always, and the filter does not drop the item
}

// Action is what a key other than the palette's own means for the item under the mark.
type Action struct {
	Key     string // as tea.Key.Keystroke spells it: "ctrl+r"; "space" only while the filter is empty
	Help    string // one word for the last line: "rename"
	Preview bool   // the palette itself unfolds the item's preview; where it has none it is told, and [Model.SetPreview] answers
}

// Config is what does not change while the palette is open.
type Config struct {
	Styles  Styles
	Title   string
	ASCII   bool     // marks in ASCII alone
	Prompt  string   // before the filter; "› " when empty
	Enter   string   // what Enter does, one word for the last line; "open" when empty
	Esc     string   // what Esc does, likewise; "close" when empty
	Empty   string   // shown when there are no items at all: say what to do
	NoMatch string   // shown when none fits the filter; a sentence of ours when empty
	Actions []Action // further keys
	Search  bool     // a change of the filter is told as [Query]
}

// Chosen is the item that Enter took.
type Chosen struct{ ID string }

// Acted is an action's key pressed on an item.
type Acted struct{ Key, ID string }

// Query is the filter after a change, for whoever searches content. [Model.SetItems] answers it.
type Query struct{ Text string }

// Closed says that Esc was pressed.
type Closed struct{}

// Model is the palette. It is a value: an Update leaves the old one as it was.
type Model struct {
	config        Config
	width, height int
	items         []entry
	found         []found
	filter        string
	at, top       int  // in found: under the mark, and first shown
	unfolded      bool // the item under the mark shows its preview
}

// New returns a palette of items, 80 columns by 12 lines.
func New(c Config, items []Item) Model {
	if c.Prompt == "" {
		c.Prompt = c.mark("› ", "> ")
	}
	if c.Enter == "" {
		c.Enter = "open"
	}
	if c.Esc == "" {
		c.Esc = "close"
	}
	return Model{config: c, width: 80, height: 12}.SetItems(items)
}

// mark is one of two marks: the fair one, or the one that every terminal has.
func (c Config) mark(fair, ascii string) string {
	if c.ASCII {
		return ascii
	}
	return fair
}

// SetSize gives the columns and the most lines that View may take.
func (m Model) SetSize(width, height int) Model {
	m.width, m.height = max(width, 1), max(height, 1)
	return m.scroll()
}

// SetStyles changes the colours.
func (m Model) SetStyles(s Styles) Model {
	m.config.Styles = s
	return m
}

// SetItems replaces the items. The mark stays on the item it was on, if that is still there.
func (m Model) SetItems(items []Item) Model {
	id, _ := m.Selected()
	m.items = prepare(items)
	m = m.narrow()
	if i := slices.IndexFunc(m.found, func(f found) bool { return f.item.ID == id }); i >= 0 && id != "" {
		m.at = i
	}
	return m.scroll()
}

// SetPreview gives an item the lines that unfold under it, and unfolds them.
func (m Model) SetPreview(id string, lines []string) Model {
	items := make([]Item, len(m.items))
	for i, e := range m.items {
		if items[i] = e.Item; e.ID == id {
			items[i].Preview = lines
		}
	}
	m.unfolded = true
	return m.SetItems(items)
}

// SetFilter replaces what was typed.
func (m Model) SetFilter(s string) Model {
	m.filter = s
	return m.narrow()
}

// Select puts the mark on an item, if it is there.
func (m Model) Select(id string) Model {
	if i := slices.IndexFunc(m.found, func(f found) bool { return f.item.ID == id }); i >= 0 {
		m.at = i
	}
	return m.scroll()
}

// Filter is what was typed.
func (m Model) Filter() string { return m.filter }

// Selected is the ID of the item under the mark.
func (m Model) Selected() (string, bool) {
	if m.at >= len(m.found) {
		return "", false
	}
	return m.found[m.at].item.ID, true
}

// Marked is the item under the mark.
func (m Model) Marked() (Item, bool) {
	if m.at >= len(m.found) {
		return Item{}, false
	}
	return m.found[m.at].item.Item, true
}

// Update takes a key or a paste. Out is nil, [Chosen], [Acted], [Query] or [Closed].
func (m Model) Update(msg tea.Msg) (Model, tea.Msg, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m, out := m.press(msg)
		return m, out, nil
	case tea.PasteMsg:
		m, out := m.write(msg.Content)
		return m, out, nil
	}
	return m, nil, nil
}
