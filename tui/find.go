package tui

import (
	"context"
	"strings"

	"agentx/tui/scroll"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// A find is what is looked for in the conversation.
type find struct {
	typing bool
	draft  string // while it is typed
	words  string // what is marked in the window
	key    int64  // of the item of the place that was found last
	row    int
	said   string // what there is to say of it
}

// startFind has the next keys say what to look for; words are looked for at once.
func (m Model) startFind(words string) (Model, tea.Cmd) {
	if !m.full.on {
		m, _ = m.toggleFull()
	}
	if words = strings.TrimSpace(text.Line(words)); words != "" {
		m.full.find = find{words: words}
		return m.seek(-1)
	}
	m.full.find = find{typing: true, words: m.full.find.words}
	return m, nil
}

// maxFind is how many bytes can be looked for.
const maxFind = 500

// lookFor takes a key of what is typed.
func (m Model) lookFor(k tea.KeyPressMsg) (Model, tea.Cmd, bool) {
	f := &m.full.find
	switch k.Keystroke() {
	case "esc":
		m.full.find = find{}
		return m, nil, true
	case "enter":
		if words := strings.TrimSpace(f.draft); words != "" {
			f.words, f.key = words, none
		}
		f.typing = false
		m, cmd := m.seek(-1)
		return m, cmd, true
	case "backspace", "ctrl+h":
		if f.draft == "" {
			m.full.find = find{}
		} else {
			r := []rune(f.draft)
			f.draft = string(r[:len(r)-1])
		}
		return m, nil, true
	case "ctrl+u", "ctrl+w":
		f.draft = ""
		return m, nil, true
	}
	if k.Text == "" {
		return m, nil, false
	}
	return m.typeFind(k.Text), nil, true
}

func (m Model) typeFind(s string) Model {
	if f := &m.full.find; len(f.draft)+len(s) <= maxFind {
		f.draft += text.Line(s)
	}
	return m
}

// seek goes to the next place where the words stand: up, which is where one comes
// from, or down. The first time it looks below, too, if there is none above.
func (m Model) seek(by int) (Model, tea.Cmd) {
	if m.full.find.words == "" {
		return m, nil
	}
	items := m.transcript.Items()
	if m.full.find.key != none {
		return m.seekFrom(items.Index(m.full.find.key), m.full.find.row, by, true)
	}
	rows := m.full.view.Rows(items, m.window())
	if len(rows) == 0 {
		return m, nil
	}
	last := rows[len(rows)-1]
	return m.seekFrom(last.Item, last.N+1, by, false)
}

// seekFrom looks above a row of an item, or below it.
func (m Model) seekFrom(item, row, by int, turned bool) (Model, tea.Cmd) {
	items := m.transcript.Items()
	words := strings.Fields(strings.ToLower(m.full.find.words))
	for i := item; i >= 0 && i < items.Len(); i += by {
		if first, next, gap := items.Missing(i); gap {
			return m.seekMissing(first, next, by, turned)
		}
		if items.Holds(i, words) {
			if n, ok := m.nextIn(i, item, row, by); ok {
				return m.found(i, n), nil
			}
		}
	}
	switch {
	case !turned:
		return m.seekFrom(item, row-1, -by, true)
	case by < 0:
		m.full.find.said = "Nothing more above"
	default:
		m.full.find.said = "Nothing more below"
	}
	if m.full.find.key == none {
		m.full.find.said = "Not found"
	}
	return m, nil
}

// nextIn is the row of the first place in item i, counted from where one comes
// from: from a row, where i is the item that it is in.
func (m Model) nextIn(i, item, row, by int) (int, bool) {
	best, ok := 0, false
	for _, f := range scroll.Find(m.transcript.Items().Rows(i), m.full.find.words) {
		switch {
		case !f.Begins:
		case i == item && (by < 0 && f.Row >= row || by > 0 && f.Row <= row):
		case by < 0:
			best, ok = f.Row, true // the last one
		case !ok:
			best, ok = f.Row, true
		}
	}
	return best, ok
}

func (m Model) found(i, row int) Model {
	items := m.transcript.Items()
	m = m.lookAt(m.full.view.To(items, m.window(), i, row))
	m.full.focus = items.Key(i)
	m.full.find.key, m.full.find.row = m.full.focus, row
	return m
}

// seekMissing asks where the words are in a part of the log that is not here, and
// for the page around that place.
func (m Model) seekMissing(first, next int64, by int, turned bool) (Model, tea.Cmd) {
	words, in := m.full.find.words, m.open.Session.ID
	return inquire(m, "search", func(ctx context.Context, b Backend) (int64, error) {
		return b.Find(ctx, in, words, first, next, by < 0)
	}, func(m Model, seq int64) (Model, tea.Cmd) {
		items := m.transcript.Items()
		if seq < first || seq >= next {
			gap := items.Index(first)
			return m.seekFrom(gap+by, edge(by), by, turned)
		}
		from := max(first, seq-pageSize/2)
		return m.load(from, min(next-from, pageSize), func(m Model) (Model, tea.Cmd) {
			at := m.transcript.Items().Index(seq)
			return m.seekFrom(at, edge(by), by, turned)
		})
	})
}

// edge is a row behind all of an item, or before them.
func edge(by int) int {
	if by < 0 {
		return 1 << 30
	}
	return -1
}
