package tui

import (
	"slices"

	"agentx/tui/dialog"
	"agentx/tui/palette"

	tea "charm.land/bubbletea/v2"
)

// An overlay is a list or a question that has the keys until it is answered.
type overlay struct {
	list   *palette.Model // one of the two
	asks   *dialog.Model
	listed func(Model, palette.Model, tea.Msg) (Model, tea.Cmd) // what the list said
	told   func(Model, dialog.Answer) (Model, tea.Cmd)

	tries  func(Model, string) (Model, tea.Cmd) // what is under the mark of the list, while it is
	leaves func(Model) (Model, tea.Cmd)         // follows where nothing was chosen, and takes that back
	draws  func(prefs, int) []string            // lines above the list, so wide
	drawn  []string
}

// overlays is a stack: the last one has the keys.
type overlays struct{ stack []overlay }

func (o overlays) open() bool { return len(o.stack) > 0 }

func (o overlays) top() overlay { return o.stack[len(o.stack)-1] }

func (o overlays) push(top overlay) overlays {
	return overlays{append(slices.Clip(o.stack), top)}
}

func (o overlays) pop() overlays { return overlays{o.stack[:len(o.stack)-1]} }

// replace changes the one on top.
func (o overlays) replace(top overlay) overlays { return o.pop().push(top) }

// tried is the ID under the mark of a list that tries things.
func (o overlays) tried() string {
	if !o.open() || o.top().tries == nil {
		return ""
	}
	id, _ := o.top().list.Selected()
	return id
}

// draw has the lines above the lists drawn anew.
func (o overlays) draw(p prefs, width int) overlays {
	return o.each(func(v overlay) overlay {
		if v.draws != nil {
			v.drawn = v.draws(p, width)
		}
		return v
	})
}

func (o overlays) each(f func(overlay) overlay) overlays {
	stack := make([]overlay, len(o.stack))
	for i, v := range o.stack {
		stack[i] = f(v)
	}
	return overlays{stack}
}

func (o overlays) setSize(width, height int) overlays {
	return o.each(func(v overlay) overlay {
		if v.list != nil {
			v.list = new(v.list.SetSize(width, height))
		} else {
			v.asks = new(v.asks.SetSize(width, height))
		}
		return v
	})
}

func (o overlays) dress(p prefs) overlays {
	return o.each(func(v overlay) overlay {
		if v.list != nil {
			v.list = new(v.list.SetStyles(p.palette()))
		} else {
			v.asks = new(v.asks.SetStyles(p.dialog()))
		}
		return v
	})
}

func (v overlay) view() (string, *tea.Cursor) {
	if v.list != nil {
		return v.list.View(), v.list.Cursor()
	}
	return v.asks.View(), v.asks.Cursor()
}

// choose opens a list.
func (m Model) choose(c palette.Config, items []palette.Item, listed func(Model, palette.Model, tea.Msg) (Model, tea.Cmd)) Model {
	c.Styles, c.Prompt = m.prefs.palette(), m.prefs.prompt()
	m.overlays = m.overlays.push(overlay{list: new(palette.New(c, items)), listed: listed})
	return m.fit()
}

// question opens a dialog. Told may be nil where there is nothing to answer.
func (m Model) question(open func(dialog.Config) dialog.Model, told func(Model, dialog.Answer) (Model, tea.Cmd)) Model {
	d := open(dialog.Config{Styles: m.prefs.dialog()})
	m.overlays = m.overlays.push(overlay{asks: &d, told: told})
	return m.fit()
}

// close closes the overlay on top.
func (m Model) close() Model {
	m.overlays = m.overlays.pop()
	return m
}

// toOverlay gives a message to the overlay on top and takes what it says.
func (m Model) toOverlay(msg tea.Msg) (Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Keystroke() == "ctrl+c" {
		return m.leave()
	}
	top := m.overlays.top()
	if top.list != nil {
		return m.toList(top, msg)
	}
	asks, out, cmd := top.asks.Update(msg)
	top.asks = &asks
	m.overlays = m.overlays.replace(top)
	m, more := m.fromDialog(top, out)
	return m, tea.Batch(cmd, more)
}

func (m Model) toList(top overlay, msg tea.Msg) (Model, tea.Cmd) {
	before := m.overlays.tried()
	list, out, cmd := top.list.Update(msg)
	top.list = &list
	m.overlays = m.overlays.replace(top)
	if id := m.overlays.tried(); out == nil && id != before && id != "" {
		m, more := top.tries(m, id)
		return m, tea.Batch(cmd, more)
	}
	m, more := m.fromList(top, out)
	return m, tea.Batch(cmd, more)
}

// leave closes the overlay on top, from which nothing was chosen.
func (m Model) leave() (Model, tea.Cmd) {
	leaves := m.overlays.top().leaves
	if m = m.close(); leaves != nil {
		return leaves(m)
	}
	return m, nil
}

func (m Model) fromList(v overlay, out tea.Msg) (Model, tea.Cmd) {
	switch out.(type) {
	case nil:
		return m, nil
	case palette.Closed:
		return m.leave()
	}
	return v.listed(m, *v.list, out)
}

func (m Model) fromDialog(v overlay, out tea.Msg) (Model, tea.Cmd) {
	switch out := out.(type) {
	case dialog.Closed:
		if m = m.close(); out.Unread != nil {
			return m.take(out.Unread)
		}
		return m, nil
	case dialog.Answer:
		m = m.close()
		if v.told == nil {
			return m, nil
		}
		return v.told(m, out)
	}
	return m, nil
}
