package composer

import (
	"strings"

	"agentx/tui/text"
)

// offer is the list of slash words that fit what is being typed.
type offer struct {
	commands []Command
	found    []Command
	word     string // what they were found for
	at       int    // the one under the mark
	moved    bool   // the user has chosen
	closed   bool   // until the word changes
}

const maxOffers = 8 // rows

func (o offer) open() bool { return len(o.found) > 0 && !o.closed }

// SetCommands gives the slash words to offer, in order.
func (m Model) SetCommands(commands []Command) Model {
	m.offer = offer{commands: commands}
	return m.suggest().lay()
}

// slash is the text's slash word without its slash, if it was typed by hand at the very beginning.
func (m Model) slash() string {
	line := m.buf.line
	if m.buf.above != nil {
		line = m.buf.top().line
	}
	word, _, _ := strings.Cut(line, " ")
	if m.buf.typed < len(word) || !strings.HasPrefix(word, "/") || strings.ContainsFunc(word[1:], notName) {
		return ""
	}
	return word[1:]
}

func notName(r rune) bool {
	return r != '-' && r != '_' && r != '?' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

// suggest looks for the slash words that begin with, and after them those that hold, what stands before the caret.
func (m Model) suggest() Model {
	word := ""
	if m.buf.above == nil && strings.HasPrefix(m.buf.line, "/") {
		word, _, _ = strings.Cut(m.buf.line, " ")
	}
	if word == "" || m.buf.at > len(word) || m.buf.at == 0 || m.buf.typed < len(word) {
		m.offer.found, m.offer.word = nil, ""
		return m
	}
	if word == m.offer.word {
		return m
	}
	m.offer = offer{commands: m.offer.commands, word: word}
	m.offer.found = find(m.offer.commands, strings.ToLower(word[1:]))
	return m
}

func find(commands []Command, part string) []Command {
	var begin, hold []Command
	for _, c := range commands {
		switch at := strings.Index(strings.ToLower(c.Name), part); {
		case at == 0:
			begin = append(begin, c)
		case at > 0:
			hold = append(hold, c)
		}
	}
	return append(begin, hold...)
}

// pick takes the keys of the open list.
func (m Model) pick(key string) (Model, bool) {
	n := len(m.offer.found)
	switch key {
	case "up", "ctrl+p":
		m.offer.at, m.offer.moved = (m.offer.at+n-1)%n, true
	case "down", "ctrl+n":
		m.offer.at, m.offer.moved = (m.offer.at+1)%n, true
	case "esc":
		m.offer.closed = true
	case "tab":
		return m.complete(), true
	case "enter":
		if m.full() {
			return m, false
		}
		return m.complete(), true
	default:
		return m, false
	}
	return m.lay(), true
}

// full says whether the word is a whole slash word and the user has not chosen another.
func (m Model) full() bool {
	word := m.offer.word[1:]
	if m.offer.moved {
		return m.offer.found[m.offer.at].Name == word
	}
	for _, c := range m.offer.found {
		if c.Name == word {
			return true
		}
	}
	return false
}

// complete writes the chosen word out.
func (m Model) complete() Model {
	name := m.offer.found[m.offer.at].Name
	m = m.save(other)
	b := m.buf.home()
	end := b
	end.at = len(m.offer.word)
	b, _ = b.remove(end)
	b = b.insert("/"+name, true)
	if !strings.HasPrefix(b.line[b.at:], " ") {
		b = b.insert(" ", true)
	} else {
		b = b.right()
	}
	m.buf = b
	return m.settle()
}

// offerRows are the rows of the list, at most n.
func (m Model) offerRows(n int) []string {
	found := m.offer.found
	n = min(n, maxOffers, len(found))
	if !m.offer.open() || n <= 0 {
		return nil
	}
	top := min(max(0, m.offer.at-n/2), len(found)-n)
	wide := 0
	for _, c := range found[top : top+n] {
		wide = max(wide, text.Width(text.Line(c.Name)))
	}
	rows := make([]string, n)
	for i, c := range found[top : top+n] {
		rows[i] = m.offerRow(c, wide, top+i == m.offer.at)
	}
	return rows
}

func (m Model) offerRow(c Command, wide int, chosen bool) string {
	mark, style := "  /", m.config.Styles.Name
	if chosen {
		mark, style = "› /", m.config.Styles.Chosen
	}
	name := text.Line(c.Name)
	left := text.Truncate(mark+name+strings.Repeat(" ", wide-text.Width(name)), m.width)
	help := ""
	if room := m.width - text.Width(left) - 2; room > 3 {
		help = "  " + m.config.Styles.Help.Render(text.Truncate(text.Line(c.Help), room))
	}
	return style.Render(left) + help
}
