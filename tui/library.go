package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/dialog"
	"agentx/tui/footer"
	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// opened shows a session: the first one, when the world is there, or another.
func (m Model) opened(o Opened) (Model, tea.Cmd) {
	m.turn = nil
	return m.display(o).resumeDraft(o.Draft)
}

// display shows a session in place of the one that was shown.
func (m Model) display(o Opened) Model {
	events, skipped := o.Events, o.skipped
	o.Events, o.skipped = nil, nil
	if m.open.Prompts != nil && o.Prompts == nil {
		o.Prompts = m.open.Prompts
	}
	m.open, m.subject = o, ""
	config := m.prefs.transcript(o.Saved)
	config.Unfold = m.unfoldKey()
	config.First = o.First
	m.transcript = transcript.New(config, m.prefs.theme).
		SetSize(m.width, m.height).Inherit(m.transcript)
	if o.Session.Title != "" {
		m.transcript = m.transcript.Heading(o.Session.Title)
	}
	m.footer = footer.New(o.Model.Name, o.Model.Window).Add(o.Spent.Usage, o.Spent.Cost, o.Spent.Turns, o.Spent.Unpriced)
	for _, e := range append(skipped[:len(skipped):len(skipped)], events...) {
		m.footer = m.footer.Apply(e)
		m.subject = subject(m.subject, e)
	}
	m.transcript = m.transcript.Replay(events, o.Earlier)
	m = m.reopen()
	if o.Hello != "" {
		m = m.say(transcript.Info, o.Hello)
	}
	if o.Notice != "" {
		m = m.say(transcript.Warning, o.Notice)
	}
	return m
}

// resumeDraft brings back what was written, without losing what was typed while
// the world was opened.
func (m Model) resumeDraft(d Draft) (Model, tea.Cmd) {
	m.composer = m.composer.SetHistory(m.open.Prompts)
	if !d.Message.Empty() && m.composer.Empty() {
		m.composer = m.composer.SetDraft(d.Message)
		m.rewound = rewound{id: d.Edits}
	}
	m.aside = append(slices.Clone(d.Aside), m.aside...)
	m = m.begin(m.open.Files)
	m.open.Files = nil
	m.outbox = m.outbox.before(d.Queued)
	return m.pump()
}

// idle says whether the session may be left: not while it answers.
func (m Model) idle() (Model, bool) {
	if m.outbox.busy {
		return m.say(transcript.Info, "An answer is running. Stop it first, or wait for it."), false
	}
	return m, true
}

func (m Model) newSession() (Model, tea.Cmd) {
	return turn(m, "begin a session", m.leaving(func(ctx context.Context, b Backend) (Opened, error) { return b.New(ctx) }), func(m Model, o Opened) (Model, tea.Cmd) {
		m, cmd := m.putBy().opened(o)
		return m.say(transcript.Info, "A new session."), cmd
	}, nil)
}

// leaving keeps what is written here before it opens another session.
func (m Model) leaving(open func(context.Context, Backend) (Opened, error)) func(context.Context, Backend) (Opened, error) {
	id, d := m.open.Session.ID, m.unsent()
	return func(ctx context.Context, b Backend) (Opened, error) {
		if err := b.SaveDraft(ctx, id, d); err != nil {
			return Opened{}, err
		}
		return open(ctx, b)
	}
}

// openSessions lists sessions to open, those that hold query first of all.
func (m Model) openSessions(query string) (Model, tea.Cmd) {
	return m.listSessions(query, "", nil)
}

// pickSession lists the sessions of which the chat is to go on with one. Who chooses
// none did not come to begin another, and leaves; where there is none, one begins.
func (m Model) pickSession() (Model, tea.Cmd) {
	return m.listSessions("", "leave", Model.quit)
}

// listSessions shows the list. Esc does what its word says.
func (m Model) listSessions(query, esc string, leaves func(Model) (Model, tea.Cmd)) (Model, tea.Cmd) {
	return fetch(m, "list the sessions", listing(query), func(m Model, list []palette.Item) (Model, tea.Cmd) {
		c := palette.Config{
			Title: "Sessions", Search: true, Esc: esc,
			Empty: "No session yet. What you write now will be the first.", NoMatch: "Nothing found.",
			Actions: []palette.Action{{Key: "space", Help: "preview", Preview: true}, {Key: "ctrl+r", Help: "rename"}, {Key: "ctrl+x", Help: "delete"}},
		}
		if len(list) == 0 {
			c.Esc, leaves = "", nil
		}
		m = m.choose(c, list, Model.picked)
		top := m.overlays.top()
		top.leaves = leaves
		m.overlays = m.overlays.replace(top)
		if query != "" {
			m = m.setList(func(p palette.Model) palette.Model { return p.SetFilter(query) })
		}
		return m, nil
	})
}

func listing(query string) func(context.Context, Backend) ([]palette.Item, error) {
	return func(ctx context.Context, b Backend) ([]palette.Item, error) {
		list, err := b.Sessions(ctx, query)
		return items(list, query, time.Now()), err
	}
}

func items(list []Session, query string, now time.Time) []palette.Item {
	out, width := make([]palette.Item, len(list)), 0
	for _, s := range list {
		width = max(width, text.Width(title(s)))
	}
	for i, s := range list {
		out[i] = palette.Item{
			ID: string(s.ID), Title: pad(title(s), width), Detail: detail(s),
			Hint: when(s.Updated, now), Preview: s.Snippets, Snippet: query != "" && len(s.Snippets) > 0,
		}
	}
	return out
}

// detail is how long a session is, on how many branches, and its tags.
func detail(s Session) string {
	d := messages(s.Messages)
	if s.Branches > 1 {
		d += fmt.Sprintf(" · %d branches", s.Branches)
	}
	for _, t := range s.Tags {
		d += " #" + text.Line(t)
	}
	return d
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// when is a moment as one speaks of it: how long ago, then the day.
func when(t, now time.Time) string {
	switch ago := now.Sub(t); {
	case ago < -time.Minute: // by another clock
	case ago < time.Minute:
		return "now"
	case ago < time.Hour:
		return fmt.Sprintf("%d min ago", ago/time.Minute)
	case ago < 24*time.Hour:
		return fmt.Sprintf("%d h ago", ago/time.Hour)
	}
	if t, now = t.Local(), now.Local(); t.Year() == now.Year() {
		return t.Format("2 Jan")
	}
	return t.Format("2 Jan 2006")
}

// maxColumn is how wide a column gets for the sake of one long entry.
const maxColumn = 40

// pad fills s up, so that what follows stands in a column.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, min(width, maxColumn)-text.Width(s)))
}

func title(s Session) string {
	if s.Title == "" {
		return "untitled"
	}
	return text.Line(s.Title)
}

// setList changes the list on top, if it is one.
func (m Model) setList(f func(palette.Model) palette.Model) Model {
	if !m.overlays.open() || m.overlays.top().list == nil {
		return m
	}
	top := m.overlays.top()
	top.list = new(f(*top.list))
	m.overlays = m.overlays.replace(top)
	return m
}

// picked takes what the list of sessions says.
func (m Model) picked(list palette.Model, out tea.Msg) (Model, tea.Cmd) {
	switch out := out.(type) {
	case palette.Chosen:
		return m.close().openSession(event.SessionID(out.ID))
	case palette.Query:
		return fetch(m, "list the sessions", listing(out.Text), func(m Model, list []palette.Item) (Model, tea.Cmd) {
			return m.setList(func(p palette.Model) palette.Model {
				if p.Filter() != out.Text {
					return p // an answer to what was typed before
				}
				return p.SetItems(list)
			}), nil
		})
	case palette.Acted:
		marked, _ := list.Marked()
		title, id := strings.TrimSpace(marked.Title), event.SessionID(out.ID)
		switch out.Key {
		case "space":
			return m.glance(id)
		case "ctrl+x":
			return m.askDelete(id, title), nil
		}
		return m.askTitle(id, title), nil
	}
	return m, nil
}

// glance shows under a session what was said in it last.
func (m Model) glance(id event.SessionID) (Model, tea.Cmd) {
	return fetch(m, "look into the session", func(ctx context.Context, b Backend) ([]string, error) { return b.Glance(ctx, id) }, func(m Model, lines []string) (Model, tea.Cmd) {
		if len(lines) == 0 {
			lines = []string{"Nothing was said."}
		}
		return m.setList(func(p palette.Model) palette.Model { return p.SetPreview(string(id), lines) }), nil
	})
}

func (m Model) openSession(id event.SessionID) (Model, tea.Cmd) {
	if i := m.chats.find(func(c chat) bool { return c.open.Session.ID == id }); i >= 0 {
		if i >= m.chats.at {
			i++
		}
		return m.switchTo(i)
	}
	if id == m.open.Session.ID {
		return m.say(transcript.Info, "This session is open."), nil
	}
	return turn(m, "open the session", m.leaving(func(ctx context.Context, b Backend) (Opened, error) { return b.Open(ctx, id) }), func(m Model, o Opened) (Model, tea.Cmd) {
		return m.putBy().opened(o)
	}, nil)
}

func (m Model) askDelete(id event.SessionID, title string) Model {
	if id == m.open.Session.ID {
		return m.question(func(c dialog.Config) dialog.Model {
			return c.Text(dialog.Text{Title: "This session is open", Body: "Begin a new one with /new, then delete this one."})
		}, nil)
	}
	ask := dialog.Confirm{
		Title: "Delete this session?", Body: title + "\nIt cannot be brought back.", Default: "keep",
		Choices: []dialog.Choice{{Value: "keep", Letter: "n", Label: "keep it"}, {Value: "delete", Letter: "y", Label: "delete it", Destructive: true}},
	}
	return m.question(func(c dialog.Config) dialog.Model { return c.Confirm(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		if a.Choice != "delete" {
			return m, nil
		}
		return fetch(m, "delete the session", func(ctx context.Context, b Backend) (struct{}, error) { return struct{}{}, b.Delete(ctx, id) }, Model.relist)
	})
}

// relist asks for the list of sessions again after a change.
func (m Model) relist(struct{}) (Model, tea.Cmd) {
	if !m.overlays.open() || m.overlays.top().list == nil {
		return m, nil
	}
	query := m.overlays.top().list.Filter()
	return fetch(m, "list the sessions", listing(query), func(m Model, list []palette.Item) (Model, tea.Cmd) {
		return m.setList(func(p palette.Model) palette.Model { return p.SetItems(list) }), nil
	})
}

func (m Model) askTitle(id event.SessionID, old string) Model {
	ask := dialog.Prompt{Title: "Title of the session", Value: old}
	return m.question(func(c dialog.Config) dialog.Model { return c.Prompt(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		return m.renameTo(id, strings.TrimSpace(a.Text))
	})
}

func (m Model) rename(title string) (Model, tea.Cmd) {
	if title == "" {
		return m.askTitle(m.open.Session.ID, m.open.Session.Title), nil
	}
	return m.renameTo(m.open.Session.ID, title)
}

func (m Model) renameTo(id event.SessionID, title string) (Model, tea.Cmd) {
	return fetch(m, "rename the session", func(ctx context.Context, b Backend) (struct{}, error) { return struct{}{}, b.Rename(ctx, id, title) },
		func(m Model, _ struct{}) (Model, tea.Cmd) {
			if id == m.open.Session.ID {
				m.open.Session.Title = title
			}
			if m.overlays.open() {
				return m.relist(struct{}{})
			}
			return m.say(transcript.Info, "This session is now called “"+text.Line(title)+"”."), nil
		})
}

// tag gives this session tags, or takes those off that have a minus before them.
func (m Model) tag(arg string) (Model, tea.Cmd) {
	if arg != "" {
		return m.tagWith(strings.Fields(arg))
	}
	had := m.open.Session.Tags
	ask := dialog.Prompt{Title: "Tags of the session", Body: "Words, with a space between them.", Value: strings.Join(had, " "), Empty: true}
	return m.question(func(c dialog.Config) dialog.Model { return c.Prompt(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		wanted := strings.Fields(a.Text)
		for _, t := range had {
			if !slices.Contains(wanted, t) {
				wanted = append(wanted, "-"+t)
			}
		}
		return m.tagWith(wanted)
	}), nil
}

func (m Model) tagWith(tags []string) (Model, tea.Cmd) {
	id := m.open.Session.ID
	return fetch(m, "tag the session", func(ctx context.Context, b Backend) ([]string, error) { return b.Tag(ctx, id, tags) }, func(m Model, has []string) (Model, tea.Cmd) {
		m.open.Session.Tags = has
		if len(has) == 0 {
			return m.say(transcript.Info, "This session has no tags."), nil
		}
		return m.say(transcript.Info, "This session is tagged #"+text.Line(strings.Join(has, " #"))+". /search tag:"+text.Line(has[0])+" finds it."), nil
	})
}

func (m Model) export(path string) (Model, tea.Cmd) {
	return fetch(m, "export the session", func(ctx context.Context, b Backend) (string, error) { return b.Export(ctx, path) },
		func(m Model, where string) (Model, tea.Cmd) {
			return m.say(transcript.Info, "Written to "+text.Line(where)+"."), nil
		})
}
