package dialog

import (
	"fmt"
	"slices"
	"strings"

	"agentx/tui/text"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

const maxBody = 256 << 10 // bytes; what is left out is said

// line is a line of the body: plain, or the two columns of a table.
type line struct {
	left, right string
	head        bool // left is a heading
}

// inner is the width beside the bar.
func (m Model) inner() int { return max(1, m.width-m.bar()) }

func (m Model) bar() int {
	if m.config.Plain || m.width < 6 {
		return 0
	}
	return 2
}

// measure is the width of the body: where it has to be scrolled, an arrow stands
// beside it.
func (m Model) measure() int {
	if m.inner() < narrow {
		return m.inner()
	}
	return m.inner() - 2
}

// wrap lays the body out for the width.
func (m Model) wrap() []line {
	var out []line
	s := m.question.body
	if over := len(s) - maxBody; over > 0 {
		s = strings.ToValidUTF8(s[:maxBody], "") + fmt.Sprintf("\n… %d more bytes", over)
	}
	if s = strings.TrimRight(text.Clean(s), "\n"); s != "" {
		for _, l := range text.Wrap(strings.ReplaceAll(s, "\t", "    "), m.measure()) {
			out = append(out, line{right: l})
		}
	}
	if len(m.question.rows) > 0 && len(out) > 0 {
		out = append(out, line{})
	}
	return append(out, m.table()...)
}

const narrow = 24 // columns; a table that has fewer puts its right column under the left

// table lays the rows out: a left column as wide as it must be, the right one wrapped.
func (m Model) table() []line {
	wide := 0
	for _, r := range m.question.rows {
		if r.Right != "" {
			wide = max(wide, text.Width(text.Line(r.Left)))
		}
	}
	wide = min(wide, m.inner()/2)
	var out []line
	for _, r := range m.question.rows {
		left := text.Line(r.Left)
		switch {
		case r.Right == "":
			if len(out) > 0 || m.question.title != "" && m.question.body == "" {
				out = append(out, line{})
			}
			out = append(out, line{left: text.Truncate(left, m.measure()), head: true})
		case m.inner() < narrow:
			out = append(out, line{left: text.Truncate(left, m.inner())})
			out = append(out, beside("", r.Right, min(2, m.inner()-1), m.inner())...)
		default:
			left = text.Truncate(left, wide)
			out = append(out, beside(left, r.Right, wide+2, m.measure())...)
		}
	}
	return out
}

// beside wraps right next to left, from column indent on.
func beside(left, right string, indent, width int) []line {
	var out []line
	for _, l := range text.Wrap(text.Line(right), width-indent) {
		out = append(out, line{left: left + strings.Repeat(" ", indent-text.Width(left)), right: l})
		left = ""
	}
	return out
}

// scroll moves the body by so many lines, within its ends.
func (m Model) scroll(by int) Model {
	m.top = max(0, min(m.top+by, len(m.body)-m.room()))
	return m
}

// room is how many lines of the body are shown.
func (m Model) room() int {
	return max(0, min(len(m.body), m.height-len(m.head())-len(m.foot())))
}

// scrollable reports whether there is more than is shown.
func (m Model) scrollable() bool { return len(m.body) > m.room() }

// head is the title, where there is a line to spare.
func (m Model) head() []string {
	if m.question.title == "" || m.height < 2 {
		return nil
	}
	return []string{m.config.Styles.Title.Inline(true).Render(text.Truncate(text.Line(m.question.title), m.inner()))}
}

// foot is what one answers with.
func (m Model) foot() []string {
	st := m.config.Styles
	var out []string
	switch m.question.kind {
	case asking:
		out = m.choices()
	case writing:
		s, _ := m.line()
		out = []string{st.Input.Inline(true).Render(s)}
	}
	if help := m.help(); help != "" && m.height > 4 {
		out = append(out, st.Help.Inline(true).Render(text.Truncate(help, m.inner())))
	}
	if room := m.height - len(m.head()); len(out) > room {
		out = out[:max(1, room)]
	}
	return out
}

// line is what of the prompt's line is shown, and the caret's column in it.
func (m Model) line() (string, int) {
	hide := ""
	if m.question.prompt.Secret {
		hide = m.config.mark("•", "*")
	}
	return m.field.view(m.inner()-1, hide)
}

func (m Model) help() string {
	dot := m.config.mark(" · ", ", ")
	switch m.question.kind {
	case asking:
		if m.question.confirm.Twice {
			return "letter, then enter" + dot + "esc cancels"
		}
		return "esc cancels"
	case writing:
		return "enter saves" + dot + "esc cancels"
	}
	if len(m.body) <= m.height-len(m.head())-1 {
		return "esc closes"
	}
	return m.config.mark("↑↓", "up/down") + " scroll" + dot + "esc closes"
}

// choices stand side by side where they fit, else one under another, and in a low window as their letters alone.
func (m Model) choices() []string {
	choices := m.question.confirm.Choices
	if side, ok := m.side(choices); ok {
		return []string{side}
	}
	if len(choices)+3 > m.height {
		letters := slices.Clone(choices)
		for i := range letters {
			letters[i].Label = ""
		}
		if side, ok := m.side(letters); ok {
			return []string{side}
		}
	}
	var all []string
	for i, c := range choices {
		s, _ := m.choice(i, c)
		all = append(all, s)
	}
	return all
}

// side puts choices into one line, and says whether it is wide enough.
func (m Model) side(choices []Choice) (string, bool) {
	var all []string
	wide := -2
	for i, c := range choices {
		s, w := m.choice(i, c)
		all, wide = append(all, s), wide+w+2
	}
	return strings.Join(all, "  "), wide <= m.inner()
}

// choice draws one choice and says how wide it is.
func (m Model) choice(i int, c Choice) (string, int) {
	st := m.config.Styles
	mark, style := "  ", st.Choice
	if c.Destructive {
		style = st.Danger
	}
	if i == m.marked {
		mark, style = m.config.mark("› ", "> "), st.Chosen
	}
	key := text.Line(c.Letter)
	s := text.Truncate(strings.TrimRight(mark+"["+key+"] "+text.Line(c.Label), " "), m.inner())
	head := len(mark) + len(key) + 2
	if head > len(s) || strings.HasSuffix(s, "…") && head > len(s)-len("…") {
		return style.Inline(true).Render(s), text.Width(s)
	}
	return style.Inline(true).Render(s[:len(mark)]) + st.Key.Inline(true).Render(s[len(mark):head]) + style.Inline(true).Render(s[head:]), text.Width(s)
}

// lines are the dialog's, without the bar.
func (m Model) lines() []string {
	out := m.head()
	room := m.room()
	for i, l := range m.body[m.top : m.top+room] {
		out = append(out, m.draw(l, i, room))
	}
	return append(out, m.foot()...)
}

// draw draws a line of the body. An arrow at the right edge says that there is more.
func (m Model) draw(l line, i, room int) string {
	st := m.config.Styles
	more, key := "", st.Key
	if l.head {
		key = st.Title
	}
	switch {
	case i == room-1 && m.top+room < len(m.body):
		more = m.config.mark("↓", "v")
	case i == 0 && m.top > 0:
		more = m.config.mark("↑", "^")
	}
	if more == "" || m.inner() < 3 {
		return render(key, l.left) + render(st.Body, l.right)
	}
	left := text.Truncate(l.left, m.inner()-1)
	right := text.Truncate(l.right, m.inner()-1-text.Width(left))
	pad := strings.Repeat(" ", m.inner()-1-text.Width(left)-text.Width(right))
	return render(key, left) + render(st.Body, right) + pad + render(st.Help, more)
}

func render(st lipgloss.Style, s string) string {
	if s == "" {
		return ""
	}
	return st.Inline(true).Render(s)
}

// Height is how many lines View takes.
func (m Model) Height() int { return len(m.lines()) }

// View draws the dialog behind its bar.
func (m Model) View() string {
	all := m.lines()
	if m.bar() > 0 {
		bar := m.config.Styles.Frame.Inline(true).Render(m.config.mark("┃", "|")) + " "
		for i := range all {
			all[i] = bar + all[i]
		}
	}
	return strings.Join(all, "\n")
}

// Cursor is the caret of a prompt, relative to View's top left corner; nil for the others.
func (m Model) Cursor() *tea.Cursor {
	if m.question.kind != writing {
		return nil
	}
	_, x := m.line()
	return tea.NewCursor(min(m.bar()+x, m.width-1), len(m.head())+m.room())
}
