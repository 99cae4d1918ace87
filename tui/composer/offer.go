package composer

import (
	"slices"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// offer is the list of what fits the word that is being typed: slash words, or what was found for a mention.
type offer struct {
	commands []Command
	found    []Command
	word     string // what they were found for, with its slash or at sign
	from     int    // where it begins in the caret's line
	at       int    // the one under the mark
	moved    bool   // the user has chosen
	closed   bool   // until the word changes
	hand     bool   // its at sign was typed, and not pasted
}

const maxOffers = 8 // rows

func (o offer) open() bool { return len(o.found) > 0 && !o.closed }

// SetCommands gives the slash words to offer, in order.
func (m Model) SetCommands(commands []Command) Model {
	m.offer = offer{commands: commands}
	return m.suggest().lay()
}

// SetMentions answers a [Mention] with what was found, the best first. An
// answer to a word that has changed since is dropped.
func (m Model) SetMentions(part string, found []Command) Model {
	if !strings.HasPrefix(m.offer.word, "@") || named(m.offer.word) != part {
		return m
	}
	m.offer.found, m.offer.at, m.offer.moved = found, 0, false
	return m.lay()
}

// slash is the text's slash word without its slash, if it was typed by hand at the very beginning.
func (m Model) slash() string {
	line := m.buf.line
	if m.buf.above != nil {
		line = m.buf.top().line
	}
	word := firstWord(line)
	if m.buf.typed < len(word) || !strings.HasPrefix(word, "/") || strings.ContainsFunc(word[1:], notName) {
		return ""
	}
	return word[1:]
}

func firstWord(line string) string {
	if i := strings.IndexAny(line, " \t"); i >= 0 {
		return line[:i]
	}
	return line
}

func notName(r rune) bool {
	return r != '-' && r != '_' && r != '?' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}

// suggest looks for what fits the word at the caret. Slash words are found here: those that begin with it, and
// after them those that hold it. For a mention what fits of the last answer stands until the next comes.
func (m Model) suggest() Model {
	word, from := m.word()
	old := m.offer
	if word == old.word && from == old.from {
		return m
	}
	m.offer = offer{commands: old.commands, word: word, from: from, hand: old.hand && word != "" && from == old.from}
	switch {
	case strings.HasPrefix(word, "/"):
		m.offer.found = find(old.commands, strings.ToLower(word[1:]))
	case word != "" && from == old.from && strings.HasPrefix(old.word, "@"):
		m.offer.found = find(old.found, strings.ToLower(named(word)))
	}
	return m
}

// word is what the list is for, and where it begins: a slash word typed by
// hand at the very beginning, or a mention before the caret.
func (m Model) word() (string, int) {
	b := m.buf
	head, tail := b.line[:b.at], b.line[b.at:]
	if b.above == nil && strings.HasPrefix(head, "/") {
		word := firstWord(b.line)
		if b.at > len(word) || b.typed < len(word) {
			return "", 0
		}
		return word, 0
	}
	from := opened(head)
	if from >= 0 && (tail == "" || tail[0] == ' ') {
		return head[from:], from
	}
	return "", 0
}

// opened is where the mention before the caret begins, or -1. A quoted one goes
// on until its second quote.
func opened(head string) int {
	const edges = " \t" + string(chipClose)
	if i := strings.LastIndex(head, `@"`); i >= 0 && (i == 0 || strings.IndexByte(edges, head[i-1]) >= 0) {
		if name, rest, closed := strings.Cut(head[i+2:], `"`); !closed && strings.IndexByte(name, chipOpen) < 0 || closed && rest == "" {
			return i
		}
	}
	from := strings.LastIndexAny(head, edges) + 1
	if strings.HasPrefix(head[from:], "@") {
		return from
	}
	return -1
}

// named is what a mention names.
func named(word string) string { return strings.Trim(strings.TrimPrefix(word, "@"), `"`) }

// mention asks for what fits a mention that has changed since the offer was,
// or says that it has ended.
func (m Model) mention(was offer) (Model, tea.Msg) {
	if word := m.offer.word; strings.HasPrefix(word, "@") && m.offer.from == was.from && was.word != "" || strings.HasPrefix(word, "@") && was.word == "" {
		if word == was.word {
			return m, nil
		}
		return m, Mention{named(word)}
	}
	name := named(was.word)
	if !strings.HasPrefix(was.word, "@") || !was.hand || name == "" {
		return m, nil
	}
	if _, _, there := m.buf.find(was.word); !there {
		return m, nil
	}
	m.mentioned = append(slices.Clip(m.forget(name).mentioned), name)
	return m, Mentioned{Word: was.word, Name: name}
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
func (m Model) pick(key string) (Model, tea.Msg, bool) {
	n := len(m.offer.found)
	switch key {
	case "up", "ctrl+p":
		m.offer.at, m.offer.moved = (m.offer.at+n-1)%n, true
	case "down", "ctrl+n":
		m.offer.at, m.offer.moved = (m.offer.at+1)%n, true
	case "esc":
		m.offer.closed = true
	case "tab":
		m, out := m.complete()
		return m, out, true
	case "enter":
		if m.full() {
			return m, nil, false
		}
		command := m.offer.word[0] == '/'
		m, out := m.complete()
		return m, out, !command // which is run at once
	default:
		return m, nil, false
	}
	return m.lay(), nil, true
}

// full says whether the word is a whole slash word or name and the user has not chosen another.
func (m Model) full() bool {
	word := m.offer.word[1:]
	if m.offer.word[0] == '@' {
		word = named(m.offer.word)
	}
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

// complete writes the chosen word out. A folder stays open: what is in it comes next.
func (m Model) complete() (Model, tea.Msg) {
	name := oneLine(clean(m.offer.found[m.offer.at].Name))
	word := m.offer.word[:1] + quote(name)
	mention := word[0] == '@'
	folder := mention && strings.HasSuffix(name, "/")
	if folder {
		word = strings.TrimSuffix(word, `"`)
	}
	m = m.save(other)
	b, end := m.buf, m.buf
	b.at, end.at = m.offer.from, m.offer.from+len(m.offer.word)
	b, _ = b.remove(end)
	b = b.insert(word, true)
	switch {
	case folder:
	case strings.HasPrefix(b.line[b.at:], " "):
		b = b.right()
	default:
		b = b.insert(" ", true)
	}
	m.buf = b
	if !mention || folder {
		return m.settle(), nil
	}
	m.mentioned = append(slices.Clip(m.forget(name).mentioned), name)
	return m.settle(), Mentioned{Word: word, Name: name}
}

// quote makes one word of a name with spaces.
func quote(name string) string {
	if strings.Contains(name, " ") {
		return `"` + name + `"`
	}
	return name
}

// mentions are the names that were written or chosen and still stand in d as words.
func (m Model) mentions(d Draft) []string {
	all := m.mentioned
	if name := named(m.offer.word); strings.HasPrefix(m.offer.word, "@") && m.offer.hand && name != "" {
		all = append(slices.Clip(all), name)
	}
	if len(all) == 0 {
		return nil
	}
	text, _ := d.Without(Attached)
	var out []string
	for _, name := range all {
		if (strings.Contains(text, "@"+name) || strings.Contains(text, `@"`+name+`"`)) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
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
		switch {
		case top+i == m.offer.at:
			rows[i] = m.offerChosen(c, wide)
		case i == 0 && top > 0:
			rows[i] = m.offerRow(m.config.mark("↑ ", "^ "), c, wide)
		case i == n-1 && top+n < len(found):
			rows[i] = m.offerRow(m.config.mark("↓ ", "v "), c, wide)
		default:
			rows[i] = m.offerRow("  ", c, wide)
		}
	}
	return rows
}

// offerRow is a row of the list. Its lead is an arrow where the list goes on.
func (m Model) offerRow(lead string, c Command, wide int) string {
	st := m.config.Styles
	name, help := m.offerParts(lead, c, wide)
	rest, whole := strings.CutPrefix(name, lead)
	if !whole || lead == "  " {
		return st.Name.Render(name) + st.Help.Render(help)
	}
	return st.Help.Render(lead) + st.Name.Render(rest) + st.Help.Render(help)
}

// offerChosen is the row under the mark; its ground goes over the whole width.
func (m Model) offerChosen(c Command, wide int) string {
	st := m.config.Styles
	name, help := m.offerParts(m.config.mark("› ", "> "), c, wide)
	rest := strings.Repeat(" ", max(0, m.width-text.Width(name)-text.Width(help)))
	return st.Chosen.Render(name) + st.Help.Inherit(st.Chosen).Render(help+rest)
}

// offerParts are the two columns of a row, as wide as there is room for.
func (m Model) offerParts(lead string, c Command, wide int) (name, help string) {
	name = text.Line(c.Name)
	name = text.Truncate(lead+m.offer.word[:1]+name+strings.Repeat(" ", wide-text.Width(name)), m.width)
	if room := m.width - text.Width(name) - 2; room > 3 {
		help = "  " + text.Truncate(text.Line(c.Help), room)
	}
	return name, help
}

// bang says whether the text begins with an exclamation mark that was typed by
// hand, and has something behind it.
func (m Model) bang() bool {
	line := m.buf.line
	if m.buf.above != nil {
		line = m.buf.top().line
	}
	return m.buf.typed > 0 && strings.HasPrefix(line, "!") && strings.TrimSpace(line) != "!"
}
