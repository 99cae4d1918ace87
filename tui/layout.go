package tui

import (
	"fmt"
	"slices"
	"strings"

	"agentx/tui/screen"
	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
)

// View is the live part: the end of the answer, what the agent does, what
// waits, the composer or an open question, and the footer.
func (m Model) View() tea.View {
	lines, caret := m.live()
	v := tea.NewView(strings.Join(lines, "\n"))
	if caret != nil {
		v.Cursor = tea.NewCursor(caret.X, caret.Y)
	}
	return v
}

// live lays the live part out from its end: what is nearest to the user's eye
// gets its rows first.
func (m Model) live() ([]string, *screen.Point) {
	room := m.height
	below, caret := m.below(&room)
	middle := m.middle(&room)
	above := m.transcript.Tail(room-1, m.beat())
	lines := make([]string, 0, len(above)+len(middle)+len(below)+2)
	lines = append(lines, above...)
	if len(lines) < room && !m.ends(lines) {
		lines = append(lines, "")
	}
	lines = append(lines, middle...)
	if caret != nil {
		caret.Y += len(lines)
	}
	return m.cut(append(lines, below...)), caret
}

// cut sees to windows that are narrower than any margin.
func (m Model) cut(lines []string) []string {
	if m.width < 10 {
		for i, l := range lines {
			lines[i] = text.Truncate(l, m.width)
		}
	}
	return lines
}

// ends says whether what is above the status ends with a blank line, or is
// nothing at all.
func (m Model) ends(lines []string) bool {
	if n := len(lines); n > 0 {
		return lines[n-1] == ""
	}
	return m.transcript.Spaced()
}

// below is the composer, or what stands in its place, and the footer.
func (m Model) below(room *int) ([]string, *screen.Point) {
	view, cursor := m.composer.View(), m.composer.Cursor()
	if m.overlays.open() {
		view, cursor = m.overlays.top().view()
	}
	lines := strings.Split(view, "\n")
	if drawn := m.drawn(*room - len(lines)); len(drawn) > 0 {
		lines = append(slices.Clip(drawn), lines...)
		cursor = &tea.Cursor{Position: tea.Position{X: cursor.X, Y: cursor.Y + len(drawn)}}
	}
	lines = lines[:min(len(lines), max(*room, 1))]
	var caret *screen.Point
	if cursor != nil {
		caret = &screen.Point{X: cursor.X, Y: cursor.Y}
	}
	*room -= len(lines)
	if *room > 0 {
		lines = append(lines, m.foot())
		*room--
	}
	return lines, caret
}

// drawn is what an open list shows above itself, where so many rows have room for
// it and a little more.
func (m Model) drawn(room int) []string {
	if !m.overlays.open() {
		return nil
	}
	if drawn := m.overlays.top().drawn; len(drawn)+3 <= room {
		return drawn
	}
	return nil
}

// foot is the last line. It begins where the text does: the margin is for marks.
func (m Model) foot() string {
	width, margin := m.width, ""
	if m.width >= 20 {
		width, margin = m.width-2, "  "
	}
	if m.hint.text != "" {
		return margin + text.Truncate(m.prefs.theme.Warning.Render(m.hint.text), width)
	}
	if s := m.chats.summary(m.outbox.busy); s != "" && width > 2*len(s) {
		return margin + m.footer.View(width-len(s)-3, m.prefs.theme) + m.prefs.theme.Muted.Render(" · "+s)
	}
	return margin + m.footer.View(width, m.prefs.theme)
}

// maxQueue is how many waiting messages are shown.
const maxQueue = 3

// middle is the status and the messages that wait.
func (m Model) middle(room *int) []string {
	var lines []string
	stop, _ := m.table.named("stop")
	if s := m.status.View(m.width, m.now, m.prefs.theme, strings.ToLower(stop.hintOf())); s != "" {
		lines = append(lines, s)
	}
	lines = append(lines, m.shellLines()...)
	lines = append(lines, m.queue()...)
	lines = append(lines, m.asideLines()...)
	if s := m.editing(); s != "" {
		lines = append(lines, text.Truncate(m.prefs.theme.Muted.Render(s), m.width))
	}
	lines = lines[:min(len(lines), max(*room-1, 0))]
	*room -= len(lines)
	return lines
}

func (m Model) queue() []string {
	var lines []string
	all := m.outbox.all()
	for i, d := range all {
		if i == maxQueue {
			lines = append(lines, m.prefs.theme.Muted.Render(fmt.Sprintf("  … and %d more", len(all)-i)))
			break
		}
		says := "queued"
		switch {
		case i == 0 && !m.outbox.flying.Empty():
			says = "sending"
		case m.outbox.held:
			says = "held"
		}
		lines = append(lines, m.waits(says, d))
	}
	if len(lines) > 0 && m.outbox.held && m.composer.Empty() {
		lines = append(lines, m.prefs.theme.Muted.Render(text.Truncate("  Enter sends them, Up takes the last one back", m.width)))
	}
	return lines
}

// waits is a message in one line.
func (m Model) waits(says string, d Message) string {
	s := d.Folded()
	line, _, more := strings.Cut(text.Clean(s[:min(len(s), 4*m.width)]), "\n")
	if more {
		line += " …"
	}
	return text.Truncate(m.prefs.theme.Muted.Render("  "+says+": "+text.Line(line)), m.width)
}

// beat counts tenths of a second.
func (m Model) beat() int {
	if m.prefs.still {
		return 0
	}
	return int(m.now.UnixMilli() / 100 % 1000)
}

// roomBelow is the rows that composer or overlay may take: about half of them.
// What these push up stays in the scrollback when they are gone.
func (m Model) roomBelow() int {
	if m.overlays.open() {
		return max(min(m.height-2, max(12, m.height/2)), 1)
	}
	return max(m.height*3/5, 1)
}
