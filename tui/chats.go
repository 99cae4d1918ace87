package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentx/engine/event"
	"agentx/tui/composer"
	"agentx/tui/palette"
	"agentx/tui/status"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// A chat is a conversation that is open and not on the screen. It goes on: its
// answer arrives, and what waits behind it is sent.
type chat struct {
	key      int
	open     Opened
	composer composer.Model
	outbox   outbox
	draft    draft
	status   status.Model
	rewound  rewound
	aside    aside
	subject  string
	turn     *heard
	news     bool // an answer has come that nobody has seen
}

// chats are those that are open, in the order in which they were opened; the
// one on the screen has its place among them, and is not in the list.
type chats struct {
	others  []chat
	at      int  // place of the one on the screen
	key     int  // of the one on the screen
	made    int  // ever
	turning bool // another conversation is on its way to the screen
}

// maxChats is how many are open at most: as many as there are keys.
const maxChats = 9

func (c chats) size() int { return len(c.others) + 1 }

// index is where the chat of a place is in the list.
func (c chats) index(place int) int {
	if place > c.at {
		return place - 1
	}
	return place
}

func (c chats) find(f func(chat) bool) int { return slices.IndexFunc(c.others, f) }

// set changes one of the others.
func (c chats) set(i int, to chat) chats {
	c.others = slices.Clone(c.others)
	c.others[i] = to
	return c
}

func (c chats) answering() int {
	n := 0
	for _, o := range c.others {
		if o.outbox.busy {
			n++
		}
	}
	return n
}

func (c chats) news() int {
	n := 0
	for _, o := range c.others {
		if o.news {
			n++
		}
	}
	return n
}

// summary says how many chats are open, where there is more than one.
func (c chats) summary(busy bool) string {
	if len(c.others) == 0 {
		return ""
	}
	s := fmt.Sprintf("%d chats", c.size())
	n := c.answering()
	if busy {
		n++
	}
	if n > 0 {
		s += fmt.Sprintf(", %d answering", n)
	}
	if n := c.news(); n > 0 {
		s += fmt.Sprintf(", %d answered", n)
	}
	return s
}

// heard are the events of a turn, in batches, the last first.
type heard struct {
	events []event.Event
	before *heard
}

// add begins anew with each message of the user: what was before it is kept
// elsewhere.
func (h *heard) add(events []event.Event) *heard {
	for i := len(events) - 1; i >= 0; i-- {
		if _, ok := events[i].Data.(event.UserMessage); ok {
			return &heard{events: events[i:]}
		}
	}
	if len(events) == 0 {
		return h
	}
	return &heard{events, h}
}

// all are the events in order, without those that stand before a message of the
// user.
func (h *heard) all() []event.Event {
	var batches [][]event.Event
	for ; h != nil; h = h.before {
		batches = append(batches, h.events)
	}
	slices.Reverse(batches)
	all := slices.Concat(batches...)
	if len(all) == 0 {
		return nil
	}
	if _, ok := all[0].Data.(event.UserMessage); !ok {
		return nil
	}
	return all
}

// route gives the events of other chats to those, and returns the others.
func (m Model) route(said []spoken) (Model, []event.Event) {
	mine := make([]event.Event, 0, len(said))
	elsewhere := map[int][]event.Event{}
	for _, s := range said {
		if s.by == "" || m.open.Agent == "" || s.by == m.open.Agent {
			mine = append(mine, s.Event)
		} else if i := m.chats.find(func(c chat) bool { return c.open.Agent == s.by }); i >= 0 {
			elsewhere[i] = append(elsewhere[i], s.Event)
		}
	}
	for i, events := range elsewhere {
		m.chats = m.chats.set(i, m.chats.others[i].hear(events))
	}
	return m, mine
}

func (c chat) hear(events []event.Event) chat {
	c.turn = c.turn.add(events)
	for _, e := range events {
		c.status, c.outbox = c.status.Apply(e), c.outbox.apply(e)
	}
	return c
}

// answeredElsewhere is the end of an answer that is not on the screen.
func (m Model) answeredElsewhere(a answered) (Model, tea.Cmd) {
	m, mine := m.route(m.feed.drain(nil))
	m = m.apply(mine)
	i := m.chats.find(func(c chat) bool { return c.key == a.chat })
	if i < 0 {
		return m, nil
	}
	c := m.chats.others[i]
	lost := c.outbox.flying
	switch {
	case !lost.Empty():
		c.composer = restored(c.composer, lost)
		c.outbox.held = true
	case a.err != nil && !c.outbox.stopped:
		c.outbox.held = true
	}
	c.outbox.busy, c.outbox.flying, c.outbox.stopped, c.news = false, Message{}, false, true
	c.status, c.composer = c.status.End(), c.composer.SetBusy(false)
	m.chats = m.chats.set(i, c)
	m, cmd := m.pumpElsewhere(i)
	return m, tea.Batch(cmd, m.rest(i))
}

// rest lets others have the session of a chat in which nothing is to come.
func (m Model) rest(i int) tea.Cmd {
	c := m.chats.others[i]
	if m.backend == nil || c.outbox.busy || c.outbox.size() > 0 {
		return nil
	}
	id := c.open.Session.ID
	return m.ask(func(ctx context.Context, b Backend) error { return b.Close(ctx, id) })
}

// pumpElsewhere sends the first message that waits in another chat, and keeps
// what is left.
func (m Model) pumpElsewhere(i int) (Model, tea.Cmd) {
	c := m.chats.others[i]
	if m.backend == nil {
		return m, nil
	}
	var send tea.Cmd
	if c.outbox.ready() {
		var d Message
		c.outbox, d = c.outbox.pop()
		c.composer, c.news = c.composer.SetBusy(true), false
		ctx, release, key := m.ctx, m.term.hold(), c.key
		there := m
		there.open = c.open
		answer := there.sending(d, nil)
		send = func() tea.Msg {
			defer release()
			return answered{key, answer(ctx)}
		}
	}
	m.chats = m.chats.set(i, c)
	d, id := c.unsent(), c.open.Session.ID
	save := m.ask(func(ctx context.Context, b Backend) error { return b.SaveDraft(ctx, id, d) })
	return m, tea.Batch(send, save)
}

// closeElsewhere closes a parcel of another chat, or gives it back there.
func (m Model) closeElsewhere(i, id int, d Message, err error) (Model, tea.Cmd) {
	c := m.chats.others[i]
	if err != nil {
		if o, d, there := c.outbox.take(id); there {
			c.outbox, c.composer = o, restored(c.composer, d)
		}
	} else {
		c.outbox = c.outbox.close(id, d)
	}
	m.chats = m.chats.set(i, c)
	return m.pumpElsewhere(i)
}

func (c chat) unsent() Draft {
	return Draft{Message: c.composer.Draft(), Queued: c.outbox.all(), Aside: c.aside, Edits: c.rewound.id}
}

// drafts are all that was written and not sent, by session.
func (m Model) drafts() map[event.SessionID]Draft {
	all := map[event.SessionID]Draft{m.open.Session.ID: m.unsent()}
	for _, c := range m.chats.others {
		all[c.open.Session.ID] = c.unsent()
	}
	return all
}

// parked is the chat on the screen, to be put aside.
func (m Model) parked() chat {
	return chat{key: m.chats.key, open: m.open, composer: m.composer, outbox: m.outbox, draft: m.draft, status: m.status, rewound: m.rewound, aside: m.aside, subject: m.subject, turn: m.turn}
}

// spare reports whether the chat on the screen holds nothing to come back to.
func (m Model) spare() bool {
	return !m.transcript.Any() && m.composer.Empty() && len(m.aside) == 0 && m.outbox.size() == 0 && !m.outbox.busy && m.open.Session.Messages == 0
}

// putBy makes room for another conversation: the one on the screen is put by,
// unless nothing is in it.
func (m Model) putBy() Model {
	if m.spare() {
		return m
	}
	c := m.chats
	c.others = slices.Insert(slices.Clone(c.others), c.at, m.parked())
	if len(c.others) == maxChats {
		if i := c.find(func(c chat) bool { return !c.outbox.busy }); i >= 0 {
			c.others = slices.Delete(c.others, i, i+1) // its draft is kept
		}
	}
	c.at = len(c.others)
	c.made++
	c.key = c.made
	m.chats = c
	m.composer = m.composer.Reset().SetBusy(false)
	m.outbox, m.status, m.rewound, m.turn, m.aside = outbox{posted: m.outbox.posted}, m.status.End(), rewound{}, nil, nil
	m.draft = draft{saved: m.composer.Changed(), due: m.draft.due}
	return m
}

// turn asks the backend for another conversation. Until it is there nothing is
// sent, and no third one asked for. Failed puts back what was taken for it; it
// may be nil.
func turn[T any](m Model, what string, get func(context.Context, Backend) (T, error), then func(Model, T) (Model, tea.Cmd), failed func(Model) Model) (Model, tea.Cmd) {
	if m.chats.turning {
		if failed != nil {
			m = failed(m)
		}
		return m.say(transcript.Info, "Another conversation is just being opened; try again in a moment."), nil
	}
	done := false
	m, cmd := fetch(m, what, get, func(m Model, got T) (Model, tea.Cmd) {
		done = true
		return then(m, got)
	})
	if cmd == nil {
		if failed != nil {
			m = failed(m)
		}
		return m, nil
	}
	m.chats.turning = true
	return m, func() tea.Msg {
		r, ok := cmd().(result)
		if !ok {
			return nil
		}
		return result{func(m Model) (Model, tea.Cmd) {
			m.chats.turning = false
			m, more := r.then(m)
			if !done && failed != nil {
				m = failed(m)
			}
			m, pump := m.pump()
			return m, tea.Batch(more, pump)
		}}
	}
}

// switchTo shows the chat of a place, counted from 0.
func (m Model) switchTo(place int) (Model, tea.Cmd) {
	if place == m.chats.at || place < 0 || place >= m.chats.size() {
		if place != m.chats.at || m.chats.size() == 1 {
			return m.say(transcript.Info, "There is no such chat. /chats shows those that are open."), nil
		}
		return m, nil
	}
	key, id := m.chats.others[m.chats.index(place)].key, m.chats.others[m.chats.index(place)].open.Session.ID
	left, kept := m.open.Session.ID, m.unsent()
	return turn(m, "turn to the other chat", func(ctx context.Context, b Backend) (Opened, error) {
		if err := b.SaveDraft(ctx, left, kept); err != nil {
			return Opened{}, err
		}
		return b.Open(ctx, id)
	}, func(m Model, o Opened) (Model, tea.Cmd) { return m.exchange(key, o) }, nil)
}

// step shows the chat that is so many places further.
func (m Model) step(by int) (Model, tea.Cmd) {
	n := m.chats.size()
	return m.switchTo(((m.chats.at+by)%n + n) % n)
}

// exchange puts the chat on the screen aside and shows another one as it is by
// now: what is kept of it, and what of its running turn has been heard.
func (m Model) exchange(key int, o Opened) (Model, tea.Cmd) {
	i := m.chats.find(func(c chat) bool { return c.key == key })
	if i < 0 {
		return m.opened(o)
	}
	c, here, place := m.chats.others[i], m.parked(), i
	if i >= m.chats.at {
		place++
	}
	rest := slices.Delete(slices.Clone(m.chats.others), i, i+1)
	at := m.chats.at
	if place < at {
		at--
	}
	m.chats.others = slices.Insert(rest, at, here)
	m.chats.at, m.chats.key = place, key
	posted := max(m.outbox.posted, c.outbox.posted)
	m.composer, m.outbox, m.draft, m.rewound, m.aside, m.turn = c.composer, c.outbox, c.draft, c.rewound, c.aside, c.turn
	m.outbox.posted = posted
	m.composer = m.composer.SetHistory(m.open.Prompts)
	m.draft.due = here.draft.due
	var since []event.Event
	if c.outbox.busy { // else all of it is kept, and what others have added
		since = c.turn.all()
	}
	o.Events = until(o.Events, since)
	m = m.display(recent(o, showAgain))
	m.status = m.status.End()
	m = m.apply(since)
	m.transcript, m.turn = m.transcript.Hurry(), c.turn
	if !c.outbox.busy {
		m.status = m.status.End()
	}
	m = m.fit()
	m, cmd := m.keepDraft()
	m, pump := m.pump()
	return m, tea.Batch(cmd, pump)
}

// until are the events before a turn.
func until(events, turn []event.Event) []event.Event {
	if len(turn) == 0 {
		return events
	}
	asked, _ := turn[0].Data.(event.UserMessage)
	for i, e := range events {
		if u, ok := e.Data.(event.UserMessage); ok && u.ID == asked.ID {
			return events[:i:i]
		}
	}
	return events
}

// showAgain is how many of the last questions are printed once more when one
// comes back to a conversation.
const showAgain = 3

// recent is a session of which the screen is shown the last so many questions
// and what followed.
func recent(o Opened, questions int) Opened {
	from := len(o.Events)
	for from > 0 && questions > 0 {
		from--
		if _, ok := o.Events[from].Data.(event.UserMessage); ok {
			questions--
		}
	}
	o.skipped = o.Events[:from]
	o.Events, o.First = o.Events[from:], max(o.First, 1)+int64(from)
	for _, e := range o.skipped {
		switch e.Data.(type) {
		case event.UserMessage, event.AssistantMessage:
			o.Earlier++
		}
	}
	return o
}

// openChats lists the chats that are open, or shows the one of a number.
func (m Model) openChats(arg string) (Model, tea.Cmd) {
	if arg != "" {
		n, err := strconv.Atoi(arg)
		if err != nil {
			return m.say(transcript.Info, "/chats takes a number."), nil
		}
		return m.switchTo(n - 1)
	}
	c := palette.Config{Title: "Open chats", Enter: "turn to it", Actions: []palette.Action{{Key: "ctrl+x", Help: "close"}}}
	return m.choose(c, m.chatItems(), Model.pickedChat), nil
}

func (m Model) chatItems() []palette.Item {
	all := slices.Insert(slices.Clone(m.chats.others), m.chats.at, m.parked())
	var items []palette.Item
	for i, c := range all {
		items = append(items, palette.Item{
			ID: strconv.Itoa(c.key), Title: fmt.Sprintf("%d %s", i+1, c.called()),
			Detail: c.state(i == m.chats.at), Hint: fmt.Sprintf("Alt+%d", i+1),
		})
	}
	return items
}

// called is the title of a chat, or else what was said first in it.
func (c chat) called() string {
	if c.open.Session.Title == "" && c.subject != "" {
		return text.Truncate(text.Line(c.subject[:min(len(c.subject), 400)]), maxColumn)
	}
	return title(c.open.Session)
}

// state is what there is to know of a chat in a list.
func (c chat) state(here bool) string {
	var says []string
	if here {
		says = append(says, "here")
	}
	switch {
	case c.outbox.busy:
		says = append(says, "answering")
	case c.news:
		says = append(says, "answered")
	}
	if n := len(c.outbox.waiting); n > 0 {
		says = append(says, fmt.Sprintf("%d waiting", n))
	}
	if !c.composer.Empty() {
		says = append(says, "draft: "+text.Truncate(text.Line(c.composer.Text()), 30))
	}
	return strings.Join(says, " · ")
}

func (m Model) pickedChat(_ palette.Model, out tea.Msg) (Model, tea.Cmd) {
	place := func(id string) int {
		key, _ := strconv.Atoi(id) // they are ours
		if i := m.chats.find(func(c chat) bool { return c.key == key }); i >= m.chats.at {
			return i + 1
		} else if i >= 0 {
			return i
		}
		return m.chats.at
	}
	switch out := out.(type) {
	case palette.Chosen:
		return m.close().switchTo(place(out.ID))
	case palette.Acted:
		return m.closeChat(place(out.ID))
	}
	return m, nil
}

// closeChat takes a chat that is not on the screen out of the list. Its session
// and its draft stay.
func (m Model) closeChat(place int) (Model, tea.Cmd) {
	if place == m.chats.at {
		return m, nil
	}
	i := m.chats.index(place)
	c := m.chats.others[i]
	if c.outbox.busy {
		return m.close().say(transcript.Info, "An answer is arriving there. Turn to it and stop it first, or wait for it."), nil
	}
	m.chats.others = slices.Delete(slices.Clone(m.chats.others), i, i+1)
	if i < m.chats.at {
		m.chats.at--
	}
	m = m.setList(func(p palette.Model) palette.Model { return p.SetItems(m.chatItems()) })
	id, d := c.open.Session.ID, c.unsent()
	return m, m.ask(func(ctx context.Context, b Backend) error {
		if err := b.SaveDraft(ctx, id, d); err != nil {
			return err
		}
		return b.Close(ctx, id)
	})
}

// chatKey is the place that a key means: Alt+1 to Alt+9.
func chatKey(key string) (int, bool) {
	n, ok := strings.CutPrefix(key, "alt+")
	if !ok || len(n) != 1 || n[0] < '1' || n[0] > '9' {
		return 0, false
	}
	return int(n[0] - '1'), true
}
