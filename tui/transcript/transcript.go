// Package transcript lays out what was said. What is finished it gives away
// once, line by line, for the terminal's own scrollback; what still grows it
// draws anew. It sees stream and message events, live or from the store, and
// knows no screen.
package transcript

import (
	"time"

	"agentx/engine/event"
	"agentx/tui/theme"
)

// Config is what does not change while a conversation is shown.
type Config struct {
	Typewriter bool // text appears smoothly instead of as it comes
	ASCII      bool // no marks outside ASCII
	Saved      bool // the conversation is kept, and errors may say so
	Measure    int  // cells that a line of prose takes at most; 0 is all there are
	Spoken     bool // words instead of marks, for readers that speak
	Marks      Marks
	Keep       bool  // all of it stays here, to be looked at message by message
	First      int64 // what counts the first event of Replay in its log; 0 is the first
	Thoughts   Thoughts
	Unfold     string // the key that shows the first thought whole; who has seen it once knows it
}

// Marks are lines of their own that show nothing, by which a terminal finds its
// way through a conversation. Empty ones are left out.
type Marks struct {
	Prompt string // before what the user said
	Answer string // behind it
	End    string // behind the answer
}

// Model is a transcript. Its answer grows in place: of two copies only the
// newer one may be used.
type Model struct {
	config Config
	look   *look
	width  int
	height int

	out     []string // finished lines that nobody has taken
	spaced  bool     // the last line that went out is blank, or there was none
	typist  typist
	message message // the one that is arriving
	calls   []call  // that are not printed yet, in the order they were announced

	listed   bool // the last finished line is a call
	answers  []string
	prompts  []string
	folds    []Fold // the newest, oldest first
	weight   int    // bytes that they hold
	unfolded bool   // they are laid out whole
	open     bool   // the end of an answer is not marked yet
	any      bool   // a message of the user was shown
	came     bool   // something of its answer, too

	items *Items // nil where nothing is kept
}

// New returns an empty transcript, 80 columns wide.
func New(c Config, th *theme.Theme) Model {
	m := Model{config: c, look: newLook(th, c), width: 80, height: 24, spaced: true}
	if c.Keep {
		m.items = newItems(c, th)
	}
	return m
}

// Items are what was said, message by message; nil where it is not kept.
func (m Model) Items() *Items { return m.items }

// keep has the items change with the model.
func (m Model) keep(change func(*Items)) {
	if m.items != nil {
		change(m.items)
	}
}

// SetSize gives the columns, and the most rows that are ever asked for. What is
// printed is printed; what is not is laid out anew.
func (m Model) SetSize(width, height int) Model {
	width, height = max(width, 1), max(height, 1)
	if width != m.width {
		m.width = width
		m = m.relay()
		m.keep(func(l *Items) { l.dress(func(m Model) Model { return m.SetSize(width, height) }) })
	}
	m.height = height
	return m
}

// SetTheme changes the colours of what is not printed yet.
func (m Model) SetTheme(th *theme.Theme) Model {
	m.look = newLook(th, m.config)
	m.keep(func(l *Items) { l.dress(func(m Model) Model { return m.SetTheme(th) }) })
	return m.relay()
}

// SetThoughts says how much is shown of the thoughts that are still to come.
func (m Model) SetThoughts(t Thoughts) Model {
	m.config.Thoughts = t
	return m
}

// SetTypewriter switches the typewriter on or off. Off, nothing waits.
func (m Model) SetTypewriter(on bool) Model {
	m.config.Typewriter = on
	m.keep(func(l *Items) { l.dress(func(m Model) Model { return m.SetTypewriter(on) }) })
	if !on {
		return m.Hurry()
	}
	return m
}

// inner is the width beside the gutter, which only we draw in.
func (m Model) inner() int {
	if m.config.Spoken {
		return max(m.width-gutter-len("Assistant:"), 1)
	}
	return max(m.width-gutter, 1)
}

// measure is how long a line of prose gets.
func (m Model) measure() int {
	if m.config.Measure > 0 {
		return min(m.inner(), m.config.Measure)
	}
	return m.inner()
}

// Apply shows one event, text of an answer bit by bit.
func (m Model) Apply(e event.Event) Model {
	m.keep(func(l *Items) { l.Add(e) })
	if m.config.Typewriter && m.typist.takes(e.Data) {
		m.typist = m.typist.add(e)
		return m
	}
	return m.apply(e)
}

// Advance lets the typewriter write what it should have written by now.
func (m Model) Advance(now time.Time) Model {
	m.keep(func(l *Items) { l.advance(now) })
	var due []event.Event
	m.typist, due = m.typist.advance(now)
	for _, e := range due {
		m = m.apply(e)
	}
	return m
}

// Hurry shows at once all that the typewriter still holds.
func (m Model) Hurry() Model {
	m.keep((*Items).hurry)
	var due []event.Event
	m.typist, due = m.typist.rest()
	for _, e := range due {
		m = m.apply(e)
	}
	return m
}

// Typing says whether the typewriter holds something.
func (m Model) Typing() bool { return m.typist.busy() }

// Replay shows what was said before, of which earlier messages were left out.
func (m Model) Replay(events []event.Event, earlier int) Model {
	if earlier > 0 {
		way := "/full shows them all"
		if m.config.Spoken {
			way = "/export writes them all"
		}
		m = m.block(m.look.muted("… " + plural(earlier, "earlier message") + " · " + way))
	}
	m.keep(func(l *Items) { l.begin(m.config.First, earlier, events) })
	for _, e := range events {
		m = m.apply(e)
	}
	return m
}

func (m Model) apply(e event.Event) Model {
	switch d := e.Data.(type) {
	case event.UserMessage:
		return m.settle().user(d)
	case event.MessageStart:
		return m.settle().begin(d)
	case event.ThinkingDelta:
		return m.think(e.At, d.Text)
	case event.TextDelta:
		return m.say(e.At, d.Text)
	case event.ToolUseStart:
		return m.plan(e.At, d)
	case event.ToolCallMessage:
		return m.call(d)
	case event.ToolResultMessage:
		return m.result(d)
	case event.AssistantMessage:
		return m.assistant(e.At, d)
	case event.ErrorMessage:
		return m.settle().failed(d)
	case event.SystemError:
		return m.trouble(d)
	case event.TurnResponse:
		return m.ended(d).close()
	case note:
		return m.notice(d.kind, d.sentences...)
	case heading:
		return m.heading(d.title)
	}
	return m
}

// resting reports whether nothing of a message is still to come.
func (m Model) resting() bool {
	return !m.typist.busy() && m.message.doc == nil && !m.message.thinking && len(m.calls) == 0
}

// End finishes all that is not: the chat is over.
func (m Model) End() Model { return m.Hurry().settle() }

// Any says whether anything was said.
func (m Model) Any() bool { return m.any }

// Spaced says whether the last finished line is blank, or there is none.
func (m Model) Spaced() bool { return m.spaced }

// Take returns the lines that were finished since the last Take, to be printed
// once.
func (m Model) Take() (Model, []string) {
	lines := m.out
	m.out = nil
	return m, lines
}

// Tail returns at most n rows of what is not finished. Beat counts tenths of a
// second and turns the marks of what is at work.
func (m Model) Tail(n, beat int) []string {
	if n <= 0 {
		return nil
	}
	lines := m.message.tail(m, n)
	for _, c := range m.calls {
		lines = append(lines, m.line(c, beat))
	}
	return lines[max(0, len(lines)-n):]
}

// Answer returns the text of the nth answer from the end, counted from 1.
func (m Model) Answer(n int) (string, bool) { return nth(m.answers, n) }

// Prompt returns what the user said, the nth message from the end.
func (m Model) Prompt(n int) (string, bool) { return nth(m.prompts, n) }

func nth(all []string, n int) (string, bool) {
	if n < 1 || n > len(all) {
		return "", false
	}
	return all[len(all)-n], true
}

// keptTexts is how many answers, and how many prompts, can be had again.
const keptTexts = 50

// remembered is all with s behind it, and without the oldest where there are too many.
func remembered(all []string, s string) []string {
	if s == "" {
		return all
	}
	return append(all[max(0, len(all)-keptTexts+1):len(all):len(all)], s)
}

// print finishes lines.
func (m Model) print(lines ...string) Model {
	if len(lines) > 0 {
		m.out = append(m.out, lines...)
		m.spaced, m.listed = lines[len(lines)-1] == "", false
	}
	return m
}

// mark finishes a line that is none.
func (m Model) mark(mark string) Model {
	if mark != "" {
		m.out = append(m.out, mark)
	}
	return m
}

// close marks the end of an answer.
func (m Model) close() Model {
	if !m.open {
		return m
	}
	m.open = false
	return m.mark(m.config.Marks.End)
}

// block finishes lines that stand apart from what was before.
func (m Model) block(lines ...string) Model {
	if len(lines) == 0 {
		return m
	}
	return m.apart().print(lines...)
}

func (m Model) apart() Model {
	if !m.spaced {
		m = m.print("")
	}
	return m
}

// settle prints what has no end of its own: a message whose end never came, and
// calls that nobody answered.
func (m Model) settle() Model {
	m = m.endThought(time.Time{}).endText()
	return m.flushCalls(true)
}
