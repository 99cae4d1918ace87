package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentx/engine/event"
	"agentx/tui/dialog"
	"agentx/tui/palette"
	"agentx/tui/text"
	"agentx/tui/transcript"

	tea "charm.land/bubbletea/v2"
)

// fork goes on in a copy of this session.
func (m Model) fork() (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	return turn(m, "fork the session", func(ctx context.Context, b Backend) (Opened, error) { return b.Fork(ctx) }, func(m Model, o Opened) (Model, tea.Cmd) {
		return m.adopt(o).say(transcript.Info, "This is a copy now. The original stays as it is."), nil
	}, nil)
}

// compact goes on in a session that begins with a summary of this one.
func (m Model) compact(focus string) (Model, tea.Cmd) {
	m, ok := m.idle()
	if !ok {
		return m, nil
	}
	type compacted struct {
		Opened
		ask string
	}
	return turn(m, "compact the session", func(ctx context.Context, b Backend) (compacted, error) {
		o, ask, err := b.Compact(ctx, focus)
		return compacted{o, ask}, err
	}, func(m Model, c compacted) (Model, tea.Cmd) {
		c.Opened.Prompts = m.open.Prompts
		m, opened := m.opened(c.Opened)
		m.outbox = m.outbox.push(Message{Text: c.ask})
		m.outbox.held, m.outbox.summing = false, true
		m, cmd := m.pump()
		return m, tea.Batch(opened, cmd)
	}, nil)
}

// makeRoom goes on with a summary when the model has read nearly all it can,
// unless somebody has something to say first.
func (m Model) makeRoom(answered bool) (Model, tea.Cmd) {
	summed := m.outbox.summing
	m.outbox.summing = false
	used := m.footer.Used()
	if summed || !answered || m.prefs.compactAt == 0 || used < m.prefs.compactAt || len(m.outbox.waiting) > 0 {
		return m.pump()
	}
	m = m.say(transcript.Info, fmt.Sprintf("%d%% of what the model can read is used: going on with a summary.", used))
	return m.compact("")
}

// snapshot freezes what has been said so far.
func (m Model) snapshot(name string) (Model, tea.Cmd) {
	return fetch(m, "take a snapshot", func(ctx context.Context, b Backend) (Image, error) { return b.Snapshot(ctx, name) }, func(m Model, i Image) (Model, tea.Cmd) {
		return m.say(transcript.Info, "Frozen as "+called(i)+", with "+messages(i.Messages)+". /images begins from it."), nil
	})
}

// called is what a person calls an image.
func called(i Image) string {
	if i.Name == "" {
		return string(i.ID)
	}
	return "“" + text.Line(i.Name) + "”"
}

// openImages lists what sessions can be begun from.
func (m Model) openImages() (Model, tea.Cmd) {
	return fetch(m, "list the images", album, func(m Model, list []palette.Item) (Model, tea.Cmd) {
		c := palette.Config{
			Title: "Images", Enter: "begin from it", Empty: "No image yet. /snapshot freezes what was said so far.", NoMatch: "No such image.",
			Actions: []palette.Action{{Key: "ctrl+x", Help: "delete"}},
		}
		return m.choose(c, list, Model.pickedImage), nil
	})
}

func album(ctx context.Context, b Backend) ([]palette.Item, error) {
	list, err := b.Images(ctx)
	width := 0
	for _, i := range list {
		width = max(width, text.Width(label(i)))
	}
	var items []palette.Item
	for _, i := range list {
		detail := []string{messages(i.Messages), i.Model, text.Line(i.Description)}
		items = append(items, palette.Item{
			ID: string(i.ID), Title: pad(label(i), width), Hint: when(i.Created, time.Now()),
			Detail: strings.TrimRight(strings.Join(detail, " · "), " ·"),
		})
	}
	return items, err
}

func label(i Image) string {
	if i.Name == "" {
		return string(i.ID)
	}
	return text.Line(i.Name)
}

func (m Model) pickedImage(list palette.Model, out tea.Msg) (Model, tea.Cmd) {
	switch out := out.(type) {
	case palette.Chosen:
		id := event.ImageID(out.ID)
		return turn(m.close(), "begin from the image", m.leaving(func(ctx context.Context, b Backend) (Opened, error) { return b.Begin(ctx, id) }), func(m Model, o Opened) (Model, tea.Cmd) {
			return m.putBy().opened(o)
		}, nil)
	case palette.Acted:
		marked, _ := list.Marked()
		return m.askDeleteImage(event.ImageID(out.ID), strings.TrimSpace(marked.Title)), nil
	}
	return m, nil
}

func (m Model) askDeleteImage(id event.ImageID, name string) Model {
	ask := dialog.Confirm{
		Title: "Delete this image?", Body: fmt.Sprintf("%s\nSessions that were begun from it stay.", name), Default: "keep",
		Choices: []dialog.Choice{{Value: "keep", Letter: "n", Label: "keep it"}, {Value: "delete", Letter: "y", Label: "delete it", Destructive: true}},
	}
	return m.question(func(c dialog.Config) dialog.Model { return c.Confirm(ask) }, func(m Model, a dialog.Answer) (Model, tea.Cmd) {
		if a.Choice != "delete" {
			return m, nil
		}
		return fetch(m, "delete the image", func(ctx context.Context, b Backend) ([]palette.Item, error) {
			if err := b.DeleteImage(ctx, id); err != nil {
				return nil, err
			}
			return album(ctx, b)
		}, func(m Model, list []palette.Item) (Model, tea.Cmd) {
			return m.setList(func(p palette.Model) palette.Model { return p.SetItems(list) }), nil
		})
	})
}
