// Package tui is the chat on a terminal.
//
// The root model routes; it decides nothing that a child can decide. Keys go
// to whoever has the focus, batches of events to all who show them. A child
// that has something to say returns it, and the root takes it in the same step.
// What the world has to do, it does behind [Backend]; what it says comes through
// the [Feed].
package tui

import (
	"context"
	"time"

	"agentx/engine/event"
	"agentx/tui/composer"
	"agentx/tui/footer"
	"agentx/tui/status"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// Model is the screen.
type Model struct {
	ctx     context.Context
	backend Backend // nil until the world is there
	feed    *Feed
	term    terminal
	prefs   prefs
	table   table

	width, height int
	now           time.Time // of the last frame
	flow          flow

	chats      chats
	open       Opened // without its events
	subject    string // what was said first in it
	unseen     bool   // the user looks elsewhere
	announced  announced
	turn       *heard // of the turn that was begun last
	rewound    rewound
	transcript transcript.Model
	status     status.Model
	footer     footer.Model
	composer   composer.Model
	outbox     outbox
	overlays   overlays
	full       full
	draft      draft
	aside      aside
	finding    finding
	shell      shell
	hint       hint
}

// newModel returns an empty screen, before there is a world behind it.
func newModel(ctx context.Context, o Options, term terminal) Model {
	p := newPrefs(o)
	table, conflicts := newTable(o.Keys)
	m := Model{ctx: ctx, feed: o.Feed, term: term, prefs: p, table: table, width: 80, height: 24}
	m.transcript = transcript.New(p.transcript(true), p.theme)
	m.status = status.New(p.ascii, p.still)
	m.footer = footer.New(o.Model.Name, o.Model.Window)
	m.composer = composer.New(composer.Config{
		Styles: p.composer(), Prompt: p.prompt(),
		Placeholder: "Ask anything. ? shows the keys, / the commands",
		Busy:        "Write the next message; it waits for this answer",
	}).SetCommands(table.commands()).SetVi(o.Vi)
	m.outbox = m.outbox.push(Message{Text: o.Prompt})
	if p.wrong != nil {
		m.transcript = m.transcript.Notice(transcript.Warning, sentence(p.wrong, ""))
	}
	for _, c := range conflicts {
		m.transcript = m.transcript.Notice(transcript.Warning, c)
	}
	m.full.mouse = !o.NoMouse
	if o.FullScreen {
		m, _ = m.toggleFull()
	}
	return m
}

// Init waits for events, for the world, and for the terminal to say how it looks.
func (m Model) Init() tea.Cmd { return tea.Batch(m.feed.next(0, forever), m.prefs.wait()) }

// Update takes one message. Each kind has its own method.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m.update(msg) }

func (m Model) update(msg tea.Msg) (Model, tea.Cmd) {
	m, cmd := m.take(msg)
	m, more := m.more()
	return m.signal(), tea.Batch(cmd, more)
}

func (m Model) take(msg tea.Msg) (Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.write(msg)
	case tea.MouseMsg:
		return m.wheel(msg)
	case outputs:
		return m.show(msg)
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height), nil
	case answered:
		return m.answered(msg)
	case result:
		return msg.then(m)
	case composer.Ended:
		return m.toComposer(msg)
	case tick:
		return m.tick(msg)
	}
	return m.look(msg), nil
}

// show gives every event to every child that shows events, and asks for more.
func (m Model) show(out outputs) (Model, tea.Cmd) {
	m.flow = m.flow.add(out.events, out.at.Sub(m.now))
	m.now = out.at
	m, mine := m.route(out.events)
	m = m.apply(mine)
	var cmd tea.Cmd
	if m.outbox.over != nil {
		m, cmd = m.finish()
	}
	m, save := m.keepDraft() // a message that waited may have gone
	return m, tea.Batch(cmd, save, m.feed.next(m.pace()))
}

func (m Model) apply(events []event.Event) Model {
	m.turn = m.turn.add(events)
	for _, e := range events {
		m.transcript = m.transcript.Apply(e)
		m.status = m.status.Apply(e)
		m.footer = m.footer.Apply(e)
		m.outbox = m.outbox.apply(e)
		m.subject = subject(m.subject, e)
	}
	if m.flow.hasty() {
		m.transcript = m.transcript.Hurry()
	}
	m.transcript = m.transcript.Advance(m.now)
	return m
}

// A frame while text is coming, and a beat of the spinner.
const (
	frame = 50 * time.Millisecond
	beat  = 100 * time.Millisecond
)

// pace says when to look for events again: while something moves, at its pace,
// else when there are some.
func (m Model) pace() (hold, limit time.Duration) {
	switch {
	case m.transcript.Typing():
		return frame, frame
	case m.status.Active() && m.prefs.still:
		return frame, time.Second
	case m.status.Active() && m.flow.hasty():
		return frame, 2 * beat // the next handful comes before that
	case m.status.Active():
		return frame, beat
	case m.chats.answering() > 0:
		return frame, forever
	}
	return 0, forever
}

// resize lays the live part out anew; what is in the scrollback is the terminal's.
// A terminal without a size does not count.
func (m Model) resize(width, height int) Model {
	if width <= 0 || height <= 0 {
		return m
	}
	m.width, m.height = width, height
	m.transcript = m.transcript.SetSize(m.width, m.height)
	m.overlays = m.overlays.draw(m.prefs, m.width)
	return m.fit()
}

// maxOverlay is how wide a list or a question gets; wider, its columns fall apart.
const maxOverlay = 100

// fit gives the children their share of the rows.
func (m Model) fit() Model {
	room := m.roomBelow()
	m.composer = m.composer.SetSize(m.width, room)
	m.overlays = m.overlays.setSize(min(m.width, maxOverlay), room)
	return m
}

// write gives a paste to whoever has the focus.
func (m Model) write(msg tea.PasteMsg) (Model, tea.Cmd) {
	m = m.wakeUp()
	if m.overlays.open() {
		return m.toOverlay(msg)
	}
	if m.full.find.typing {
		return m.typeFind(msg.Content), nil
	}
	m.full.focus = none // one writes
	m, cmd := m.toComposer(msg)
	return m, tea.Batch(cmd, m.dropped(msg.Content))
}

// toComposer gives a message to the composer and takes what it says.
func (m Model) toComposer(msg tea.Msg) (Model, tea.Cmd) {
	var out tea.Msg
	var cmd tea.Cmd
	m.composer, out, cmd = m.composer.Update(msg)
	m, more := m.written(out)
	m, save := m.keepDraft()
	return m, tea.Batch(cmd, more, save)
}

// written takes what the composer said.
func (m Model) written(out tea.Msg) (Model, tea.Cmd) {
	switch out := out.(type) {
	case composer.Submit:
		return m.submit(out)
	case composer.Mention:
		return m.find(out)
	case composer.Mentioned:
		return m.mentioned(out)
	case composer.Edit:
		return m.edit("")
	case composer.Notice:
		return m.say(transcript.Info, out.Text), nil
	}
	return m, nil
}

// say shows a notice.
func (m Model) say(k transcript.Kind, sentences ...string) Model {
	m.transcript = m.transcript.Hurry().Notice(k, sentences...)
	return m
}

// wakeUp is what any key does beside its meaning: the typewriter gives way to
// who writes.
func (m Model) wakeUp() Model {
	m.transcript = m.transcript.Hurry()
	return m
}
