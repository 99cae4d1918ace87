package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentx/engine/event"
	"agentx/tui/screen"
	"agentx/tui/scroll"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// A full is the chat on the whole of the screen: a window on all that was said,
// above the composer. The transcript is fed and printed as if it were not there;
// printing waits until it is left.
type full struct {
	on    bool
	mouse bool // is ours while it is on
	view  scroll.View
	focus int64 // the message that has the keys; none where the composer has
	seen  int64 // what comes from here on came while the window was elsewhere
	find  find

	loading bool // a page is on its way
	failed  bool // the last one did not come
}

// none is no item.
const none = 0

// toggleFull turns to the full screen, and back.
func (m Model) toggleFull() (Model, tea.Cmd) {
	switch {
	case m.transcript.Items() == nil: // plain lines have no screen
		return m, nil
	case m.full.on:
		return m.inline(), nil
	}
	m.full = full{on: true, mouse: m.full.mouse}
	m.transcript.Items().Show()
	return m.fit(), nil
}

// toggleMouse takes the mouse, or leaves it to the terminal, which selects with it.
func (m Model) toggleMouse() (Model, tea.Cmd) {
	m.full.mouse = !m.full.mouse
	switch {
	case !m.full.mouse:
		return m.say(transcript.Info, "The mouse is the terminal's: it selects. /mouse takes it back."), nil
	case m.full.on:
		return m.say(transcript.Info, "The mouse scrolls and points here. With Shift it selects."), nil
	}
	return m.say(transcript.Info, "On the full screen the mouse scrolls and points."), nil
}

// inline turns back to the terminal's own scrollback. What was said meanwhile is
// printed with the next frame.
func (m Model) inline() Model {
	if !m.full.on {
		return m
	}
	m.full = full{mouse: m.full.mouse}
	m.transcript.Items().Hide()
	return m.fit()
}

// reopen begins at the end of another session.
func (m Model) reopen() Model {
	if m.full.on {
		m.full = full{on: true, mouse: m.full.mouse}
		m.transcript.Items().Show()
	}
	return m
}

// room is the rows of the window, with the line below it that says where it is.
func (m Model) room() (window int, below []string, caret *screen.Point) {
	room := m.height
	below, caret = m.below(&room)
	middle := m.middle(&room)
	ledge := room > 2 || room > 0 && m.full.find.typing
	if ledge {
		room--
		middle = append([]string{m.ledge(room)}, middle...)
	}
	if caret != nil {
		caret.Y += room + len(middle)
	}
	switch {
	case m.overlays.open():
	case m.full.find.typing && ledge:
		caret = &screen.Point{X: min(text.Width(middle[0]), m.width-1), Y: room}
	case m.full.find.typing, m.full.focus != none:
		caret = nil // it is not the composer that has the keys
	}
	return room, append(middle, below...), caret
}

// window is how many rows the window has.
func (m Model) window() int {
	window, _, _ := m.room()
	return window
}

// page is the whole screen.
func (m Model) page() ([]string, *screen.Point) {
	items := m.transcript.Items()
	items.Beat(m.beat())
	window, below, caret := m.room()
	lines := m.lit(m.full.view.Rows(items, window))
	for len(lines) < window {
		lines = append(lines, "")
	}
	return m.cut(append(lines, below...)), caret
}

// lit are rows of the window: the message that has the keys is marked beside its
// text, and what was looked for is marked in it.
func (m Model) lit(rows []scroll.Row) []string {
	items := m.transcript.Items()
	lines := make([]string, len(rows), m.height)
	for i, r := range rows {
		lines[i] = r.Text
	}
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].Item == rows[from].Item {
			to++
		}
		found := scroll.Find(lines[from:to], m.full.find.words)
		for _, f := range slices.Backward(found) {
			lines[from+f.Row] = scroll.Light(lines[from+f.Row], f.From, f.To, m.prefs.theme.Match.Reverse(true).Render)
		}
		if m.full.focus != none && items.Key(rows[from].Item) == m.full.focus {
			m.bar(lines[from:to], rows[from].N == 0)
		}
		from = to
	}
	return lines
}

// bar marks rows in the margin, but for the blank one before them.
func (m Model) bar(lines []string, whole bool) {
	mark := "▎"
	if m.prefs.ascii {
		mark = "|"
	}
	draw := func(...string) string { return m.prefs.theme.Accent.Render(mark) }
	for i, l := range lines {
		if i == 0 && whole && l == "" {
			continue
		}
		lines[i] = scroll.Light(l+strings.Repeat(" ", max(2-text.Width(l), 0)), 1, 2, draw)
	}
}

// ledge is the line below the window: what is looked for, what is new, where the
// window stands, and what the keys do.
func (m Model) ledge(window int) string {
	th := m.prefs.theme
	if m.full.find.typing {
		return th.Prompt.Render("/") + text.Truncate(m.full.find.draft, max(m.width-2, 1))
	}
	var parts []string
	if m.full.find.said != "" {
		parts = append(parts, th.Warning.Render(m.full.find.said))
	}
	if n := m.unread(window); n > 0 {
		parts = append(parts, th.Accent.Render(fmt.Sprintf("%s%s", counted(n, "new message"), m.arrow())))
	}
	if !m.full.view.Following() {
		parts = append(parts, th.Muted.Render(fmt.Sprintf("%d%%", m.position(window))))
	}
	switch {
	case m.full.focus != none:
		used := text.Width(strings.Join(parts, " · "))
		if used > 0 {
			used += len(" · ")
		}
		parts = append(parts, th.Muted.Render(m.deeds(m.width-used)))
	case !m.full.view.Following():
		parts = append(parts, th.Muted.Render("PgDn goes on · End to the latest"))
	}
	if len(parts) == 0 {
		return ""
	}
	margin := ""
	if m.width >= 20 {
		margin = "  " // it stands where the text does
	}
	says := text.Truncate(margin+strings.Join(parts, th.Faint.Render(" · ")), m.width)
	return says + m.ruled(m.width-text.Width(says)-1)
}

// ruled is a line that parts what is below from the text above.
func (m Model) ruled(cells int) string {
	dash := "─"
	if m.prefs.ascii {
		dash = "-"
	}
	if cells < 3 {
		return ""
	}
	return " " + m.prefs.theme.Border.Render(strings.Repeat(dash, cells))
}

func (m Model) arrow() string {
	if m.prefs.ascii {
		return ""
	}
	return " ↓"
}

func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// unread counts the messages below the window that came while it was elsewhere.
func (m Model) unread(window int) int {
	if m.full.view.Following() {
		return 0
	}
	items := m.transcript.Items()
	rows := m.full.view.Rows(items, window)
	if len(rows) == 0 {
		return 0
	}
	n := 0
	for i := items.Len() - 1; i > rows[len(rows)-1].Item && items.Key(i) >= m.full.seen; i-- {
		if items.Message(i) {
			n++
		}
	}
	return n
}

// position is how much of what there is lies above the end of the window, in
// percent of its messages.
func (m Model) position(window int) int {
	items := m.transcript.Items()
	rows := m.full.view.Rows(items, window)
	if len(rows) == 0 {
		return 100
	}
	return items.Share(rows[0].Item)
}

// lookAt moves the window.
func (m Model) lookAt(v scroll.View) Model {
	if m.full.view.Following() && !v.Following() {
		m.full.seen = m.transcript.Items().End()
	}
	m.full.view, m.full.find.said = v, ""
	return m
}

func (m Model) scrollBy(rows int) Model {
	return m.lookAt(m.full.view.Scroll(m.transcript.Items(), m.window(), rows))
}

func (m Model) pageUp() (Model, tea.Cmd)   { return m.scrollBy(-max(m.window()-2, 1)), nil }
func (m Model) pageDown() (Model, tea.Cmd) { return m.scrollBy(max(m.window()-2, 1)), nil }

// toEnd follows what comes.
func (m Model) toEnd() (Model, tea.Cmd) {
	m.full.focus = none
	return m.lookAt(scroll.View{}), nil
}

// toTop shows the beginning, asked for directly where it is not here.
func (m Model) toTop() (Model, tea.Cmd) {
	items := m.transcript.Items()
	for i := range min(items.Len(), 2) { // a heading may come first
		if first, next, gap := items.Missing(i); gap && m.backend != nil && !m.full.loading {
			return m.load(first, min(next-first, pageSize), Model.toTop)
		} else if gap {
			return m, nil
		}
		if items.Message(i) {
			break
		}
	}
	return m.lookAt(m.full.view.Top(items, m.window())), nil
}

// promptUp goes to what the user said before, promptDown to what came after it.
func (m Model) promptUp() (Model, tea.Cmd)   { return m.toPrompt(m.from(-1), -1) }
func (m Model) promptDown() (Model, tea.Cmd) { return m.toPrompt(m.from(+1), +1) }

// from is the item that one goes up or down from.
func (m Model) from(by int) int {
	items := m.transcript.Items()
	if m.full.focus != none {
		return items.Index(m.full.focus)
	}
	rows := m.full.view.Rows(items, m.window())
	switch {
	case len(rows) == 0:
		return 0
	case by < 0 && m.full.view.Following():
		return items.Len()
	}
	return rows[0].Item
}

func (m Model) toPrompt(from, by int) (Model, tea.Cmd) {
	items := m.transcript.Items()
	for i := from + by; i >= 0 && i < items.Len(); i += by {
		if items.User(i) {
			m.full.focus = items.Key(i)
			return m.lookAt(m.full.view.Put(items, m.window(), i, 0, 0)), nil
		}
		if _, _, gap := items.Missing(i); gap {
			key := items.Key(from)
			return m.loadNext(i, by, func(m Model) (Model, tea.Cmd) {
				items := m.transcript.Items()
				at := items.Index(key)
				if by < 0 && items.Key(at) < key {
					at++
				}
				return m.toPrompt(at, by)
			})
		}
	}
	if by > 0 {
		return m.toEnd()
	}
	return m, nil
}

// notch is by how many rows a notch of the wheel scrolls.
const notch = 3

// wheel scrolls, also what is asked or listed, and a click gives a message the
// keys, or folds the one that has them.
func (m Model) wheel(msg tea.MouseMsg) (Model, tea.Cmd) {
	by, key := 0, tea.KeyUp
	switch msg.Mouse().Button {
	case tea.MouseWheelUp:
		by = -notch
	case tea.MouseWheelDown:
		by, key = notch, tea.KeyDown
	}
	switch {
	case !m.full.on:
	case m.overlays.open():
		var all []tea.Cmd
		for range max(by, -by) {
			var cmd tea.Cmd
			m, cmd = m.toOverlay(tea.KeyPressMsg{Code: key})
			all = append(all, cmd)
		}
		return m, tea.Batch(all...)
	case by != 0:
		return m.scrollBy(by), nil
	default:
		if _, click := msg.(tea.MouseClickMsg); click && msg.Mouse().Button == tea.MouseLeft {
			return m.point(msg.Mouse().Y), nil
		}
	}
	return m, nil
}

func (m Model) point(y int) Model {
	items := m.transcript.Items()
	rows := m.full.view.Rows(items, m.window())
	if y < 0 || y >= len(rows) || !items.Message(rows[y].Item) {
		m.full.focus = none
		return m
	}
	key := items.Key(rows[y].Item)
	if key == m.full.focus {
		return m.fold()
	}
	m.full.focus = key
	return m
}

// pageSize is how many events of a log are asked for at once.
const pageSize = 200

// more asks for what is missing near the window.
func (m Model) more() (Model, tea.Cmd) {
	if !m.full.on || m.full.loading || m.full.failed || m.backend == nil || m.full.view.Following() {
		return m, nil
	}
	items := m.transcript.Items()
	rows := m.full.view.Rows(items, m.window())
	if len(rows) == 0 {
		return m, nil
	}
	const margin = 3 // items
	top, end := rows[0].Item, rows[len(rows)-1].Item
	for i := max(top-margin, 0); i <= min(end+margin, items.Len()-1); i++ {
		if _, _, gap := items.Missing(i); !gap {
			continue
		}
		by := +1
		if i < end {
			by = -1
		}
		return m.loadNext(i, by, func(m Model) (Model, tea.Cmd) { return m, nil })
	}
	return m, nil
}

// loadNext asks for the end of a gap, for who comes from below, or its beginning.
func (m Model) loadNext(gap, by int, then func(Model) (Model, tea.Cmd)) (Model, tea.Cmd) {
	first, next, _ := m.transcript.Items().Missing(gap)
	if by < 0 {
		first = max(first, next-pageSize)
	}
	return m.load(first, min(next-first, pageSize), then)
}

// load asks for n events of the log and goes on when they are here.
func (m Model) load(first, n int64, then func(Model) (Model, tea.Cmd)) (Model, tea.Cmd) {
	in := m.open.Session.ID
	return inquire(m, "read what was said before", func(ctx context.Context, b Backend) ([]event.Event, error) {
		return b.Page(ctx, in, first, int(n))
	}, func(m Model, events []event.Event) (Model, tea.Cmd) {
		return then(m.fill(first, events))
	})
}

// fill puts events of the log where they are missing.
func (m Model) fill(first int64, events []event.Event) Model {
	items := m.transcript.Items()
	a, held := m.hold(first)
	items.Fill(first, events)
	if held {
		m = m.drop(a)
	}
	if rows := m.full.view.Rows(items, 1); len(rows) > 0 {
		items.Trim(rows[0].Item)
	}
	return m
}

// inquire asks the backend about the log. One question is asked at a time, and
// an answer counts only while the same conversation is looked at.
func inquire[T any](m Model, what string, get func(context.Context, Backend) (T, error), then func(Model, T) (Model, tea.Cmd)) (Model, tea.Cmd) {
	if m.full.loading || m.backend == nil {
		return m, nil
	}
	m.full.loading = true
	ctx, b, items := m.ctx, m.backend, m.transcript.Items()
	return m, func() tea.Msg {
		got, err := get(ctx, b)
		return result{func(m Model) (Model, tea.Cmd) {
			if items != m.transcript.Items() || !m.full.on {
				return m, nil
			}
			m.full.loading = false
			if err != nil {
				m.full.failed, m.full.find.said = true, "Could not "+what+": "+text.Line(err.Error())
				return m, nil
			}
			return then(m, got)
		}}
	}
}
