package palette

import (
	"fmt"
	"slices"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

const maxPreview = 6 // lines under one item

// head is how many lines stand above the list.
func (m Model) head() int {
	if m.config.Title != "" && m.height > 3 {
		return 2
	}
	return 1
}

// room is how many lines the list has.
func (m Model) room() int { return max(0, m.height-m.head()-m.foot()) }

// foot is one line of help, where there is space for it.
func (m Model) foot() int {
	if m.height > 4 {
		return 1
	}
	return 0
}

// lines is how many lines item i takes.
func (m Model) lines(i int) int { return 1 + len(m.preview(i)) }

// preview is what stands under item i.
func (m Model) preview(i int) []string {
	it := m.found[i].item
	n := 0
	switch {
	case i == m.at && m.unfolded:
		n = maxPreview
	case it.Snippet && m.filter != "":
		n = 1
	}
	return it.Preview[:min(n, len(it.Preview))]
}

// scroll keeps the mark in the list and in sight.
func (m Model) scroll() Model {
	m.at = max(0, min(m.at, len(m.found)-1))
	m.top = max(0, min(m.top, m.at))
	for used, i := 0, m.at; i >= m.top && i < len(m.found); i-- {
		if used += m.lines(i); used > m.room() && i < m.at {
			m.top = i + 1
			break
		}
	}
	for m.top > 0 && m.fits(m.top-1) {
		m.top--
	}
	return m
}

// fits says whether everything from item i on has room.
func (m Model) fits(i int) bool {
	used := 0
	for ; i < len(m.found); i++ {
		if used += m.lines(i); used > m.room() {
			return false
		}
	}
	return true
}

// Height is how many lines View takes.
func (m Model) Height() int { return strings.Count(m.View(), "\n") + 1 }

// Cursor is the caret behind the filter, relative to View's top left corner.
func (m Model) Cursor() *tea.Cursor {
	return tea.NewCursor(m.caret(), m.head()-1)
}

func (m Model) caret() int {
	return min(text.Width(m.prompt())+text.Width(m.shown()), m.width-1)
}

// prompt stands before the filter, where there is room.
func (m Model) prompt() string {
	if text.Width(m.config.Prompt)+4 > m.width {
		return ""
	}
	return m.config.Prompt
}

// View draws the filter, the items in sight and a line of help.
func (m Model) View() string {
	var out []string
	if m.head() > 1 {
		out = append(out, m.beside(m.config.Styles.Title, text.Line(m.config.Title)))
	}
	out = append(out, m.filterLine())
	out = append(out, m.list()...)
	if m.foot() > 0 {
		out = append(out, m.beside(m.config.Styles.Help, m.help()))
	}
	return strings.Join(out, "\n")
}

// beside is a line that stands where the items do, beside the marks.
func (m Model) beside(st lipgloss.Style, s string) string {
	margin := strings.Repeat(" ", m.margin())
	return margin + render(st, text.Truncate(s, m.width-len(margin)))
}

// margin is how many cells stand before what is no item, where there is room.
func (m Model) margin() int {
	if m.width < 20 {
		return 0
	}
	return 2
}

// filterLine shows the end of the filter when it is longer than the line, and
// what it is for while there is none.
func (m Model) filterLine() string {
	prompt, s := m.prompt(), m.shown()
	if s == "" {
		room := m.width - text.Width(prompt) - 1
		return m.counted(render(m.config.Styles.Prompt, prompt) + render(m.config.Styles.Help, text.Truncate("type to search", room)))
	}
	return m.counted(render(m.config.Styles.Prompt, prompt) + render(m.config.Styles.Item, s))
}

// shown is what of the filter has room.
func (m Model) shown() string {
	s, room := m.filter, m.width-text.Width(m.prompt())-1
	if over := text.Width(s) - room; over > 0 {
		s = ansi.TruncateLeft(s, min(over+1, text.Width(s)), "")
		if text.Width(s) > room {
			s = ""
		}
	}
	return s
}

// counted is the filter's line with how many items there are at its end, and
// how many of them fit, where there is room.
func (m Model) counted(line string) string {
	n := fmt.Sprint(len(m.items))
	if m.filter != "" {
		n = fmt.Sprintf("%d/%d", len(m.found), len(m.items))
	}
	room := m.width - text.Width(line) - len(n)
	if len(m.items) == 0 || room < 2 || m.width < 20 {
		return line
	}
	return line + strings.Repeat(" ", room) + render(m.config.Styles.Help, n)
}

// list is the items in sight, or a sentence where there are none.
func (m Model) list() []string {
	if len(m.found) == 0 {
		return m.nothing()
	}
	var out []string
	last := m.last()
	for i := m.top; i <= last; i++ {
		out = append(out, m.row(i, m.lead(i, last)))
		for _, line := range m.preview(i) {
			if len(out) < m.room() {
				out = append(out, render(m.config.Styles.Preview, text.Truncate("    "+text.Line(line), m.width)))
			}
		}
	}
	return out
}

// last is the last item in sight.
func (m Model) last() int {
	used, i := 0, m.top
	for ; i < len(m.found) && used < m.room(); i++ {
		used += m.lines(i)
	}
	return i - 1
}

// lead stands before an item: nothing, the mark, or an arrow where the list goes on.
func (m Model) lead(i, last int) string {
	switch {
	case i == m.at:
		return m.config.mark("› ", "> ")
	case i == m.top && i > 0:
		return m.config.mark("↑ ", "^ ")
	case i == last && i+1 < len(m.found):
		return m.config.mark("↓ ", "v ")
	}
	return "  "
}

func (m Model) nothing() []string {
	s := m.missing()
	if s == "" && (len(m.items) > 0 || m.filter != "") {
		s = "Nothing fits. Backspace widens the search, Esc closes."
	}
	if s == "" {
		s = "Nothing here yet. Esc closes."
	}
	var out []string
	for _, line := range text.Wrap(text.Line(s), m.width-m.margin()) {
		if len(out) < m.room() {
			out = append(out, m.beside(m.config.Styles.Help, line))
		}
	}
	return out
}

// missing is what the configuration says of a list without items.
func (m Model) missing() string {
	if len(m.items) > 0 || m.filter != "" {
		return m.config.NoMatch
	}
	return m.config.Empty
}

// row is an item's line: mark, title and detail, and the hint at the right where there is room.
func (m Model) row(i int, mark string) string {
	f, st := m.found[i], m.config.Styles
	lead, base, detail, hintStyle := st.Help, st.Item, st.Detail, st.Hint
	if i == m.at {
		lead, base = st.Chosen, st.Chosen
		detail, hintStyle = st.Detail.Inherit(base), st.Hint.Inherit(base) // its ground goes over the whole width
	}
	if m.width < 4 {
		mark = ""
	}
	room := m.width - text.Width(mark)
	hint := f.item.Hint
	if w := text.Width(hint); w > 0 && w+2 <= room/2 {
		room -= w + 2
	} else {
		hint = ""
	}
	body := f.item.cut(room)
	line := render(lead, mark) + m.paint(f, body, base, detail)
	if hint == "" && i != m.at {
		return line
	}
	pad := strings.Repeat(" ", m.width-text.Width(mark)-text.Width(body)-text.Width(hint))
	return line + render(detail, pad) + render(hintStyle, hint)
}

// minDetail is the fewest cells of a detail that are worth showing.
const minDetail = 8

// cut is title and detail in a room, without the detail where of it only a few
// letters would be left.
func (e entry) cut(room int) string {
	if title := e.marked[:e.titleEnds]; text.Width(e.marked) > room && text.Width(title)+minDetail > room {
		return text.Truncate(strings.TrimRight(title, " "), room)
	}
	return text.Truncate(e.marked, room)
}

// paint colours the letters that the filter found.
func (m Model) paint(f found, body string, base, detail lipgloss.Style) string {
	whole, end := len(body), min(f.item.titleEnds, len(body))
	if strings.HasSuffix(body, "…") && !strings.HasPrefix(f.item.marked, body) {
		if whole -= len("…"); whole <= end {
			end = len(body) // the title itself was cut
		}
	}
	var b strings.Builder
	at := 0
	write := func(to int, marked bool) {
		to = min(to, len(body))
		if to > at {
			b.WriteString(m.part(body[at:to], end-at, marked, base, detail))
			at = to
		}
	}
	for _, s := range f.marks {
		if s.from >= whole {
			break
		}
		write(s.from, false)
		write(min(s.to, whole), true)
	}
	write(len(body), false)
	return b.String()
}

// part renders s, of which the first end bytes belong to the title.
func (m Model) part(s string, end int, marked bool, base, detail lipgloss.Style) string {
	if marked {
		base, detail = m.config.Styles.Match.Inherit(base), m.config.Styles.Match.Inherit(detail)
	}
	end = max(0, min(end, len(s)))
	return render(base, s[:end]) + render(detail, s[end:])
}

func render(st lipgloss.Style, s string) string {
	if s == "" {
		return ""
	}
	return st.Inline(true).Render(s)
}

// help names the keys. Where there is no room for all, those go first that one
// finds without being told.
func (m Model) help() string {
	parts := []string{m.config.mark("↑↓", "up/down") + " choose", "enter " + m.config.Enter, "esc " + m.config.Esc}
	for _, a := range m.config.Actions {
		if a.Help != "" && (a.Key != "space" || m.filter == "") {
			parts = slices.Insert(parts, len(parts)-1, a.Key+" "+a.Help)
		}
	}
	for {
		line := text.Line(strings.Join(parts, m.config.mark(" · ", ", ")))
		if room := m.width - m.margin(); text.Width(line) <= room || len(parts) == 1 {
			return text.Truncate(line, room)
		}
		parts = parts[1:]
	}
}
