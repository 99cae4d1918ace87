package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// search is the incremental search of the history.
type search struct {
	on     bool
	query  string
	at     int // steps back to the match; zero is none
	failed bool
}

const maxSearched = 64 << 10 // bytes of an entry that are looked at

func (m Model) startSearch() Model {
	m.search = search{on: true}
	m.last = other
	return m.lay()
}

// seek takes a key while the search is open. A key that is not the search's ends it and does its own work.
func (m Model) seek(k tea.KeyPressMsg) (Model, tea.Msg) {
	if s, ok := typed(k); ok {
		return m.refine(m.search.query + oneLine(s)), nil
	}
	q := m.search.query
	switch key := k.Keystroke(); key {
	case "ctrl+r":
		return m.find(m.search.at + 1), nil
	case "ctrl+s":
		return m.findNewer(), nil
	case "backspace", "ctrl+h":
		return m.refine(q[:before(q, len(q))]), nil
	case "ctrl+u":
		return m.refine(""), nil
	case "ctrl+w":
		b := buffer{line: q, at: len(q)}
		return m.refine(q[:b.fieldLeft().at]), nil
	case "esc", "ctrl+g":
		m.search = search{}
		return m.lay(), nil
	case "enter", "tab", "ctrl+j":
		return m.accept(), nil
	default:
		m = m.accept()
		if move := motion(key); move != nil {
			return m.move(move), nil
		}
		return m.do(key)
	}
}

// refine changes the query; the match that is shown stays if it still fits.
func (m Model) refine(query string) Model {
	m.search.query = query
	if query == "" {
		m.search.at, m.search.failed = 0, false
		return m.lay()
	}
	return m.find(max(m.search.at, 1))
}

// find goes to the first match from n steps back on.
func (m Model) find(n int) Model {
	if m.search.query == "" {
		return m
	}
	at := m.walk.match(m.search.query, n)
	m.search.failed = at == 0
	if at > 0 {
		m.search.at = at
	}
	return m.lay()
}

func (m Model) findNewer() Model {
	for n := m.search.at - 1; n > 0; n-- {
		if m.walk.fits(n, m.search.query) {
			m.search.at, m.search.failed = n, false
			return m.lay()
		}
	}
	return m
}

// accept takes the match over into the text.
func (m Model) accept() Model {
	at := m.search.at
	m.search = search{}
	if at == 0 {
		return m.lay()
	}
	return m.recall(at)
}

// fits ignores case unless the query has an upper-case letter.
func fits(entry, query string) bool {
	entry = entry[:min(len(entry), maxSearched)]
	if strings.IndexFunc(query, unicode.IsUpper) < 0 {
		entry = strings.ToLower(entry)
	}
	return strings.Contains(entry, query)
}

// match is what the search shows in place of the text: the entry, scrolled to where it fits.
func (m Model) match() (buffer, bool) {
	if !m.search.on || m.search.at == 0 {
		return buffer{}, false
	}
	s := m.walk.entry(m.search.at)
	at := where(s, m.search.query)
	head, tail := clean(s[max(0, at-maxLine):at]), clean(s[at:min(len(s), at+maxLine)])
	return buffer{}.insert(tail, false).top().insert(head, false), true
}

// where is the offset at which query stands in entry, or 0 where lower case has moved it.
func where(entry, query string) int {
	entry = entry[:min(len(entry), maxSearched)]
	low := strings.ToLower(entry)
	at := max(0, strings.Index(low, strings.ToLower(query)))
	if len(low) != len(entry) || !utf8.RuneStart(entry[at]) {
		return 0
	}
	return at
}

// searchLine is the search's own line and the caret's column in it.
func (m Model) searchLine() (string, int) {
	head := "search history: "
	switch {
	case m.search.query != "" && m.search.at == 0:
		head = "not in the history: "
	case m.search.failed:
		head = "nothing older: "
	}
	q := show(m.search.query)
	if over := text.Width(head) + text.Width(q) - (m.width - 1); over > 0 && m.width > 1 {
		q = tail(q, max(0, m.width-1-min(text.Width(head), m.width/2)))
		head = text.Truncate(head, m.width/2)
	}
	x := min(text.Width(head)+text.Width(q), m.width-1)
	return m.config.Styles.Search.Render(text.Truncate(head+q, m.width)), x
}

// tail is the end of s that fits into width columns.
func tail(s string, width int) string {
	for s != "" && text.Width(s) > width {
		s = s[len(cellAt(s).text):]
	}
	return s
}

// show is s as it is drawn.
func show(s string) string {
	var b strings.Builder
	for s != "" {
		c := cellAt(s)
		b.WriteString(c.shown)
		s = s[len(c.text):]
	}
	return b.String()
}
