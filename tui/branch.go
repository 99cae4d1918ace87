package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/composer"
	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// rewound is what is known of a message that was taken back into the composer.
type rewound struct {
	id    string        // of the message that is being edited; empty where it was undone
	says  string        // its beginning
	parts event.Content // what came with it, and goes with what it becomes
}

func (r rewound) any() bool { return r.id != "" || len(r.parts) > 0 }

// nth reads the number behind a slash word: 1 is the last.
func nth(arg string) (int, bool) {
	if arg == "" {
		return 1, true
	}
	n, err := strconv.Atoi(arg)
	return n, err == nil && n > 0
}

// retry asks the last message again, on a branch of its own.
func (m Model) retry() (Model, tea.Cmd) {
	if m.backend != nil && !m.transcript.Any() && !m.outbox.busy {
		return m.say(transcript.Info, "There is no message to ask again yet."), nil
	}
	return m.retryOne(1, "")
}

// retryOne asks a message again: the nth from the end, or that of an id.
func (m Model) retryOne(n int, id string) (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	if m.backend == nil {
		return m, soon(func(m Model) (Model, tea.Cmd) { return m.retryOne(n, id) })
	}
	type again struct {
		Opened
		Asked
		last bool
	}
	return turn(m, "ask again", func(ctx context.Context, b Backend) (again, error) {
		it, err := b.Asked(ctx, n, id)
		if err != nil {
			return again{}, err
		}
		last := it
		if id != "" {
			if last, err = b.Asked(ctx, 1, ""); err != nil {
				return again{}, err
			}
		}
		o, err := b.Branch(ctx, it.ID)
		return again{o, it, it.ID == last.ID}, err
	}, func(m Model, a again) (Model, tea.Cmd) {
		if a.last {
			m = m.adopt(a.Opened)
		} else {
			a.Draft = Draft{}
			m = m.display(recent(a.Opened, 1))
			m = m.say(transcript.Info, "Asked again, on a branch. What was said before stays as it was; /tree goes back to it.")
		}
		id, b := m.open.Session.ID, m.backend
		return m.run(func(ctx context.Context) error { return b.Send(ctx, id, a.Content, nil) })
	}, nil)
}

// adopt goes on in another session that the screen shows already.
func (m Model) adopt(o Opened) Model {
	o.Events, o.Prompts = nil, m.open.Prompts
	m.open = o
	return m
}

// deliver sends a message, and what came with it before, before all that waits.
func (m Model) deliver(d Message, parts event.Content) (Model, tea.Cmd) {
	m.outbox.flying, m.outbox.held = d, false
	return m.run(m.sending(d, parts))
}

// revise takes an earlier message into the composer, the nth from the end.
func (m Model) revise(arg string) (Model, tea.Cmd) {
	n, ok := nth(arg)
	if !ok {
		return m.say(transcript.Info, "/edit takes a number: 1 is your last message, 2 the one before it. /tree shows them all."), nil
	}
	return m.reviseOne(n, "")
}

func (m Model) reviseOne(n int, id string) (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	return fetch(m, "take the message back", func(ctx context.Context, b Backend) (Asked, error) { return b.Asked(ctx, n, id) }, func(m Model, a Asked) (Model, tea.Cmd) {
		m, keep := m.clearComposer()
		said, parts := apart(a.Content)
		m.rewound = rewound{id: a.ID, says: said, parts: parts}
		m.composer = m.composer.SetText(said)
		m, save := m.keepDraft()
		return m.fit(), tea.Batch(keep, save)
	})
}

// clearComposer makes room in the composer; what was in it is in the history.
func (m Model) clearComposer() (Model, tea.Cmd) {
	m.rewound = rewound{}
	if m.composer.Empty() {
		return m, nil
	}
	m, cmd := m.addPrompt(composer.Submit{Draft: m.composer.Draft()}.Entry())
	m.composer = m.composer.Reset()
	return m, cmd
}

// leaveEdit lets the message be as it was.
func (m Model) leaveEdit() (Model, tea.Cmd) {
	m, cmd := m.clearComposer()
	m, save := m.keepDraft()
	return m.fit(), tea.Batch(cmd, save)
}

// apart is what was written in a message, and what came with it.
func apart(c event.Content) (string, event.Content) {
	var said []string
	var parts event.Content
	for _, p := range c {
		if t, ok := p.(event.Text); ok && !strings.HasPrefix(t.Text, "<file name=") {
			said = append(said, t.Text)
		} else {
			parts = append(parts, p)
		}
	}
	return strings.Join(said, "\n\n"), parts
}

// sendRewound sends what became of a message that was taken back: an edited one
// begins a branch where it stood.
func (m Model) sendRewound(d Message) (Model, tea.Cmd) {
	r := m.rewound
	m.rewound = rewound{}
	if r.id == "" {
		return m.deliver(d, r.parts)
	}
	m.outbox.flying, m.outbox.busy = d, true
	m.composer = m.composer.SetBusy(true)
	left := m.open.Session.ID
	type begun struct {
		Opened
		parts event.Content
	}
	return turn(m, "begin a branch", func(ctx context.Context, b Backend) (begun, error) {
		parts := r.parts
		if r.says == "" { // the draft of another day, which knows the message by its id
			a, err := b.Asked(ctx, 0, r.id)
			if err != nil {
				return begun{}, err
			}
			_, parts = apart(a.Content)
		}
		opened, err := b.Branch(ctx, r.id)
		o := begun{opened, parts}
		if err != nil {
			return o, err
		}
		// Whatever happens now, the text is kept: first here, then no longer there.
		if err := b.SaveDraft(ctx, o.Session.ID, Draft{Queued: []Message{d}}); err != nil {
			return o, err
		}
		return o, b.SaveDraft(ctx, left, Draft{})
	}, func(m Model, o begun) (Model, tea.Cmd) {
		o.Draft = Draft{}
		m.outbox.flying, m.outbox.busy = Message{}, false
		m = m.display(recent(o.Opened, 1))
		m = m.say(transcript.Info, "A branch from here on. What was said before stays as it was; /tree goes back to it.")
		return m.deliver(d, o.parts)
	}, func(m Model) Model {
		m.outbox.flying, m.outbox.busy = Message{}, false
		m.composer = m.composer.SetBusy(false)
		m = m.giveBack(d)
		m.rewound = r
		return m
	})
}

// undo takes the last message and its answer back: the message is in the
// composer again, and both stay on the branch that is left.
func (m Model) undo() (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	type undone struct {
		Opened
		Asked
	}
	return turn(m, "take the last message back", func(ctx context.Context, b Backend) (undone, error) {
		last, err := b.Asked(ctx, 1, "")
		if err != nil {
			return undone{}, err
		}
		o, err := b.Branch(ctx, last.ID)
		return undone{o, last}, err
	}, func(m Model, u undone) (Model, tea.Cmd) {
		m, keep := m.clearComposer()
		said, parts := apart(u.Content)
		u.Draft = Draft{}
		m = m.display(recent(u.Opened, 1))
		m.rewound = rewound{parts: parts}
		m.composer = m.composer.SetText(said)
		m = m.say(transcript.Info, "Taken back. It stays on the branch that was left; /tree goes back to it.")
		m, save := m.keepDraft()
		return m.fit(), tea.Batch(keep, save)
	}, nil)
}

// editing is the line that says what the composer is for.
func (m Model) editing() string {
	switch r := m.rewound; {
	case r.id != "" && r.says != "":
		return "  editing “" + text.Truncate(text.Line(r.says[:min(len(r.says), 400)]), max(m.width-50, 10)) + "”: Enter begins a branch, Esc leaves it"
	case r.id != "":
		return "  editing an earlier message: Enter begins a branch, Esc leaves it"
	case len(r.parts) > 0:
		return fmt.Sprintf("  with what was attached (%d)", len(r.parts))
	}
	return ""
}

// openTree draws the branches of this session.
func (m Model) openTree() (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	return fetch(m, "draw the tree", func(ctx context.Context, b Backend) ([]Twig, error) { return b.Tree(ctx) }, func(m Model, twigs []Twig) (Model, tea.Cmd) {
		c := palette.Config{
			Title: "Branches", Enter: "go on from there", Empty: "Nothing was asked yet. /edit and /retry begin branches.", NoMatch: "Nobody asked that.",
			Actions: []palette.Action{{Key: "ctrl+e", Help: "edit"}},
		}
		m = m.choose(c, m.leaves(twigs, time.Now()), Model.pickedTwig)
		for _, t := range twigs {
			if t.Here {
				m = m.setList(func(p palette.Model) palette.Model { return p.Select(t.ID) })
			}
		}
		return m, nil
	})
}

func (m Model) leaves(twigs []Twig, now time.Time) []palette.Item {
	items := make([]palette.Item, len(twigs))
	for i, t := range twigs {
		mark, hint := "○ ", when(t.At, now)
		if t.On {
			mark = "● "
		}
		if t.Here {
			hint = "you are here"
		}
		lead := t.Lead
		if m.prefs.ascii {
			mark = map[bool]string{true: "* ", false: "o "}[t.On]
			lead = strings.NewReplacer("├─", "|-", "│", "|").Replace(lead)
		}
		items[i] = palette.Item{ID: t.ID, Title: lead + mark + text.Line(t.Text), Hint: hint}
		if t.Ends > 0 && !t.Here {
			items[i].Detail = "a branch ends here"
		}
	}
	return items
}

func (m Model) pickedTwig(_ palette.Model, out tea.Msg) (Model, tea.Cmd) {
	switch out := out.(type) {
	case palette.Chosen:
		return m.close().climb(out.ID)
	case palette.Acted:
		return m.close().reviseOne(0, out.ID)
	}
	return m, nil
}

// climb goes on behind a message and its answer.
func (m Model) climb(id string) (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	was := m.open.Session.ID
	d := m.unsent()
	return turn(m, "go to the branch", func(ctx context.Context, b Backend) (Opened, error) {
		if err := b.SaveDraft(ctx, was, d); err != nil {
			return Opened{}, err
		}
		return b.Climb(ctx, id)
	}, func(m Model, o Opened) (Model, tea.Cmd) {
		if o.Session.ID == was {
			return m.say(transcript.Info, "You are there."), nil
		}
		m.rewound = rewound{}
		m.composer, m.outbox, m.aside = m.composer.Reset(), outbox{posted: m.outbox.posted}, nil
		m = m.display(recent(o, showAgain))
		return m.resumeDraft(o.Draft)
	}, nil)
}
